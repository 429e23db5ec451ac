// Times by the house's clock: a gaming day follows its zone, wherever the screen is.

/** @type {Intl.DateTimeFormat} */
let format;

/**
 * Show times by the clock of this zone, or of UTC if this browser does not know it; returns the zone's name.
 * @param {string} zone
 * @returns {string}
 */
export function tellTimesBy(zone) {
  try {
    format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long", timeZone: zone });
    return zone;
  } catch {
    return tellTimesBy("UTC");
  }
}

/**
 * A time of the record with the zone's UTC offset: "21 Nov 2026, 06:00:00 GMT+8".
 * @param {string} ts
 */
export const dayAndClock = (ts) => format.format(new Date(ts));
