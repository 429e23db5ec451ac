// A report over gaming days: the form for the days, the sheet, and what is wrong.

import { byId, faultOf, one } from "/shared/elements.js";
import { get, isSignedOn, names } from "./house.js";

/** @import { Days } from "#sent/floor" */

const DAY_MILLISECONDS = 86_400_000;
const LOOK_MILLISECONDS = 5000;

/**
 * Show the report of the days in the page's address, or of the newest day.
 * @template Report
 * @param {string} name of the report in the addresses of its data
 * @param {(report: Report, names: Map<string, string>) => (Node | string)[]} draw with the names of the tables by their ids
 */
export async function showReport(name, draw) {
  const form = byId("days", HTMLFormElement);
  const [since, until] = ["since", "until"].map(
    (each) => /** @type {HTMLInputElement} */ (form.elements.namedItem(each)),
  );
  /** @type {(begin: string, end: string) => void} */
  const go = (begin, end) => location.assign(`?${new URLSearchParams({ since: begin, until: end })}`);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(since.value, until.value);
  });

  async function show() {
    /** @type {Days} */
    const { last } = await get("/api/reports");
    if (last === null) throw new Error("The store has no rounds yet.");
    const asked = new URLSearchParams(location.search);
    since.value = asked.get("since") ?? last;
    until.value = asked.get("until") ?? last;
    for (const key of form.querySelectorAll("[data-days]")) {
      const days = Number(key.getAttribute("data-days"));
      key.addEventListener("click", () => {
        const begin = new Date(Date.parse(last) - (days - 1) * DAY_MILLISECONDS).toISOString().slice(0, 10);
        go(begin, last);
      });
    }
    const path = `/api/${name}/${encodeURIComponent(since.value)}/${encodeURIComponent(until.value)}`;
    /** @type {[Report, Map<string, string>]} */
    const [report, known] = await Promise.all([get(path), names()]);
    byId("csv", HTMLAnchorElement).href = `${path}.csv`;
    byId("csv").hidden = false;
    byId("report").replaceChildren(...draw(report, known));
  }

  try {
    await show();
  } catch (error) {
    byId("fault").textContent = faultOf(error);
  }
  one("main").ariaBusy = "false";
  setInterval(isSignedOn, LOOK_MILLISECONDS); // the figures do not stay on the screen of nobody
}
