// Amounts: exact decimals come from the service as text and are never converted to numbers, so nothing is rounded.

import { element } from "/shared/elements.js";

const DECIMALS = /^(-?)(\d+)\.(\d\d)(\d*)$/u;

/**
 * "10000.24332900" as "10,000.24" with the fraction of a cent small beside it; negative with a minus.
 * @param {string} text
 */
export function exact(text) {
  const [, sign, whole, cents, rest] = DECIMALS.exec(text) ?? ["", "", text, "", ""];
  const shown = `${sign && "−"}${grouped(whole)}.${cents}`;
  const made = element("span", { class: "exact" }, shown);
  if (rest) made.append(element("span", { class: /^0*$/u.test(rest) ? "rest nothing" : "rest" }, rest));
  return made;
}

/**
 * A change: the same with its sign, and a dash for zero.
 * @param {string} text
 */
export function change(text) {
  if (/^-?0+\.0+$/u.test(text)) return element("span", { class: "nothing" }, "–");
  const made = exact(text);
  if (!text.startsWith("-")) made.prepend("+");
  return made;
}

/**
 * Minor units as "1,234.56".
 * @param {number} units
 */
export const minor = (units) => exact(decimals(units)).textContent;

/** @param {number} units */
const decimals = (units) =>
  `${units < 0 ? "-" : ""}${Math.trunc(Math.abs(units) / 100)}.${String(Math.abs(units) % 100).padStart(2, "0")}`;
/** @param {string} whole */
const grouped = (whole) => whole.replace(/\B(?=(\d{3})+$)/gu, ",");
