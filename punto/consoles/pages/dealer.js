// The dealer's page: what to do now, what to pay, who is needed, and the few orders that are the dealer's.

import { button, byId, element, one, put, refresh, relabel } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { sentence } from "/shared/words.js";
import { cardKeys, chosenWords } from "./card-keys.js";
import { card } from "./cards.js";
import { groupOf, labelOf } from "./catalogue.js";
import { give, say, show } from "./dialogs.js";
import { lastHand, showDue } from "./due.js";
import { gameSection, nextOfGame } from "./game.js";
import { counted, t, translated, wagerShort } from "./language.js";
import { askFor, askForCommission, forgotten } from "./order-dialogs.js";
import { paidSeats, showPrompt } from "./prompt.js";
import { showHands, wholeRound } from "./rounds.js";
import { active, ask, follow, live } from "./service.js";
import { begin, isCall, pageLink, showTop } from "./top.js";
import { pressedTwice } from "./twice.js";
import { handOf, headline, hourAndMinute } from "./words.js";

/** @import { CommissionOwed, PastRound, RoundRecord, Rounds, View } from "#sent/consoles" */

const HANDS_SHOWN = 10;
const BURNS = new Set(["turn_first_card", "burn"]);

const session = begin(pageLink(t("link.supervisor"), "/supervisor", "to-supervisor"));
byId("to-supervisor").hidden = !session.reads.includes("inputs");
/** @type {View} */
let view;

// --- orders

const mainOrder = button("", () => undefined, { key: "F2", id: "main-order", disabled: true });
const askKeys = button(t("key_a_card"), askForKeys, { key: "F4", id: "ask-keys", "aria-disabled": "true" });
const handsButton = button(t("ten_hands"), () => showTen(), { key: "F9", id: "show-hands" });
// What a dealer may say at any time.
/** @type {Record<string, string>} */
const HELP_KEYS = { call_supervisor: "F8", hold_play: "F7" };
const help = new Map(
  groupOf("help").map(({ order, label }) => [
    order,
    button(label, () => askHelp(order), { key: HELP_KEYS[order], "data-order": order, disabled: true }),
  ]),
);
byId("orders").append(mainOrder, askKeys, handsButton, ...[...help.values()].reverse());

const main = pressedTwice(
  mainOrder,
  () => {
    const found = mainOf(view);
    if (found === undefined) return waitsForAward(view);
    const again = t("press_again", { what: found.label.toLowerCase() });
    const warning = forgotten(found.order, view);
    return { ...found, again: warning ? t("forgotten", { what: sentence(warning), again }) : again };
  },
  (order) => give(order),
);

/**
 * The next order of the hand, if one is possible now; an award comes first.
 * @param {View} now
 */
const mainOf = ({ orders, prompt }) =>
  prompt.code === "award" ? undefined : groupOf("play").find(({ order, twice }) => twice && orders.includes(order));

/**
 * Betting that is not opened before the award is complete says so.
 * @param {View} now
 */
const waitsForAward = ({ prompt, state }) =>
  prompt.code === "award" && state.phase === "settled"
    ? { order: "open_betting", label: t("main.waits"), again: "", refused: translated(prompt.text) }
    : null;

/** Which of the orders is the next one, and so the only one that is gold. @returns {"keys" | "game" | "award" | "call" | "main" | null} */
function goldOf() {
  if (!byId("keying").hidden) return "keys";
  if (view.prompt.code === "pay_difference") return null; // first the money is paid and taken back
  const ofGame = nextOfGame(view);
  const comesFirst = view.prompt.code === "award" || ofGame === "game";
  if (mainOf(view) !== undefined && !comesFirst) return unpaid() ? null : "main";
  return ofGame === "possible" ? (unpaid() ? null : "game") : ofGame;
}

/** Whether betting opened by itself while seats wait to be paid: the first wager of the next hand shows that they are. */
const unpaid = () =>
  view.prompt.code === "pay" && view.state.phase === "betting" && view.last !== null && paidSeats(view.last).length > 0;

/** @param {ReturnType<typeof goldOf>} gold */
function showOrders(gold) {
  main.show();
  mainOrder.classList.toggle("warns", forgotten(mainOf(view)?.order, view) !== "");
  mainOrder.classList.toggle("go", gold === "main");
  askKeys.setAttribute("aria-disabled", String(!view.orders.includes("key_card")));
  for (const [order, key] of help) {
    key.disabled = !(live() && view.orders.includes(order));
    key.classList.toggle("go", gold === "call" && order === "call_supervisor");
    relabel(key, order === "call_supervisor" ? callWords(labelOf(order)) : labelOf(order));
  }
}

