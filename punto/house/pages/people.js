// The people at the tables: how long each was signed on, and what happened at the tables in this time.

import { element, scrolling, table } from "/shared/elements.js";
import { showReport } from "./day-report.js";
import { kindOf } from "./house.js";

/** @import { AtTable, PeopleReport, PersonReport, Work } from "#sent/floor" */

const whole = new Intl.NumberFormat("en");
const COLUMNS = [
  ">Signed on",
  ">Hands",
  ">Hands/h",
  ">Misdeals",
  ">Voided",
  ">Corrected",
  ">Refused orders",
  ">Calls",
  ">Other",
];

/** @type {(report: PeopleReport, names: Map<string, string>) => Node[]} */
function drawn({ people }, names) {
  if (people.length === 0)
    return [element("p", { class: "quiet" }, "Nobody was signed on at a table's console on these days.")];
  return [
    element(
      "p",
      { class: "quiet note" },
      "Everybody who was signed on at a table's console, with whatever role. All that happened at the table counts for each person who was signed on there.",
    ),
    scrolling(
      "All people",
      table(
        "All people",
        ["Person", ">Tables", ...COLUMNS],
        people.map(({ who, work, tables }) => [element("b", {}, who), tables.length, ...figuresOf(work)]),
      ),
    ),
    element("h2", {}, "By table"),
    ...people.map((each) => personOf(each, names)),
  ];
}

/** @param {Work} work */
const figuresOf = ({
  seconds,
  hands,
  hands_an_hour: pace,
  misdeals,
  voided,
  corrected,
  refused_orders,
  calls,
  other,
}) => [
  hoursOf(seconds),
  whole.format(hands),
  pace === null ? "–" : pace.toFixed(1),
  ...[misdeals, voided, corrected, refused_orders, calls, sumOf(other)].map((each) => whole.format(each)),
];

/** @param {Record<string, number>} numbers */
const sumOf = (numbers) => Object.values(numbers).reduce((sum, each) => sum + each, 0);

/** @param {number} seconds */
function hoursOf(seconds) {
  const minutes = Math.round(seconds / 60);
  return `${whole.format(Math.floor(minutes / 60))}:${String(minutes % 60).padStart(2, "0")} h`;
}

/** @type {(person: PersonReport, names: Map<string, string>) => HTMLElement} */
function personOf({ who, work, tables }, names) {
  /** @param {AtTable} at */
  const nameOf = (at) => names.get(at.table) ?? at.table;
  const made = element(
    "details",
    {},
    element(
      "summary",
      {},
      element("h3", {}, who),
      element("span", {}, tables.map(nameOf).join(", ")),
      element("span", {}, hoursOf(work.seconds)),
    ),
  );
  const draw = () =>
    made.append(
      scrolling(
        `Tables of ${who}`,
        table(
          "Tables",
          ["Table", ...COLUMNS],
          tables.map((each) => [nameOf(each), ...figuresOf(each.work)]),
        ),
      ),
      othersOf(work),
    );
  made.addEventListener("toggle", draw, { once: true });
  return made;
}

/** @param {Work} work */
function othersOf({ other }) {
  const kinds = Object.entries(other).map(([kind, number]) => `${kindOf(kind)} ${whole.format(number)}`);
  return element("p", {}, `Other incidents: ${kinds.join(", ") || "none"}.`);
}

showReport("people", drawn);
