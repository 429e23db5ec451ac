// Gaming days in date fields. A browser's own form of a day depends on its language, so a field shows the day as the pages write it
// (base.css), until a person writes there.

import { writtenDay } from "/shared/words.js";

const DAY_MILLISECONDS = 86_400_000;

/**
 * A day so many days later, as "2026-11-24".
 * @param {string} day
 * @param {number} days
 */
export const daysLater = (day, days) => new Date(Date.parse(day) + days * DAY_MILLISECONDS).toISOString().slice(0, 10);

/**
 * Fill in a date field.
 * @param {HTMLInputElement} field
 * @param {string} day
 */
export function setDay(field, day) {
  field.value = day;
  write(field);
}

/** @param {HTMLInputElement} field */
function write(field) {
  if (field.value === "") delete field.dataset.written;
  else field.dataset.written = writtenDay(field.value);
}

document.addEventListener("input", ({ target }) => {
  if (target instanceof HTMLInputElement && target.type === "date") write(target);
});
