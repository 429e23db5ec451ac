// A moment: for some seconds the whole board says who won. Then the new mark lands on the roads.

import { t, titleOfWager } from "/shared/catalogue.js";
import { element, one } from "/shared/elements.js";
import { hand, pays, winners } from "./award.js";
import { fit } from "./fit.js";

/** @import { MeterAward, Result, State } from "#sent/displays" */

const RESULT_MILLISECONDS = 2600;
const JACKPOT_MILLISECONDS = 10_000; // so long the meter and the roads may be out of sight

/** @typedef {{ kind: string, letter: string, what: string, figures: string, how: string, badges: Node[], milliseconds: number }} Told */

/**
 * @param {Result} result that of a coup with a winner
 * @param {State["wager_titles"]} titles
 */
export function resultTold({ winner, status, natural, player_total, banker_total, player, banker, hits }, titles) {
  const totals = winner === "banker" ? [banker_total, player_total] : [player_total, banker_total];
  const cards = winner === "banker" ? banker : player;
  const how = natural ? t("natural") : winner !== "tie" && cards.length === 3 ? t("three_cards") : "";
  return {
    kind: String(winner),
    letter: t(`letter.${winner}`),
    what: t(`wins.${winner}`),
    figures: totals.join(" : "),
    how: status === "dummy" ? t("remark.dummy") : how,
    badges: hits.map(({ wager, title, pays: words, badge: colour }) => {
      const name = titleOfWager(wager, title, titles?.[wager]);
      const badge = element("div", {}, element("dt", {}, name), element("dd", {}, pays(words)));
      badge.style.setProperty("--badge", colour);
      return badge;
    }),
    milliseconds: RESULT_MILLISECONDS,
  };
}

/**
 * @param {MeterAward} award
 * @param {string} amount
 */
export const jackpotTold = (award, amount) => ({
  kind: "jackpot",
  letter: "",
  what: t("award.whole"),
  figures: amount,
  how: `${winners(award)} · ${hand(award)}`,
  badges: [],
  milliseconds: JACKPOT_MILLISECONDS,
});

export class Moment {
  /**
   * @param {HTMLElement} box the .moment of a board
   * @param {() => void} onEnd called when the board is free again
   */
  constructor(box, onEnd) {
    this.#box = box;
    this.#onEnd = onEnd;
  }

  #box;
  #onEnd;
  /** @type {number | undefined} */
  #timer;

  get lasts() {
    return this.#timer !== undefined;
  }

  /** @param {Told} told */
  begin({ kind, letter, what, figures, how, badges, milliseconds }) {
    this.#box.className = `moment now ${kind}`;
    // Latin letters say no more than the words beside them.
    this.#one(".letter").textContent = letter.charCodeAt(0) > 0x2e_7f ? letter : "";
    this.#one(".what").textContent = what;
    this.#one(".figures span").textContent = figures;
    this.#one(".figures small").textContent = how;
    this.#one(".badges").replaceChildren(...badges);
    fit(this.#one(".what"));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), milliseconds);
  }

  /** Give the board back, also before its time: the next hand does not wait for it. */
  end() {
    if (!this.lasts) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#box.classList.remove("now");
    this.#onEnd();
  }

  /** @param {string} part */
  #one(part) {
    return one(part, HTMLElement, this.#box);
  }
}
