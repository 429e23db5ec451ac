// The liveness of the screen: live for as long as the server says, and after that NOT LIVE with the reason.

import { orElse } from "./catalogue.js";

export class Live {
  /** `element` has the class live while it is, and a .not-live-reason in it. */
  constructor(element) {
    this.#element = element;
  }

  #element;
  #timer;

  /** Live for this many milliseconds, then not live, or at once if they are 0, for the given reason. */
  show({ milliseconds, reason }) {
    clearTimeout(this.#timer);
    const words = reasonInWords(reason);
    const box = this.#element.querySelector(".not-live-reason");
    if (box.textContent !== words) box.textContent = words;
    this.#element.classList.toggle("live", milliseconds > 0);
    this.#timer = setTimeout(() => this.#element.classList.remove("live"), milliseconds);
  }
}

/** The server's reason is in English; the table's own words, if any, follow after a colon. */
function reasonInWords(reason) {
  const [known, own] = reason.split(": ", 2);
  const words = orElse(`reason.${known}`, known);
  return own === undefined ? words : `${words}: ${reason.slice(known.length + 2)}`;
}
