// The strip of alarms: whole lines only, and below them how many more there are, which a press shows.

import { byId } from "/shared/elements.js";

const list = byId("alarm-list");
const more = byId("more-alarms", HTMLButtonElement);
let fitted = "";
let wanted = false; // whether a person has asked for all

/** @param {string} shape whatever the places of the lines depend on: they are measured if it has changed */
export function fitAlarms(shape) {
  if (shape !== fitted) fit();
  fitted = shape;
}

function fit() {
  const focus = document.activeElement;
  const lines = /** @type {HTMLElement[]} */ ([...list.children]);
  for (const each of lines) each.hidden = false;
  more.hidden = true;
  document.body.classList.remove("all-alarms");
  const fewer = fitting(lines) < lines.length;
  more.hidden = !fewer; // its own line takes room too
  const opened = fewer && wanted;
  const shown = opened ? lines.length : Math.max(1, fitting(lines));
  lines.forEach((each, at) => {
    each.hidden = at >= shown;
  });
  wanted = opened;
  more.setAttribute("aria-expanded", String(opened));
  more.textContent = opened ? "Fewer alarms" : `${lines.length - shown} more`;
  document.body.classList.toggle("all-alarms", opened);
  if (!(focus instanceof HTMLElement && list.contains(focus))) return;
  const line = focus.closest("li");
  if (line?.hidden) more.focus({ preventScroll: true });
  else focus.focus({ preventScroll: true });
}

/**
 * How many lines are whole in the strip.
 * @param {HTMLElement[]} lines
 */
function fitting(lines) {
  const bottom = list.getBoundingClientRect().bottom + 0.5;
  const cut = lines.findIndex((each) => each.getBoundingClientRect().bottom > bottom);
  return cut < 0 ? lines.length : cut;
}

more.addEventListener("click", () => {
  wanted = !wanted;
  fit();
});
addEventListener("resize", fit);
document.fonts.addEventListener("loadingdone", fit);
