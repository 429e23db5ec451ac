// The report of the shift: the last hours in figures, and everything out of the ordinary with who and why.

import { button, byId, element, facts, scrolling, table } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { t } from "./language.js";
import { titlesOf } from "./rounds.js";
import { read } from "./service.js";
import { dayAndClock, plain } from "./words.js";

/** @import { Shift, View } from "#sent/consoles" */
/** @typedef {import("/shared/elements.js").Content} Content */
/** @typedef {Shift["meters"][number]} GameMeters */

const HOURS = [4, 8, 12, 24];
/** @type {Record<string, string>} */
const LISTS = {
  voids: t("shift.voids").toLowerCase(),
  corrections: t("shift.corrections").toLowerCase(),
  alarms: t("shift.alarms").toLowerCase(),
  access: t("shift.access").toLowerCase(),
  cleared: t("shift.cleared").toLowerCase(),
};
/** @type {View} */
let view;
let hours = 8;
/** @type {number | null} */
let fetched = null; // the number of the round coming when the report was made

/** @type {HTMLButtonElement[]} */
const keys = HOURS.map((each) => {
  const made = button(
    t("shift.hours", { hours: each }),
    () => {
      hours = each;
      for (const key of keys) key.setAttribute("aria-pressed", String(key === made));
      report();
    },
    { "aria-pressed": String(each === hours) },
  );
  return made;
});
byId("shift-hours").append(...keys);

/**
 * @param {View} latest
 * @param {{ opened: boolean }} how
 */
export function showShift(latest, { opened }) {
  view = latest;
  if (opened || view.state.round !== fetched) report();
}

async function report() {
  fetched = view.state.round;
  const wanted = hours;
  /** @type {Shift | null} */
  const found = await read(`/api/shift?hours=${wanted}`, byId("shift-report"));
  if (found !== null && wanted === hours) byId("shift-report").replaceChildren(...drawn(found));
}

/** @param {Shift} shift */
function drawn(shift) {
  const { since, until, rounds, hands_an_hour, wagers, commission, meters, voids, corrections, alarms, access, more } =
    shift;
  const money = moneyIn(view.state.currency, { whole: false });
  const signed = moneyIn(view.state.currency, { whole: false, sign: true });
  const title = titlesOf(view.state);
  /** @param {"wagers" | "staked" | "returned" | "net"} name */
  const sum = (name) => wagers.reduce((total, each) => total + each[name], 0);
  /** @param {{ who: string | null, approved_by: string | null }} entry */
  const by = ({ who, approved_by }) =>
    approved_by ? t("shift.approved", { who: String(who), approved_by }) : (who ?? "–");
  return [
    element("p", { class: "quiet" }, t("shift.from_to", { since: dayAndClock(since), until: dayAndClock(until) })),
    ...more.map((name) => element("p", { class: "quiet" }, t("shift.more", { list: LISTS[name] }))),
    facts(
      [
        [t("shift.played"), rounds.played ?? 0],
        [t("hands_an_hour"), hands_an_hour === null ? "–" : Math.round(hands_an_hour)],
        [t("shift.void"), rounds.void ?? 0],
        [t("shift.corrections"), rounds.correction ?? 0],
        [t("shift.dummy"), rounds.dummy ?? 0],
        [t("shift.alarms_and_calls"), alarms.length],
      ],
      { class: "figures" },
    ),
    listed(
      t("wagers"),
      [t("wager"), `>${t("shift.made")}`, `>${t("staked")}`, `>${t("returned")}`, `>${t("shift.net")}`],
      [
        ...wagers.map((each) => [
          title(each.wager),
          String(each.wagers),
          money(each.staked),
          money(each.returned),
          signed(each.net),
        ]),
        ...(wagers.length > 0
          ? [
              [
                element("b", {}, t("shift.all")),
                ...[String(sum("wagers")), money(sum("staked")), money(sum("returned")), signed(sum("net"))].map(
                  (text) => element("b", {}, text),
                ),
              ],
            ]
          : []),
      ],
    ),
    ...(commission === null ? [] : commissionOf(commission, by)),
    listed(
      t("shift.voids"),
      [t("round"), t("when"), t("shift.voided"), t("who"), t("why")],
      voids.map((each) => [
        round(each.round),
        dayAndClock(each.ts),
        each.entry === null ? t("shift.before") : element("span", {}, t("shift.after"), round(each.entry)),
        by(each),
        each.reason ?? "",
      ]),
    ),
    listed(
      t("shift.corrections"),
      [t("round"), t("when"), t("what"), t("who"), t("why"), `>${t("shift.difference")}`],
      corrections.map((each) => [
        round(each.round),
        dayAndClock(each.ts),
        corrected(each),
        by(each),
        each.reason ?? "",
        signed(each.net),
      ]),
    ),
    listed(
      t("shift.alarms"),
      [t("number"), t("when"), t("what"), t("who"), t("from"), t("text")],
      alarms.map((each) => [
        String(each.seq),
        dayAndClock(each.ts),
        plain(each.kind),
        each.who ?? "–",
        each.source,
        each.text,
      ]),
    ),
    listed(
      t("shift.access"),
      [t("number"), t("when"), t("what"), t("who"), t("where"), t("text")],
      access.map((each) => [
        String(each.seq),
        dayAndClock(each.ts),
        plain(each.kind),
        each.who ?? t("shift.nobody"),
        each.where ?? "–",
        each.text,
      ]),
    ),
    ...meters.flatMap((each) => [counts(each), ...(each.lifetime.wagers.length > 0 ? [holds(each)] : [])]),
  ];
}

