// What a board and a sign have in common. All message content goes into the page as text, never as HTML.

import { fillIn, titled } from "/shared/catalogue.js";
import { one } from "/shared/elements.js";
import { fit } from "./fit.js";
import { showHouse } from "./house.js";
import { Live } from "./live.js";

/** @import { Settings } from "./layout.js" */
/** @import { Liveness } from "./live.js" */

/** One table on the screen. */
export class TableShown {
  /**
   * @param {string} template the id of what it is made from
   * @param {string} table
   * @param {Settings} house
   * @param {() => void} onPlay called when the table shows something new
   */
  constructor(template, table, house, onPlay) {
    const { content } = one(`#${template}`, HTMLTemplateElement);
    this.element = /** @type {HTMLElement} */ (one("*", HTMLElement, content).cloneNode(true));
    this.table = table;
    this.#onPlay = onPlay;
    this.#names = house.tables;
    this.#live = new Live(this.element);
    fillIn(this.element);
    showHouse(this.one("logo"), house);
    this.one("code").dataset.table = table; // until the table says what it is called, staff find it by its id
    new ResizeObserver(() => this.fitAll()).observe(this.element);
  }

  #onPlay;
  #names;
  #live;
  /** @type {Map<string, string>} */
  #shown = new Map();

  /**
   * Live for this many milliseconds, then not live, or at once if they are 0, for the given reason.
   * @param {Liveness} liveness
   */
  showLive(liveness) {
    this.#live.show(liveness);
  }

  /**
   * What stops the table itself, by its codes.
   * @param {number[]} codes
   */
  stopped(codes) {
    this.#live.stopped(codes);
  }

  /**
   * What a table is called in the page's language: as the house says, or else as the table itself says.
   * @param {string} id
   * @param {string} own
   */
  nameOf(id, own) {
    return titled(this.#names[id], own);
  }

  /** The table has said what it is called. */
  named() {
    this.one("code").removeAttribute("data-table");
  }

  /** Whether it shows something that is not to be interrupted. */
  busy = false;

  /**
   * The part with this class.
   * @param {string} name
   */
  one(name) {
    return one(`.${name}`, HTMLElement, this.element);
  }

  /**
   * @param {string} selector
   * @returns {NodeListOf<HTMLElement>}
   */
  all(selector) {
    return this.element.querySelectorAll(selector);
  }

  /**
   * @param {string} name
   * @param {string | number} text
   */
  text(name, text) {
    const box = this.one(name);
    if (box.textContent !== String(text)) box.textContent = String(text);
  }

  /**
   * Do it if the shown value has changed: messages come every second, and unchanged parts are left as they are.
   * @param {string} part
   * @param {unknown} value
   * @param {() => void} show
   */
  when(part, value, show) {
    const json = JSON.stringify(value);
    if (this.#shown.get(part) === json) return;
    show();
    this.#shown.set(part, json);
    this.#onPlay();
  }

  /** Boxes share lines: each is fitted beside the others at their largest, so that none later grows into another. */
  fitAll() {
    for (const box of this.all(".fit")) box.style.removeProperty("--fit");
    for (const box of this.all(".fit")) fit(box);
  }
}
