// The supervisor's page: four parts, of which one is shown.

import { button, byId, element, one, put, refresh } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { hear } from "/shared/sounds.js";
import { sentence } from "/shared/words.js";
import { awardOrders, showProgressive } from "./award.js";
import { groupOf, labelOf } from "./catalogue.js";
import { showGames } from "./games.js";
import { showHandList } from "./hands.js";
import { t, translated, wagerTitle } from "./language.js";
import { acknowledge, askFor, askForCommission } from "./order-dialogs.js";
import { showPart } from "./parts.js";
import { showPrompt } from "./prompt.js";
import { showHands } from "./rounds.js";
import { follow, live } from "./service.js";
import { showShift } from "./shift.js";
import { begin, isCall, pageLink, showTop } from "./top.js";
import { dayAndClock } from "./words.js";

/** @import { CommissionOwed, OrderOnOffer, StandingAlarm, View } from "#sent/consoles" */
/** @import { GameAtTable } from "./award.js" */

const session = begin(
  pageLink(t("link.game_manager"), "/game-manager", "to-game-manager"),
  pageLink(t("link.dealer"), "/dealer"),
);
if (!session.reads.includes("inputs")) location.replace("/dealer");
one('#parts [href="#shift"]').hidden = !session.reads.includes("shift");
one('#parts [href="#games"]').hidden = !session.reads.includes("games");
/** @type {View} */
let view;

// --- orders

/** @type {[OrderOnOffer["group"], string][]} */
const GROUPS = [
  ["play", t("group.play")],
  ["shoe", t("group.shoe")],
  ["help", t("group.help")],
  ["mistakes", t("group.mistakes")],
];
/** @type {Map<string, HTMLButtonElement>} */
const keys = new Map();
byId("orders").append(
  ...GROUPS.map(([group, title]) =>
    element(
      "div",
      { class: "group", role: "group", "aria-label": title },
      element("h2", {}, title),
      ...groupOf(group).map(({ order, label }) => {
        const made = button(label, () => askFor(order, view), { "data-order": order, disabled: true });
        keys.set(order, made);
        return made;
      }),
    ),
  ),
);

function showOrders() {
  const locked = view.state.phase === "locked";
  for (const [order, key] of keys) {
    key.disabled = !(live() && view.orders.includes(order));
    key.hidden = order === (locked ? "sign_off" : "sign_on");
  }
}

// --- the progressive: the award that waits for a supervisor

const awardKeys = awardOrders(() => /** @type {GameAtTable} */ (view));
byId("progressive").append(awardKeys.node);

function showGame() {
  const { progressive } = view;
  byId("to-game-manager").hidden = progressive === null || !session.reads.includes("progressive");
  const money = showProgressive(view);
  if (progressive === null || money === null) return;
  const known = [
    money(progressive.meter),
    progressive.stale && t("game.meter_stale"),
    progressive.key && t("game.key_in", { key: progressive.key.toUpperCase() }),
  ];
  put("meter", known.filter(Boolean).join(" · "));
  awardKeys.show();
}

// --- the table

function showTrouble() {
  const may = live() && view.orders.includes("acknowledge_alarm");
  const away = view.devices.some(({ warning }) => warning !== null);
  refresh(byId("trouble-list"), [view.stops, view.alarms, away, may], () => [
    ...view.stops.map(({ text }) =>
      element(
        "div",
        { class: "stop" },
        element("strong", {}, t("stopped")),
        element("p", {}, translated(sentence(text))),
      ),
    ),
    ...view.alarms.map((alarm) =>
      element(
        "div",
        { class: "alarm", "data-alarm": alarm.number },
        element(
          "p",
          {},
          alarm.times > 1 ? t("times", { text: translated(alarm.text), times: alarm.times }) : translated(alarm.text),
        ),
        element("small", {}, raisedBy(alarm)),
        button(t("label.acknowledge_alarm"), () => acknowledge(view, alarm), { disabled: !may }),
      ),
    ),
    ...(view.stops.length + view.alarms.length === 0
      ? [element("p", { class: "quiet" }, away ? t("no_alarm") : t("no_stop_no_alarm"))]
      : []),
  ]);
}

/** @param {StandingAlarm} alarm */
const raisedBy = ({ ts, who }) => [ts && dayAndClock(ts), who && t("called_by", { who })].filter(Boolean).join(", ");

/** @type {["collect_commission", "waive_commission"]} */
const CLEARED_BY = ["collect_commission", "waive_commission"];

/**
 * What a seat owes, and the orders that clear it.
 * @param {CommissionOwed} owed
 * @param {string[]} may
 */
const account = (owed, may) =>
  element(
    "div",
    { class: "commission" },
    element("span", {}, t("commission.owed", { amount: moneyIn(view.state.currency, { whole: false })(owed.amount) })),
    ...CLEARED_BY.map((order) =>
      button(labelOf(order), () => askForCommission(order, view, owed), {
        "data-order": order,
        disabled: !may.includes(order),
      }),
    ),
  );

function showSeats() {
  const { seats, commissions, last, state } = view;
  const settled = state.hands === null && last !== null ? last.seats : [];
  const may = CLEARED_BY.filter((order) => live() && view.orders.includes(order));
  refresh(byId("seat-list"), [seats, commissions, may, settled], () => {
    const money = moneyIn(state.currency);
    const signed = moneyIn(state.currency, { sign: true });
    const all = [...new Set([...seats, ...commissions, ...settled].map(({ seat }) => seat))].sort(
      (first, second) => first - second,
    );
    if (all.length === 0) return element("p", { class: "quiet" }, t("no_wagers"));
    return all.map((seat) => {
      const standing = seats.find((each) => each.seat === seat)?.wagers ?? [];
      const net = settled.find((each) => each.seat === seat)?.net;
      return element(
        "div",
        { class: "seat", "data-seat": seat },
        element("b", {}, t("seat", { seat })),
        element(
          "span",
          {},
          standing.map((each) => `${wagerTitle(each.wager, each.title)} ${money(each.amount)}`).join(" · "),
        ),
        element("span", { class: "number" }, net === undefined ? "" : t("last_net", { net: signed(net) })),
        ...commissions.filter((each) => each.seat === seat).map((each) => account(each, may)),
      );
    });
  });
}

// --- parts

/** @type {Record<string, (latest: View, how: { opened: boolean, which?: string }) => unknown>} */
const PARTS = { table: () => undefined, hands: showHandList, shift: showShift, games: showGames };
let part = "table";

function openPart() {
  const { name, which } = showPart();
  part = name;
  if (view !== undefined) PARTS[part](view, { opened: true, which });
}

addEventListener("hashchange", openPart);

follow((latest) => {
  const first = view === undefined;
  view = latest;
  showTop(view, t("page.supervisor"));
  hear(
    "call",
    view.alarms.filter(isCall).map(({ number }) => String(number)),
  );
  showPrompt(byId("now"), view);
  showTrouble();
  showGame();
  showHands(byId("coup"), view.state);
  showOrders();
  showSeats();
  if (first) openPart();
  else PARTS[part](view, { opened: false });
});
