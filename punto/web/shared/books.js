// The drawing of a progressive's books: at the table that keeps them, and at the Game Manager of the house.

import { element, facts, scrolling, table } from "/shared/elements.js";
import { change, exact, isZero } from "/shared/exact.js";
import { dayAndClock } from "/shared/times.js";
import { plain, sentence, spaced, writtenDay } from "/shared/words.js";

/** @import { Accounts, Accrual, Change, Coins, Day, Meter, NobodyWon, Reconciliation, Week } from "#sent/game-manager" */
/** @import { Content } from "/shared/elements.js" */

/** @type {[keyof Accounts, string][]} */
const ACCOUNTS = [
  ["primary", "Meter"],
  ["reserve", "Reserve"],
  ["overflow", "Overflow"],
  ["paid", "Paid"],
  ["seed_money", "Seed money"],
  ["contributions", "Contributions"],
  ["adjustments", "Adjustments"],
];
/** The heading of each account's column. */
const COLUMNS = ACCOUNTS.map(([, title]) => `>${title}`);
const CAUSES = {
  seed: "Seed",
  contribution: "Contributions",
  reserve_added: "Reserve added to the meter",
  overflow_added: "Overflow added to the meter",
  increase: "Increase",
  back_out: "Award put back",
  award: "Award",
  malfunction: "Malfunction",
  over_limit: "Over the display limit",
  recovery_of_seed: "Recovery of seed",
  retirement: "Retirement",
};
const CHECKS = {
  contributions: "Contributions, by the wagers counted",
  reserve: "of them to the reserve",
  awards: "Awards booked",
  back_outs: "Awards put back",
  seed: "Seed put up",
};
const STATES = { open: "so far: it has not ended", not_begun: "it has not begun", ended: "ended" };

/** @param {string} text */
const nothing = (text) => element("p", { class: "quiet" }, text);
/** @type {(good: boolean, yes: string, no: string) => Node} */
const verdict = (good, yes, no) => element("p", { class: good ? "good" : "fault" }, good ? yes : no);

/** @param {Day | Week | Reconciliation} report */
const period = ({ begins, ends, state, elsewhere }) =>
  element(
    "div",
    {},
    element("p", { class: "quiet" }, `${dayAndClock(begins)} to ${dayAndClock(ends)}, ${STATES[state]}.`),
    ...(elsewhere === 0
      ? []
      : [
          element(
            "p",
            { class: "fault" },
            `The clock was changed: ${elsewhere} entries with a time in this period are in the report of another period. Look for them in the postings.`,
          ),
        ]),
  );

/**
 * What people call a progressive, and in words the hand of its award.
 * @typedef {{ title: (progressive: string) => string, tier: (progressive: string, tier: string | null) => string }} Words
 */

/**
 * Parts of a report, and what its small digits are, if it has any.
 * @param {Node[]} parts
 */
const explained = (parts) =>
  parts.some((part) => part instanceof Element && part.querySelector(".rest") !== null)
    ? [...parts, nothing("The small digits are fractions of the currency’s smallest unit.")]
    : parts;

/**
 * Every account of every progressive, and the payments of each tier.
 * @param {Meter[]} meters
 * @param {Words["title"]} titleOf
 */
export function metersTable(meters, titleOf) {
  if (meters.length === 0) return [nothing("No progressive has been opened yet.")];
  const of = meters.flatMap((meter) => [
    scrolling(
      `${titleOf(meter.progressive)}, every account`,
      table(`${titleOf(meter.progressive)}${meter.retired ? ", retired" : ""}`, COLUMNS, [
        ACCOUNTS.map(([name]) => exact(meter.accounts[name])),
      ]),
    ),
    facts(
      [
        ...Object.entries(meter.paid_by_tier).map(paidFor(meter.tiers)),
        ["Promised to awards not booked", exact(meter.promised)],
        ["Awards", `${meter.awards}${meter.backed_out > 0 ? `, ${meter.backed_out} backed out` : ""}`],
        ["Paid from the tray", exact(meter.from_tray)],
      ],
      { class: "figures small" },
    ),
    verdict(
      meter.balanced,
      "The books balance.",
      "The books do not balance, because another program changed the record. Run punto replay to find the change.",
    ),
  ]);
  return explained(of);
}

