// The parts of a page, of which one is shown: chosen by the address, by a link, or by the link's key.

import { one } from "/shared/elements.js";

const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll("#parts a")]);
const parts = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-part]")]);

/** Show the part that the address names, or else the first; returns its name, and what the address says after it. */
export function showPart() {
  const [hash, which] = location.hash.split("/");
  const shown = links.find((each) => each.hash === hash && !each.hidden) ?? links[0];
  for (const each of parts) each.hidden = `#${each.dataset.part}` !== shown.hash;
  for (const each of links) each.ariaCurrent = each === shown ? "page" : null;
  return { name: shown.hash.slice(1), which };
}

/**
 * Which link the arrow keys go to from this one.
 * @type {Record<string, (at: number, last: number) => number>}
 */
const STEPS = {
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

one("#parts").addEventListener("keydown", (event) => {
  const open = links.filter(({ hidden }) => !hidden);
  const at = open.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
  const step = STEPS[event.key];
  if (step === undefined || at < 0) return;
  event.preventDefault();
  const link = open[step(at, open.length - 1)];
  link.focus();
  location.hash = link.hash;
});
