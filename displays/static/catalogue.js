// The words of the language on show, from its catalogue.

let words = {};

/** Speak a language from now on; its catalogue is /catalog/<language>.json. */
export async function speak(language) {
  const answer = await fetch(`/catalog/${language}.json`);
  if (!answer.ok) throw new Error(await answer.text());
  words = await answer.json();
  document.documentElement.lang = language;
  // Its fonts come first, so that no character is shown as a box and nothing is measured in another font.
  const { fontFamily } = getComputedStyle(document.body);
  const text = `0123456789${Object.values(words).join("")}`;
  await Promise.all([400, 700].map((weight) => document.fonts.load(`${weight} 1em ${fontFamily}`, text)));
}

/** The words for a key, the values of `{names}` in them filled in. */
export function t(key, values = {}) {
  return words[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** The words for a key that a catalogue may lack, or else what the table itself calls it. */
export const orElse = (key, own) => words[key] ?? own;

/** Fill in the words of everything in `part` that names a key. */
export function fillIn(part) {
  for (const each of part.querySelectorAll("[data-word]")) each.textContent = t(each.dataset.word);
}

/** Amounts of two-decimal money in minor units; whole ones without their decimals, unless `cents` asks for them. */
export function moneyFormat(currency, { cents = false } = {}) {
  const language = document.documentElement.lang;
  const style = { trailingZeroDisplay: cents ? "auto" : "stripIfInteger", minimumFractionDigits: 2 };
  let format;
  try {
    format = new Intl.NumberFormat(language, { ...style, style: "currency", currency, currencyDisplay: "narrowSymbol" });
  } catch {
    format = new Intl.NumberFormat(language, style); // not a currency's code: the number alone
  }
  return (minor) => format.format(minor / 100);
}
