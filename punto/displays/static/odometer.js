// An amount on rolling digits. It counts up to the published amount and never beyond; a smaller amount is shown at once,
// because a meter that ran backwards would show for minutes an amount that cannot be won.

import { element } from "/shared/elements.js";

/** @typedef {(minor: number) => string} Money */

const COUNT_MILLISECONDS = 1600;

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Odometer {
  /** @param {HTMLElement} box */
  constructor(box) {
    this.#element = box;
  }

  #element;
  /** @type {Money} */
  #money = String;
  /** @type {number | null} */
  #shown = null; // minor units, with a fraction while it counts
  /** @type {Column[]} */
  #columns = [];
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
    const whole = Math.floor(amount);
    const text = this.#money(whole);
    this.#lay(text);
    let turn = amount - whole; // of the lowest digit towards the next
    for (const [at, digit] of [...text.replace(/\D/gu, "")].reverse().entries()) {
      this.#columns[at].turn(Number(digit), turn);
      if (digit !== "9") turn = 0; // a digit turns only with a lower one that turns from 9 to 0
    }
  }

  /**
   * A column for each digit of the text; they stay while it only counts.
   * @param {string} text
   */
  #lay(text) {
    const shape = text.replace(/\d/gu, "0");
    if (shape === this.#shape) return;
    this.#shape = shape;
    this.#columns = [];
    const parts = [...shape].map((character) => {
      const part = element("span");
      if (character === "0") this.#columns.unshift(new Column(part));
      else part.textContent = character;
      return part;
    });
    this.#element.replaceChildren(...parts);
    // Its width relative to its height, in digits; the style sheet makes it as large as that allows.
    const width = parts.reduce((sum, { textContent }) => sum + (/^[.,'\s]$/u.test(textContent) ? 0.5 : 1), 0);
    this.#element.style.setProperty("--digits", String(width));
  }
}

class Column {
  /** @param {HTMLElement} place */
  constructor(place) {
    place.className = "digit";
    this.#reel = place.appendChild(element("span"));
  }

  #reel;
  #digit = -1;

  /**
   * Show a digit that has turned partly, from 0 to 1, towards the next.
   * @param {number} digit
   * @param {number} turn
   */
  turn(digit, turn) {
    if (digit !== this.#digit) this.#reel.textContent = `${digit}\n${(digit + 1) % 10}`;
    this.#digit = digit;
    this.#reel.style.translate = `0 ${-turn}em`;
  }
}
