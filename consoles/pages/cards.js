// Cards as drawings, and as words.

import { element, svg } from "./elements.js";

// biome-ignore lint/security/noSecrets: the thirteen ranks
export const RANKS = [..."A23456789TJQK"];
export const SUITS = [..."SHDC"];
/** @type {Record<string, string>} */
const SUIT_WORDS = { S: "spades", H: "hearts", D: "diamonds", C: "clubs" };
/** @type {Record<string, string>} */
const RANK_WORDS = { A: "ace", T: "10", J: "jack", Q: "queen", K: "king" };
/**
 * The suits in a box of 20 × 20.
 * @type {Record<string, string>}
 */
const SHAPES = {
  S: "M10 1C8 5 2 8 2 12.2A3.9 3.9 0 0 0 9 14.4C8.8 16.4 8.2 17.8 7 19h6c-1.2-1.2-1.8-2.6-2-4.6a3.9 3.9 0 0 0 7-2.2C18 8 12 5 10 1z",
  H: "M10 18.6C8 14.6 1.6 11.4 1.6 6.6A4.5 4.5 0 0 1 10 4.4a4.5 4.5 0 0 1 8.4 2.2c0 4.8-6.4 8-8.4 12z",
  D: "M10 1c1.8 3.4 4 6.2 6.6 9-2.6 2.8-4.8 5.6-6.6 9-1.8-3.4-4-6.2-6.6-9C6 7.2 8.2 4.4 10 1z",
  C: "M10 1a4 4 0 0 1 3.5 5.9 4.1 4.1 0 1 1-2.5 7.2c.2 2.1.8 3.6 2 4.9H7c1.2-1.3 1.8-2.8 2-4.9a4.1 4.1 0 1 1-2.5-7.2A4 4 0 0 1 10 1z",
};

/** @param {string} rank */
export const rankWord = (rank) => RANK_WORDS[rank] ?? rank;
/** @param {string} suit */
export const suitWord = (suit) => SUIT_WORDS[suit];
/** @param {string} rank */
export const rankSign = (rank) => (rank === "T" ? "10" : rank);
/** @param {string | null} code */
export const cardWords = (code) => (code === null ? "face down" : `${rankWord(code[0])} of ${suitWord(code[1])}`);

/** @param {string} suit */
export function suitSign(suit) {
  const shape = svg("path", { d: SHAPES[suit] });
  return svg(
    "svg",
    { class: `suit ${"HD".includes(suit) ? "red" : "black"}`, viewBox: "0 0 20 20", "aria-hidden": true },
    shape,
  );
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
  const color = "HD".includes(code[1]) ? "red" : "black";
  drawn.append(
    svg("rect", { class: "paper", width: 60, height: 84, rx: 6 }),
    svg("text", { class: color, x: 5, y: 36 }, rankSign(code[0])),
    svg("path", { class: color, d: SHAPES[code[1]], transform: "translate(20 42) scale(1.8)" }),
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
