// What the service says by codes and numbers, in words.

/** @import { RoundRecord } from "#sent/consoles" */

export const SIDES = { player: "Player", banker: "Banker", tie: "Tie" };
export const OUTCOMES = { win: "Wins", award: "Award", lose: "Loses", push: "Push", void: "Returned" };
export const PHASES = {
  locked: "Locked",
  closed: "Closed",
  shoe_change: "Shoe change",
  betting: "Wagers open",
  dealing: "No more wagers",
  reveal: "No more wagers",
  settled: "Hand settled",
};

/**
 * Text of the service as a sentence begins.
 * @param {string} text
 */
export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1);

/**
 * A name of programs in words: `card_outside_play` is "card outside play".
 * @param {string} name
 */
export const plain = (name) => name.replaceAll("_", " ");

/**
 * Local time of a moment in UTC: screens show local time, the record never does.
 * @param {string} ts
 */
export const clock = (ts) => new Date(ts).toLocaleTimeString("en-GB");
/** @param {string} ts */
export const dayAndClock = (ts) => new Date(ts).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

/**
 * How a round came out, in words.
 * @param {RoundRecord} round
 */
export function headline(round) {
  if (round.status === "void") return "Void: wagers returned";
  if (round.status === "correction") {
    return round.winner === null
      ? `Round ${round.corrects} voided`
      : `Round ${round.corrects} corrected: ${result(round)}`;
  }
  return round.status === "dummy" ? `Dummy hand: ${result(round)}` : result(round);
}

/** @param {RoundRecord} round */
function result({ winner, player_total, banker_total }) {
  if (winner === "tie") return `Tie, ${player_total} all`;
  return winner === "player"
    ? `${SIDES.player} wins, ${player_total} to ${banker_total}`
    : `${SIDES.banker} wins, ${banker_total} to ${player_total}`;
}

/** @param {RoundRecord} round */
export const remarks = ({ natural, player_pair, banker_pair }) => [
  ...(natural ? ["Natural"] : []),
  ...(player_pair ? ["Player pair"] : []),
  ...(banker_pair ? ["Banker pair"] : []),
];
