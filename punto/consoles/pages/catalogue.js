// The orders that there are, as the service defines them: labels, sentences, groups, and how they are pressed.

import { orElse } from "./language.js";
import { ask } from "./service.js";

/** @import { OrderOnOffer } from "#sent/consoles" */

/** @type {Map<string, OrderOnOffer>} */
const orders = new Map();

/** Fetch them, once, before a page shows any. */
export async function fetchOrders() {
  while (orders.size === 0) {
    /** @type {import("./service.js").Answer<OrderOnOffer[]>} */
    const answer = await ask("GET", "/api/orders");
    if (answer.ok) for (const each of answer.body) orders.set(each.order, inWords(each));
    else await new Promise((go) => setTimeout(go, 1000));
  }
}

/**
 * An order in the page's language. The service is English, and has whatever the language's catalogue lacks.
 * @param {OrderOnOffer} own
 * @returns {OrderOnOffer}
 */
const inWords = (own) => ({
  ...own,
  label: orElse(`label.${own.order}`, own.label),
  sentence: orElse(`sentence.${own.order}`, own.sentence),
  usual: own.usual.map((reason) => orElse(`usual.${reason}`, reason)),
});

/** @param {string} order */
export function orderOf(order) {
  const found = orders.get(order);
  if (found === undefined) throw new Error(`the service has no order ${order}`);
  return found;
}

/** @param {string} order */
export const labelOf = (order) => orderOf(order).label;

/**
 * The orders of a group, in their order.
 * @param {OrderOnOffer["group"]} group
 */
export const groupOf = (group) => [...orders.values()].filter((each) => each.group === group);
