// Keying a card: rank and suit, by touch or by keyboard (A 2–9 T J Q K, and S H D C).

import { button, element } from "/shared/elements.js";
import { cardWords, RANKS, rankSign, rankWord, SUITS, suitSign, suitWord } from "./cards.js";
import { t } from "./language.js";

/**
 * Keys for one card. `changed` is called with the card's code when it is whole, and with null when it is not; `entered`, if
 * there is one, when Enter is pressed and the card is whole.
 * @param {(code: string | null, rank: string | null) => void} changed
 * @param {(() => void) | null} [entered]
 */
export function cardKeys(changed, entered = null) {
  /** @type {string | null} */
  let rank = null;
  /** @type {string | null} */
  let suit = null;
  /** @type {Map<string, HTMLButtonElement>} */
  const keys = new Map();
  /** @type {(name: string, sign: string | Node, words: string) => HTMLButtonElement} */
  const key = (name, sign, words) => {
    const made = button(sign, () => choose(name), {
      class: "card-key",
      "aria-label": words,
      "aria-pressed": "false",
      "data-key": name,
    });
    keys.set(name, made);
    return made;
  };
  const node = element(
    "div",
    { class: "card-keys", role: "group", "aria-label": t("rank_and_suit") },
    element("div", { class: "ranks" }, ...RANKS.map((each) => key(each, rankSign(each), rankWord(each)))),
    element("div", { class: "suits" }, ...SUITS.map((each) => key(each, suitSign(each), suitWord(each)))),
  );
  node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const name = event.key === "0" ? "T" : event.key.toUpperCase();
    if (event.key === "Backspace") clear();
    else if (event.key === "Enter" && entered !== null && rank !== null && suit !== null) entered();
    else if (event.key === "Enter")
      show(); // it enters a card and chooses none: the key that has the focus was not asked for
    else if (keys.has(name)) choose(name);
    else return;
    event.preventDefault();
  });

  /** @param {string} name */
  function choose(name) {
    if (RANKS.includes(name)) rank = name;
    else suit = name;
    if (node.contains(document.activeElement)) keys.get(name)?.focus(); // or two keys would look chosen
    show();
  }

  function clear() {
    rank = null;
    suit = null;
    show();
  }

  function show() {
    for (const [name, made] of keys) made.setAttribute("aria-pressed", String(name === rank || name === suit));
    changed(rank !== null && suit !== null ? rank + suit : null, rank);
  }

  return { node, clear, focus: () => keys.get("A")?.focus() };
}

/**
 * What has been chosen so far, in words.
 * @param {string | null} code
 * @param {string | null} rank
 */
export const chosenWords = (code, rank) =>
  code === null
    ? rank === null
      ? t("rank_then_suit")
      : t("card.of", { rank: rankWord(rank), suit: "…" })
    : cardWords(code);
