// Orders that cannot be undone: pressed once the button says what it will do, pressed again it does it.

import { relabel } from "/shared/elements.js";
import { DOUBLE_TAP_MILLISECONDS, say } from "./dialogs.js";
import { t } from "./language.js";
import { live } from "./service.js";

const SECOND_PRESS_MILLISECONDS = 6000;

/**
 * What a press means now, and why it cannot be, if it cannot.
 * @typedef {{ order: string, label: string, again: string, refused?: string | null }} Meaning
 */

/**
 * Make a button one that is pressed twice.
 *
 * Returns what presses it, and what shows it anew.
 * @param {HTMLButtonElement} made
 * @param {() => Meaning | null} order null if a press means nothing now
 * @param {(order: string) => unknown} act called with it by the second press
 */
export function pressedTwice(made, order, act) {
  /** @type {string | null} */
  let armed = null; // the order that the next press gives
  let armedAt = 0;
  /** @type {number | undefined} */
  let disarm;

  /** @param {string | null} which */
  function arm(which) {
    armed = which;
    armedAt = Date.now();
    clearTimeout(disarm);
    if (which !== null) disarm = setTimeout(() => arm(null), SECOND_PRESS_MILLISECONDS);
    show();
  }

  function press() {
    const now = order();
    if (now === null || !live()) return;
    if (now.refused) {
      say(t("of_order", { order: now.label, text: now.refused }), true);
    } else if (armed !== now.order) {
      arm(now.order);
    } else if (Date.now() - armedAt >= DOUBLE_TAP_MILLISECONDS) {
      arm(null);
      act(now.order);
    }
  }

  function show() {
    const now = order();
    if (now === null || now.refused || armed !== now.order) armed = null;
    relabel(made, now === null ? "" : armed ? now.again : now.label);
    made.ariaLabel = now === null ? t("nothing_now") : null;
    made.classList.toggle("armed", armed !== null);
    made.disabled = now === null || !live();
    made.setAttribute("aria-disabled", String(Boolean(now?.refused)));
  }

  made.addEventListener("click", press);
  return { press, show };
}
