// What may be wagered: the least and the most on Banker and Player in large figures, and a line for each other wager.

import { t, titleOfWager } from "/shared/catalogue.js";
import { element } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";

/** @import { State } from "#sent/displays" */
/** @typedef {State["limits"][number]} Limits */
/** @typedef {(limits: Limits) => string} NameOf */

const BASE_WAGERS = ["banker", "player"];

/**
 * The lines of a table's limits; a wager that has none has no line.
 * @param {State["limits"]} limits
 * @param {string} currency
 * @param {State["wager_titles"]} titles
 */
export function limitLines(limits, currency, titles) {
  /** @type {NameOf} */
  const nameOf = ({ wager, title }) => titleOfWager(wager, title, titles?.[wager]);
  const money = moneyIn(currency);
  const { base, alike } = baseOf(limits);
  return [
    ...(alike ? base.slice(0, 1) : base).map((each) => block(each, alike, money, nameOf)),
    ...limits.filter((each) => !base.includes(each) && isLimited(each)).map((each) => line(each, money, nameOf)),
  ];
}

/**
 * The limits of Banker and Player in one line.
 * @param {State["limits"]} limits
 * @param {string} currency
 * @param {State["wager_titles"]} titles
 */
export function rangesInLine(limits, currency, titles) {
  const { base, alike } = baseOf(limits);
  const money = moneyIn(currency);
  const ranges = base.map((each) => range(each, money));
  if (alike) return ranges[0] ?? "";
  return base.map(({ wager, title }, at) => `${titleOfWager(wager, title, titles?.[wager])} ${ranges[at]}`).join(" · ");
}

/** @param {State["limits"]} limits */
function baseOf(limits) {
  const base = limits.filter(({ wager }) => BASE_WAGERS.includes(wager));
  return { base, alike: base.every((each) => each.minimum === base[0].minimum && each.maximum === base[0].maximum) };
}

/** @param {Limits} limits */
const isLimited = ({ minimum, maximum, maximum_of_base: share }) => minimum > 1 || maximum !== null || share !== null;

/**
 * @param {Limits} limits
 * @param {boolean} alike
 * @param {(minor: number) => string} money
 * @param {NameOf} nameOf
 */
function block(limits, alike, money, nameOf) {
  const { wager, minimum, maximum } = limits;
  const part = (/** @type {string} */ word, /** @type {number} */ amount) =>
    element(
      "div",
      {},
      element("dt", {}, alike ? t(word) : `${nameOf(limits)} ${t(word)}`),
      element("dd", {}, money(amount)),
    );
  return element(
    "dl",
    { class: alike ? "base alike" : "base", "data-wager": wager },
    ...(maximum === minimum
      ? [part("limits", minimum)]
      : [part("minimum", minimum), ...(maximum === null ? [] : [part("maximum", maximum)])]),
  );
}

/**
 * @param {Limits} limits
 * @param {(minor: number) => string} money
 * @param {NameOf} nameOf
 */
function line(limits, money, nameOf) {
  const { wager } = limits;
  return element(
    "dl",
    { class: "side", "data-wager": wager },
    element("dt", {}, nameOf(limits)),
    element("dd", {}, range(limits, money)),
  );
}

/**
 * From the least to the most; one sum if they are the same.
 * @param {Limits} limits
 * @param {(minor: number) => string} money
 */
function range({ minimum, maximum, maximum_of_base: share }, money) {
  const most = [
    ...(maximum === null ? [] : [money(maximum)]),
    ...(share === null ? [] : [t("of_base", { share })]),
  ].join(t("comma"));
  if (most === "") return `${t("minimum")} ${money(minimum)}`;
  return minimum === maximum ? most : `${money(minimum)} – ${most}`;
}
