// The result's moment: for some seconds the whole board says who won, and then the new mark lands on the roads.

import { orElse, t } from "/shared/catalogue.js";
import { element, one } from "/shared/elements.js";
import { pays as inWords } from "./award.js";
import { fit } from "./fit.js";

/** @import { Result } from "#sent/displays" */

const MOMENT_MILLISECONDS = 2600;

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

  /** @param {Result} result that of a coup with a winner */
  begin({ winner, status, natural, player_total, banker_total, player, banker, hits }) {
    if (winner === null) return;
    const banker_first = winner === "banker";
    const of = banker_first ? banker : player;
    this.#box.className = `moment now ${winner}`;
    this.#text(".letter", t(`letter.${winner}`));
    this.#text(".winner", t(`wins.${winner}`));
    this.#text(".totals span", (banker_first ? [banker_total, player_total] : [player_total, banker_total]).join(" : "));
    const how = natural ? t("natural") : winner !== "tie" && of.length === 3 ? t("three_cards") : "";
    this.#text(".totals small", status === "dummy" ? t("remark.dummy") : how);
    one(".badges", HTMLElement, this.#box).replaceChildren(
      ...hits.map(({ wager, title, pays, badge: color }) => {
        const name = orElse(`wager.${wager}`, title);
        const badge = element("div", {}, element("dt", {}, name), element("dd", {}, inWords(pays)));
        badge.style.setProperty("--badge", color);
        return badge;
      }),
    );
    fit(one(".winner", HTMLElement, this.#box));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), MOMENT_MILLISECONDS);
  }

  /** Give the board back, also before its time: the next hand does not wait for it. */
  end() {
    if (!this.lasts) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#box.classList.remove("now");
    this.#onEnd();
  }

  /**
   * @param {string} part
   * @param {string} text
   */
  #text(part, text) {
    one(part, HTMLElement, this.#box).textContent = text;
  }
}
