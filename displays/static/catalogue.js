// The words of the current language, from its catalogue.

let words = {};

/** Switch to a language; its catalogue is /catalog/<language>.json. */
export async function speak(language) {
  const answer = await fetch(`/catalog/${language}.json`);
  if (!answer.ok) throw new Error(await answer.text());
  words = await answer.json();
  document.documentElement.lang = language;
  // Its fonts come first, so that characters are not shown as boxes and sizes are measured in the right font.
  const { fontFamily } = getComputedStyle(document.body);
  const text = `0123456789${Object.values(words).join("")}`;
  await Promise.all([400, 700].map((weight) => document.fonts.load(`${weight} 1em ${fontFamily}`, text)));
}

/** The words for a key, the values of `{names}` in them filled in. */
export function t(key, values = {}) {
  return words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** The words for a key that a catalogue may lack, or else the table's own name for it. */
export const orElse = (key, own) => words[key] ?? own;

/** Fill in the words of everything in `part` that names a key. */
export function fillIn(part) {
  for (const each of part.querySelectorAll("[data-word]")) each.textContent = t(each.dataset.word);
}

/** Amounts of two-decimal money in minor units; whole ones without their decimals, unless `cents` is set. */
export function moneyFormat(currency, { cents = false } = {}) {
  const language = document.documentElement.lang;
  const style = { trailingZeroDisplay: cents ? "auto" : "stripIfInteger", minimumFractionDigits: 2 };
  let format;
  try {
    format = new Intl.NumberFormat(language, { ...style, style: "currency", currency, currencyDisplay: "narrowSymbol" });
  } catch {
    format = new Intl.NumberFormat(language, style); // without a currency code: only the number
  }
  return (minor) => format.format(minor / 100);
}
