// Amounts: exact decimals come from the service as text and are never converted to numbers, so nothing is rounded.

import { element } from "/static/elements.js";

/** "10000.24332900" as "10,000.24" with the fraction of a cent small beside it; negative with a minus. */
export function exact(text) {
  const [, sign, whole, cents, rest] = /^(-?)(\d+)\.(\d\d)(\d*)$/.exec(text);
  const shown = `${sign && "−"}${grouped(whole)}.${cents}`;
  const made = element("span", { class: "exact" }, shown);
  if (rest) made.append(element("span", { class: /^0*$/.test(rest) ? "rest nothing" : "rest" }, rest));
  return made;
}

/** A change: the same with its sign, and a dash for zero. */
export function change(text) {
  if (/^-?0+\.0+$/.test(text)) return element("span", { class: "nothing" }, "–");
  const made = exact(text);
  if (!text.startsWith("-")) made.prepend("+");
  return made;
}

/** Minor units as "1,234.56". */
export function minor(units) {
  return exact(decimals(units)).textContent;
}

const decimals = (units) => `${units < 0 ? "-" : ""}${Math.trunc(Math.abs(units) / 100)}.${String(Math.abs(units) % 100).padStart(2, "0")}`;
const grouped = (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ",");

/** A person's text, such as "1,234.5", in minor units. */
export function read(text, what) {
  const found = /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (found === null) throw new Error(`${what}: write an amount such as 1,234.50.`);
  const units = Number(found[1].replaceAll(",", "")) * 100 + Number((found[2] ?? "").padEnd(2, "0"));
  if (units > 1e12) throw new Error(`${what}: no meter holds so much.`);
  return units;
}
