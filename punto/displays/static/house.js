// The house's logo or name.

import { t } from "/shared/catalogue.js";

/**
 * Show the house's logo, or else its name, in a box that is hidden if it has neither.
 * @param {HTMLElement} box
 * @param {import("./layout.js").Settings} house
 */
export function showHouse(box, { names, logo }) {
  const own = names[document.documentElement.lang] ?? names.en ?? Object.values(names)[0] ?? "";
  box.hidden = logo === null && own === "";
  if (logo === null) {
    box.removeAttribute("role");
    box.textContent = own;
  } else {
    box.classList.add("picture");
    box.setAttribute("aria-label", own || t("house"));
  }
}
