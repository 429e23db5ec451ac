// The reports of the floor: what was wagered and held, and how often each rule decided, beside what is to be expected.

import { byId, faultOf, one } from "/shared/elements.js";
import { sentence } from "/shared/words.js";
import { drawn } from "./floor-report.js";

/** @import { Days, FloorReport, FloorView } from "#sent/floor" */

const ANSWER_MILLISECONDS = 60_000;
const DAY_MILLISECONDS = 86_400_000;
const form = byId("days", HTMLFormElement);
const [since, until] = ["since", "until"].map(
  (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name)),
);

/**
 * Request JSON; a refusal is an error.
 * @template Answer
 * @param {string} path
 * @returns {Promise<Answer>}
 */
async function get(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(ANSWER_MILLISECONDS) });
  const body = await answer.json();
  if (answer.ok) return body;
  throw new Error(
    typeof body.detail === "string"
      ? `${sentence(body.detail)}.`
      : "Write the days as in 2026-11-25, and the first day first.",
  );
}

/** The names of the tables by their ids, as they are now. */
async function names() {
  /** @type {FloorView} */
  const { tables } = await get("/api/floor");
  return new Map(tables.map(({ table, name }) => [table, name]));
}

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
  const path = `/api/reports/${encodeURIComponent(since.value)}/${encodeURIComponent(until.value)}`;
  /** @type {[FloorReport, Map<string, string>]} */
  const [report, known] = await Promise.all([get(path), names()]);
  byId("csv", HTMLAnchorElement).href = `${path}.csv`;
  byId("csv").hidden = false;
  byId("report").replaceChildren(...drawn(report, known));
}

/** @type {(begin: string, end: string) => void} */
const go = (begin, end) => location.assign(`/reports?${new URLSearchParams({ since: begin, until: end })}`);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  go(since.value, until.value);
});

try {
  await show();
} catch (error) {
  byId("fault").textContent = faultOf(error);
}
one("main").ariaBusy = "false";
