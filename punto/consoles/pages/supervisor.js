// The supervisor's page: four parts, of which one is shown. The first says who needs the supervisor, what can be ordered now, and
// what was paid.

import { button, byId, element, one, put, refresh } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { hear } from "/shared/sounds.js";
import { sentence } from "/shared/words.js";
import { awardOrders, showProgressive } from "./award.js";
import { groupOf, labelOf, orderOf } from "./catalogue.js";
import { showGames } from "./games.js";
import { showHandList } from "./hands.js";
import { t, translated, wagerShort } from "./language.js";
import { acknowledge, askFor, askForCommission, playsWithout, resume } from "./order-dialogs.js";
import { showPart } from "./parts.js";
import { showPrompt } from "./prompt.js";
import { byWhom, showHands } from "./rounds.js";
import { follow, live } from "./service.js";
import { showShift } from "./shift.js";
import { begin, isCall, pageLink, showTop } from "./top.js";
import { headline, remarks, whenItWas } from "./words.js";

/** @import { CommissionOwed, LastRound, OrderOnOffer, Settlement, StandingAlarm, StandingStop, View } from "#sent/consoles" */
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
/** The orders of the hand, of which one at a time is possible: F2 gives it here as at the dealer's page. */
const OF_THE_HAND = groupOf("play").flatMap(({ order, twice }) => (twice ? [order] : []));
/** @type {Record<string, string>} */
const SHORTCUTS = {
  ...Object.fromEntries(OF_THE_HAND.map((order) => [order, "F2"])),
  key_card: "F4",
  hold_play: "F7",
};
/** @type {Map<string, HTMLButtonElement>} */
const keys = new Map();
byId("orders").append(
  ...GROUPS.map(([group, title]) =>
    element(
      "div",
      { class: "group", role: "group", "aria-label": title },
      element("h2", {}, title),
      ...groupOf(group).map(({ order, label }) => {
        const made = button(order === "call_supervisor" ? t("call_manager") : label, () => askFor(order, view), {
          key: SHORTCUTS[order] ?? null,
          "data-order": order,
          disabled: true,
        });
        keys.set(order, made);
        return made;
      }),
    ),
  ),
);

/**
 * What comes next where the prompt alone says it.
 * @type {Partial<Record<View["prompt"]["code"], string>>}
 */
const PROMPTED = {
  locked: "sign_on",
  key_card: "key_card",
  turn_first_card: "key_card",
  shoe_offline: "key_card",
  shoe_over: "change_shoe",
  closed: "change_shoe",
};

/** The order that comes next, and that alone is gold: never beside an order about an award, which is gold in its own section. */
function nextOrder() {
  const { code } = view.prompt;
  if (code === "award") return;
  const prompted = PROMPTED[code];
  const following =
    code === "stopped" ? ["accept_shoe", "resume_play"] : [...(prompted ? [prompted] : []), ...OF_THE_HAND];
  return following.find((order) => view.orders.includes(order));
}

function showOrders() {
  const locked = view.state.phase === "locked";
  const next = nextOrder();
  for (const [order, key] of keys) {
    const possible = live() && view.orders.includes(order);
    key.disabled = !possible || (order === "resume_play" && playsWithout(view));
    key.hidden = order === (locked ? "sign_off" : "sign_on");
    key.classList.toggle("go", order === next);
  }
  for (const group of document.querySelectorAll(".group"))
    group.classList.toggle("idle", group.querySelector("button:enabled:not([hidden])") === null);
}

/** @param {string} order */
function pressOrder(order) {
  const key = keys.get(order);
  if (key !== undefined && !key.disabled) key.click();
}

// --- the progressive: the award that waits for a supervisor

const awardKeys = awardOrders(() => /** @type {GameAtTable} */ (view));
// It forgoes the award for the next hand, so it is never where a hand goes to resume play.
const playWithout = button(t("play_without"), () => askFor("resume_play", view), { id: "play-without", hidden: true });
byId("progressive").append(playWithout, awardKeys.node);

function showGame() {
  const { progressive } = view;
  byId("to-game-manager").hidden = progressive === null || !session.reads.includes("progressive");
  const money = showProgressive(view);
  if (progressive === null || money === null) return;
  const known = [
    t("meter", { amount: money(progressive.meter) }),
    progressive.stale && t("game.meter_stale"),
    progressive.key && t("game.key_in", { key: progressive.key.toUpperCase() }),
  ];
  put("meter", known.filter(Boolean).join(" · "));
  awardKeys.show();
  playWithout.hidden = !(playsWithout(view) && view.orders.includes("resume_play"));
  playWithout.disabled = !live();
}

// --- who needs the supervisor

function showTrouble() {
  const may = new Set(["acknowledge_alarm", "resume_play"].filter((order) => live() && view.orders.includes(order)));
  const away = view.devices.some(({ warning }) => warning !== null);
  const { stops, alarms, prompt } = view;
  const locked = prompt.code === "award";
  const quiet = locked ? t("award_locks") : away ? t("no_alarm") : t("no_stop_no_alarm");
  byId("trouble").classList.toggle("calm", stops.length + alarms.length === 0);
  refresh(byId("trouble-list"), [stops, alarms, away, locked, [...may]], () => [
    ...stops.map((stop, at) => stopped(stop, at === stops.length - 1 && may.has("resume_play"))),
    ...alarms.map((alarm) => raised(alarm, may.has("acknowledge_alarm"))),
    ...(stops.length + alarms.length === 0 ? [element("p", { class: "quiet" }, quiet)] : []),
  ]);
}

/**
 * A stop; below the last one, the usual reasons to resume play, each of which resumes it by one press.
 * @param {StandingStop} stop
 * @param {boolean} last
 */
