// The orders that there are, as the service defines them: labels, sentences, groups, and how they are pressed.

import { ask } from "./service.js";

const orders = new Map();

/** Fetch them, once, before a page shows any. */
export async function fetchOrders() {
  for (;;) {
    const { status, body } = await ask("GET", "/api/orders");
    if (status === 200) {
      for (const each of body) orders.set(each.order, each);
      return;
    }
    await new Promise((go) => setTimeout(go, 1000));
  }
}

export const orderOf = (order) => orders.get(order);
export const labelOf = (order) => orderOf(order)?.label ?? order;

/** The orders of a group, in their order. */
export const groupOf = (group) => [...orders.values()].filter((each) => each.group === group);