/** @type {(tiers: Record<string, string>) => (paid: [tier: string, paid: string]) => [string, Node]} */
const paidFor =
  (tiers) =>
  ([tier, paid]) => [`Paid, ${tiers[tier] ?? spaced(tier)}`, exact(paid)];

/**
 * The accrual report: start, every change, end, account by account.
 * @param {Day} day
 * @param {Words} words
 */
export function dayReport(day, words) {
  const tierOf = words.tier;
  const of = day.progressives.flatMap((each) => [
    facts(
      [
        ["Hands", each.rounds],
        ["Wagers", each.wagers],
        ["Staked", exact(each.staked)],
      ],
      { class: "figures" },
    ),
    element(
      "div",
      { class: "accrual" },
      scrolling(`${words.title(each.progressive)}, every change`, accrual(each, words)),
    ),
    verdict(
      each.explained,
      "Start and changes add up to the end, to the millionth of the smallest unit of the currency.",
      "Start and changes do not add up to the end, because another program changed the record.",
    ),
    ...each.settings.map((other) =>
      element(
        "p",
        {},
        `${dayAndClock(other.ts)}, settings changed by ${other.who}: ${other.reason} (${Object.entries(other.changed)
          .map(([name, [before, after]]) => `${plain(name)} ${value(before)} to ${value(after)}`)
          .join(", ")}).`,
      ),
    ),
    ...each.from_tray.map((paid) =>
      element(
        "p",
        {},
        `${dayAndClock(paid.ts)}, award ${paid.award}, ${tierOf(each.progressive, paid.tier)}, from the tray: `,
        exact(paid.amount),
        `. ${why(paid)}`,
      ),
    ),
    ...each.nobody_won.map((game) => element("p", {}, `${dayAndClock(game.ts)}, ${endOf(game, tierOf)}. ${why(game)}`)),
    ...(each.open_awards.length > 0
      ? [element("p", { class: "fault" }, `Awards locked but not booked by the end: ${each.open_awards.join(", ")}.`)]
      : []),
    ...notListed(each.left_out),
  ]);
  return [period(day), ...(of.length > 0 ? explained(of) : [nothing("No progressive was in service yet.")])];
}

/** @type {(game: NobodyWon, tierOf: Words["tier"]) => string} */
function endOf({ round, table: of, lost, again, progressive, tier }, tierOf) {
  if (lost) return `the game of hand ${round} ended without its table ${of}`;
  if (again) return `the game of hand ${round} was opened again`;
  return `nobody won hand ${round} (${tierOf(progressive, tier)})`;
}

/**
 * A message to the house lists only so many entries.
 * @param {number} number
 */
const notListed = (number) =>
  number === 0
    ? []
    : [
        element(
          "p",
          { class: "quiet" },
          `${number} more entries are not listed here one by one. The Game Manager of the service lists them all.`,
        ),
      ];

/** @param {unknown} setting */
const value = (setting) => (setting === null ? "none" : String(setting));

/** @type {(report: Accrual, words: Words) => HTMLTableElement} */
function accrual({ progressive, start, changes, end }, { title, tier: tierOf }) {
  /** @type {(name: string, accounts: Accounts) => Content[]} */
  const whole = (name, accounts) => [
    element("b", {}, name),
    "",
    ...ACCOUNTS.map(([account]) => exact(accounts[account])),
  ];
  return table(
    title(progressive),
    ["What", "Who and why", ...COLUMNS],
    [
      whole("Start", start),
      ...changes.map((each) => [
        what(each, tierOf(progressive, each.tier)),
        why(each),
        ...ACCOUNTS.map(([account]) => change(each.moved[account])),
      ]),
      whole("End", end),
    ],
  );
}

/** @type {(change: Change, tier: string) => Node} */
function what({ cause, ts, award }, tier) {
  const number = award === null ? "" : ` ${award}`;
  return element(
    "span",
    {},
    `${CAUSES[cause]}${cause === "award" ? `${number}, ${tier}` : ""}`,
    ...(ts === null ? [] : [element("small", {}, dayAndClock(ts))]),
  );
}

/** What the record has of the turn of a supervisor's key, which tells nobody's name. */
export const KEY_SWITCH = "key switch";

