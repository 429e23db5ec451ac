// The language of the consoles' pages. What imports this module is loaded by start.js once the language's catalogue is there.

import { fillIn, speak, titleOfWager, t as words, orElse as wordsOr } from "/shared/catalogue.js";
import { plain, sentence } from "/shared/words.js";

// Taken from here, so that no page asks for a word before it is there.
export const t = words;
export const orElse = wordsOr;

const KEPT = "lang"; // in this tab, so that its other pages have the same language
const AGAIN_MILLISECONDS = 1000;
const SAID = "said.";
const TO_SUPERVISOR = "to_supervisor.";
/** Whether the page is the supervisor's, where nobody is told to call a supervisor. */
export const toSupervisor = document.body.classList.contains("supervisor");

let named = "";
let home = "";

/** The table's name, for a page that has no view of it. */
export const tableName = () => named;

/** The page after a sign-on, if it is the same for everybody: at the Game Manager of a house. */
export const homePage = () => home;

/** From the address, or else as this tab has it, or else from the configuration. */
async function choose() {
  const asked = new URLSearchParams(location.search).get("lang");
  const kept = asked ?? sessionStorage.getItem(KEPT);
  const { lang, name, ...others } = await (await fetch("/settings.json")).json();
  named = name;
  home = others.home ?? "";
  const all = await speak(kept ?? lang).catch(() => speak(lang)); // an address may name a language that does not exist
  if (asked !== null) sessionStorage.setItem(KEPT, document.documentElement.lang);
  return all;
}

/** @returns {ReturnType<typeof choose>} */
const begin = () =>
  choose().catch(async () => {
    await new Promise((go) => setTimeout(go, AGAIN_MILLISECONDS));
    return begin();
  });

/**
 * What the service says in English: each sentence, with a `{name}` where it has text and an `{N}` where a number, and its key.
 * @type {{ key: string, own: string, said: RegExp }[]}
 */
let sentences = [];

/** When the words are there. */
export const ready = begin().then((all) => {
  sentences = Object.keys(all)
    .filter((key) => key.startsWith(SAID))
    .map((key) => {
      const own = key.slice(SAID.length);
      const to = `${TO_SUPERVISOR}${own}`;
      return { key: toSupervisor && to in all ? to : key, own, said: new RegExp(`^${pattern(own)}$`, "u") };
    });
  fillIn(document.documentElement);
});

const TRANSLATIONS = 500;
/** @type {Map<string, string>} */
const translations = new Map(); // each view has the same few texts, and each is compared with all sentences

/** @param {string} text */
function pattern(text) {
  return text
    .replace(/[.*+?^$()|[\]\\]/gu, "\\$&")
    .replace(/\{([A-Z])\}/gu, "(?<$1>\\d+)")
    .replace(/\{(\w+)\}/gu, "(?<$1>.+?)");
}

/**
 * A sentence of the service in the page's language, and so what it names; as it is where the catalogue has none.
 * @param {string} text
 * @returns {string}
 */
export function translated(text) {
  const known = translations.get(text) ?? translation(text);
  if (translations.size >= TRANSLATIONS) translations.clear(); // texts with times and amounts come for ever
  translations.set(text, known);
  return known;
}

/**
 * @param {string} text
 * @returns {string}
 */
function translation(text) {
  for (const { key, own, said } of sentences) {
    const values = said.exec(text)?.groups;
    if (values !== undefined || text === own)
      return t(key, Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, translated(value)])));
  }
  // What begins a sentence is also said within one, and a usual reason was given in the language of another page.
  const within = text && text[0].toLowerCase() + text.slice(1);
  return within === text ? text : wordsOr(`usual.${text}`, otherwise(text, within));
}

/** @type {(text: string, within: string) => string} */
function otherwise(text, within) {
  const found = translated(within);
  return found === within ? text : sentence(found);
}

/**
 * The words for so many: a key has `.one` and `.many`.
 * @param {string} key
 * @param {number} count
 * @param {Record<string, string>} [others]
 */
export const counted = (key, count, others = {}) => t(`${key}.${count === 1 ? "one" : "many"}`, { count, ...others });

/** @typedef {Record<string, Record<string, string>>} WagerTitles by wager and language */

/** @type {WagerTitles} */
let wagerTitles = {};
/** @type {Record<string, string>} */
let shortTitles = {};

/**
 * Name the wagers of the game that is played by these titles of its file.
 * @param {WagerTitles} titles
 * @param {Record<string, string>} shorts
 */
export function nameWagers(titles, shorts) {
  wagerTitles = titles;
  shortTitles = shorts;
}

/**
 * The name of a wager, of the game that is played if no other game's titles are given.
 * @param {string} wager
 * @param {string} title
 * @param {WagerTitles} [titles]
 */
export const wagerTitle = (wager, title, titles = wagerTitles) => titleOfWager(wager, title, titles[wager]);

/**
 * The name of a wager for a narrow place: its title is short enough in other languages. A wager of another game is called by its name.
 * @param {string} wager
 * @param {string} [short]
 */
export const wagerShort = (wager, short = shortTitles[wager] ?? plain(wager)) => wagerTitle(wager, short);
