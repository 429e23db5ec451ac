// A report over gaming days, or over the last hours: the form, the sheet, and what is wrong.

import { daysLater, setDay } from "/shared/days.js";
import { byId, element, faultOf, one } from "/shared/elements.js";
import { writtenDay } from "/shared/words.js";
import { get, isSignedOn, names } from "./house.js";

/** @import { Days } from "#sent/floor" */

const LOOK_MILLISECONDS = 5000;
const SHIFTS = [8, 12]; // hours

/**
 * Show the report of the days in the page's address, or of the newest day.
 * @template Report
 * @param {string} name of the report in the addresses of its data
 * @param {(report: Report, names: Map<string, string>) => (Node | string)[]} draw with the names of the tables by their ids
 * @param {{ ofHours?: string }} [also] the name of the same report over the last hours, if there is one
 */
export async function showReport(name, draw, { ofHours } = {}) {
  const form = byId("days", HTMLFormElement);
  const [since, until] = ["since", "until"].map(
    (each) => /** @type {HTMLInputElement} */ (form.elements.namedItem(each)),
  );
  /** @param {Record<string, string>} asked */
  const ask = (asked) => location.assign(`?${new URLSearchParams(asked)}`);
  /** @type {(begin: string, end: string) => void} */
  const go = (begin, end) => ask({ since: begin, until: end });
  for (const hours of ofHours === undefined ? [] : SHIFTS) {
    const key = element("button", { type: "button" }, `Last ${hours} hours`);
    key.addEventListener("click", () => ask({ hours: String(hours) }));
    byId("print").before(key);
  }

  byId("print").addEventListener("click", () => print());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(since.value, until.value);
  });

  async function show() {
    /** @type {Days} */
    const { last } = await get("/api/reports");
    if (last === null) throw new Error("The store has no rounds yet.");
    const asked = new URLSearchParams(location.search);
    setDay(since, asked.get("since") ?? last);
    setDay(until, asked.get("until") ?? last);
    for (const key of form.querySelectorAll("[data-days]")) {
      const days = Number(key.getAttribute("data-days"));
      key.addEventListener("click", () => go(daysLater(last, 1 - days), last));
    }
    const hours = ofHours === undefined ? null : asked.get("hours");
    const [path, query] =
      hours === null
        ? [`/api/${name}/${encodeURIComponent(since.value)}/${encodeURIComponent(until.value)}`, ""]
        : [`/api/${ofHours}`, `?${new URLSearchParams({ hours })}`];
    /** @type {[Report, Map<string, string>]} */
    const [report, known] = await Promise.all([get(path + query), names()]);
    for (const kind of ["csv", "pdf"]) {
      byId(kind, HTMLAnchorElement).href = `${path}.${kind}${query}`;
      byId(kind).hidden = false;
    }
    byId("report").replaceChildren(...draw(report, known));
    one("h1").append(
      hours === null ? `, ${writtenDay(since.value)} to ${writtenDay(until.value)}` : `, last ${hours} hours`,
    ); // for paper
  }

  try {
    await show();
  } catch (error) {
    byId("fault").textContent = faultOf(error);
  }
  one("main").ariaBusy = "false";
  setInterval(isSignedOn, LOOK_MILLISECONDS); // the figures do not stay on the screen of nobody
}
