// An amount that runs up to what is published, and never beyond it. A smaller amount is shown at once, because a meter that ran
// backwards would show for seconds an amount that cannot be won.

import { element } from "/shared/elements.js";

/** @typedef {(minor: number) => string} Money */

const COUNT_MILLISECONDS = 1600;

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Odometer {
  /** @param {HTMLElement} box gets --digits, the width of the amount in digits, for the style sheet to size it by */
  constructor(box) {
    this.#element = box;
  }

  #element;
  /** @type {Money} */
  #money = String;
  /** @type {number | null} */
  #shown = null; // minor units, with a fraction while it counts
  #shape = "";
  #frame = 0;

  /**
   * Show an amount in minor units, formatted by `money`; `counting` to count up from a smaller one on show.
   * @param {number} amount
   * @param {Money} money
   * @param {boolean} counting
   */
  show(amount, money, counting) {
    this.#money = money;
    this.#element.setAttribute("aria-label", money(amount));
    cancelAnimationFrame(this.#frame);
    if (counting && this.#shown !== null && this.#shown < amount && !still.matches) this.#count(this.#shown, amount);
    else this.#draw(amount);
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  #count(from, to) {
    /** @type {number | undefined} */
    let began;
    /** @param {number} now */
    const step = (now) => {
      began ??= now;
      const done = (now - began) / COUNT_MILLISECONDS;
      this.#draw(done < 1 ? from + (to - from) * done : to);
      if (done < 1) this.#frame = requestAnimationFrame(step);
    };
    this.#frame = requestAnimationFrame(step);
  }

  /** @param {number} amount */
  #draw(amount) {
    this.#shown = amount;
    const text = this.#money(Math.floor(amount));
    const shape = text.replace(/\d/gu, "0");
    if (shape !== this.#shape) this.#lay(shape);
    [...text].forEach((character, at) => {
      const place = this.#element.children[at];
      if (place.textContent !== character) place.textContent = character;
    });
  }

  /**
   * A place of one width for each digit, so that the others stand still while it counts.
   * @param {string} shape
   */
  #lay(shape) {
    this.#shape = shape;
    const places = [...shape].map((each) => element("span", { class: each === "0" ? "digit" : null }));
    this.#element.replaceChildren(...places);
    const width = [...shape].reduce((sum, each) => sum + (/^[.,'\s]$/u.test(each) ? 0.5 : 1), 0);
    this.#element.style.setProperty("--digits", String(width));
  }
}
