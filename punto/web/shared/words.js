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

/**
 * Local time of a moment in UTC: screens show local time, the record never does.
 * @param {string} ts
 */
export const clock = (ts) => new Date(ts).toLocaleTimeString("en-GB");

/**
 * Local day and time of a moment in UTC, in English.
 * @param {string} ts
 */
export const dayAndTime = (ts) =>
  new Date(ts).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium", hourCycle: "h23" });
