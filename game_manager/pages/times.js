// Times by the house's clock: a gaming day is of its zone, wherever the screen is.

let format;

/** Tell times by the clock of this zone, or of UTC if this browser does not know it; returns whose it is. */
export function tellTimesBy(zone) {
  try {
    format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long", timeZone: zone });
    return zone;
  } catch {
    return tellTimesBy("UTC");
  }
}

/** A time of the record, with the hours that the zone is from UTC then: "21 Nov 2026, 06:00:00 GMT+8". */
export const dayAndClock = (ts) => format.format(new Date(ts));
