// Rounds as they are on the record: hands, result, and what became of every wager.

import { card, smallCard } from "./cards.js";
import { element, refresh, table } from "./elements.js";
import { OUTCOMES, SIDES, clock, headline, moneyIn, plain, remarks } from "./words.js";

/** The titles of a game's wagers by their names; a wager of another game is called by its name. */
export function titlesOf(state) {
  const titles = new Map(state.limits.map(({ wager, title }) => [wager, title]));
  return (name) => titles.get(name) ?? plain(name);
}

function hand(side, cards, total) {
  return element(
    "div",
    { class: `hand ${side}` },
    element("h3", {}, SIDES[side]),
    element("span", { class: "total" }, total === null ? "" : String(total)),
    element("div", { class: "cards" }, ...cards.map(card)),
  );
}

/** The hands on the table, or those of the last hand; with a winner the other one is paler. */
export function showHands(box, { hands, result }, winner = null) {
  const shown = hands ?? result ?? { player: [], banker: [], player_total: null, banker_total: null };
  refresh(box, [shown, hands === null], () => ["player", "banker"].map((side) => {
    const made = hand(side, shown[side], shown[side].length ? shown[`${side}_total`] : null);
    made.classList.toggle("lost", winner !== null && winner !== "tie" && winner !== side);
    return made;
  }));
}

/** A round in full. */
export function wholeRound({ ts, round }, state) {
  const money = moneyIn(state.currency, { whole: false });
  const change = moneyIn(state.currency, { whole: false, sign: true });
  const title = titlesOf(state);
  const correction = round.status === "correction";
  const said = element(
    "article",
    { class: `round ${round.winner ?? "void"}`, "data-round": round.round, tabindex: "-1" },
    element(
      "header",
      {},
      element("h3", {}, headline(round)),
      element("p", { class: "quiet" }, `Round ${round.round}, hand ${round.coup} of shoe ${round.shoe}, ${clock(ts)}`),
    ),
  );
  if (round.player.length + round.banker.length > 0) {
    said.append(
      element("div", { class: "hands" }, hand("player", round.player, round.player_total), hand("banker", round.banker, round.banker_total)),
    );
  }
  const notes = [...remarks(round), ...round.corrections.map((each) => corrected(each))];
  if (round.hidden) notes.push("The cards were never shown");
  if (round.who) notes.push(byWhom(round));
  for (const note of notes) said.append(element("p", { class: "note" }, note));
  if (round.settlements.length === 0) {
    said.append(element("p", { class: "quiet" }, correction ? "No seat's pay changes." : "No wagers."));
  } else if (correction) {
    said.append(
      table("Pay difference", ["Seat", "Wager", ">To pay or take"], round.settlements.map((each) => [String(each.seat), title(each.wager), change(each.net)])),
    );
  } else {
    said.append(
      table(
        "Wagers",
        ["Seat", "Wager", "Outcome", ">Staked", ">Returned", ">Net"],
        round.settlements.map((each) => [
          String(each.seat),
          title(each.wager),
          `${OUTCOMES[each.outcome]}${["lose", "void", "push"].includes(each.rule) ? "" : ` (${plain(each.rule)})`}`,
          money(each.stake),
          money(each.returned),
          change(each.net),
        ]),
      ),
    );
  }
  return said;
}

/** Who voided or corrected a round, and why. */
export const byWhom = ({ who, approved_by, reason }) => `By ${who}${approved_by ? `, approved by ${approved_by}` : ""}: ${reason}`;

function corrected({ position, side, before, after, who, reason }) {
  return element("span", {}, `Card ${position}, ${SIDES[side]}, corrected from `, smallCard(before), " to ", smallCard(after), ` by ${who}: ${reason}`);
}

/** What each seat is to be paid, or is to give back, by a correction or a void: a table of the differences. */
export function differences(round, state) {
  const money = moneyIn(state.currency, { whole: false });
  const title = titlesOf(state);
  const seats = Map.groupBy(round.settlements, ({ seat }) => seat);
  const due = (all) => all.reduce((sum, each) => sum + each.returned, 0);
  const words = (amount) => (amount < 0 ? `Take back ${money(-amount)}` : round.status === "correction" ? `Pay ${money(amount)}` : `Return ${money(amount)}`);
  if (seats.size === 0) return element("p", { class: "nothing" }, "No seat's pay changes.");
  return table(
    round.status === "correction" ? "Pay difference by seat" : "Wagers by seat",
    ["Seat", "Wagers", ">Due"],
    [...seats].sort(([one], [other]) => one - other).map(([seat, all]) => [
      String(seat),
      all.map((each) => `${title(each.wager)}: ${OUTCOMES[each.outcome].toLowerCase()}`).join(" · "),
      element("strong", {}, words(due(all))),
    ]),
  );
}