/**
 * What was marked, collected and waived in the shift and on the gaming day, and what the seats owe now.
 * @param {NonNullable<Shift["commission"]>} commission
 * @param {(entry: { who: string | null, approved_by: string | null }) => string} by
 */
function commissionOf({ shift, day, owed, cleared }, by) {
  const money = moneyIn(view.state.currency, { whole: false });
  return [
    listed(
      t("commission"),
      [t("when"), `>${t("commission.earned")}`, `>${t("commission.collected")}`, `>${t("commission.waived")}`],
      [
        [t("shift"), money(shift.earned), money(shift.collected), money(shift.waived)],
        [t("gaming_day"), money(day.earned), money(day.collected), money(day.waived)],
      ],
    ),
    listed(
      t("commission.owed_now"),
      [t("heading.seat"), `>${t("due")}`],
      owed.map((each) => [String(each.seat), money(each.amount)]),
    ),
    listed(
      t("shift.cleared"),
      [t("when"), t("heading.seat"), t("what"), `>${t("due")}`, t("who"), t("why")],
      cleared.map((each) => [
        dayAndClock(each.ts),
        String(each.seat),
        each.cause === "collected" ? t("commission.collected") : t("commission.waived"),
        money(each.amount),
        by(each),
        each.reason ?? "",
      ]),
    ),
  ];
}

/**
 * How often each result and each rule has been, in the shift and over the table's life.
 * @param {GameMeters} meters
 */
function counts({ title: game, shift, lifetime }) {
  const title = titlesOf(view.state);
  const beside = [`>${t("meters.expected")}`, `>${t("meters.errors")}`];
  return listed(
    t("meters.title", { game, hands: shift.hands, lifetime: lifetime.hands }),
    [t("wager"), t("meters.what"), `>${t("meters.hits")}`, ...beside, `>${t("meters.lifetime_hits")}`, ...beside],
    shift.counts.map((each, at) => [
      each.wager === null ? t("meters.hand") : title(each.wager),
      each.wager === null ? t(`meters.${each.rule}`) : plain(each.rule),
      ...[each, lifetime.counts[at]].flatMap(({ hits, expected, errors }) => [
        String(hits),
        decimal(expected),
        decimal(errors),
      ]),
    ]),
  );
}

/**
 * What was staked on each wager and what the house kept of it, in the shift and over the table's life.
 * @param {GameMeters} meters
 */
function holds({ title: game, shift, lifetime }) {
  const title = titlesOf(view.state);
  const money = moneyIn(view.state.currency, { whole: false });
  const signed = moneyIn(view.state.currency, { whole: false, sign: true });
  const beside = [`>${t("meters.expected")}`, `>${t("meters.errors")}`];
  const none = { handle: 0, win: 0, expected: 0, errors: null };
  return listed(
    t("meters.win_title", { game }),
    [
      t("wager"),
      ...[`>${t("meters.handle")}`, `>${t("meters.win")}`, ...beside],
      ...[`>${t("meters.lifetime_handle")}`, `>${t("meters.lifetime_win")}`, ...beside],
    ],
    lifetime.wagers.map((each) => [
      title(each.wager),
      ...[shift.wagers.find(({ wager }) => wager === each.wager) ?? none, each].flatMap(
        ({ handle, win, expected, errors }) => [
          money(handle),
          signed(win),
          expected === null ? "–" : signed(Math.round(expected)),
          decimal(errors),
        ],
      ),
    ]),
  );
}

/** @param {number | null} figure */
const decimal = (figure) => (figure === null ? "–" : figure.toFixed(2));

/** @param {Shift["corrections"][number]} correction */
const corrected = ({ corrects, voided }) =>
  corrects === null
    ? t("shift.card_before")
    : element(
        "span",
        {},
        t("shift.the_round"),
        round(corrects),
        voided ? t("shift.round_voided") : t("shift.round_resettled"),
      );

/** @param {number} number */
const round = (number) => element("a", { href: `#hands/${number}` }, String(number));

/** @type {(caption: string, columns: string[], rows: Content[][]) => HTMLElement} */
const listed = (caption, columns, rows) =>
  scrolling(
    caption,

    rows.length > 0
      ? table(caption, columns, rows)
      : element("p", { class: "quiet" }, t("shift.none", { list: caption })),
  );
