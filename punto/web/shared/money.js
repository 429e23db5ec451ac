// Money in the page's language.

/**
 * Amounts of two-decimal money, from minor units. `whole` leaves out decimals that are nothing.
 * @param {string} currency
 * @param {{ whole?: boolean, sign?: boolean }} [how]
 * @returns {(minor: number) => string}
 */
export function moneyIn(currency, { whole = true, sign = false } = {}) {
  const language = document.documentElement.lang;
  /** @type {Intl.NumberFormatOptions} */
  const style = {
    minimumFractionDigits: 2,
    trailingZeroDisplay: whole ? "stripIfInteger" : "auto",
    signDisplay: sign ? "exceptZero" : "auto",
  };
  /** @type {Intl.NumberFormat} */
  let format;
  try {
    format = new Intl.NumberFormat(language, {
      ...style,
      style: "currency",
      currency,
      currencyDisplay: "narrowSymbol",
    });
  } catch {
    format = new Intl.NumberFormat(language, style); // not a currency's code: the number alone
  }
  return (minor) => format.format(minor / 100);
}

/**
 * A person's text, such as "1,234.5", in minor units.
 * @param {string} text
 * @param {string} what
 */
export function readMoney(text, what) {
  const found = /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,2}))?$/u.exec(text.trim());
  if (found === null) throw new Error(`${what}: write an amount such as 1,234.50.`);
  const units = Number(found[1].replaceAll(",", "")) * 100 + Number((found[2] ?? "").padEnd(2, "0"));
  if (units > 1e12) throw new Error(`${what}: that is more than a table can have.`);
  return units;
}
