// Rounds as they are on the record: hands, result, and what became of every wager.

import { element, refresh, scrolling, table } from "/shared/elements.js";
import { columnIn } from "/shared/money.js";
import { groupedBy } from "/shared/newer.js";
import { card, smallCard } from "./cards.js";
import { t, toSupervisor, wagerShort } from "./language.js";
import { handOf, headline, hourAndMinute, OUTCOMES, plain, remarks, resultOf, SIDES } from "./words.js";

/** @import { Card, CommissionEntry, Correction, Entry, PastRound, RoundRecord, Settlement, Side, State, Winner } from "#sent/consoles" */

/** @type {Side[]} */
export const HANDS = ["player", "banker"];

/** Rules that say no more than the wager and its outcome do. */
const SAID_ALREADY = new Set(["lose", "void", "push", "player_wins", "banker_wins", "tie"]);

/**
 * @param {Side} side
 * @param {(Card | null)[]} cards
 * @param {number | null} total
 */
function hand(side, cards, total) {
  return element(
    "div",
    { class: `hand ${side}` },
    element("h3", {}, SIDES[side]),
    element("span", { class: "total" }, total === null ? "" : String(total)),
    element("div", { class: "cards" }, ...cards.map(card)),
  );
}

/**
 * The hands on the table, or those of the last hand; with a winner the other one is paler, and it is framed.
 * @param {Element} box
 * @param {State} state
 * @param {Winner | null} [winner]
 */
export function showHands(box, { hands, result }, winner = null) {
  const shown = hands ?? result ?? { player: [], banker: [], player_total: null, banker_total: null };
  refresh(box, [shown, hands === null], () =>
    HANDS.map((side) => {
      const made = hand(side, shown[side], shown[side].length > 0 ? shown[`${side}_total`] : null);
      made.classList.toggle("lost", winner !== null && winner !== "tie" && winner !== side);
      made.classList.toggle("won", winner === side);
      return made;
    }),
  );
}

/**
 * A round in full.
 * @param {PastRound} past
 * @param {State} state
 */
export function wholeRound({ ts, round, entries }, state) {
  /** @param {"stake" | "returned" | "net"} which */
  const amounts = (which) => round.settlements.map((each) => each[which]);
  const staked = columnIn(state.currency, amounts("stake"));
  const returned = columnIn(state.currency, amounts("returned"));
  const change = columnIn(state.currency, amounts("net"), { sign: true });
  const correction = round.status === "correction";
  const said = element(
    "article",
    { class: `round ${round.winner ?? "void"}`, "data-round": round.round, tabindex: "-1" },
    element(
      "header",
      {},
      element("h3", {}, headline(round)),
      element(
        "p",
        { class: "quiet" },
        t("round.place", { hand: handOf(round), shoe: round.shoe, time: hourAndMinute(ts), number: round.round }),
      ),
    ),
    ...entries.map(changedBy),
  );
  if (round.player.length + round.banker.length > 0) {
    said.append(
      element(
        "div",
        { class: "hands" },
        hand("player", round.player, round.player_total),
        hand("banker", round.banker, round.banker_total),
      ),
    );
  }
  /** @type {(Node | string)[]} */
  const notes = [...remarks(round), ...round.corrections.map((each) => corrected(each))];
  if (round.hidden) notes.push(t("round.hidden"));
  if (round.who) notes.push(byWhom(round));
  for (const note of notes) said.append(element("p", { class: "note" }, note));
  if (round.settlements.length === 0) {
    said.append(element("p", { class: "quiet" }, correction ? t("no_pay_changes") : t("no_wagers")));
  } else if (correction) {
    said.append(
      table(
        t("pay_difference"),
        [t("heading.seat"), t("wager"), `>${t("to_pay_or_take")}`],
        round.settlements.map((each) => [String(each.seat), wagerShort(each.wager), change(each.net)]),
      ),
    );
  } else {
    said.append(
      scrolling(
        t("of_order", { order: t("hand.of_shoe", { hand: handOf(round), shoe: round.shoe }), text: t("wagers") }),
        table(
          t("wagers"),
          [t("heading.seat"), t("wager"), t("outcome"), `>${t("staked")}`, `>${t("returned")}`, `>${t("net")}`],
          round.settlements.map((each) => [
            String(each.seat),
            wagerShort(each.wager),
            `${OUTCOMES[each.outcome]}${SAID_ALREADY.has(each.rule) ? "" : ` (${plain(each.rule)})`}`,
            staked(each.stake),
            returned(each.returned),
            change(each.net),
          ]),
        ),
      ),
    );
  }
  return said;
}

/**
 * What a hand says of an entry that changed it after settlement: its own record stays as it was.
 * @param {Entry} entry
 */
function changedBy(entry) {
  const { round } = entry.round;
  return element(
    "p",
    { class: "changed" },
    changeWords(entry),
    ...(toSupervisor ? [" ", element("a", { href: `#hands/${round}` }, t("entry.see"))] : []),
  );
}

/** @param {Entry} entry */
export function changeWords({ ts, round }) {
  const [time, who] = [hourAndMinute(ts), String(round.who)];
  return round.winner === null
    ? t("entry.voided", { time, who })
    : t("entry.corrected", { time, who, result: resultOf(round) });
}

/**
 * Who voided or corrected a round, and why.
 * @param {RoundRecord} round
 */
export const byWhom = ({ who, approved_by, reason }) =>
  approved_by
    ? t("by_approved", { who: String(who), approved_by, reason: String(reason) })
    : t("by", { who: String(who), reason: String(reason) });

/** @param {Correction} correction */
function corrected({ position, side, before, after, who, reason }) {
  return element(
    "span",
    {},
    t("card_corrected.from", { position, side: SIDES[side] }),
    smallCard(before),
    t("card_corrected.to"),
    smallCard(after),
    t("card_corrected.by", { who, reason }),
  );
}

/**
 * What each seat is to be paid, or is to give back, by a correction or a void: a table of the differences.
 * @param {RoundRecord} round
 * @param {State} state
 * @param {CommissionEntry[]} marked what the seats' accounts of commission take of the differences
 */
export function differences(round, state, marked) {
  const seats = groupedBy(round.settlements, ({ seat }) => seat);
  /** @type {(seat: number, all: Settlement[]) => number} */
  const due = (seat, all) =>
    all.reduce((sum, each) => sum + each.returned, 0) +
    marked.filter((each) => each.seat === seat).reduce((sum, each) => sum + each.amount, 0);
  const rows = [...seats]
    .sort(([first], [second]) => first - second)
    .map(([seat, all]) => ({ seat, all, amount: due(seat, all) }));
  const money = columnIn(
    state.currency,
    rows.map(({ amount }) => amount),
  );
  /** @param {number} amount */
  const words = (amount) =>
    amount < 0
      ? t("take_back", { amount: money(-amount) })
      : round.status === "correction"
        ? t("pay", { amount: money(amount) })
        : t("return", { amount: money(amount) });
  if (seats.size === 0) return element("p", { class: "nothing" }, t("no_pay_changes"));
  return table(
    round.status === "correction" ? t("pay_difference_by_seat") : t("wagers_by_seat"),
    [t("heading.seat"), t("wagers"), `>${t("due")}`],
    rows.map(({ seat, all, amount }) => [
      String(seat),
      all
        .map((each) => t("of_order", { order: wagerShort(each.wager), text: OUTCOMES[each.outcome].toLowerCase() }))
        .join(" · "),
      element("strong", {}, words(amount)),
    ]),
  );
}
