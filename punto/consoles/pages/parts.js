// The parts of a page, of which one is shown: chosen by the address, by a link, or by the link's key.

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

document.addEventListener("keydown", (event) => {
  const link = links.find(({ ariaKeyShortcuts }) => ariaKeyShortcuts === event.key);
  if (link === undefined || document.querySelector("dialog[open]") !== null) return;
  event.preventDefault();
  location.hash = link.hash;
});
