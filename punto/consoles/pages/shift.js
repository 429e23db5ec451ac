// The report of the shift, as the service writes it: on the page, on paper and as files.

import { button, byId, element, facts, put, scrolling, table } from "/shared/elements.js";
import { t } from "./language.js";
import { read } from "./service.js";
import { dayAndClock } from "./words.js";

/** @import { Report, Section, View } from "#sent/consoles" */

const HOURS = [4, 8, 12, 24];
/** @type {View} */
let view;
let hours = 8;
/** @type {number | null} */
let fetched = null; // the number of the round coming when the report was made

/** @type {HTMLButtonElement[]} */
const keys = HOURS.map((each) => {
  const made = button(
    t("shift.hours", { hours: each }),
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

/** @param {string} words */
const file = (words) => element("a", { class: "button", download: true }, words);
const pdf = file(t("download.pdf"));
const csv = file(t("download.csv"));
byId("shift-files").append(
  button(t("print"), () => print(), { id: "print-shift" }),
  pdf,
  csv,
);
addEventListener("beforeprint", () =>
  put("shift-printed", `${t("shift.printed")} ${dayAndClock(new Date().toISOString())}`),
);

/** @param {"/words" | ".pdf" | ".csv"} form */
const address = (form) => `/api/shift${form}?hours=${hours}&lang=${document.documentElement.lang}`;

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
  pdf.href = address(".pdf");
  csv.href = address(".csv");
  /** @type {Report | null} */
  const found = await read(address("/words"), byId("shift-report"));
  if (found !== null && wanted === hours) byId("shift-report").replaceChildren(...drawn(found));
}

/** @param {Report} report */
const drawn = ({ about, figures, sections }) => [
  facts(pairs(about), { class: "about" }),
  facts(pairs(figures), { class: "figures" }),
  ...sections.map(sectionOf),
];

/** @type {(found: Report["about"]) => [string, string][]} */
const pairs = (found) => found.map(({ name, value }) => [name, value]);

/** @param {Section} section */
function sectionOf({ title, columns, rows, note, nothing, of_rounds: ofRounds, has_sum: hasSum }) {
  const said = note === "" ? [] : [element("p", { class: "quiet" }, note)];
  if (rows.length === 0) return element("p", { class: "quiet" }, nothing);
  const figures = table(
    title,
    columns.map(({ heading, number }) => `${number ? ">" : ""}${heading}`),
    rows.map((row, at) =>
      row.map((text, place) => cell(text, ofRounds && place === 0, hasSum && at === rows.length - 1)),
    ),
  );
  return scrolling(title, figures, ...said);
}

/** @type {(text: string, isRound: boolean, isSum: boolean) => HTMLElement | string} */
function cell(text, isRound, isSum) {
  if (isRound && text !== "") return element("a", { href: `#hands/${text}` }, text);
  return isSum ? element("b", {}, text) : text;
}
