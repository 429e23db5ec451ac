// The drawing of a report of the floor. Whatever is far from its expectation is marked, and its table comes first.

import { element, scrolling, svg, table } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { dayAndTime, sentence, spaced } from "/shared/words.js";

/** @import { FloorReport, ShiftReport, MeterReadings, TableReport, WagerReading } from "#sent/floor" */
/** @typedef {{ errors: number | null }} Figure a figure with its difference in standard errors */

const BY_CHANCE = 0.0027; // the part of figures that are outside three standard errors by chance
const EDGE = 6; // standard errors at the end of a band
const money = moneyIn("", { whole: false }); // of tables that may have several currencies
const signedMoney = moneyIn("", { whole: false, sign: true });
const whole = new Intl.NumberFormat("en");
const signed = new Intl.NumberFormat("en", { signDisplay: "exceptZero", minimumFractionDigits: 2 });
const STATUSES = { played: "played", void: "void", correction: "corrections", dummy: "dummy" };

/**
 * @param {FloorReport | ShiftReport} report
 * @param {Map<string, string>} names of the tables by their ids
 */
export function drawn({ since, until, sigmas, tables, wagers }, names) {
  const figures = tables.flatMap(({ meters }) => figuresOf(meters)).filter(({ errors }) => errors !== null);
  const outside = figures.filter((each) => isOutside(each, sigmas));
  /** @param {TableReport} report */
  const worst = ({ meters }) => Math.max(0, ...figuresOf(meters).map(({ errors }) => Math.abs(errors ?? 0)));
  const suspect = tables.filter((each) => worst(each) >= sigmas).sort((one, other) => worst(other) - worst(one));
  const others = tables.filter((each) => !suspect.includes(each));
  return [
    ...(isDay(since) ? [] : [element("p", { class: "span" }, `From ${dayAndTime(since)} to ${dayAndTime(until)}.`)]),
    element(
      "p",
      { class: outside.length > 0 ? "found some" : "found" },
      element("b", {}, `${whole.format(outside.length)} of ${whole.format(figures.length)} figures of the tables`),
      ` ${outside.length === 1 ? "is" : "are"} outside ${sigmas} standard errors. By chance alone, about ${(figures.length * BY_CHANCE).toFixed(1)} would be.`,
    ),
    element("h2", {}, "The floor"),
    ...Map.groupBy(wagers, ({ game, rules }) => JSON.stringify([game, rules]))
      .values()
      .map((of) =>
        wagersTable(
          of[0].game,
          of.map(({ wager }) => wager),
          sigmas,
        ),
      ),
    element("h2", {}, "Tables"),
    ...[...suspect, ...others].map((each) => tableOf(each, names.get(each.table) ?? each.table, sigmas)),
  ];
}

/** @param {string} written a gaming day or a moment */
const isDay = (written) => !written.includes("T");

/** @param {MeterReadings} meters */
const figuresOf = ({ counts, wagers }) => [...wagers, ...counts];

/** @type {(figure: Figure, sigmas: number) => boolean} */
const isOutside = ({ errors }, sigmas) => errors !== null && Math.abs(errors) >= sigmas;

/**
 * One table: a line, and its figures when it is opened.
 * @param {TableReport} report
 * @param {string} name
 * @param {number} sigmas
 */
function tableOf({ game, rounds, meters }, name, sigmas) {
  const outside = figuresOf(meters).filter((each) => isOutside(each, sigmas));
  /** @param {"handle" | "win"} of */
  const sum = (of) => meters.wagers.reduce((total, each) => total + each[of], 0);
  const statuses = Object.entries(STATUSES).filter(([status]) => rounds[status] > 0);
  const made = element(
    "details",
    { class: outside.length > 0 ? "outside" : null },
    element(
      "summary",
      {},
      element("h3", {}, name),
      element("span", {}, game),
      element("span", {}, statuses.map(([status, words]) => `${whole.format(rounds[status])} ${words}`).join(", ")),
      element("span", { class: "number" }, `handle ${money(sum("handle"))}`),
      element("span", { class: "number" }, `win ${signedMoney(sum("win"))}`),
      element(
        "span",
        { class: "mark" },
        outside.length > 0 ? `${outside.length} outside ${sigmas} standard errors` : "",
      ),
    ),
  );
  const draw = () => made.append(wagersTable("Wagers", meters.wagers, sigmas), countsTable(meters, sigmas));
  made.addEventListener("toggle", draw, { once: true });
  made.open = outside.length > 0;
  return made;
}

/** @type {(caption: string, wagers: WagerReading[], sigmas: number) => HTMLElement} */
function wagersTable(caption, wagers, sigmas) {
  if (wagers.length === 0) return element("p", { class: "quiet" }, "No wagers were recorded.");
  const made = table(
    caption,
    ["Wager", ">Wagers", ">Handle", ">Win", ">Expected win", ">Standard errors", `-${sigmas} to +${sigmas}`],
    wagers.map((each) => [
      sentence(spaced(each.wager)),
      whole.format(each.wagers),
      money(each.handle),
      signedMoney(each.win),
      each.expected === null ? "–" : signedMoney(Math.round(each.expected)),
      ...differenceOf(each, sigmas),
    ]),
  );
  return marked(made, caption, wagers, sigmas);
}

/** @type {(meters: MeterReadings, sigmas: number) => HTMLElement} */
function countsTable({ hands, counts }, sigmas) {
  if (counts.length === 0) return element("p", { class: "quiet" }, "The rules of this game are not known yet.");
  const caption = `Hits in ${whole.format(hands)} hands, beside the exact odds`;
  const made = table(
    caption,
    ["Wager", "Rule", ">Hits", ">Expected hits", ">Standard errors", `-${sigmas} to +${sigmas}`],
    counts.map((each) => [
      sentence(spaced(each.wager ?? "hand")),
      spaced(each.rule),
      whole.format(each.hits),
      each.expected === null ? "–" : each.expected.toFixed(1),
      ...differenceOf(each, sigmas),
    ]),
  );
  return marked(made, caption, counts, sigmas);
}

/** @type {(made: HTMLTableElement, caption: string, figures: Figure[], sigmas: number) => HTMLElement} */
function marked(made, caption, figures, sigmas) {
  figures.forEach((each, at) => {
    made.tBodies[0].rows[at].classList.toggle("outside", isOutside(each, sigmas));
  });
  return scrolling(caption, made);
}

/** @type {(figure: Figure, sigmas: number) => (Node | string)[]} */
function differenceOf({ errors }, sigmas) {
  if (errors === null) return ["–", ""];
  const text = signed.format(errors);
  return [isOutside({ errors }, sigmas) ? element("b", {}, `outside ${text}`) : text, band(errors, sigmas)];
}

/**
 * The band of so many standard errors to both sides of the expectation, with the mark of a value.
 * @param {number} errors
 * @param {number} sigmas
 */
function band(errors, sigmas) {
  const at = Math.max(-EDGE, Math.min(EDGE, errors));
  return svg(
    "svg",
    { class: "band", viewBox: `${-EDGE - 1} -1 ${2 * EDGE + 2} 2`, "aria-hidden": true },
    svg("rect", { x: -sigmas, y: -0.6, width: 2 * sigmas, height: 1.2, rx: 0.2 }),
    svg("path", { class: "axis", d: `M${-EDGE} 0H${EDGE}M0 -.9V.9` }),
    Math.abs(errors) < sigmas
      ? svg("circle", { cx: at, r: 0.42 })
      : svg("path", { d: `M${at} -.8l.65 .8l-.65 .8l-.65-.8z` }),
  );
}
