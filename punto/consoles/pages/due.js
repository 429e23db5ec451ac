// What is to be done with every seat's wagers once a hand is settled: whom to pay what, in the order of paying, and what to take.

import { byId, element, put, refresh } from "/shared/elements.js";
import { columnIn, moneyIn } from "/shared/money.js";
import { t, translated, wagerShort } from "./language.js";
import { byWhom } from "./rounds.js";
import { headline, OUTCOMES, remarks } from "./words.js";

/** @import { LastRound, RoundRecord, SeatPay, View, WagerDue } from "#sent/consoles" */
/** @typedef {(minor: number) => string} Money */
/** @typedef {{ seat: number, due: readonly WagerDue[], pay: number, stakes: number, award: string[] }} Row a seat's line */

/** From how many lines on their letters are smaller; a line of more than so many wagers counts as two more. */
const [FEW, SOME, MANY, LONG] = [4, 6, 8, 4];
/** From how many wagers on the lines of what is taken and left have smaller letters; a line above them counts as two. */
const [SEVERAL, LOTS] = [11, 24];
const PAYS = 5; // so many wagers' pays have large letters
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
  byId("outcome").hidden = over === null;
  if (over === null) return;
  const shown = over.correction ?? over.round;
  byId("result").className = shown.winner ?? "";
  put("result", outcomeOf(shown).join(" · "));
  put("why", shown.who ? byWhom(shown) : "");
  const award = view.progressive?.award ?? null;
  refresh(byId("outcome"), over.pays, () => {
    const all = over.pays.flatMap(paid);
    byId("outcome").dataset.pays = all.length > PAYS ? "many" : "few";
    return all.length > 0 ? all : [element("p", { class: "pay push" }, t("nothing_to_pay"))]; // a void hand, or a dummy
  });
  refresh(byId("due-list"), [over, award, view.state.currency], () => draw(view, over));
  // While wagers of the next hand are placed, this one is paid.
  const paidOut = view.prompt.code === "place_wagers";
  byId("due").classList.toggle("over", paidOut);
  put("due-title", paidOut ? t("due.last") : title);
}

let title = ""; // of what is due

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
  const differs = over.correction !== null;
  const rows = rowsOf(view, over);
  const amounts = rows.flatMap((row) => [row.pay, row.stakes, ...row.due.flatMap(({ pay, marked }) => [pay, marked])]);
  const [money, stake] = [columnIn(currency, amounts), moneyIn(currency)];
  const first = rows.filter(({ pay, award, stakes }) => pay > 0 || award.length > 0 || stakes > 0);
  const back = rows.filter((row) => row.pay < 0 && !first.includes(row));
  const lines = [...first, ...back];
  const due = byId("due");
  const size = lines.length + (lines.some((row) => row.due.length + row.award.length > LONG) ? 2 : 0);
  due.dataset.rows = size >= MANY ? "many" : size >= SOME ? "some" : size >= FEW ? "few" : "two";
  due.classList.toggle("nothing", lines.length === 0);
  title = differs ? t("due.differences") : titleOf(lines);
  put("stakes", lines.some((row) => row.due.some((each) => each.pay > 0 && each.stake_stays)) ? t("due.stakes") : "");
  const others = rows.filter((row) => !lines.includes(row));
  refresh(byId("take"), [rows, differs, currency], () =>
    differs ? listOf(t("no_change"), others, () => []) : restOf(rows, others, stake, lines.length),
  );
  return lines.map((row) =>
    element(
      "article",
      { class: row.pay < 0 ? "seat back" : "seat", "aria-label": t("seat", { seat: row.seat }), "data-seat": row.seat },
      element("h3", {}, String(row.seat)),
      element(
        "ul",
        { class: "dues" },
        ...row.due.flatMap((each) => dueOf(each, differs, stake, money)),
        ...awardOf(row),
      ),
      element("p", { class: "sum" }, ...sumOf(row, money)),
    ),
  );
}