/** The call that no supervisor has acknowledged yet. */
const called = () => view.alarms.find(isCall);

/** When a supervisor was called, if one is; by the house's clock. @param {string} label */
function callWords(label) {
  if (!live()) return t("call.aloud");
  const ts = called()?.ts;
  return ts ? t("call.called", { time: hourAndMinute(ts) }) : label;
}

/**
 * A supervisor is called at once, and the reason can follow by the same key.
 * @param {string} order
 */
function askHelp(order) {
  if (help.get(order)?.disabled !== false) return;
  if (order === "call_supervisor" && called() === undefined) give(order);
  else askFor(order, view);
}

// --- keying a card: rank, suit, and then the key that says which card it is

const AWAITS_A_CARD = new Set(["key_card", "turn_first_card"]);
/** @type {number | null} */
let askedIn = null; // the round in which the card keys were asked for
/** @type {string | null} */
let code = null;
/** @type {number | null} */
let position = null; // of the card that was awaited when this one was chosen: the order is for no other
/** @type {View | undefined} */
let keyedIn; // the view in which the last card was keyed, which does not know the next one yet
let chosen = "";
const keyOrder = button("", keyCard, { key: "Enter", id: "key-order", class: "go" });
const keys = cardKeys((whole, rank) => {
  code = whole;
  position = view === keyedIn ? null : view.prompt.position;
  chosen = chosenWords(whole, rank);
  showKeyOrder();
}, keyCard);
keys.node.append(keyOrder);
byId("keying").append(keys.node);
keys.clear();

function showKeyOrder() {
  relabel(keyOrder, code ? t("key_chosen", { card: chosen }) : chosen);
  keyOrder.disabled = code === null || !live() || !view?.orders.includes("key_card");
}

async function keyCard() {
  if (keyOrder.disabled) return;
  const keyed = { card: code, position };
  const seen = view;
  keys.clear();
  if (await give("key_card", keyed)) keyedIn = seen;
  if (!byId("keying").hidden) keys.focus();
}

/** The card keys come by themselves while a card is awaited; wherever else a card may be keyed, they are asked for. */
function showKeying() {
  const may = view.orders.includes("key_card");
  if (!may) askedIn = null;
  const wanted = may && (askedIn === view.state.round || AWAITS_A_CARD.has(view.prompt.code));
  const box = byId("keying");
  if (box.hidden === !wanted) return;
  box.hidden = !wanted;
  keys.clear();
  if (wanted && document.querySelector("dialog[open]") === null) keys.focus();
}

function askForKeys() {
  if (!byId("keying").hidden) keys.focus();
  else if (view.orders.includes("key_card")) {
    askedIn = view.state.round;
    draw();
  } else say(t("no_card_to_key"), true);
}

// --- the table

/** While cards come, cards are large; when the hand is settled, what to pay is. */
function showTable() {
  const over = lastHand(view);
  const keying = !byId("keying").hidden;
  document.body.dataset.layout = keying ? "keys" : over === null ? "cards" : "pay";
  showCoup();
  showDue(view, keying ? null : over);
  showSeats();
}

/** The hands; before them, large, what leaves the shoe first. */
function showCoup() {
  const { prompt, state, last } = view;
  const burns = BURNS.has(prompt.code);
  const box = byId("coup");
  box.classList.toggle("burns", burns);
  if (burns) refresh(box, [prompt.code, prompt.count], () => toBurn(prompt.count));
  else showHands(box, state, state.hands === null ? last?.round.winner : null);
}

/** @param {number | null} count of the cards to burn; null before the first card says how many */
const toBurn = (count) => [
  ...(count === null
    ? []
    : [element("p", { class: "total" }, String(count)), element("p", {}, counted("burn.left", count))]),
  element("div", { class: "cards" }, ...Array.from({ length: count ?? 1 }, () => card(null))),
];

/** The wagers that lie before the seats for this hand or the next, and the commission that seats owe. */
function showSeats() {
  const { seats, commissions, state } = view;
  const may = live() && view.orders.includes("collect_commission");
  const layout = document.body.dataset.layout;
  const standing = new Map(seats.map(({ seat, wagers }) => [seat, wagers]));
  const owing = new Map(commissions.map((each) => [each.seat, each]));
  const all = Array.from({ length: state.seats }, (_, at) => at + 1).filter(
    (seat) => (state.seats <= 9 && layout !== "pay") || standing.has(seat) || owing.has(seat),
  );
  byId("seats").hidden = all.length === 0;
  put("seats-title", layout === "pay" ? t("wagers.next") : t("wagers")); // below what is taken, nobody takes these
  refresh(byId("seat-list"), [seats, commissions, may, all], () => {
    const money = moneyIn(state.currency);
    return all.map((seat) => {
      const owed = owing.get(seat);
      return element(
        "article",
        { class: "seat", "aria-label": t("seat", { seat }), "data-standing": seat },
        element("h3", {}, String(seat)),
        element(
          "ul",
          { class: "wagers", "aria-label": t("wagers") },
          ...(standing.get(seat) ?? []).map(({ wager, short, amount }) =>
            element("li", {}, element("span", {}, wagerShort(wager, short)), " ", element("b", {}, money(amount))),
          ),
        ),
        ...(owed === undefined ? [] : [collecting(owed, may)]),
      );
    });
  });
}

