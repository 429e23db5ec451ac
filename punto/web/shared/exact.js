// Amounts: exact decimals come from the service as text and are never converted to numbers, so nothing is rounded.

import { element } from "/shared/elements.js";
import { decimal } from "/shared/money.js";

/** The decimals of the currency's unit, and the six that an amount on a meter has below its minor unit. */
const DECIMALS = /^(-?)(\d+)(?:\.(\d{1,3})??(\d{6})?)?$/u;

/**
 * "10000.24332900" as "10,000.243329" with the fraction of a cent, "3329", in small digits, and "10000.80000000" as "10,000.80" alone;
 * negative with a minus.
 * @param {string} text
 */
export function exact(text) {
  const [, sign, whole, part, rest] = DECIMALS.exec(text) ?? ["", "", text];
  const shown = `${sign && "−"}${grouped(whole)}${part ? `.${part}` : ""}`;
  const made = element("span", { class: "exact" }, shown);
  const fraction = (rest ?? "").replace(/0+$/u, "");
  if (fraction) made.append(element("span", { class: "rest" }, part ? fraction : `.${fraction}`));
  return made;
}

/**
 * Whether an amount is zero.
 * @param {string} text
 */
export const isZero = (text) => !/[1-9]/u.test(text);

/**
 * A change: the same with its sign, and a dash for zero.
 * @param {string} text
 */
export function change(text) {
  if (isZero(text)) return element("span", { class: "nothing" }, "–");
  const made = exact(text);
  if (!text.startsWith("-")) made.prepend("+");
  return made;
}

/**
 * Minor units as "1,234.56".
 * @param {number} units
 * @param {string} currency
 */
export const minor = (units, currency) => exact(decimal(units, currency)).textContent ?? "";

/** @param {string} whole */
const grouped = (whole) => whole.replace(/\B(?=(\d{3})+$)/gu, ",");
