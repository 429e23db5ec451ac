// An award of the progressive in words, and a supervisor's orders about it. At a dealer's page a supervisor signs them.

import { button, byId, element, labelled, put, refresh, relabel } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { groupOf, labelOf, orderOf } from "./catalogue.js";
import { askOrder, say } from "./dialogs.js";
import { live } from "./service.js";
import { sentence } from "./words.js";

/** @import { AwardInGame, GameView, View } from "#sent/consoles" */
/** @typedef {View & { progressive: GameView }} GameAtTable the view of a table that has a progressive */

const CARDS = { supervisor: "a Supervisor card", executive: "an Executive card" };
const STATES = {
  to_confirm: "to be confirmed",
  locked: "logged, the meter is not adjusted yet",
  booked: "logged, the meter is adjusted",
};
/** @param {AwardInGame} award */
const stateOf = ({ state, payer }) =>
  payer === "tray" && state !== "to_confirm" ? "logged, to be paid from the tray" : STATES[state];

/**
 * The award of the game: what it comes to, for what, and who gets what, in the order of paying.
 * @param {AwardInGame} award
 * @param {string} currency
 */
function awardShown(award, currency) {
  const money = moneyIn(currency, { whole: false });
  const named = award.number === null ? "Award" : `Award ${award.number}`;
  return element(
    "div",
    { class: `award ${award.state}` },
    element(
      "p",
      {},
      element("strong", {}, award.amount === null ? award.pays : money(award.amount)),
      ` ${named}, ${stateOf(award)}`,
    ),
    element(
      "p",
      { class: "tier" },
      award.amount === null ? "" : award.pays,
      element("span", { class: "title" }, `${award.amount === null ? "" : ": "}${award.title}`),
    ),
    element(
      "ol",
      { class: "shares", "aria-label": "Shares in the order of paying" },
      ...award.shares.map(({ seat, amount }) =>
        element("li", {}, element("span", {}, `Seat ${seat}`), " ", element("b", {}, money(amount))),
      ),
    ),
  );
}

/**
 * The progressive's title, what to do now, and its award; returns its amounts in words.
 * @param {View} view
 */
export function showProgressive({ progressive, state }) {
  byId("progressive").hidden = progressive === null;
  if (progressive === null) return null;
  put("progressive-title", progressive.title);
  put("todo", sentence(progressive.todo.text));
  refresh(byId("award"), [progressive.award, state.currency], () =>
    progressive.award === null ? [] : awardShown(progressive.award, state.currency),
  );
  return moneyIn(state.currency, { whole: false });
}

/**
 * Whether the table has a progressive.
 * @param {View} view
 * @returns {view is GameAtTable}
 */
export const hasGame = (view) => view.progressive !== null;

/**
 * Buttons for a supervisor's orders about the award, those that a device of the table gives left out; `show` puts them in
 * order.
 * @param {() => GameAtTable} current
 */
export function awardOrders(current) {
  const keys = new Map(
    groupOf("award").map(({ order, label }) => [order, button(label, () => press(order), { "data-order": order })]),
  );

  function show() {
    const { progressive } = current();
    for (const [order, key] of keys) {
      key.hidden = !shown(progressive, order);
      key.disabled = !live();
      key.setAttribute("aria-disabled", String(progressive.orders[order] !== null));
      key.classList.toggle("go", progressive.todo.order === order && progressive.orders[order] === null);
      if (order === "turn_key") relabel(key, `Key to ${otherWay(progressive).toUpperCase()}`);
    }
  }

  /** @param {string} order */
  function press(order) {
    const refused = current().progressive.orders[order];
    if (refused === null) askAbout(current(), order);
    else say(`${labelOf(order)}: ${refused}`, true);
  }

  return {
    node: element(
      "div",
      { class: "award-orders", role: "group", "aria-label": "A supervisor's orders" },
      ...keys.values(),
    ),
    show,
  };
}

/**
 * Whether an order has a button: to open a game again, only while there is one to open.
 * @param {GameView} game
 * @param {string} order
 */
const shown = ({ orders, by_device: byDevice }, order) =>
  order in orders && !byDevice.includes(order) && (order !== "reopen_game" || orders[order] === null);

/** @param {GameView} game */
const otherWay = ({ key }) => (key === "run" ? "jph" : "run");

/**
 * What an order about an award says before it is given, where there is more to say than its sentence.
 * @type {Record<string, (view: GameAtTable) => string>}
 */
const TEXTS = {
  confirm: () =>
    "You have verified the hand and its wagers, and confirm this award. A card or a signature then completes it.",
  jpot: ({ progressive }) =>
    `You have verified the hand and its wagers. J-POT logs this award${progressive.key === "run" ? ", and the key turns to JPH and back to RUN" : ""}: after that it can be backed out only at the Game Manager.`,
  sign_award: ({ progressive }) =>
    `Your signature stands for ${progressive.award?.card ? CARDS[progressive.award.card] : "your card"}. The award is logged at once: after that it can be backed out only at the Game Manager.`,
  turn_key: ({ progressive }) =>
    `The key goes to ${otherWay(progressive).toUpperCase()}.${progressive.key === "jph" && progressive.step === "logged" ? " The award is taken off the meter." : ""}`,
};

/**
 * The password of whoever swiped an Executive card, where the house asks for both.
 * @param {GameAtTable} view
 */
export function askPassword(view) {
  const { award, password_of: owner } = view.progressive;
  const [password, field] = labelled("Password", { name: "card-password", type: "password" });
  askOrder({
    order: "swipe_card",
    view,
    title: `Password of ${owner}`,
    text: "An award of this amount needs the card and its owner's password. It is then logged and taken off the meter at once.",
    parts: [...(award === null ? [] : [awardShown(award, view.state.currency)]), field],
    read: () => {
      if (!password.value) throw new Error(`${owner} writes the password here.`);
      return { password: password.value };
    },
    confirm: "Complete the award",
    about: ({ progressive }) => progressive?.password_of,
    path: "/api/card-password",
  });
}

/**
 * @param {GameAtTable} view
 * @param {string} order
 */
function askAbout(view, order) {
  const { award } = view.progressive;
  const to = otherWay(view.progressive);
  askOrder({
    order,
    view,
    title: order === "turn_key" ? `Turn the key to ${to.toUpperCase()}` : labelOf(order),
    text: TEXTS[order]?.(view),
    parts: award === null ? [] : [awardShown(award, view.state.currency)],
    read: () => (orderOf(order).fields.includes("to") ? { to } : {}),
    signed: order === "sign_award" || !view.orders.includes(order),
    about: ({ progressive }) => [
      progressive?.round,
      progressive?.step,
      progressive?.key,
      progressive?.award,
      progressive?.seats.map(({ selected }) => selected),
    ],
  });
}
