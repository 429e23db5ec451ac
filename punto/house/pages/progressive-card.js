// One progressive: its meter now, its tables, the days of the week, and the books of a day. Only what has changed is drawn again.

import { dayReport, reconciliation, weekReport } from "/shared/books.js";
import { element, facts, refresh, scrolling, table } from "/shared/elements.js";
import { change, exact, isZero } from "/shared/exact.js";
import { moneyIn } from "/shared/money.js";
import { dayAndClock } from "/shared/times.js";
import { moment, sentence, spaced, writtenDay } from "/shared/words.js";

/** @import { BooksDay, HouseBooks, HouseProgressive, LinkedTable, MeterView } from "#sent/floor" */
/** @import { Words } from "/shared/books.js" */
/** @import { Content } from "/shared/elements.js" */

const PHASES = { new: "Not in service yet", open: "In service", retired: "Retired for good" };
const STATES = {
  ended: "Ended",
  open: "Open",
  missing: "Missing",
  unused: "Not in service",
  to_come: "To come",
};
const AWARDS = { locked: "locked, not taken off the meter yet", booked: "booked" };
const COLUMNS = [
  "Gaming day",
  "State",
  "Books",
  "Coins",
  ">Wagers",
  ">Contributions",
  ">Of them to reserve",
  ">Awards",
  ">Put back",
  ">Adjusted",
  ">Seed",
  ">Meter at the end",
  ">Reserve",
];

export class ProgressiveCard {
  constructor() {
    ProgressiveCard.#made += 1;
    const number = ProgressiveCard.#made;
    this.element = element(
      "article",
      { class: "progressive", "aria-labelledby": `progressive-${number}` },
      this.#head,
      this.#now,
      this.#tables,
      this.#warnings,
      this.#week,
      ...Object.values(this.#reports).map(({ box, summary, report }) => {
        box.append(summary, report);
        return box;
      }),
    );
    this.#head.id = `progressive-${number}`;
    this.#head.append(this.#title, this.#keeper);
  }

  static #made = 0;
  #title = element("h2");
  #keeper = element("p", { class: "quiet" });
  #head = element("header");
  #now = element("div");
  #tables = element("div");
  #warnings = element("div");
  #week = element("div", { class: "week" });
  #reports = { day: folded(), deposit: folded(), compared: folded() };

  /** @type {(of: HouseProgressive, house: HouseBooks) => void} */
  show(of, { day, first, last, tiers, progressives }) {
    const twice = progressives.filter((each) => each.table === of.table && each.progressive === of.progressive);
    const record = twice.length > 1 ? `, record ${of.record}` : "";
    refresh(this.#title, of.title, () => [of.title]);
    refresh(this.#keeper, [of.name, of.record, of.simulation, twice.length], () => [
      `Kept by ${of.name}${record}${of.simulation ? ", simulation" : ""}`,
    ]);
    this.element.classList.toggle("warned", of.warnings.length > 0);
    this.#now.classList.toggle("frozen", of.meter?.live === false);
    const names = Object.fromEntries(of.tables.map(({ table: id, name }) => [id, name]));
    refresh(this.#now, [of.meter, names], () => meterNow(of.meter, of.currency, names));
    refresh(this.#tables, of.tables, tablesNow);
    refresh(this.#warnings, of.warnings, (warnings) =>
      warnings.length === 0
        ? []
        : element("ul", { class: "warnings" }, ...warnings.map((text) => element("li", {}, `${sentence(text)}.`))),
    );
    refresh(this.#week, [of.days, day], () =>
      weekTable(of, day, `Gaming week ${writtenDay(first)} to ${writtenDay(last)}`),
    );
    const title = `${of.title} of ${of.name}${record}`;
    this.#showReports(of, day, { title: () => title, tier: (_, tier) => tiers[tier ?? ""] ?? spaced(tier ?? "") });
  }

  /** @type {(of: HouseProgressive, day: string, words: Words) => void} */
  #showReports({ books, week, week_as_of: weekAsOf, days }, day, words) {
    const { day: accrual, deposit, compared } = this.#reports;
    const chosen = days.find((each) => each.day === day);
    draw(
      accrual,
      books?.day ?? null,
      () => `Accrual of ${writtenDay(day)}`,
      (told) => dayReport(told, words),
    );
    draw(
      deposit,
      week,
      (told) => depositOf(told, weekAsOf),
      (told) => weekReport(told, words.title),
    );
    draw(
      compared,
      books?.reconciliation ?? null,
      () => `Reconciliation of ${writtenDay(day)}: ${verdictOf(chosen)}`,
      (told) => reconciliation(told, words.title),
    );
  }
}

