// The colours of a page: as the system has them, or as a person has chosen for this browser. It runs before the page is drawn.

/** @typedef {"system" | "light" | "dark"} Colours */

/** When the light colours hold: paper is always light. */
const LIGHT = { system: "print, (prefers-color-scheme: light)", light: "all", dark: "print" };
const CHOSEN = "colours";

/** @returns {Colours} */
function chosenColours() {
  const chosen = localStorage.getItem(CHOSEN) ?? "";
  return chosen in LIGHT ? /** @type {Colours} */ (chosen) : "system";
}

/** @param {Colours} colours */
function showIn(colours) {
  localStorage.setItem(CHOSEN, colours);
  /** @type {HTMLLinkElement} */ (document.querySelector("#light")).media = LIGHT[colours];
}

showIn(chosenColours());

addEventListener("DOMContentLoaded", () => {
  const button = /** @type {HTMLButtonElement} */ (document.querySelector("#colours"));
  const all = /** @type {Colours[]} */ (Object.keys(LIGHT));
  const say = () => {
    button.title = `Colours: ${chosenColours()}`;
    button.ariaLabel = button.title;
    button.dataset.colours = chosenColours();
  };
  button.addEventListener("click", () => {
    showIn(all[(all.indexOf(chosenColours()) + 1) % all.length]);
    say();
  });
  say();
});
