// The report of the shift: the last hours in figures, and everything out of the ordinary with who and why.

import { button, byId, element, facts, scrolling, table } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { titlesOf } from "./rounds.js";
import { read } from "./service.js";
import { dayAndClock, plain } from "./words.js";

/** @import { Shift, View } from "#sent/consoles" */
/** @typedef {import("/shared/elements.js").Content} Content */

const HOURS = [4, 8, 12, 24];
/** @type {Record<string, string>} */
const LISTS = {
  voids: "void hands",
  corrections: "corrections",
  alarms: "alarms, stops and calls",
  access: "sign-ons and refusals",
};
/** @type {View} */
let view;
let hours = 8;
/** @type {number | null} */
let fetched = null; // the number of the round coming when the report was made

/** @type {HTMLButtonElement[]} */
const keys = HOURS.map((each) => {
  const made = button(
    `${each} hours`,
    () => {
      hours = each;
      for (const key of keys) key.setAttribute("aria-pressed", String(key === made));
      report();
    },
    { "aria-pressed": String(each === hours) },
  );
  return made;
});
byId("shift-hours").append(...keys);

/**
 * @param {View} latest
 * @param {{ opened: boolean }} how
 */
export function showShift(latest, { opened }) {
  view = latest;
  if (opened || view.state.round !== fetched) report();
}

async function report() {
  fetched = view.state.round;
  const wanted = hours;
  /** @type {Shift | null} */
  const found = await read(`/api/shift?hours=${wanted}`, byId("shift-report"));
  if (found !== null && wanted === hours) byId("shift-report").replaceChildren(...drawn(found));
}

/** @param {Shift} shift */
function drawn({ since, until, rounds, hands_an_hour, wagers, voids, corrections, alarms, access, more }) {
  const money = moneyIn(view.state.currency, { whole: false });
  const signed = moneyIn(view.state.currency, { whole: false, sign: true });
  const title = titlesOf(view.state);
  /** @param {"wagers" | "staked" | "returned" | "net"} name */
  const sum = (name) => wagers.reduce((total, each) => total + each[name], 0);
  /** @param {{ who: string | null, approved_by: string | null }} entry */
  const by = ({ who, approved_by }) => (approved_by ? `${who}, approved by ${approved_by}` : (who ?? "–"));
  return [
    element("p", { class: "quiet" }, `From ${dayAndClock(since)} to ${dayAndClock(until)}`),
    ...more.map((name) => element("p", { class: "quiet" }, `Of the ${LISTS[name]} only the last are listed.`)),
    facts(
      [
        ["Hands played", rounds.played ?? 0],
        ["Hands an hour", hands_an_hour === null ? "–" : Math.round(hands_an_hour)],
        ["Void", rounds.void ?? 0],
        ["Corrections", rounds.correction ?? 0],
        ["Dummy hands", rounds.dummy ?? 0],
        ["Alarms and calls", alarms.length],
      ],
      { class: "figures" },
    ),
    listed(
      "Wagers",
      ["Wager", ">Made", ">Staked", ">Returned", ">Players' net"],
      [
        ...wagers.map((each) => [
          title(each.wager),
          String(each.wagers),
          money(each.staked),
          money(each.returned),
          signed(each.net),
        ]),
        ...(wagers.length > 0
          ? [
              [
                element("b", {}, "All"),
                ...[String(sum("wagers")), money(sum("staked")), money(sum("returned")), signed(sum("net"))].map(
                  (text) => element("b", {}, text),
                ),
              ],
            ]
          : []),
      ],
    ),
    listed(
      "Void hands",
      ["Round", "When", "Voided", "Who", "Why"],
      voids.map((each) => [
        round(each.round),
        dayAndClock(each.ts),
        each.entry === null
          ? "before settlement"
          : element("span", {}, "after settlement, by entry ", round(each.entry)),
        by(each),
        each.reason ?? "",
      ]),
    ),
    listed(
      "Corrections",
      ["Round", "When", "What", "Who", "Why", ">Difference"],
      corrections.map((each) => [
        round(each.round),
        dayAndClock(each.ts),
        corrected(each),
        by(each),
        each.reason ?? "",
        signed(each.net),
      ]),
    ),
    listed(
      "Alarms, stops and calls",
      ["Number", "When", "What", "Who", "From", "Text"],
      alarms.map((each) => [
        String(each.seq),
        dayAndClock(each.ts),
        plain(each.kind),
        each.who ?? "–",
        each.source,
        each.text,
      ]),
    ),
    listed(
      "Sign-ons and refusals",
      ["Number", "When", "What", "Who", "Where", "Text"],
      access.map((each) => [
        String(each.seq),
        dayAndClock(each.ts),
        plain(each.kind),
        each.who ?? "nobody known",
        each.where ?? "–",
        each.text,
      ]),
    ),
  ];
}

/** @param {Shift["corrections"][number]} correction */
const corrected = ({ corrects, voided }) =>
  corrects === null
    ? "a card, before settlement"
    : element("span", {}, "round ", round(corrects), voided ? " voided" : " settled by other cards");

/** @param {number} number */
const round = (number) => element("a", { href: `#hands/${number}` }, String(number));

/** @type {(caption: string, columns: string[], rows: Content[][]) => HTMLElement} */
const listed = (caption, columns, rows) =>
  scrolling(
    caption,

    rows.length > 0 ? table(caption, columns, rows) : element("p", { class: "quiet" }, `${caption}: none`),
  );