/** @param {{ who: string | null, reason: string | null, approved_by: string | null }} entry */
const why = ({ who, reason, approved_by }) =>
  [who === KEY_SWITCH ? "supervisor’s key" : who, approved_by && `approved by ${approved_by}`, reason && `“${reason}”`]
    .filter(Boolean)
    .join(", ");

/**
 * The weekly deposit, its parts, and the carried fractions.
 * @param {Week} week
 * @param {Words["title"]} titleOf
 */
export function weekReport(week, titleOf) {
  const of = week.progressives.flatMap((each) => [
    element(
      "p",
      { class: "deposit" },
      each.deposit.startsWith("-") ? "Draw from the fund " : "Deposit ",
      element("b", {}, exact(each.deposit.replace("-", ""))),
    ),
    scrolling(
      `${titleOf(each.progressive)}, the week`,
      table(
        titleOf(each.progressive),
        ["What", ">Meter and overflow", ">Reserve", ">Held"],
        [
          [element("b", {}, "Start"), "", "", exact(each.start)],
          ...each.components.map((part) => [CAUSES[part.cause], change(part.to_meter), change(part.to_reserve), ""]),
          [element("b", {}, "End"), "", "", exact(each.end)],
          ["Less than the smallest unit, carried in", "", "", exact(each.carried_in)],
          ["Less than the smallest unit, carried out", "", "", exact(each.carried_out)],
        ],
      ),
    ),
    verdict(
      each.explained,
      "Start and changes add up to the end.",
      "Start and changes do not add up to the end, because another program changed the record.",
    ),
  ]);
  return [
    element(
      "p",
      {},
      `Gaming days ${writtenDay(week.first)} to ${writtenDay(week.last)}. The deposit is what is held for the players at the end, less what was held at the start, without fractions of the currency’s smallest unit.`,
    ),
    period(week),
    ...(of.length > 0 ? explained(of) : [nothing("No progressive was in service yet.")]),
  ];
}

/**
 * The comparison of a day's books, and the coins.
 * @param {Reconciliation} found
 * @param {Words["title"]} titleOf
 */
export function reconciliation(found, titleOf) {
  const of = found.progressives.flatMap((each) => [
    scrolling(
      `${titleOf(each.progressive)}, compared`,
      table(
        titleOf(each.progressive),
        ["What", ">Ledger", ">By the rest of the record"],
        each.checks.map((check) => [CHECKS[check.what], exact(check.ledger), exact(check.expected)]),
      ),
    ),
    ...each.differences.map((other) => element("p", { class: "fault" }, `Input ${other.input}: ${other.text}.`)),
    element("p", {}, "Awards paid from the tray, less those taken back: ", exact(each.from_tray)),
    coins(each.coins),
    ...each.counts.filter(({ day }) => day !== found.day).map(countOfAnotherDay),
    ...notListed(each.left_out),
  ]);
  return [
    period(found),
    verdict(
      found.agrees,
      "The ledger agrees with the record.",
      "The ledger and the record differ. Keep both as they are, and run punto replay to find the change.",
    ),
    ...(of.length > 0 ? explained(of) : [nothing("No progressive was in service yet.")]),
  ];
}

/** @param {{ day: string, amount: string, who: string, ts: string }} count */
const countOfAnotherDay = ({ day, amount: counted, who, ts }) =>
  element(
    "p",
    {},
    `${dayAndClock(ts)}, ${who} entered the count of the coins of ${writtenDay(day)}: `,
    exact(counted),
    ".",
  );

/** @param {string | null} text */
const amount = (text) => (text === null ? "–" : exact(text));

/** @param {Coins} coins */
function coins({ taken, counted, difference, who, ts, todo }) {
  const off = difference !== null && !isZero(difference);
  return element(
    "div",
    { class: off ? "coins off" : "coins" },
    element("h3", {}, "Coins"),
    ...(taken === null
      ? []
      : [
          facts(
            [
              ["Taken", amount(taken)],
              ["Counted", amount(counted)],
              ["Difference", amount(difference)],
            ],
            { class: "figures small" },
          ),
        ]),
    ...(who === null || ts === null
      ? []
      : [element("p", { class: "quiet" }, `Counted by ${who}, ${dayAndClock(ts)}.`)]),
    element("p", {}, sentence(todo)),
  );
}
