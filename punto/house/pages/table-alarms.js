// What is wrong at a table, worst first, in words.

import { moneyIn } from "/shared/money.js";
import { dayAndTime, sentence, spaced } from "/shared/words.js";

/** @import { CardOrder, Deviation, HeldRecord, TableView } from "#sent/floor" */
/**
 * An alarm of a table: `key` is the same as long as the alarm lasts, and `rank` is 0 for the worst kind.
 * @typedef {object} Alarm
 * @property {string} key
 * @property {number} rank
 * @property {boolean} loud
 * @property {string} label
 * @property {string} text
 */

/** All kinds of alarms, the worst first; those before `shoe` are loud. */
const KINDS = [
  "fault",
  "record",
  "unread",
  "accounts",
  "away",
  "edge",
  "order",
  "deviation",
  "stop",
  "shoe",
  "wait",
  "device",
  "meter",
  "keypad",
];
const LOUD = KINDS.indexOf("shoe");
const whole = new Intl.NumberFormat("en");

/** @type {(kind: string, label: string, text: string, key?: string) => Alarm} */
const alarm = (kind, label, text, key = kind) => {
  const rank = KINDS.indexOf(kind);
  return { key, rank, loud: rank < LOUD, label, text };
};

/**
 * The alarms of a table. If it is not live, what it said of the present is no longer known to be so.
 * @param {TableView} table
 */
export function alarmsOf(table) {
  const { live, reason, as_of: asOf, retire, fault, accounts, currency, records, unread } = table;
  const seen = asOf === null ? reason : `${reason}, not seen since ${dayAndTime(asOf)}`;
  const away = retire === "" ? seen : `${seen}. ${retire}`;
  const found = [
    ...(fault ? [alarm("fault", "Rounds are not taken in", fault), ...records.map(heldRecord)] : []),
    ...(unread ? [alarm("unread", "Messages are not read", unread)] : []),
    ...(accounts ? [alarm("accounts", "Old accounts of the house", accounts)] : []),
    ...(live ? ofThePresent(table) : [alarm("away", "NOT LIVE", away)]),
    ...table.card_orders.map(cardOrder),
    ...table.deviations.map((each) => deviation(each, currency)),
  ];
  return found.sort((one, other) => one.rank - other.rank);
}

/** @param {TableView} table */
function ofThePresent({ overlays, notices, shoe, edge_alarms: edges, devices_away: devices, meter }) {
  const stopped = overlays.includes("needs_supervisor") || overlays.includes("shoe_error");
  const kind = stopped ? "stop" : "wait";
  const label = stopped
    ? "Waiting for a supervisor"
    : overlays.includes("card_awaited")
      ? "Waiting for a card"
      : "Notice";
  return [
    ...notices.map(({ code, text }) => alarm(kind, label, sentence(text), `${kind} ${code} ${text}`)),
    ...(notices.length === 0 && label !== "Notice" ? [alarm(kind, label, "")] : []),
    ...(edges.length > 0 ? [alarm("edge", "Favours the players", edges.map(spaced).join(", "), `edge ${edges}`)] : []),
    ...(overlays.includes("shoe_offline") ? [alarm("shoe", "Shoe offline", shoe?.reason ?? "")] : []),
    ...(devices.length > 0
      ? [alarm("device", "Device offline", devices.map(spaced).join(", "), `device ${devices}`)]
      : []),
    ...(meter?.live === false ? [alarm("meter", "Meter not live", meter.title)] : []),
    ...(overlays.includes("configuration_keypad")
      ? [alarm("keypad", "Configuration keypad", "plugged in during play")]
      : []),
  ];
}

/**
 * What a person must know of a record before choosing one.
 * @param {HeldRecord} record
 */
function heldRecord({ record, words, warnings }) {
  const text = [words, ...warnings.map((each) => `If you choose it: ${each}`)].join(". ");
  return alarm("record", `Record ${record}`, sentence(text), `record ${record}`);
}

/** @param {CardOrder} order */
function cardOrder({ shoe, order, evidence }) {
  const text = `shoe ${shoe} comes like ${order}. By chance, ${onceIn(evidence)}`;
  return alarm("order", "Cards in order", sentence(text), `order ${shoe} ${order}`);
}

/** @type {(deviation: Deviation, currency: string) => Alarm} */
function deviation({ wager, rule, since, found, counted, expected, evidence }, currency) {
  const money = moneyIn(currency);
  const of =
    rule === null
      ? `${wager}, win: ${money(found)} of ${money(counted)} staked since ${since}, ${money(Math.round(expected))} expected`
      : `${wager}, ${rule}: ${whole.format(found)} of ${whole.format(counted)} hands since ${since}, ${expected.toFixed(1)} expected`;
  return alarm("deviation", "Deviation", `${of}. By chance, ${onceIn(evidence)}`, `deviation ${wager} ${rule}`);
}

/**
 * How rarely chance gives evidence as strong.
 * @param {number} evidence
 */
export const onceIn = (evidence) => `at most once in ${whole.format(evidence)}`;
