// What is to be done with every seat's wagers once a hand is settled: whom to pay what, in the order of paying, and what to take.

import { byId, element, put, refresh } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { t, translated, wagerShort } from "./language.js";
import { byWhom } from "./rounds.js";
import { headline, OUTCOMES, remarks } from "./words.js";

/** @import { LastRound, RoundRecord, SeatPay, View, WagerDue } from "#sent/consoles" */
/** @typedef {(minor: number) => string} Money */
/** @typedef {{ seat: number, due: readonly WagerDue[], pay: number, stakes: number, award: string[] }} Row a seat's line */

/** From how many lines on their letters are smaller; a line of more than so many wagers counts as two more. */
const [FEW, SOME, MANY, LONG] = [4, 6, 8, 4];
const LISTED = 2; // so many seats that lose are listed with their wagers, more of them with what is taken in all
/** What is done with a wager that is paid nothing. @type {Record<string, string>} */
const DONE = { push: t("done.push"), lose: t("done.lose"), void: t("done.void") };

/**
 * The last hand, from when it ends until the next is dealt; null in between.
 * @param {View} view
 */
export const lastHand = ({ last, state }) =>
  state.hands === null && last !== null && last.round.shoe === state.shoe.number ? last : null;

/**
 * Draw it.
 * @param {View} view
 * @param {LastRound | null} over
 */
export function showDue(view, over) {
  byId("due").hidden = over === null;
  byId("outcome").hidden = over === null || over.pays.length === 0;
  if (over === null) return;
  const shown = over.correction ?? over.round;
  byId("result").className = shown.winner ?? "";
  put("result", outcomeOf(shown).join(" · "));
  put("why", shown.who ? byWhom(shown) : "");
  const award = view.progressive?.award ?? null;
  refresh(byId("outcome"), over.pays, () => over.pays.flatMap(paid));
  refresh(byId("due-list"), [over, award, view.state.currency], () => draw(view, over));
}

/** @param {RoundRecord} round */
const outcomeOf = (round) => [
  round.status === "void" ? t("outcome.return_all") : headline(round),
  ...(round.winner === null ? [] : remarks(round)),
];

/** What a wager of the game pays by the last hand, if it does not lose; pale if nobody made it. @param {LastRound["pays"][number]} pay */
const paid = ({ wager, short, pays, outcome, wagered }) =>
  outcome === "lose"
    ? []
    : [
        element(
          "p",
          { class: `pay ${outcome}${wagered ? "" : " nobody"}` },
          element("span", {}, wagerShort(wager, short)),
          " ",
          element("strong", {}, outcome === "push" ? OUTCOMES.push : translated(pays)),
        ),
      ];

/**
 * The lines of the seats that are paid or give back; what is taken, and what is left as it is, goes into lines of its own.
 * @param {View} view
 * @param {LastRound} over
 */
function draw(view, over) {
  const { currency } = view.state;
  const money = moneyIn(currency, { whole: false });
  const chips = moneyIn(currency);
  const bare = moneyIn(currency, { whole: false, bare: true });
  const stake = moneyIn(currency, { bare: true });
  const differs = over.correction !== null;
  const rows = rowsOf(view, over, money);
  const first = rows.filter(({ pay, award, stakes }) => pay > 0 || award.length > 0 || stakes > 0);
  const back = rows.filter((row) => row.pay < 0 && !first.includes(row));
  const lines = [...first, ...back];
  const due = byId("due");
  const size = lines.length + (lines.some((row) => row.due.length + row.award.length > LONG) ? 2 : 0);
  due.dataset.rows = size >= MANY ? "many" : size >= SOME ? "some" : size >= FEW ? "few" : "two";
  due.classList.toggle("nothing", lines.length === 0);
  put("due-title", differs ? t("due.differences") : lines.length === 0 ? t("nothing_to_pay") : t("due.pay"));
  put("stakes", lines.some((row) => row.due.some((each) => each.pay > 0 && each.stake_stays)) ? t("due.stakes") : "");
  const others = rows.filter((row) => !lines.includes(row));
  refresh(byId("take"), [others, differs, currency], () => restOf(others, over, stake, chips));
  return lines.map((row) =>
    element(
      "article",
      { class: row.pay < 0 ? "seat back" : "seat", "aria-label": t("seat", { seat: row.seat }), "data-seat": row.seat },
      element("h3", {}, String(row.seat)),
      element(
        "ul",
        { class: "dues" },
        ...row.due.flatMap((each) => dueOf(each, differs, stake, bare)),
        ...awardOf(row),
      ),
      element("p", { class: "sum" }, ...sumOf(row, money)),
    ),
  );
}

