// What the service says by codes and numbers, in words.

import { plain as named } from "/shared/words.js";
import { t } from "./language.js";

/** @import { RoundRecord } from "#sent/consoles" */

export const SIDES = { player: t("player"), banker: t("banker"), tie: t("tie") };
export const OUTCOMES = {
  win: t("outcome.win"),
  award: t("outcome.award"),
  lose: t("outcome.lose"),
  push: t("outcome.push"),
  void: t("outcome.void"),
};
export const PHASES = {
  locked: t("phase.locked"),
  closed: t("phase.closed"),
  shoe_change: t("phase.shoe_change"),
  betting: t("phase.betting"),
  dealing: t("phase.dealing"),
  reveal: t("phase.reveal"),
  settled: t("phase.settled"),
};

export const plain = named;

/**
 * The day and time of a moment in UTC by the house's clock.
 * @param {string} ts
 */
export const dayAndClock = (ts) =>
  new Date(ts).toLocaleString(t("locale"), {
    dateStyle: "medium",
    timeStyle: "medium",
    hourCycle: "h23",
    timeZone: document.documentElement.dataset.zone,
  });

/**
 * A moment in UTC by the house's clock to the minute, with its day if that is not today.
 * @param {string} ts
 * @param {string} now when the table was as it is shown, because the clock of a screen may be wrong
 */
export function whenItWas(ts, now) {
  const [day, today] = [ts, now].map((each) =>
    new Date(each).toLocaleDateString(t("locale"), {
      dateStyle: "medium",
      timeZone: document.documentElement.dataset.zone,
    }),
  );
  return day === today ? hourAndMinute(ts) : t("shift.moment", { day, time: hourAndMinute(ts) });
}

/**
 * The hour and minute of a moment in UTC by the house's clock.
 * @param {string} ts
 */
export const hourAndMinute = (ts) =>
  new Date(ts).toLocaleTimeString(t("locale"), {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: document.documentElement.dataset.zone,
  });

/**
 * How a round came out, in words.
 * @param {RoundRecord} round
 */
export function headline(round) {
  if (round.status === "void") return t("round.void");
  if (round.status === "correction") {
    return round.winner === null
      ? t("round.voided", { hand: round.coup })
      : t("round.corrected", { hand: round.coup, result: resultOf(round) });
  }
  return round.status === "dummy" ? t("round.dummy", { result: resultOf(round) }) : resultOf(round);
}

/** @param {RoundRecord} round */
export function resultOf({ winner, player_total, banker_total }) {
  const [player, banker] = [String(player_total), String(banker_total)];
  if (winner === "tie") return t("result.tie", { player, banker });
  return winner === "player" ? t("result.player", { player, banker }) : t("result.banker", { player, banker });
}

/**
 * The number of a hand in its shoe; an entry that corrects or voids it has the same number with a letter.
 * @param {RoundRecord} round
 */
export const handOf = ({ coup, corrects, winner }) =>
  corrects === null ? String(coup) : `${coup} ${winner === null ? t("letter.void") : t("letter.correction")}`;

/** @param {RoundRecord} round */
export const remarks = ({ natural, player_pair, banker_pair }) => [
  ...(natural ? [t("natural")] : []),
  ...(player_pair ? [t("player_pair")] : []),
  ...(banker_pair ? [t("banker_pair")] : []),
];