/** @type {(owed: CommissionOwed, may: boolean) => HTMLButtonElement} */
const collecting = (owed, may) =>
  button(
    t("commission.collect", { amount: moneyIn(view.state.currency)(owed.amount) }),
    () => askForCommission("collect_commission", view, owed),
    { class: "commission", disabled: !may },
  );

// --- the last ten hands

/** @type {PastRound[]} */
let rounds = [];
/** @type {number | null} */
let fetched = null;
let fetching = Promise.resolve();

function keepHands() {
  const round = view.state.round;
  if (fetched === round) return;
  if (fetched !== null && view.operator === view.you) active(); // a hand was dealt, and that is the dealer's work
  fetched = round;
  fetching = fetchHands();
}

async function fetchHands() {
  /** @type {import("./service.js").Answer<Rounds>} */
  const answer = await ask("GET", `/api/rounds?limit=${HANDS_SHOWN}`);
  if (!answer.ok) {
    if (answer.status === 0) fetched = null; // with the next view again
    return;
  }
  rounds = answer.body.rounds;
  if (rounds.length === 0) {
    byId("hand-strip").replaceChildren(element("p", { class: "quiet" }, t("no_hand_yet")));
    return;
  }
  /** @param {RoundRecord} round */
  const letter = ({ status: how, winner }) => t(`letter.${winner === null ? "void" : how === "played" ? winner : how}`);
  byId("hand-strip").replaceChildren(
    ...rounds.map(({ round: each }) => {
      const made = element(
        "button",
        {
          type: "button",
          class: `past ${each.winner ?? "void"}`,
          "aria-label": t("round.titled", { hand: handOf(each), headline: headline(each) }),
        },
        element("b", {}, letter(each)),
        element("span", {}, totals(each)),
      );
      made.addEventListener("click", () => showTen(each.round));
      return made;
    }),
  );
}

/** The totals as they are called: the winner's first. @param {RoundRecord} round */
const totals = ({ winner, player_total: player, banker_total: banker }) =>
  winner === null ? "–" : winner === "banker" ? `${banker}–${player}` : `${player}–${banker}`;

/** @param {number | null} [which] */
async function showTen(which = null) {
  await fetching; // a hand that has just ended is among them
  if (document.querySelector("dialog[open]") !== null) return; // another key was pressed meanwhile
  if (rounds.length === 0) {
    say(t("no_hand_yet"));
    return;
  }
  const dialog = show(t("last_ten_hands"), ...rounds.map((each) => wholeRound(each, view.state)));
  dialog.classList.add("paged");
  const first = one(which === null ? "article" : `[data-round="${which}"]`, HTMLElement, dialog);
  first.scrollIntoView();
  first.focus({ preventScroll: true });
}

// --- keyboard

const game = gameSection();
/** @type {Record<string, () => unknown>} */
const SHORTCUTS = {
  F2: main.press,
  F4: askForKeys,
  F6: game.pressOrder,
  ...Object.fromEntries(Object.entries(HELP_KEYS).map(([order, key]) => [key, () => askHelp(order)])),
  F9: () => showTen(),
};

document.addEventListener("keydown", (event) => {
  // Digits are seats, but where they are ranks.
  const seat =
    /^[1-9]$/u.test(event.key) && byId("keying").hidden ? () => game.pressSeat(Number(event.key)) : undefined;
  const act = SHORTCUTS[event.key] ?? seat;
  if (act === undefined || view === undefined || event.repeat || document.querySelector("dialog[open]") !== null)
    return;
  event.preventDefault();
  act();
});

function draw() {
  document.body.dataset.prompt = view.prompt.code;
  document.body.dataset.phase = view.state.phase;
  showPrompt(byId("now"), view);
  showKeying();
  showTable();
  showKeyOrder();
  const gold = goldOf();
  showOrders(gold);
  game.show(view, gold);
}

follow((latest) => {
  view = latest;
  showTop(view, t("page.dealer"));
  draw();
  keepHands();
});
