// The liveness of the screen: live for as long as the server says, and after that NOT LIVE with the reason.

import { orElse, t } from "/shared/catalogue.js";
import { one } from "/shared/elements.js";
import { when } from "./award.js";

/** @typedef {{ milliseconds: number, reason: string, seen?: string | null }} Liveness live for so long, then not live, why, and when it was seen last */

export class Live {
  /** @param {HTMLElement} element has the class live while it is, and a .not-live-reason and a .not-live-seen in it */
  constructor(element) {
    this.#element = element;
  }

  #element;
  /** @type {number | undefined} */
  #timer;
  /** @type {string | null} */
  #seen = null;

  /**
   * Live for this many milliseconds, then not live, or at once if they are 0, for the given reason.
   * @param {Liveness} liveness
   */
  show({ milliseconds, reason, seen }) {
    clearTimeout(this.#timer);
    if (seen !== undefined) this.#seen = seen; // the page's own reasons, such as a lost server, have no time
    this.#put("reason", reasonInWords(reason));
    this.#element.classList.toggle("live", milliseconds > 0);
    if (milliseconds > 0) this.#timer = setTimeout(() => this.#end(), milliseconds);
    else this.#end();
  }

  #end() {
    this.#element.classList.remove("live");
    this.#put("seen", this.#seen === null ? "" : t("seen", { time: when(new Date(this.#seen), new Date()) }));
  }

  /**
   * @param {string} part
   * @param {string} words
   */
  #put(part, words) {
    const box = one(`.not-live-${part}`, HTMLElement, this.#element);
    if (box.textContent !== words) box.textContent = words;
  }
}

/**
 * The server's reason is in English; the table's own words, if any, follow after a colon.
 * @param {string} reason
 */
function reasonInWords(reason) {
  const [known, own] = reason.split(": ", 2);
  const words = orElse(`reason.${known}`, known);
  return own === undefined ? words : `${words}: ${reason.slice(known.length + 2)}`;
}