/**
 * Every seat of the last hand, or the differences of its correction, with the seats' shares of the award, in the order of paying.
 * @param {View} view
 * @param {LastRound} over
 * @param {Money} money
 * @returns {Row[]}
 */
function rowsOf({ progressive }, { correction, differences, seats }, money) {
  const differing = new Map(differences.map((each) => [each.seat, each]));
  const own = seats.map((each) => (correction === null ? each : (differing.get(each.seat) ?? unchanged(each))));
  const strangers = differences.filter(({ seat }) => seats.every((each) => each.seat !== seat));
  const award = progressive?.award ?? null;
  const waits = award?.state === "to_confirm" ? [t("award.to_confirm")] : [];
  const shares = new Map(award?.shares.map(({ seat, amount }) => [seat, [money(amount), ...waits]]));
  const known = new Map([...own, ...strangers].map((each) => [each.seat, each]));
  const order = [...new Set([...known.keys(), ...shares.keys()])].sort((one, other) => one - other);
  if (progressive?.seat_one === "left") order.reverse();
  return order.map((seat) => {
    const due = known.get(seat)?.due ?? [];
    const returned = due.filter(({ outcome, stake_stays: stays }) => outcome === "void" && stays);
    const stakes = returned.reduce((sum, each) => sum + each.stake, 0);
    const pay = known.get(seat)?.pay ?? 0;
    return { seat, due, pay, stakes, award: shares.get(seat) ?? [] };
  });
}

/** @param {SeatPay} settled */
const unchanged = (settled) => ({ ...settled, due: [], pay: 0 });

/**
 * @param {WagerDue} due
 * @param {boolean} differs
 * @param {Money} stake
 * @param {Money} bare
 */
function dueOf({ wager, short, stake: lies, outcome, pay, marked }, differs, stake, bare) {
  const name = wagerShort(wager, short);
  const what = pay > 0 ? bare(pay) : pay < 0 ? `\u2212${bare(-pay)}` : differs ? "" : DONE[outcome];
  const mark =
    marked > 0 ? t("commission.mark", { amount: bare(marked) }) : t("commission.unmark", { amount: bare(-marked) });
  return [
    element(
      "li",
      { class: pay > 0 ? "win" : pay < 0 ? "back" : outcome },
      element("span", {}, name),
      " ",
      ...(lies === 0 ? [] : [element("span", { class: "stake" }, stake(lies)), " "]),
      element("b", {}, what),
    ),
    ...(marked === 0 ? [] : [element("li", { class: "mark" }, t("commission"), " ", element("b", {}, mark))]),
  ];
}

/** @param {Row} row */
const awardOf = ({ award: [amount, ...waits] }) =>
  amount === undefined
    ? []
    : [
        element(
          "li",
          { class: "award-share" },
          t("award"),
          " ",
          element("b", {}, amount),
          ...waits.map((each) => ` ${each}`),
        ),
      ];

/**
 * @param {Row} row
 * @param {Money} money
 */
function sumOf({ pay, stakes }, money) {
  if (pay > 0) return [money(pay)];
  if (pay === 0 && stakes === 0) return [];
  const what = pay < 0 ? t("due.back") : t("due.return");
  return [element("small", {}, what), " ", money(pay < 0 ? -pay : stakes)];
}

/**
 * What becomes of the seats that are paid nothing, a line for each kind: take, leave, no change.
 * @param {Row[]} rows
 * @param {LastRound} over
 * @param {Money} stake
 * @param {Money} chips
 */
function restOf(rows, { correction }, stake, chips) {
  const taken = rows.filter(({ due }) => due.some(({ outcome }) => outcome === "lose"));
  const left = rows.filter((row) => !taken.includes(row));
  const detail = taken.length <= LISTED;
  /** @param {Row} row */
  const lost = ({ due }) => due.filter(({ outcome }) => outcome === "lose");
  /** @type {(words: string, of: Row[], what: (row: Row) => string) => HTMLElement[]} */
  const line = (words, of, what) =>
    of.length === 0
      ? []
      : [
          element(
            "li",
            {},
            `${words} `,
            ...of.flatMap((row, at) => [
              ...(at === 0 ? [] : [" \u00b7 "]),
              element("span", { "data-seat": row.seat }, element("b", {}, String(row.seat)), " ", what(row)),
            ]),
          ),
        ];
  if (correction !== null) return line(t("no_change"), rows, () => "");
  return [
    ...line(t("due.take"), taken, (row) =>
      detail
        ? lost(row)
            .map(({ wager, short, stake: lies }) => `${wagerShort(wager, short)} ${stake(lies)}`)
            .join(t("comma"))
        : chips(lost(row).reduce((sum, each) => sum + each.stake, 0)),
    ),
    ...line(t("done.push"), left, () => ""),
  ];
}
