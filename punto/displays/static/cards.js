// Playing cards, 100 × 140, with indices large enough to be read from the other side of a room.

import { svg } from "/shared/elements.js";
import { SUIT_PATHS, suitColor } from "/shared/suits.js";

/** @typedef {[x: number, y: number]} Point */

const [LEFT, MIDDLE, RIGHT] = [37.5, 50, 62.5];
/** @type {(...heights: number[]) => Point[]} */
const both = (...heights) =>
  heights.flatMap((y) => [
    [LEFT, y],
    [RIGHT, y],
  ]);
/** @type {(...heights: number[]) => Point[]} */
const between = (...heights) => heights.map((y) => [MIDDLE, y]);
/**
 * The places of each rank's pips, as on any deck; those in the lower half are upside down.
 * @type {Record<string, Point[]>}
 */
const PIPS = {
  2: between(27, 113),
  3: between(27, 70, 113),
  4: both(27, 113),
  5: [...both(27, 113), ...between(70)],
  6: both(27, 70, 113),
  7: [...both(27, 70, 113), ...between(48.5)],
  8: [...both(27, 70, 113), ...between(48.5, 91.5)],
  9: [...both(27, 55.7, 84.3, 113), ...between(70)],
  T: [...both(27, 55.7, 84.3, 113), ...between(41.3, 98.7)],
};

/**
 * A card by its code, such as "9S"; the back of a hidden card, whose code is null.
 * @param {string | null} code
 * @param {string} label
 */
export function card(code, label) {
  if (code === null) return back(label);
  const [rank, suit] = code;
  return svg(
    "svg",
    {
      class: `card ${suitColor(suit)}`,
      viewBox: "0 0 100 140",
      role: "img",
      "aria-label": label,
      "data-card": code,
    },
    svg("rect", { class: "paper", width: 100, height: 140, rx: 9 }),
    ...corner(rank, suit),
    svg("g", { transform: "rotate(180 50 70)" }, ...corner(rank, suit)),
    ...face(rank, suit),
  );
}

/**
 * @param {string} rank
 * @param {string} suit
 */
function corner(rank, suit) {
  const [textLength, lengthAdjust] = rank === "T" ? [25, "spacingAndGlyphs"] : [null, null];
  return [
    svg("text", { class: "rank", x: 15, y: 32, textLength, lengthAdjust }, rank === "T" ? "10" : rank),
    symbol(suit, 15, 47, 20),
  ];
}

/**
 * @param {string} rank
 * @param {string} suit
 */
function face(rank, suit) {
  if (rank === "A") return [symbol(suit, MIDDLE, 70, 46)];
  if (!(rank in PIPS)) return court(rank, suit);
  return PIPS[rank].map(([x, y]) => symbol(suit, x, y, 19));
}

/**
 * @param {string} rank
 * @param {string} suit
 */
function court(rank, suit) {
  const half = () => [
    svg("use", { href: `#court-${rank}`, x: 29.5, y: 14, width: 41, height: 56 }),
    symbol(suit, 62.5, 22, 11),
  ];
  return [
    svg("rect", { class: "frame", x: 30, y: 13, width: 40, height: 114, rx: 3 }),
    ...half(),
    svg("g", { transform: "rotate(180 50 70)" }, ...half()),
  ];
}

/**
 * @param {string} suit
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function symbol(suit, x, y, size) {
  const upside = y > 70 ? " rotate(180)" : "";
  return svg("path", {
    d: SUIT_PATHS[suit],
    transform: `translate(${x} ${y})${upside} scale(${size / 20}) translate(-10 -10)`,
  });
}

/** @param {string} label */
function back(label) {
  const lines = [];
  for (let at = -120; at < 100; at += 12) lines.push(`M${at} 8l124 124M${at + 124} 8 ${at} 132`);
  return svg(
    "svg",
    { class: "card", viewBox: "0 0 100 140", role: "img", "aria-label": label, "data-card": "back" },
    svg("rect", { class: "paper", width: 100, height: 140, rx: 9 }),
    svg(
      "svg",
      { x: 7, y: 7, width: 86, height: 126, viewBox: "7 7 86 126" },
      svg("rect", { class: "back", x: 7, y: 7, width: 86, height: 126, rx: 5 }),
      svg("path", { class: "weave", d: lines.join("") }),
    ),
  );
}

/** The place of a card that has not been dealt. */
export function place() {
  return svg(
    "svg",
    { class: "card", viewBox: "0 0 100 140", "aria-hidden": "true" },
    svg("rect", { class: "place", x: 1.5, y: 1.5, width: 97, height: 137, rx: 9 }),
  );
}