const folded = () => ({ box: element("details"), summary: element("summary"), report: element("div") });

/**
 * @template Told
 * @param {ReturnType<typeof folded>} into
 * @param {Told | null} told
 * @param {(told: Told) => string} title
 * @param {(told: Told) => Node[]} drawn
 */
function draw({ box, summary, report: inner }, told, title, drawn) {
  box.hidden = told === null;
  if (told === null) return;
  refresh(summary, title(told), (text) => element("h3", {}, text));
  refresh(inner, told, drawn);
}

/** @type {(week: NonNullable<HouseProgressive["week"]>, asOf: string | null) => string} */
const depositOf = ({ first, last, state, progressives }, asOf) =>
  `Weekly deposit, ${writtenDay(first)} to ${writtenDay(last)}${state === "ended" ? "" : asOfWords(asOf)}: ${progressives.map(({ deposit }) => exact(deposit).textContent).join(", ")}`;

/** @type {(meter: MeterView | null, currency: string, names: Record<string, string>) => Node[]} */
function meterNow(meter, currency, names) {
  if (meter === null) {
    return [element("p", { class: "quiet" }, "The service does not keep this meter now, or it was not heard of yet.")];
  }
  const { award, phase, as_of: asOf, live } = meter;
  const money = moneyIn(currency, { whole: false });
  return [
    facts(
      [
        [live ? "Meter now" : `NOT LIVE${asOf === null ? "" : `, as of ${dayAndClock(asOf)}`}`, money(meter.meter)],
        ["Phase", PHASES[/** @type {keyof typeof PHASES} */ (phase)] ?? phase],
        [
          "Last award",
          award === null
            ? "None"
            : `${money(award.amount)}, ${AWARDS[award.state]}: ${award.title}, ${names[award.table] ?? award.table}, hand ${award.round}, ${dayAndClock(award.won)}`,
        ],
      ],
      { class: "now" },
    ),
  ];
}

/** @param {LinkedTable[]} tables */
const tablesNow = (tables) =>
  tables.length === 0
    ? []
    : element(
        "ul",
        { class: "tables", "aria-label": "Tables" },
        ...tables.map(({ name, live, step }) =>
          element(
            "li",
            { class: live ? "live-table" : "away" },
            `${name}: ${live ? `live${step === null ? "" : `, ${spaced(step)}`}` : "NOT LIVE"}`,
          ),
        ),
      );

/** @type {(of: HouseProgressive, day: string, caption: string) => Node} */
function weekTable({ title, name, record, days }, day, caption) {
  const made = table(caption, COLUMNS, days.map(rowOf));
  days.forEach((each, at) => {
    const row = made.tBodies[0].rows[at];
    row.classList.toggle("outside", each.warnings.length > 0);
    row.classList.toggle("chosen", each.day === day);
    if (each.day === day) row.querySelector("a")?.setAttribute("aria-current", "date");
  });
  return scrolling(`${title} of ${name}, record ${record}, ${caption}`, made);
}

/**
 * @param {BooksDay} of
 * @returns {Content[]}
 */
function rowOf(of) {
  const { day, state, as_of: asOf, figures, coins } = of;
  const date = element("a", { href: `/progressives?${new URLSearchParams({ day })}` }, writtenDay(day));
  const told = STATES[state] + (state === "open" ? asOfWords(asOf) : "");
  if (figures === null) return [date, told, ...COLUMNS.slice(2).map(() => "")];
  return [
    date,
    told,
    verdictOf(of),
    coinsOf(coins),
    figures.wagers,
    amount(figures.contributed),
    amount(figures.to_reserve),
    amount(figures.awarded),
    amount(figures.put_back),
    change(figures.adjusted),
    amount(figures.seeded),
    exact(figures.meter),
    exact(figures.reserve),
  ];
}

/**
 * Until when books are that go on.
 * @param {string | null} asOf
 */
const asOfWords = (asOf) => (asOf === null ? "" : `, as of ${moment(asOf)}`);

/**
 * An amount that is always taken, or always given; a dash for zero.
 * @param {string} text
 */
const amount = (text) => (isZero(text) ? element("span", { class: "nothing" }, "–") : exact(text));

/** @param {BooksDay | undefined} of */
const verdictOf = (of) => (of === undefined || of.balanced === null ? "" : of.balanced ? "balanced" : "NOT BALANCED");

/** @param {BooksDay["coins"]} coins */
function coinsOf(coins) {
  if (coins === null || coins.taken === null) return "–";
  if (coins.difference === null) return "not counted";
  return isZero(coins.difference) ? "counted" : element("span", {}, "counted, ", change(coins.difference));
}
