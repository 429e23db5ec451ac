// The house's pictures and films over a board that has nothing else to show: between shoes, and while the table is closed.

import { element } from "/shared/elements.js";

/** @import { Settings } from "./layout.js" */

export class Pictures {
  /**
   * @param {HTMLElement} box
   * @param {Settings} house
   */
  constructor(box, { pictures, picture_seconds }) {
    this.#box = box;
    this.#pictures = pictures;
    this.#milliseconds = picture_seconds * 1000;
  }

  #box;
  #pictures;
  #milliseconds;
  #next = 0;
  /** @type {number | undefined} */
  #timer;

  /** @param {boolean} wanted */
  show(wanted) {
    if (this.#pictures.length === 0 || wanted !== this.#box.hidden) return;
    this.#box.hidden = !wanted;
    if (wanted) this.#turn();
    else this.#clear();
  }

  #turn() {
    this.#clear();
    const { address, film } = this.#pictures[this.#next];
    this.#next = (this.#next + 1) % this.#pictures.length;
    const shown = film
      ? element("video", { src: address, autoplay: true, muted: true, playsinline: true })
      : element("img", { src: address, alt: "" });
    const later = (/** @type {number} */ milliseconds) => {
      this.#timer = setTimeout(() => this.#turn(), milliseconds);
    };
    if (shown instanceof HTMLVideoElement) {
      shown.muted = true; // without which no browser begins by itself
      shown.addEventListener("ended", () => this.#turn());
    } else {
      later(this.#milliseconds);
    }
    shown.addEventListener("error", () => later(this.#milliseconds)); // a film that cannot be played is passed over
    this.#box.prepend(shown);
  }

  #clear() {
    clearTimeout(this.#timer);
    for (const each of this.#box.querySelectorAll("img, video")) each.remove();
  }
}
