// Money in the page's language. Amounts are whole minor units, as on the record.

/**
 * The decimals of a currency's unit by ISO 4217, where they are not two, as in `punto/baccarat/currency.py`. A browser has
 * those of CLDR, which are other ones for a dozen currencies.
 */
const DECIMALS = new Map([
  ..."BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(" ").map(decimals(0)),
  ..."BHD IQD JOD KWD LYD OMR TND".split(" ").map(decimals(3)),
]);

/**
 * @param {number} number
 * @returns {(code: string) => [string, number]}
 */
function decimals(number) {
  return (code) => [code, number];
}

/** @param {string} currency */
export const decimalsOf = (currency) => DECIMALS.get(currency) ?? 2;

/**
 * Amounts of a currency, from minor units. `whole` leaves out decimals that are nothing, `bare` the currency's sign.
 * @param {string} currency
 * @param {{ whole?: boolean, sign?: boolean, bare?: boolean }} [how]
 * @returns {(minor: number) => string}
 */
export function moneyIn(currency, how = {}) {
  const language = document.documentElement.lang;
  const kind = JSON.stringify([language, currency, how]);
  const made = kinds.get(kind) ?? formatOf(language, currency, how);
  kinds.set(kind, made);
  return made;
}

/**
 * Amounts that stand in one column: if one of them has decimals, all have.
 * @param {string} currency
 * @param {readonly number[]} amounts
 * @param {{ sign?: boolean }} [how]
 */
export const columnIn = (currency, amounts, how = {}) =>
  moneyIn(currency, { ...how, whole: amounts.every((each) => each % 10 ** decimalsOf(currency) === 0) });

/** @type {Map<string, (minor: number) => string>} */
const kinds = new Map(); // a browser takes a tenth of a millisecond for each, and a page has hundreds of amounts

/**
 * @param {string} language
 * @param {string} currency
 * @param {{ whole?: boolean, sign?: boolean, bare?: boolean }} how
 * @returns {(minor: number) => string}
 */
function formatOf(language, currency, { whole = true, sign = false, bare = false }) {
  const digits = decimalsOf(currency);
  /**
   * @param {number} shown
   * @returns {Intl.NumberFormat}
   */
  function format(shown) {
    /** @type {Intl.NumberFormatOptions} */
    const style = {
      minimumFractionDigits: shown,
      maximumFractionDigits: shown,
      signDisplay: sign ? "exceptZero" : "auto",
    };
    if (bare) return new Intl.NumberFormat(language, style);
    try {
      return new Intl.NumberFormat(language, {
        ...style,
        style: "currency",
        currency,
        currencyDisplay: "narrowSymbol",
      });
    } catch {
      return new Intl.NumberFormat(language, style); // not a currency's code: the number alone
    }
  }
  const [exact, units] = [format(digits), format(0)];
  return (minor) => (whole && minor % 10 ** digits === 0 ? units : exact).format(minor / 10 ** digits);
}

/**
 * Minor units as plain decimals of the currency's unit, such as "1234.50".
 * @param {number} minor
 * @param {string} currency
 */
export function decimal(minor, currency) {
  const digits = decimalsOf(currency);
  const text = String(Math.abs(minor)).padStart(digits + 1, "0");
  const point = text.length - digits;
  return `${minor < 0 ? "-" : ""}${text.slice(0, point)}${digits > 0 ? `.${text.slice(point)}` : ""}`;
}

/**
 * A person's text, such as "1,234.5", in minor units of the currency.
 * @param {string} text
 * @param {string} what
 * @param {string} currency
 */
export function readMoney(text, what, currency) {
  const digits = decimalsOf(currency);
  const found = /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?$/u.exec(text.trim());
  const part = found?.[2] ?? "";
  if (found === null || part.length > digits) {
    throw new Error(`${what}: write an amount such as 1,234${digits > 0 ? `.${"5".padEnd(digits, "0")}` : ""}.`);
  }
  const units = Number(found[1].replaceAll(",", "") + part.padEnd(digits, "0"));
  if (units > 1e12) throw new Error(`${what}: that is more than a table can have.`);
  return units;
}
