// Cards as drawings, and as words.

import { element, svg } from "/shared/elements.js";
import { SUIT_PATHS, suitColor } from "/shared/suits.js";
import { t } from "./language.js";

export const RANKS = [..."A23456789TJQK"];
export const SUITS = [..."SHDC"];
/** @type {Record<string, string>} */
const SUIT_WORDS = { S: t("suit.S"), H: t("suit.H"), D: t("suit.D"), C: t("suit.C") };
/** @type {Record<string, string>} */
const RANK_WORDS = { A: t("rank.A"), T: "10", J: t("rank.J"), Q: t("rank.Q"), K: t("rank.K") };
/** @param {string} rank */
export const rankWord = (rank) => RANK_WORDS[rank] ?? rank;
/** @param {string} suit */
export const suitWord = (suit) => SUIT_WORDS[suit];
/** @param {string} rank */
export const rankSign = (rank) => (rank === "T" ? "10" : rank);
/** @param {string | null} code */
export const cardWords = (code) =>
  code === null ? t("card.back") : t("card.of", { rank: rankWord(code[0]), suit: suitWord(code[1]) });

/** @param {string} suit */
export function suitSign(suit) {
  const shape = svg("path", { d: SUIT_PATHS[suit] });
  return svg("svg", { class: `suit ${suitColor(suit)}`, viewBox: "0 0 20 20", "aria-hidden": true }, shape);
}

/**
 * A card's face, or its back where it is not shown.
 * @param {string | null} code
 */
export function card(code) {
  const drawn = svg("svg", {
    class: "card",
    viewBox: "0 0 60 84",
    role: "img",
    "aria-label": cardWords(code),
    "data-card": code ?? "back",
  });
  if (code === null) {
    drawn.append(
      svg("rect", { class: "back", x: 1.5, y: 1.5, width: 57, height: 81, rx: 6 }),
      svg("path", { class: "weave", d: "M8 14 52 70M8 70 52 14M30 8v68M8 42h44" }),
    );
    return drawn;
  }
  const color = suitColor(code[1]);
  drawn.append(
    svg("rect", { class: "paper", width: 60, height: 84, rx: 6 }),
    svg("text", { class: color, x: 5, y: 36 }, rankSign(code[0])),
    svg("path", { class: color, d: SUIT_PATHS[code[1]], transform: "translate(20 42) scale(1.8)" }),
  );
  return drawn;
}

/**
 * A card in running text, such as 9♠.
 * @param {string | null} code
 */
export const smallCard = (code) =>
  element(
    "span",
    { class: "small-card" },
    element("span", { class: "unseen" }, cardWords(code)),
    ...(code === null ? ["?"] : [element("span", { "aria-hidden": true }, rankSign(code[0])), suitSign(code[1])]),
  );
