// What people call progressives, tables and the hands of awards, by what the page knows of the record.

import { spaced } from "/shared/words.js";

/** @import { Overview } from "#sent/game-manager" */
/** @import { Words } from "/shared/books.js" */
/** @typedef {Words & { table: (id: string) => string }} Named */

/**
 * Of two progressives with one title, the identifier is beside it.
 * @param {() => Overview | null} overview as it is known now
 * @returns {Named}
 */
export const wordsOf = (overview) => ({
  title(progressive) {
    const { meters = [], own = null } = overview() ?? {};
    const titles = new Map([...meters, ...(own === null ? [] : [own])].map((each) => [each.progressive, each.title]));
    const title = titles.get(progressive) ?? progressive;
    const isAlone = [...titles.values()].filter((each) => each === title).length < 2;
    return isAlone ? title : `${title} (${progressive})`;
  },
  tier(progressive, tier) {
    const meter = overview()?.meters.find((each) => each.progressive === progressive);
    return meter?.tiers[tier ?? ""] ?? spaced(tier ?? "");
  },
  table(id) {
    const known = overview();
    return id === known?.table ? known.name : id; // the record has the name of its own table alone
  },
});
