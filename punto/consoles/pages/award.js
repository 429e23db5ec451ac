// An award of the progressive in words, and a supervisor's orders about it. At a dealer's page a supervisor signs them.

import { button, byId, element, labelled, put, refresh, relabel } from "/shared/elements.js";
import { columnIn, moneyIn } from "/shared/money.js";
import { plain, sentence } from "/shared/words.js";
import { groupOf, labelOf, orderOf } from "./catalogue.js";
import { askOrder, say } from "./dialogs.js";
import { orElse, t, translated, wagerTitle } from "./language.js";
import { live } from "./service.js";

/** @import { AwardInGame, GameView, View } from "#sent/consoles" */
/** @typedef {View & { progressive: GameView }} GameAtTable the view of a table that has a progressive */

const CARDS = { supervisor: t("award.supervisor_card"), executive: t("award.executive_card") };
const STATES = {
  to_confirm: t("award.to_confirm"),
  locked: t("award.locked"),
  booked: t("award.booked"),
};
/** @param {AwardInGame} award */
const stateOf = ({ state, payer }) => (payer === "tray" && state !== "to_confirm" ? t("award.tray") : STATES[state]);

/**
 * The award of the game: what it comes to, for what, and who gets what, in the order of paying.
 * @param {AwardInGame} award
 * @param {string} currency
 * @param {string} [title] of the winning hand
 */
function awardShown(award, currency, title = orElse(`tier.${award.rule}`, award.title)) {
  const money = columnIn(currency, [award.amount ?? 0, ...award.shares.map(({ amount }) => amount)]);
  const named = award.number === null ? t("award") : t("award.numbered", { number: award.number });
  return element(
    "div",
    { class: `award ${award.state}` },
    element(
      "p",
      {},
      element("strong", {}, award.amount === null ? translated(award.pays) : money(award.amount)),
      ` ${named}${t("comma")}${stateOf(award)}`,
    ),
    element(
      "p",
      { class: "tier" },
      award.amount === null ? "" : translated(award.pays),
      element("span", { class: "title" }, award.amount === null ? title : t("of_order", { order: "", text: title })),
    ),
    element(
      "ol",
      { class: "shares", "aria-label": t("award.shares") },
      ...award.shares.map(({ seat, amount }) =>
        element("li", {}, element("span", {}, t("seat", { seat })), " ", element("b", {}, money(amount))),
      ),
    ),
  );
}

/**
 * The progressive's title, what to do now, and its award; returns its amounts in words.
 * @param {View} view
 */
export function showProgressive({ progressive, state }) {
  for (const part of ["progressive", "award"]) byId(part).hidden = progressive === null;
  if (progressive === null) return null;
  put("progressive-title", wagerTitle("progressive", progressive.title));
  put("todo", translated(sentence(progressive.todo.text)));
  refresh(byId("award"), [progressive.award, state.currency], () =>
    progressive.award === null
      ? []
      : awardShown(progressive.award, state.currency, sentence(plain(progressive.award.rule))),
  );
  return moneyIn(state.currency, { whole: false });
}

/** The order that ends the game of a progressive. @param {GameView} game */
export const endOf = ({ procedure }) => (procedure === "aquarius" ? "game_over" : "end_game");

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

  /** @param {boolean} gold whether one of them is the next thing to do */
  function show(gold = true) {
    const { progressive } = current();
    const next = nextOf(progressive);
    for (const [order, key] of keys) {
      key.hidden = !shown(progressive, order);
      key.disabled = !live();
      key.setAttribute("aria-disabled", String(progressive.orders[order] !== null));
      key.classList.toggle("go", gold && next === order && progressive.orders[order] === null);
      if (order === "turn_key") relabel(key, t("award.key_to", { key: otherWay(progressive).toUpperCase() }));
    }
  }

  /** @param {string} order */
  function press(order) {
    const refused = current().progressive.orders[order];
    if (refused === null) askAbout(current(), order);
    else say(t("of_order", { order: labelOf(order), text: refused }), true);
  }

  /** The order that comes next, if it is one of these. */
  function pressNext() {
    const order = nextOf(current().progressive);
    const key = order === null ? undefined : keys.get(order);
    if (key !== undefined && !key.hidden && !key.disabled) key.click();
  }

  return {
    pressNext,
    node: element(
      "div",
      { class: "award-orders", role: "group", "aria-label": t("section.award_orders") },
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

/** What comes next; the key is turned first where J-POT needs it. @param {GameView} game */
const nextOf = ({ todo, orders }) => (todo.code === "key_to_jph" && orders.jpot !== null ? "turn_key" : todo.order);

/** @param {GameView} game */
const otherWay = ({ key }) => (key === "run" ? "jph" : "run");

/**
 * What an order about an award says before it is given, where there is more to say than its sentence.
 * @type {Record<string, (view: GameAtTable) => string>}
 */
const TEXTS = {
  confirm: () => t("award.text.confirm"),
  jpot: ({ progressive }) => (progressive.key === "run" ? t("award.text.jpot_run") : t("award.text.jpot")),
  sign_award: ({ progressive }) =>
    t("award.text.sign", { card: progressive.award?.card ? CARDS[progressive.award.card] : t("award.your_card") }),
  turn_key: ({ progressive }) =>
    [
      t("award.text.key", { key: otherWay(progressive).toUpperCase() }),
      ...(progressive.key === "jph" && progressive.step === "logged" ? [t("award.text.off_the_meter")] : []),
    ].join(" "),
};

/**
 * The password of whoever swiped an Executive card, where the house asks for both.
 * @param {GameAtTable} view
 */
export function askPassword(view) {
  const { award, password_of: owner } = view.progressive;
  const [password, field] = labelled(t("password"), { name: "card-password", type: "password" });
  askOrder({
    order: "swipe_card",
    view,
    title: t("password_of", { name: String(owner) }),
    text: t("award.text.password"),
    parts: [...(award === null ? [] : [awardShown(award, view.state.currency)]), field],
    read: () => {
      if (!password.value) throw new Error(t("award.password_missing", { name: String(owner) }));
      return { password: password.value };
    },
    confirm: t("award.complete"),
    about: ({ progressive }) => progressive?.password_of,
    path: "/api/card-password",
  });
}

const CONFIRMS = new Set(["confirm", "jpot"]);

/**
 * What a dialog is about: the amount of the award, where its button has what is printed on the equipment.
 * @param {string} order
 * @param {GameAtTable} view
 */
function titleOf(order, { progressive, state }) {
  if (order === "turn_key") return t("award.turn_key", { key: otherWay(progressive).toUpperCase() });
  const amount = progressive.award?.amount ?? null;
  if (!CONFIRMS.has(order) || amount === null) return labelOf(order);
  return t("award.confirm_title", { amount: moneyIn(state.currency, { whole: false })(amount) });
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
    title: titleOf(order, view),
    confirm: order === "turn_key" ? t("award.turn_key", { key: to.toUpperCase() }) : labelOf(order),
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