/** @param {Row[]} lines */
function titleOf(lines) {
  if (lines.length === 0) return t("nothing_to_pay");
  return lines.every(({ pay, award }) => pay === 0 && award.length === 0) ? t("due.returns") : t("due.pay");
}

/**
 * Every seat of the last hand, or the differences of its correction, with the seats' shares of the award, in the order of paying.
 * @param {View} view
 * @param {LastRound} over
 * @returns {Row[]}
 */
function rowsOf({ progressive, state }, { correction, differences, seats }) {
  const differing = new Map(differences.map((each) => [each.seat, each]));
  const own = seats.map((each) => (correction === null ? each : (differing.get(each.seat) ?? unchanged(each))));
  const strangers = differences.filter(({ seat }) => seats.every((each) => each.seat !== seat));
  const award = progressive?.award ?? null;
  const waits = award?.state === "to_confirm" ? [t("award.to_confirm")] : [];
  const money = columnIn(state.currency, award?.shares.map(({ amount }) => amount) ?? []);
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
 * @param {Money} money
 */
function dueOf({ wager, short, stake: lies, outcome, pay, marked }, differs, stake, money) {
  const what = pay > 0 ? money(pay) : pay < 0 ? `\u2212${money(-pay)}` : differs ? "" : DONE[outcome];
  const how = pay <= 0 ? "" : outcome === "void" ? DONE.void : t("due.pays");
  const beside = [lies === 0 ? "" : stake(lies), how].filter(Boolean).join(" ");
  return [
    element(
      "li",
      { class: pay > 0 ? "win" : pay < 0 ? "back" : outcome },
      `${wagerShort(wager, short)} `,
      ...(beside === "" ? [] : [element("span", { class: "stake" }, beside), " "]),
      element("b", {}, what),
    ),
    ...(marked === 0 ? [] : [markOf(marked, money)]),
  ];
}

/** @type {(marked: number, money: Money) => HTMLElement} */
function markOf(marked, money) {
  const amount = money(Math.abs(marked));
  const mark = marked > 0 ? t("commission.mark", { amount }) : t("commission.unmark", { amount });
  return element("li", { class: "mark" }, t("commission"), " ", element("b", {}, mark));
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
 * What is taken from any seat, and what is left at the seats that are paid nothing.
 * @param {Row[]} rows
 * @param {Row[]} others
 * @param {Money} stake
 * @param {number} lines how many are above
 */
function restOf(rows, others, stake, lines) {
  /** @type {(outcome: WagerDue["outcome"]) => (row: Row) => string[]} */
  const wagers = (outcome) => (row) =>
    row.due
      .filter((each) => each.outcome === outcome)
      .map(({ wager, short, stake: lies }) => `${wagerShort(wager, short)} ${stake(lies)}`);
  const [lost, pushed] = [wagers("lose"), wagers("push")];
  const taken = rows.filter((row) => lost(row).length > 0);
  const left = others.filter((row) => pushed(row).length > 0);
  const size = 2 * lines + taken.flatMap(lost).length + left.flatMap(pushed).length;
  byId("take").dataset.wagers = size >= LOTS ? "lots" : size >= SEVERAL ? "several" : "few";
  return [...listOf(t("due.take"), taken, lost), ...listOf(t("due.leave"), left, pushed)];
}

/**
 * A line of seats with their wagers, if there are any.
 * @param {string} words
 * @param {Row[]} rows
 * @param {(row: Row) => string[]} wagers
 */
function listOf(words, rows, wagers) {
  const seats = rows.flatMap((row, at) => [
    " ",
    element(
      "span",
      { "data-seat": row.seat },
      element("b", {}, String(row.seat)),
      ` ${wagers(row).join(t("comma"))}${at === rows.length - 1 ? "" : " \u00b7"}`,
    ),
  ]);
  return rows.length === 0 ? [] : [element("li", {}, element("strong", {}, words), ...seats)];
}
