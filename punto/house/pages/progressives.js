// The progressives of the house: each meter as it is now, and the books of a gaming day and its week.

import { daysLater, setDay } from "/shared/days.js";
import { byId, faultOf, one, put, refresh } from "/shared/elements.js";
import { tellTimesBy } from "/shared/times.js";
import { writtenDay } from "/shared/words.js";
import { get } from "./house.js";
import { ProgressiveCard } from "./progressive-card.js";

/** @import { HouseBooks } from "#sent/floor" */

const EVERY_MILLISECONDS = 2000;
const LOOK_MILLISECONDS = 500;
const SILENT_MILLISECONDS = 8000;
const form = byId("days", HTMLFormElement);
const day = /** @type {HTMLInputElement} */ (form.elements.namedItem("day"));
const asked = new URLSearchParams(location.search).get("day");

/** @type {Map<string, ProgressiveCard>} by what names a progressive of a record */
const cards = new Map();
let shown = "";
let heard = performance.now();

/** @returns {Promise<HouseBooks>} */
const load = () => get(`/api/progressives${asked === null ? "" : `?${new URLSearchParams({ day: asked })}`}`);

/** @param {HouseBooks} books */
function show(books) {
  put("zone", `The house's clock: ${tellTimesBy(books.zone)}`);
  if (shown !== books.day) setDay(day, books.day); // what a person writes now stays
  one("h1").textContent = `Progressives, ${writtenDay(books.day)}`; // for paper
  shown = books.day;
  const there = new Set(books.progressives.map(keyOf));
  for (const [key, card] of [...cards].filter(([known]) => !there.has(known))) {
    card.element.remove();
    cards.delete(key);
  }
  books.progressives.forEach((each, at) => {
    const card = cards.get(keyOf(each)) ?? new ProgressiveCard();
    cards.set(keyOf(each), card);
    card.show(each, books);
    const box = byId("progressives");
    if (box.children[at] !== card.element) box.insertBefore(card.element, box.children[at] ?? null);
  });
  showFound(books);
  for (const link of byId("downloads").querySelectorAll("a")) {
    link.href = `/api/progressives/${books.day}/${link.dataset.sheet}`;
  }
  byId("downloads").hidden = false;
}

/** @param {HouseBooks["progressives"][number]} of */
const keyOf = ({ table, record, progressive }) => JSON.stringify([table, record, progressive]);

/** @param {HouseBooks} books */
function showFound({ first, last, progressives }) {
  const warnings = progressives.reduce((sum, each) => sum + each.warnings.length, 0);
  const found = byId("found");
  found.hidden = false;
  found.classList.toggle("some", warnings > 0);
  refresh(found, [first, last, progressives.length, warnings], () => [
    progressives.length === 0
      ? "No service has told a meter yet, and the store has no books of this week."
      : `${warnings === 0 ? "No warning" : warnings === 1 ? "1 warning" : `${warnings} warnings`} in the books of the gaming week ${writtenDay(first)} to ${writtenDay(last)}.`,
  ]);
}

/** @param {string} other */
const go = (other) => location.assign(`/progressives?${new URLSearchParams({ day: other })}`);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  go(day.value);
});
byId("print").addEventListener("click", () => print());
for (const key of form.querySelectorAll("[data-step]")) {
  key.addEventListener("click", () => go(daysLater(day.value, Number(key.getAttribute("data-step")))));
}

async function look() {
  try {
    show(await load());
    put("fault", "");
    heard = performance.now();
    document.body.classList.add("live");
    put("not-live-reason", "The Game Manager does not answer");
  } catch (error) {
    put("fault", faultOf(error));
    if (error instanceof Error && "code" in error && error.code === "not_of_role") {
      put("not-live-reason", error.message);
      return;
    }
  } finally {
    one("main").ariaBusy = "false";
  }
  setTimeout(look, EVERY_MILLISECONDS);
}

/** Also if a request has no answer at all, nothing old is shown as live. */
setInterval(() => {
  if (performance.now() - heard < SILENT_MILLISECONDS) return;
  document.body.classList.remove("live");
}, LOOK_MILLISECONDS);

look();
