// The liveness of the screen: live for as long as the server says, and after that NOT LIVE with the reason.

import { orElse } from "/shared/catalogue.js";
import { one } from "/shared/elements.js";

/** @typedef {{ milliseconds: number, reason: string }} Liveness live for so long, then not live, and why */

export class Live {
  /** @param {HTMLElement} element has the class live while it is, and a .not-live-reason in it */
  constructor(element) {
    this.#element = element;
  }

  #element;
  /** @type {number | undefined} */
  #timer;

  /**
   * Live for this many milliseconds, then not live, or at once if they are 0, for the given reason.
   * @param {Liveness} liveness
   */
  show({ milliseconds, reason }) {
    clearTimeout(this.#timer);
    const words = reasonInWords(reason);
    const box = one(".not-live-reason", HTMLElement, this.#element);
    if (box.textContent !== words) box.textContent = words;
    this.#element.classList.toggle("live", milliseconds > 0);
    this.#timer = setTimeout(() => this.#element.classList.remove("live"), milliseconds);
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
