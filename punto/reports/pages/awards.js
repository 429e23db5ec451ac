// The drawing of awards, and of games that nobody won.

import { KEY_SWITCH } from "/shared/books.js";
import { element, svg, table } from "/shared/elements.js";
import { exact } from "/shared/exact.js";
import { dayAndClock } from "/shared/times.js";
import { sentence } from "/shared/words.js";

/** @import { Award, NobodyWon } from "#sent/game-manager" */
/** @import { Named } from "./words.js" */

const STATES = { locked: "Locked, not booked", booked: "Booked", backed_out: "Backed out" };

/**
 * Awards, each with its keys and what was printed of it.
 * @param {Award[]} awards
 * @param {Named} words
 * @param {{ print: (award: Award) => Node[], back: (award: Award) => Node[] }} keys
 */
export function awardsTable(awards, words, keys) {
  if (awards.length === 0) return element("p", { class: "quiet" }, "No award yet.");
  return table(
    "",
    ["Award", "Tier", "Hand", ">Meter", ">Amount", "Shares, as paid", "Confirmed", "State", "Win page"],
    awards.map((award) => [
      element("span", {}, element("b", {}, award.number), element("small", {}, words.title(award.progressive))),
      award.title,
      element("span", {}, award.round, element("small", { class: "at-table" }, words.table(award.table))),
      award.payer === "meter" ? exact(award.meter) : "",
      element(
        "span",
        {},
        element("b", {}, exact(award.amount)),
        ...(award.payer === "tray" ? [element("small", {}, "from the tray")] : []),
      ),
      element("ul", {}, ...award.shares.map(({ seat, amount }) => element("li", {}, `Seat ${seat} `, exact(amount)))),
      element("span", {}, sentence(confirmedBy(award)), element("small", {}, dayAndClock(award.locked))),
      element("div", {}, stateOf(award), ...keys.back(award)),
      element("div", { class: "keys" }, ...keys.print(award), ...printed(award)),
    ]),
  );
}

/** @type {Record<Award["by"], (level: string | null) => string>} */
const BY = {
  key: () => "key",
  card: (level) => `${level} card`,
  signature: (level) => `${level} signature`,
  dealer: () => "dealer alone",
};
/** @param {Award | NobodyWon} award */
function confirmedBy({ who, by, level, confirmed_by: first }) {
  const last =
    who === KEY_SWITCH ? "supervisor’s key, without a name" : `${who}${by === null ? "" : `, ${BY[by](level)}`}`;
  return first ? `${first}, then ${last}` : last;
}

/**
 * Games that ended with NOBODY WON, and those of them that were reopened.
 * @param {NobodyWon[]} games
 * @param {Named} words
 */
export const nobodyWon = (games, words) =>
  games.map((game) =>
    element(
      "p",
      {},
      game.lost
        ? `${dayAndClock(game.ts)}, the game of hand ${game.round} ended without its table ${words.table(game.table)} by ${game.who}, approved by ${game.approved_by}: ${game.reason}`
        : game.again
          ? `${dayAndClock(game.ts)}, the game of hand ${game.round} at ${words.table(game.table)} opened again by ${game.who}, approved by ${game.approved_by}: ${game.reason}`
          : `${dayAndClock(game.ts)}, nobody won hand ${game.round} at ${words.table(game.table)} (${words.tier(game.progressive, game.tier)}, ${game.amount}), confirmed by ${confirmedBy(game)}: ${game.reason}`,
    ),
  );

/** @param {Award} award */
function stateOf({ state, booked, backed_out: back }) {
  const made = element("span", { class: `state ${state}` }, STATES[state]);
  if (back)
    made.append(
      element(
        "small",
        {},
        `${dayAndClock(back.ts)}, ${back.who}${back.approved_by ? `, approved by ${back.approved_by}` : ""}: ${back.reason}`,
      ),
    );
  else if (booked) made.append(element("small", {}, dayAndClock(booked)));
  return made;
}

/** @param {Award} award */
const printed = ({ prints }) => {
  const copies = prints.filter((each) => !each.original).length;
  const original = prints.find((each) => each.original);
  const said = [
    ...(original ? [`Printed ${dayAndClock(original.ts)}, ${original.who}`] : []),
    ...(copies > 0 ? [`Copies: ${copies}`] : []),
  ];
  return said.map((text) => element("small", {}, text));
};

export const bag = () =>
  svg(
    "svg",
    { viewBox: "0 0 24 24", class: "bag", "aria-hidden": true },
    svg("path", { d: "M8 2h8l-2 4h-4zM9 7h6c4 3 6 7 6 10 0 3-2 5-5 5H8c-3 0-5-2-5-5 0-3 2-7 6-10z" }),
  );
