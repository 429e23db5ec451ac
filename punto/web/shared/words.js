// Words and times, whatever the page's language.

import { orElse } from "/shared/catalogue.js";

/**
 * Text of the service as a sentence begins.
 * @param {string} text
 */
export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1);

/**
 * A name of programs in words: `card_outside_play` is "card outside play".
 * @param {string} name
 */
export const spaced = (name) => name.replaceAll("_", " ");

/**
 * A name of programs in words, in the language of the page if it is known there.
 * @param {string} name
 */
export const plain = (name) => orElse(`name.${name}`, spaced(name));

/** The zone of the house's clock, if the page names it; else screens show their local time. The record has UTC. */
const { zone: timeZone } = document.documentElement.dataset;

/**
 * The time of day of a moment in UTC.
 * @param {string} ts
 */
export const clock = (ts) => new Date(ts).toLocaleTimeString("en-GB", { timeZone });

/**
 * Day and time of a moment in UTC, in English.
 * @param {string} ts
 */
export const dayAndTime = (ts) =>
  new Date(ts).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23", timeZone });

/**
 * A gaming day, "2026-11-24", as people write it in English: "24 Nov 2026".
 * @param {string} day
 */
export const writtenDay = (day) =>
  new Date(`${day}T00:00:00Z`).toLocaleDateString("en-GB", { dateStyle: "medium", timeZone: "UTC" });

/**
 * A moment in UTC in few letters: its hour and minute, and its day if that is not today.
 * @param {string} ts
 */
export function moment(ts) {
  const [day, today] = [new Date(ts), new Date()].map((each) =>
    each.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone }),
  );
  const time = new Date(ts).toLocaleTimeString("en-GB", { timeStyle: "short", timeZone });
  return day === today ? time : `${day}, ${time}`;
}