function stopped({ text, ts, who }, last) {
  const made = element(
    "div",
    { class: "stop" },
    element("strong", {}, t("stopped")),
    element("small", {}, since(ts, who && t("held_by", { who }))),
    element("p", {}, translated(sentence(text))),
  );
  if (!last) return made;
  const reasons = orderOf("resume_play").usual.map((reason) =>
    button(reason, () => resume(view, reason), { class: "usual" }),
  );
  const label = labelOf("resume_play");
  made.append(
    element("div", { class: "see-to", role: "group", "aria-label": label }, t("full_colon", { label }), ...reasons),
  );
  return made;
}

/**
 * @param {StandingAlarm} alarm
 * @param {boolean} may
 */
function raised(alarm, may) {
  const { number, text, times, ts, who } = alarm;
  return element(
    "div",
    { class: "alarm", "data-alarm": number },
    element("p", {}, times > 1 ? t("times", { text: translated(text), times }) : translated(text)),
    element("small", {}, since(ts, who && t("called_by", { who }))),
    button(t("label.acknowledge_alarm"), () => acknowledge(view, alarm), { disabled: !may }),
  );
}

/**
 * @param {string | null} ts
 * @param {string | null} by
 */
const since = (ts, by) => [ts && t("since", { time: whenItWas(ts, view.ts) }), by].filter(Boolean).join(t("comma"));

// --- what was paid

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

/** The last hand until the next is dealt, and of each seat what it got, what stands and what it owes. */
function showPaid() {
  const { seats, commissions, last, state } = view;
  const over = state.hands === null ? last : null;
  const shown = over && (over.correction ?? over.round);
  put("paid-title", over === null ? t("wagers") : t("last_hand"));
  put("last", shown === null ? "" : [headline(shown), ...(shown.winner === null ? [] : remarks(shown))].join(" · "));
  byId("last").className = shown?.winner ?? "";
  put("last-why", shown?.who ? byWhom(shown) : "");
  const may = CLEARED_BY.filter((order) => live() && view.orders.includes(order));
  refresh(byId("seat-list"), [seats, commissions, may, over, view.progressive?.award], () => {
    const money = moneyIn(state.currency);
    const all = [...new Set([...seats, ...commissions, ...(over?.seats ?? [])].map(({ seat }) => seat))].sort(
      (first, second) => first - second,
    );
    if (all.length === 0) return element("p", { class: "quiet" }, t("no_wagers"));
    return all.map((seat) => {
      const wagers = seats.find((each) => each.seat === seat)?.wagers ?? [];
      const standing = wagers.map((each) => `${wagerShort(each.wager)} ${money(each.amount)}`);
      return element(
        "div",
        { class: "seat", "data-seat": seat },
        element("b", {}, t("seat", { seat })),
        element("span", { class: "number" }, paidTo(seat, over)),
        element(
          "span",
          {},
          ...wagersOf(seat, over),
          standing.length === 0 ? "" : element("small", {}, standing.join(" · ")),
        ),
        ...commissions.filter((each) => each.seat === seat).map((each) => account(each, may)),
      );
    });
  });
}

/**
 * What was settled at a seat by the last hand; after a correction, the differences alone.
 * @param {number} seat
 * @param {LastRound | null} over
 */
const settledAt = (seat, over) =>
  (over?.correction ? over.differences : over?.seats)?.find((each) => each.seat === seat);

/** @type {(seat: number, over: LastRound | null) => string} */
function paidTo(seat, over) {
  const of = settledAt(seat, over);
  if (of === undefined) return over?.correction ? t("no_change") : "";
  const ofAward = of.wagers.reduce((sum, each) => sum + (each.outcome === "award" ? each.net : 0), 0);
  const net = moneyIn(view.state.currency, { sign: true })(over?.correction ? of.net : of.net - ofAward);
  return over?.correction ? t("difference", { net }) : t("last_net", { net });
}

/** @type {(seat: number, over: LastRound | null) => string[]} */
function wagersOf(seat, over) {
  const signed = moneyIn(view.state.currency, { sign: true });
  /** @param {Settlement} settled */
  const what = ({ outcome, net }) => (outcome === "award" && !over?.correction ? awardOf(seat) : signed(net));
  const words = settledAt(seat, over)?.wagers.map((each) => `${wagerShort(each.wager)} ${what(each)}`) ?? [];
  return words.length === 0 ? [] : [words.join(" · ")];
}

/**
 * An award in place of the wager's stake that the books have: the seat's share, as far as it is known.
 * @param {number} seat
 */
function awardOf(seat) {
  const award = view.progressive?.award ?? null;
  const share = award?.shares.find((each) => each.seat === seat);
  if (share === undefined) return t("outcome.award").toLowerCase();
  const amount = moneyIn(view.state.currency, { whole: false })(share.amount);
  return award?.state === "to_confirm" ? t("award.share_waits", { amount }) : t("award.share", { amount });
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

// --- keyboard: a key means the same as on the dealer's page

/** @type {Record<string, () => unknown>} */
const KEYS = {
  F2: () => OF_THE_HAND.forEach(pressOrder),
  F4: () => pressOrder("key_card"),
  F6: () => view.progressive !== null && awardKeys.pressNext(),
  F7: () => pressOrder("hold_play"),
  F9: () => {
    location.hash = "hands";
  },
};

document.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (act === undefined || view === undefined || event.repeat || document.querySelector("dialog[open]") !== null)
    return;
  event.preventDefault();
  act();
});

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
  showPaid();
  if (first) openPart();
  else PARTS[part](view, { opened: false });
});
