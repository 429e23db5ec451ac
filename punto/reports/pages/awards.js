// The drawing of awards, and of games that nobody won.

import { element, table } from "/shared/elements.js";
import { exact } from "/shared/exact.js";
import { dayAndClock } from "/shared/times.js";

/** @import { Award, NobodyWon } from "#sent/game-manager" */

const STATES = { locked: "Locked, not booked", booked: "Booked", backed_out: "Backed out" };

/**
 * Awards, each with its keys and what was printed of it.
 * @param {Award[]} awards
 * @param {(award: Award) => Node[]} keysOf
 */
export function awardsTable(awards, keysOf) {
  if (awards.length === 0) return element("p", { class: "quiet" }, "No award yet.");
  return table(
    "",
    ["Award", "Tier", "Round", ">Meter", ">Amount", "Shares, as paid", "Confirmed", "State", "Win page"],
    awards.map((award) => [
      element("b", {}, `${award.progressive} ${award.number}`),
      award.title,
      `${award.round} at ${award.table}`,
      award.payer === "meter" ? exact(award.meter) : "",
      element(
        "span",
        {},
        element("b", {}, exact(award.amount)),
        ...(award.payer === "tray" ? [element("small", {}, "from the tray")] : []),
      ),
      element("ul", {}, ...award.shares.map(({ seat, amount }) => element("li", {}, `Seat ${seat} `, exact(amount)))),
      element("span", {}, confirmedBy(award), element("small", {}, dayAndClock(award.locked))),
      stateOf(award),
      element("div", { class: "keys" }, ...keysOf(award), ...printed(award)),
    ]),
  );
}

const KEY_SWITCH = "key switch"; // a key does not tell who turned it

/** @type {Record<Award["by"], (level: string | null) => string>} */
const BY = {
  key: () => "key",
  card: (level) => `${level} card`,
  signature: (level) => `${level} signature`,
  dealer: () => "dealer alone",
};
/** @param {Award | NobodyWon} award */
const confirmedBy = ({ who, by, level, confirmed_by: first }) =>
  `${first ? `${first}, then ` : ""}${who}${by === null || who === KEY_SWITCH ? "" : `, ${BY[by](level)}`}`;

/** @typedef {(progressive: string, tier: string | null) => string} TierOf an award's hand in words */

/**
 * Games that ended with NOBODY WON, and those of them that were reopened.
 * @param {NobodyWon[]} games
 * @param {TierOf} tierOf
 */
export const nobodyWon = (games, tierOf) =>
  games.map((game) =>
    element(
      "p",
      {},
      game.lost
        ? `${dayAndClock(game.ts)}, game ${game.round} ended without its table ${game.table} by ${game.who}, approved by ${game.approved_by}: ${game.reason}`
        : game.again
          ? `${dayAndClock(game.ts)}, game ${game.round} at ${game.table} opened again by ${game.who}, approved by ${game.approved_by}: ${game.reason}`
          : `${dayAndClock(game.ts)}, nobody won game ${game.round} at ${game.table} (${tierOf(game.progressive, game.tier)}, ${game.amount}), confirmed by ${confirmedBy(game)}: ${game.reason}`,
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
