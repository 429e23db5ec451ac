// The dealer's page: what to do now, and the few orders that are the dealer's.

import { button, byId, element, one, put, refresh, relabel } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { cardKeys, chosenWords } from "./card-keys.js";
import { groupOf } from "./catalogue.js";
import { give, say, show } from "./dialogs.js";
import { gameSection } from "./game.js";
import { t, translated, wagerTitle } from "./language.js";
import { askFor, askForCommission, leftOut } from "./order-dialogs.js";
import { showPrompt } from "./prompt.js";
import { byWhom, showHands, wholeRound } from "./rounds.js";
import { active, ask, follow, live } from "./service.js";
import { begin, pageLink, showTop } from "./top.js";
import { pressedTwice } from "./twice.js";
import { headline, OUTCOMES, remarks } from "./words.js";

/** @import { CommissionOwed, PastRound, RoundRecord, LastRound, Rounds, SeatPay, View } from "#sent/consoles" */

const HANDS_SHOWN = 10;

const session = begin(pageLink(t("link.supervisor"), "/supervisor", "to-supervisor"));
byId("to-supervisor").hidden = !session.reads.includes("inputs");
/** @type {View} */
let view;

// --- orders

const mainOrder = button("", () => undefined, { key: "F2", id: "main-order", class: "go", disabled: true });
const askKeys = button(t("key_a_card"), askForKeys, { key: "F4", id: "ask-keys", hidden: true });
const handsButton = button(t("ten_hands"), () => showTen(), { key: "F9", id: "show-hands" });
// What a dealer may say at any time, with a reason.
const HELP_KEYS = ["F8", "F7"];
const help = new Map(
  groupOf("help").map(({ order, label }, at) => [
    order,
    button(label, () => askHelp(order), { key: HELP_KEYS[at], "data-order": order, disabled: true }),
  ]),
);
byId("orders").append(mainOrder, askKeys, ...help.values(), handsButton);

const main = pressedTwice(
  mainOrder,
  () => {
    const found = groupOf("play").find(({ order, twice }) => twice && view.orders.includes(order));
    if (found === undefined || view.prompt.code === "award") return null;
    const warning = found.order === "close_betting" ? leftOut(view) : "";
    return { ...found, again: t("press_again", { what: warning || found.label.toLowerCase() }) };
  },
  (order) => give(order),
);

function showOrders() {
  main.show();
  const warns = leftOut(view) !== "" && view.orders.includes("close_betting");
  mainOrder.classList.toggle("warns", warns);
  // Of the two orders START GAME comes first, so it alone is gold.
  mainOrder.classList.toggle("go", !(warns && view.progressive?.orders.start_game === null));
  for (const [order, key] of help) key.disabled = !(live() && view.orders.includes(order));
}

/** @param {string} order */
function askHelp(order) {
  if (help.get(order)?.disabled === false) askFor(order, view);
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
  askKeys.hidden = !may || wanted;
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
    showKeying();
    showCoup();
    showPays();
  }
}

// --- the table

function showCoup() {
  const { state, last } = view;
  // While a hand is dealt there is nothing to pay, and so room for larger cards.
  byId("coup").classList.toggle("large", state.hands !== null && byId("keying").hidden === true);
  showHands(byId("coup"), state, state.hands === null ? last?.round.winner : null);
}

/** @param {RoundRecord} round */
const outcomeOf = (round) => [
  round.status === "void" ? t("outcome.return_all") : headline(round),
  ...(round.winner === null ? [] : remarks(round)),
];

/** What every wager of the game pays by the last hand, from when it ends until the next is dealt. */
function showPays() {
  const { last, state } = view;
  byId("outcome").hidden = !byId("keying").hidden;
  const over = state.hands === null && last !== null && last.round.shoe === state.shoe.number ? last : null;
  const result = byId("result");
  result.className = over?.round.winner ?? "";
  const shown = over?.correction ?? over?.round;
  result.textContent = shown === undefined ? "" : outcomeOf(shown).join(" · ");
  put("why", shown?.who ? byWhom(shown) : "");
  const pays = over?.pays ?? [];
  refresh(byId("pays"), pays, () =>
    pays.map(({ wager, title, pays: odds, outcome }) =>
      element(
        "div",
        { class: `pay ${outcome}` },
        element("span", {}, wagerTitle(wager, title)),
        element("strong", {}, outcome === "win" ? translated(odds) : OUTCOMES[outcome]),
      ),
    ),
  );
}

