// What newer browsers have of their own, for the oldest one that the pages support.

/**
 * The last of some, as Array.at(-1) has it.
 * @template Item
 * @param {Item[]} items
 * @returns {Item | undefined}
 */
export const lastOf = (items) => items[items.length - 1];

/**
 * The items by their keys, in the order of their first, as Map.groupBy has them.
 * @template Item, Key
 * @param {Item[]} items
 * @param {(item: Item) => Key} keyOf
 */
export function groupedBy(items, keyOf) {
  /** @type {Map<Key, Item[]>} */
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/**
 * A signal that gives a request up after this time, as AbortSignal.timeout has it.
 * @param {number} milliseconds
 */
export function givenUpAfter(milliseconds) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), milliseconds);
  return controller.signal;
}
