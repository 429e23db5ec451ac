// The drawing of a report of the floor. Whatever is not by chance is marked, and its table comes first.

import { element, scrolling, table } from "/shared/elements.js";
import { columnIn, moneyIn } from "/shared/money.js";
import { groupedBy } from "/shared/newer.js";
import { dayAndTime, sentence, spaced } from "/shared/words.js";

/** @import { CountReading, GameTitles, FloorReport, ShiftReport, MeterReadings, TableReport, WagerReading } from "#sent/floor" */
/** @typedef {{ title: string, wager: (wager: string | null) => string, rule: (wager: string | null, rule: string) => string }} Titles of a game */
/** @typedef {{ errors: number | null, evidence: number | null }} Figure a figure with its difference from the expectation */

const NO_EVIDENCE = 1;
const SIMULATED = ", simulation";
const whole = new Intl.NumberFormat("en");
const percent = new Intl.NumberFormat("en", {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const signed = new Intl.NumberFormat("en", { signDisplay: "exceptZero", minimumFractionDigits: 2 });
const STATUSES = { played: "played", void: "void", correction: "corrections", dummy: "dummy" };

/**
 * @param {FloorReport | ShiftReport} report
 * @param {Map<string, string>} names of the tables by their ids
 */
export function drawn({ since, until, marked_at: markedAt, games, tables, wagers }, names) {
  const figures = tables.flatMap(({ meters }) => figuresOf(meters)).filter(({ errors }) => errors !== null);
  const outside = figures.filter((each) => isMarked(each, markedAt));
  /** @param {TableReport} report */
  const worst = ({ meters }) => Math.max(0, ...figuresOf(meters).map(({ evidence }) => evidence ?? 0));
  const suspect = tables.filter((each) => worst(each) >= markedAt).sort((one, other) => worst(other) - worst(one));
  const others = tables.filter((each) => !suspect.includes(each));
  return [
    ...(isDay(since) ? [] : [element("p", { class: "span" }, `From ${dayAndTime(since)} to ${dayAndTime(until)}.`)]),
    element(
      "p",
      { class: outside.length > 0 ? "found some" : "found" },
      element(
        "b",
        {},
        `${whole.format(outside.length)} of ${whole.format(figures.length)} results outside the expected range`,
      ),
      ". By chance alone, at most one such report in 31 would have any.",
    ),
    element("h2", {}, "The floor"),
    ...[
      ...groupedBy(wagers, ({ game, rules, currency, simulation }) =>
        JSON.stringify([game, rules, currency, simulation]),
      ).values(),
    ].map((of) =>
      wagersTable(
        titlesOf(games, of[0]).title + (of[0].simulation ? SIMULATED : ""),
        of.map(({ wager }) => wager),
        { titles: titlesOf(games, of[0]), currency: of[0].currency, markedAt },
      ),
    ),
    element("h2", {}, "Tables"),
    ...[...suspect, ...others].map((each) =>
      tableOf(each, names.get(each.table) ?? each.table, titlesOf(games, each), markedAt),
    ),
  ];
}

/**
 * The titles of a game; identifiers in words if the store does not know the game.
 * @param {GameTitles[]} games
 * @param {{ game: string, rules: string }} of
 * @returns {Titles}
 */
function titlesOf(games, { game, rules }) {
  const known = games.find((each) => each.game === game && each.rules === rules);
  return {
    title: known?.title ?? game,
    wager: (wager) => known?.wagers[wager ?? ""] ?? sentence(spaced(wager ?? "hand")),
    rule: (wager, rule) => known?.decided_by[wager ?? ""]?.[rule] ?? spaced(rule),
  };
}

/** @param {string} written a gaming day or a moment */
const isDay = (written) => !written.includes("T");

/** @param {MeterReadings} meters */
const figuresOf = ({ counts, wagers }) => [...wagers, ...counts];

/** @type {(figure: Figure, markedAt: number) => boolean} */
const isMarked = ({ evidence }, markedAt) => evidence !== null && evidence >= markedAt;

/**
 * One table: a line, and its figures when it is opened.
 * @param {TableReport} report
 * @param {string} name
 * @param {Titles} titles
 * @param {number} markedAt
 */
function tableOf({ currency, simulation, rounds, meters }, name, titles, markedAt) {
  const outside = figuresOf(meters).filter((each) => isMarked(each, markedAt));
  const { handle, win } = sumOf(meters.wagers);
  const statuses = Object.entries(STATUSES).filter(([status]) => rounds[status] > 0);
  const made = element(
    "details",
    { class: outside.length > 0 ? "outside" : null },
    element(
      "summary",
      {},
      element("h3", {}, name),
      element("span", {}, titles.title + (simulation ? SIMULATED : "")),
      element("span", {}, statuses.map(([status, words]) => `${whole.format(rounds[status])} ${words}`).join(", ")),
      element("span", { class: "number" }, `handle ${moneyIn(currency)(handle)}`),
      element("span", { class: "number" }, `win ${moneyIn(currency, { sign: true })(win)}`),
      element("span", { class: "number" }, `hold ${hold(win, handle)}`),
      element("span", { class: "mark" }, outside.length > 0 ? `${outside.length} outside the expected range` : ""),
    ),
  );
  const draw = () =>
    made.append(
      wagersTable("Wagers", meters.wagers, { titles, currency, markedAt }),
      countsTable(titles, meters, markedAt),
    );
  made.addEventListener("toggle", draw, { once: true });
  made.open = outside.length > 0;
  return made;
}

/** @param {WagerReading} wager */
const expectedOf = ({ expected }) => (expected === null ? null : Math.round(expected));

/** @param {WagerReading[]} wagers */
function sumOf(wagers) {
  /** @param {(each: WagerReading) => number} of */
  const sum = (of) => wagers.reduce((total, each) => total + of(each), 0);
  return {
    wagers: sum((each) => each.wagers),
    handle: sum((each) => each.handle),
    win: sum((each) => each.win),
    expected: wagers.some(({ expected }) => expected === null) ? null : sum((each) => expectedOf(each) ?? 0),
  };
}

/**
 * What the house kept of the handle.
 * @type {(win: number, handle: number) => string}
 */
const hold = (win, handle) => (handle === 0 ? "–" : percent.format(win / handle));

/** @type {(caption: string, wagers: WagerReading[], of: { titles: Titles, currency: string, markedAt: number }) => HTMLElement} */
function wagersTable(caption, wagers, { titles, currency, markedAt }) {
  if (wagers.length === 0) return element("p", { class: "quiet" }, "No wagers were recorded.");
  const handles = columnIn(
    currency,
    wagers.map((each) => each.handle),
  );
  const wins = columnIn(
    currency,
    wagers.map((each) => each.win),
    { sign: true },
  );
  const expectations = columnIn(
    currency,
    wagers.map((each) => expectedOf(each) ?? 0),
    { sign: true },
  );
  const columns = ["Wager", ">Wagers", ">Handle", ">Win", ">Hold", ">Expected win", ">Deviation (σ)"];
  /** @type {(title: string, of: ReturnType<typeof sumOf>) => string[]} */
  const cells = (title, of) => [
    title,
    whole.format(of.wagers),
    handles(of.handle),
    wins(of.win),
    hold(of.win, of.handle),
    of.expected === null ? "–" : expectations(of.expected),
  ];
  /** @param {WagerReading} each */
  const row = (each) => cells(titles.wager(each.wager), { ...each, expected: expectedOf(each) });
  const sum = wagers.length > 1 ? cells("All wagers", sumOf(wagers)) : null;
  return marked(caption, wagers, markedAt, { columns, row, sum });
}

/** @type {(titles: Titles, meters: MeterReadings, markedAt: number) => HTMLElement} */
function countsTable(titles, { hands, counts }, markedAt) {
  if (counts.length === 0) return element("p", { class: "quiet" }, "The rules of this game are not known yet.");
  const caption = `Hits in ${whole.format(hands)} hands, beside the exact odds`;
  const columns = ["Wager", "Rule", ">Hits", ">Expected hits", ">Deviation (σ)"];
  /** @param {CountReading} each */
  const row = (each) => [
    titles.wager(each.wager),
    titles.rule(each.wager, each.rule),
    whole.format(each.hits),
    each.expected === null ? "–" : each.expected.toFixed(1),
  ];
  return marked(caption, counts, markedAt, { columns, row });
}

/**
 * A table of figures, with a column for what chance gives rarely if there is any such figure.
 * @template {Figure} Read
 * @param {string} caption
 * @param {Read[]} figures
 * @param {number} markedAt
 * @param {{ columns: string[], row: (figure: Read) => string[], sum?: string[] | null }} of
 */
function marked(caption, figures, markedAt, { columns, row, sum = null }) {
  const rare = figures.some(({ errors, evidence }) => errors !== null && evidence !== NO_EVIDENCE);
  const made = table(
    caption,
    rare ? [...columns, ">By chance"] : columns,
    figures.map((each) => [...row(each), ...differenceOf(each, markedAt).slice(0, rare ? 2 : 1)]),
  );
  figures.forEach((each, at) => {
    made.tBodies[0].rows[at].classList.toggle("outside", isMarked(each, markedAt));
  });
  if (sum !== null) {
    const [title, ...rest] = sum;
    const empty = rare ? ["", ""] : [""];
    made
      .createTFoot()
      .insertRow()
      .append(
        element("th", { scope: "row" }, title),
        ...[...rest, ...empty].map((text) => element("td", { class: "number" }, text)),
      );
  }
  return scrolling(caption, made);
}

/** @type {(figure: Figure, markedAt: number) => (Node | string)[]} */
function differenceOf(figure, markedAt) {
  const { errors, evidence } = figure;
  if (errors === null) return ["–", ""];
  if (evidence === null) return [signed.format(errors), "not computable"];
  const text = evidence <= NO_EVIDENCE ? "" : `at most once in ${whole.format(evidence)}`;
  return [signed.format(errors), isMarked(figure, markedAt) ? element("b", {}, text) : text];
}