function showSeats() {
  const { seats, commissions, last, prompt, state } = view;
  const dealing = state.hands !== null;
  const over = dealing ? null : last;
  const may = live() && view.orders.includes("collect_commission");
  refresh(byId("seat-list"), [seats, commissions, may, over, dealing, prompt.code, state.seats], () => {
    const money = moneyIn(state.currency);
    const standing = new Map(seats.map(({ seat, wagers }) => [seat, wagers]));
    const owing = new Set(commissions.map(({ seat }) => seat));
    const due = new Map(over?.seats.map((each) => [each.seat, owedTo(each, over)]));
    return Array.from({ length: state.seats }, (_, at) => at + 1)
      .filter(
        (seat) =>
          (state.seats <= 9 && prompt.code !== "award") || [standing, owing, due].some((each) => each.has(seat)),
      )
      .map((seat) =>
        element(
          "article",
          { class: "seat", "aria-label": t("seat", { seat }), "data-seat": seat },
          element("h3", {}, String(seat)),
          element(
            "ul",
            { class: "wagers", "aria-label": t("wagers") },
            ...(standing.get(seat) ?? []).map((each) =>
              element(
                "li",
                {},
                element("span", {}, wagerTitle(each.wager, each.title)),
                " ",
                element("b", {}, money(each.amount)),
              ),
            ),
          ),
          due.get(seat) ?? element("div", { class: "owed" }),
          ...commissions.filter((each) => each.seat === seat).map((each) => collecting(each, may)),
        ),
      );
  });
}

/** @type {(owed: CommissionOwed, may: boolean) => HTMLButtonElement} */
const collecting = (owed, may) =>
  button(
    t("commission.collect", { amount: moneyIn(view.state.currency, { whole: false })(owed.amount) }),
    () => askForCommission("collect_commission", view, owed),
    { class: "commission", disabled: !may },
  );

// What is done with a wager that is paid nothing.
/** @type {Record<string, string>} */
const DONE = { push: t("done.push"), lose: t("done.lose"), void: t("done.void") };

/**
 * What is to be done for a seat after the last hand: pay, take, or leave; after a correction of it, the differences alone.
 * @param {SeatPay} settled
 * @param {LastRound} last
 */
function owedTo(settled, { correction, differences }) {
  const money = moneyIn(view.state.currency, { whole: false });
  /** @param {number} amount */
  const paid = (amount) =>
    amount < 0 ? t("take_back", { amount: money(-amount) }) : t("pay", { amount: money(amount) });
  const shown = correction === null ? settled : differences.find(({ seat }) => seat === settled.seat);
  const due = shown?.due ?? [];
  const total = shown === undefined ? t("no_change") : shown.pay === 0 ? t("nothing_to_pay") : paid(shown.pay);
  return element(
    "div",
    { class: "owed" },
    element(
      "ul",
      { "aria-label": t("last_hand") },
      ...due.map(({ wager, title, outcome, pay }) =>
        element(
          "li",
          { class: pay > 0 ? "win" : pay < 0 ? "lose" : outcome },
          element("span", {}, wagerTitle(wager, title)),
          " ",
          element("b", {}, pay === 0 ? DONE[outcome] : paid(pay)),
        ),
      ),
      ...due
        .filter(({ marked }) => marked !== 0)
        .map(({ marked }) =>
          element(
            "li",
            {},
            element("span", {}, t("commission")),
            " ",
            element(
              "b",
              {},
              marked > 0
                ? t("commission.mark", { amount: money(marked) })
                : t("commission.unmark", { amount: money(-marked) }),
            ),
          ),
        ),
    ),
    element(
      "p",
      {},
      ...(due.some(({ pay, stake_stays }) => pay > 0 && stake_stays)
        ? [element("small", {}, t("stake_stays")), " "]
        : []),
      element("b", {}, total),
    ),
  );
}

// --- the last ten hands

/** @type {PastRound[]} */
let rounds = [];
/** @type {number | null} */
let fetched = null;

async function fetchHands() {
  const round = view.state.round;
  if (fetched === round) return;
  if (fetched !== null && view.operator === view.you) active(); // a hand was dealt, and that is the dealer's work
  fetched = round;
  /** @type {import("./service.js").Answer<Rounds>} */
  const answer = await ask("GET", `/api/rounds?limit=${HANDS_SHOWN}`);
  if (!answer.ok) {
    if (answer.status === 0) fetched = null; // with the next view again
    return;
  }
  rounds = answer.body.rounds;
  /** @param {RoundRecord} round */
  const letter = ({ status: how, winner }) => t(`letter.${winner === null ? "void" : how === "played" ? winner : how}`);
  byId("hand-strip").replaceChildren(
    ...rounds.map(({ round: each }) => {
      const made = element(
        "button",
        {
          type: "button",
          class: `past ${each.winner ?? "void"}`,
          "aria-label": t("round.titled", { round: each.round, headline: headline(each) }),
        },
        element("b", {}, letter(each)),
        element("span", {}, each.winner === null ? "–" : `${each.player_total}–${each.banker_total}`),
      );
      made.addEventListener("click", () => showTen(each.round));
      return made;
    }),
  );
}

/** @param {number | null} [which] */
function showTen(which = null) {
  if (rounds.length === 0) {
    say(t("no_hand_yet"));
    return;
  }
  const dialog = show(t("last_ten_hands"), ...rounds.map((each) => wholeRound(each, view.state)));
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
  ...Object.fromEntries([...help.keys()].map((order, at) => [HELP_KEYS[at], () => askHelp(order)])),
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

follow((latest) => {
  view = latest;
  showTop(view, t("page.dealer"));
  document.body.dataset.prompt = view.prompt.code;
  showPrompt(byId("now"), view);
  showKeying();
  showCoup();
  showKeyOrder();
  showPays();
  showSeats();
  showOrders();
  game.show(view);
  fetchHands();
});
