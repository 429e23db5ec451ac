// The liveness of the screen: live for as long as the server says, and after that NOT LIVE with the reason.

import { t } from "/shared/catalogue.js";
import { one } from "/shared/elements.js";
import { when } from "./award.js";

/** @typedef {{ milliseconds: number, code: number, seen?: string | null }} Liveness live for so long, then not live, why, and when it was seen last */

export class Live {
  /** @param {HTMLElement} element has the class live while it is, and in it a .seen and a .code, which says to staff what is wrong */
  constructor(element) {
    this.#element = element;
  }

  #element;
  /** @type {number | undefined} */
  #timer;
  /** @type {string | null} */
  #seen = null;
  #code = 0;
  /** @type {number[]} */
  #stopped = [];

  /**
   * Live for this many milliseconds, then not live, or at once if they are 0, for the reason that has this code.
   * @param {Liveness} liveness
   */
  show({ milliseconds, code, seen }) {
    clearTimeout(this.#timer);
    if (seen !== undefined) this.#seen = seen; // the page's own reasons, such as a lost server, have no time
    this.#code = code;
    this.#element.classList.toggle("live", milliseconds > 0);
    if (milliseconds > 0) this.#timer = setTimeout(() => this.#end(), milliseconds);
    else this.#end();
    this.#showCodes();
  }

  /**
   * What stops the table itself, by its codes.
   * @param {number[]} codes
   */
  stopped(codes) {
    this.#stopped = codes;
    this.#showCodes();
  }

  #end() {
    this.#element.classList.remove("live");
    this.#put("seen", this.#seen === null ? "" : t("last_live", { time: when(new Date(this.#seen), new Date()) }));
    this.#showCodes();
  }

  #showCodes() {
    const live = this.#element.classList.contains("live");
    const codes = live ? this.#stopped : [this.#code];
    this.#put("code", codes.length === 0 ? "" : t(live ? "code" : "code.not_live", { codes: codes.join(" ") }));
  }

  /**
   * @param {string} part
   * @param {string} words
   */
  #put(part, words) {
    const box = one(`.${part}`, HTMLElement, this.#element);
    if (box.textContent !== words) box.textContent = words;
  }
}
