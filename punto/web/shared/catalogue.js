// The words of the current language, from its catalogue.

/** @type {Record<string, string>} */
let words = {};

/**
 * Switch to a language; its catalogue is /catalog/<language>.json. Returns its words by key.
 * @param {string} language
 */
export async function speak(language) {
  const answer = await fetch(`/catalog/${encodeURIComponent(language)}.json`);
  if (!answer.ok) throw new Error(await answer.text());
  words = await answer.json();
  document.documentElement.lang = language;
  // Its fonts come first, so that characters are not shown as boxes and sizes are measured in the right font.
  const style = getComputedStyle(document.body);
  const families = style.getPropertyValue("--all-fonts") || style.fontFamily; // a page that has several names them all
  const text = `0123456789${Object.values(words).join("")}`;
  await Promise.allSettled([400, 700].map((weight) => document.fonts.load(`${weight} 1em ${families}`, text)));
  return words;
}

/**
 * The words for a key, the values of `{names}` in them filled in.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 */
export function t(key, values = {}) {
  return words[key].replace(/\{(\w+)\}/gu, (_, name) => String(values[name]));
}

/**
 * The words for a key that a catalogue may lack, or else the table's own name for it.
 * @param {string} key
 * @param {string} own
 */
export const orElse = (key, own) => words[key] ?? own;

/**
 * A title in the page's language, if the game file has one, or else its own.
 * @param {Record<string, string> | undefined} titles by language
 * @param {string} own
 */
export const titled = (titles, own) => titles?.[document.documentElement.lang] ?? own;

/**
 * The name of a wager: in the page's language from its game's file, or else from the catalogue, or else its title.
 * @param {string} wager
 * @param {string} title
 * @param {Record<string, string> | undefined} titles by language
 */
export const titleOfWager = (wager, title, titles) => titled(titles, orElse(`wager.${wager}`, title));

/**
 * Fill in the words of everything in `part` that names a key, and the labels that only readers of the screen say.
 * @param {Element} part
 */
export function fillIn(part) {
  for (const each of part.querySelectorAll("[data-word]")) each.textContent = t(each.getAttribute("data-word") ?? "");
  for (const each of part.querySelectorAll("[data-label]")) each.ariaLabel = t(each.getAttribute("data-label") ?? "");
}
