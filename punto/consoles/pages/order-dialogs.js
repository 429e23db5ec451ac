// What each order asks and says before it is given.

import { button, changed, element, labelled, one } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { sentence } from "/shared/words.js";
import { endOf } from "./award.js";
import { cardKeys, chosenWords } from "./card-keys.js";
import { card, cardWords } from "./cards.js";
import { labelOf } from "./catalogue.js";
import { askOrder, DOUBLE_TAP_MILLISECONDS, give, say } from "./dialogs.js";
import { counted, t, toSupervisor, translated } from "./language.js";
import { differences, HANDS } from "./rounds.js";
import { ask } from "./service.js";
import { isCall } from "./top.js";
import { headline, hourAndMinute, resultOf, SIDES } from "./words.js";

/** @import { CommissionOwed, Preview, RoundRecord, Side, StandingAlarm, View } from "#sent/consoles" */
/** @import { Asked } from "./dialogs.js" */
/** @import { Answer } from "./service.js" */
/** @typedef {{ side: Side, at: number }} Place the place of a card in its hand */
/** @typedef {(view: View) => Partial<Asked>} Dialog */
/** @typedef {Record<Side, (string | null)[]>} Cards */

/** @param {string} text */
const good = (text) => element("p", { class: "good" }, text);
/** @param {View} view */
const standing = ({ seats }) => (seats.length === 0 ? t("standing.none") : counted("standing", seats.length));
/** @param {View} view */
const stopWords = ({ stops }) =>
  stops.map(({ text }) => t("full_stop", { text: translated(sentence(text)) })).join(" ");
/**
 * The progressive wagers that the hand leaves out if betting closes now, because START GAME was not given; empty if none.
 * @param {View} view
 */
const leftOut = ({ progressive }) =>
  progressive === null || progressive.unstarted.length === 0
    ? ""
    : counted("left_out", progressive.unstarted.length, { start: progressive.start_label });
/**
 * What would be forgotten by an order of the hand; empty if nothing.
 * @param {string | undefined} order
 * @param {View} view
 */
export function forgotten(order, view) {
  if (order === "close_betting") return leftOut(view);
  const { progressive } = view;
  if (order !== "open_betting" || progressive === null) return "";
  const end = endOf(progressive);
  return progressive.orders[end] === null ? t("game_not_over", { end: labelOf(end) }) : "";
}
/** @type {(round: RoundRecord | null, words: string) => Node} */
const endOr = (round, words) => good(round === null ? words : t("hand_ends", { headline: headline(round) }));

/**
 * What an order asks and says besides its sentence and the reason that it takes.
 * @type {Record<string, Dialog>}
 */
const DIALOGS = {
  close_betting: (view) => ({
    parts: leftOut(view) ? [element("p", { class: "fault" }, t("full_stop", { text: sentence(leftOut(view)) }))] : [],
    about: ({ progressive }) => progressive?.unstarted,
  }),
  close_table: (view) => ({ text: t("text.close_table", { standing: standing(view) }) }),
  change_shoe: changeShoe,
  call_supervisor: callSupervisor,
  resume_play: (view) =>
    playsWithout(view)
      ? { title: t("play_without"), text: t("text.play_without"), usual: [] }
      : { text: stopWords(view) },
  key_card: keyCard,
  accept_shoe: (view) => accepting(`${stopWords(view)} ${t("text.accept_shoe")}`),
  accept_device: () => accepting(t("text.accept_device")),
  void_coup: ({ state }) => ({
    text: t("text.void_coup", { hand: state.shoe.coup, shoe: state.shoe.number }),
    preview: (answer) => differed(answer, state),
  }),
  correct_card: correctCard,
  correct_round: correctRound,
  void_round: voidRound,
};

/**
 * Whether the order to resume play would have the next hand dealt without the award, because nothing is stopped.
 * @param {View} view
 */
export const playsWithout = ({ prompt, stops }) => prompt.code === "award" && stops.length === 0;

/**
 * Whoever called a supervisor already says why by the same order.
 * @type {Dialog}
 */
function callSupervisor({ alarms }) {
  if (toSupervisor) return { title: t("call_manager"), text: t("call_manager.text") };
  const ts = alarms.find(isCall)?.ts;
  if (!ts) return {};
  return {
    title: t("call.title", { time: hourAndMinute(ts) }),
    text: t("call.why"),
    preview: () => [good(t("call.reason_goes"))],
    confirm: t("call.send"),
    cancel: t("call.no_reason"),
  };
}

/** @type {(answer: Preview, state: View["state"]) => Node[]} */
const differed = ({ round, marked }, state) => (round === null ? [] : [differences(round, state, marked)]);

/**
 * Ask for an order.
 * @param {string} order
 * @param {View} view
 */
export function askFor(order, view) {
  askOrder({ order, view, preview: ({ round }) => [endOr(round, t("can_be_done"))], ...DIALOGS[order]?.(view) });
}

let pressedAt = 0;

/**
 * Give an order by one press, if nothing more is asked for; otherwise ask. The second half of a double tap gives nothing,
 * because another alarm may have come under the finger.
 * @param {string} order
 * @param {Record<string, unknown>} fields
 * @param {() => unknown} otherwise
 */
async function giveAtOnce(order, fields, otherwise) {
  if (Date.now() - pressedAt < DOUBLE_TAP_MILLISECONDS) return;
  pressedAt = Date.now();
  /** @type {Answer<Preview>} */
  const answer = await ask("POST", "/api/preview", { order, ...fields });
  if (!(answer.ok && answer.body.accepted) || answer.body.second !== null) otherwise();
  else if (await give(order, fields)) say(t("of_order", { order: labelOf(order), text: t("order.done") }));
}

/**
 * @param {View} view
 * @param {string} reason
 */
export const resume = (view, reason) => giveAtOnce("resume_play", { reason }, () => askFor("resume_play", view));

/**
 * @param {View} view
 * @param {StandingAlarm} alarm
 */
export const acknowledge = (view, alarm) =>
  giveAtOnce("acknowledge_alarm", { number: alarm.number }, () => askToAcknowledge(view, alarm));

/**
 * @param {View} view
 * @param {StandingAlarm} alarm
 */
function askToAcknowledge(view, { number, text, times }) {
  askOrder({
    order: "acknowledge_alarm",
    view,
    title: t("acknowledge.title"),
    text: t("acknowledge.text", { text: times > 1 ? t("times", { text: translated(text), times }) : translated(text) }),
    read: () => ({ number }),
    confirm: t("label.acknowledge_alarm"),
  });
}

/**
 * Ask before the account of a seat is cleared. If the seat wins again in the meantime, the order is off.
 * @param {"collect_commission" | "waive_commission"} order
 * @param {View} view
 * @param {CommissionOwed} owed
 */
export function askForCommission(order, view, { seat, amount }) {
  const money = moneyIn(view.state.currency);
  askOrder({
    order,
    view,
    text: t("commission.owes", { seat, amount: money(amount) }),
    read: () => ({ seat, amount }),
    preview: () => [good(t("can_be_done"))],
    about: ({ commissions }) => commissions.find((each) => each.seat === seat),
  });
}

/** @type {Dialog} */
function changeShoe(view) {
  const { shoe } = view.state;
  const ends = shoe.number === 0 ? t("text.first_shoe") : t("text.ends_shoe", { shoe: shoe.number, hands: shoe.coup });
  return {
    text: `${ends} ${t("text.change_shoe", { standing: standing(view) })}`,
  };
}

/** @type {Dialog} */
function keyCard({ prompt }) {
  /** @type {string | null} */
  let chosen = null;
  const hint = element("p", { class: "hint", "aria-live": "polite" }, chosenWords(null, null));
  const keys = cardKeys(
    (code, rank) => {
      chosen = code;
      hint.textContent = chosenWords(code, rank);
      changed(hint);
    },
    () => keys.node.closest("form")?.requestSubmit(),
  );
  return {
    text: translated(prompt.text),
    parts: [element("div", { class: "picking" }, hint, keys.node)],
    read: () => {
      if (chosen === null) throw new Error(t("choose.rank_and_suit"));
      return { card: chosen, position: prompt.position };
    },
    preview: ({ round }) => [endOr(round, t("card_fits"))],
    confirm: t("line.key"),
  };
}

/** @type {(text: string) => ReturnType<Dialog>} */
function accepting(text) {
  const [serial, field] = labelled(t("serial.label"), {
    name: "serial",
    autocapitalize: "characters",
    spellcheck: "false",
  });
  return {
    text,
    parts: [field],
    read: () => {
      if (!serial.value.trim()) throw new Error(t("serial.missing"));
      return { serial: serial.value.trim() };
    },
    preview: () => [good(t("serial.fits", { serial: serial.value.trim() }))],
  };
}

/**
 * A misread found before settlement: one card of the hand.
 * @type {Dialog}
 */
function correctCard({ state }) {
  const { hands, shoe } = state;
  if (hands === null) return {};
  const picks = handPicks(hands, { many: false });
  return {
    text: t("text.correct_card", { hand: shoe.coup, shoe: shoe.number }),
    parts: [picks.node],
    read: () => {
      const [change] = picks.changes();
      if (change === undefined) throw new Error(t("choose.the_card"));
      return { position: positionOf(hands, change), card: change.card };
    },
    preview: (answer) => [endOr(answer.round, t("hand_goes_on")), ...differed(answer, state)],
    confirm: t("correct_the_card"),
  };
}

/**
 * A settled round that is void after all.
 * @type {Dialog}
 */
function voidRound({ state, last }) {
  if (last === null) return {};
  const { round } = last;
  return {
    text: t("text.void_round", { hand: round.coup, headline: headline(round) }),
    read: () => ({ round: round.round }),
    preview: (answer) => differed(answer, state),
    confirm: t("void_round", { hand: round.coup }),
  };
}

/**
 * A misread found after settlement: any cards of the last round.
 * @type {Dialog}
 */
function correctRound({ state, last }) {
  if (last === null) return {};
  const { round } = last;
  const picks = handPicks(round, { many: true });
  return {
    text: t("text.correct_round", { hand: round.coup, headline: headline(round) }),
    parts: [picks.node],
    read: () => {
      if (picks.changes().length === 0) throw new Error(t("choose.a_card"));
      return { round: round.round, ...picks.hands() };
    },
    preview: (answer) => [
      ...(answer.round === null ? [] : [good(t("corrected_result", { result: resultOf(answer.round) }))]),
      ...differed(answer, state),
    ],
    confirm: t("correct_round", { hand: round.coup }),
  };
}

/**
 * The number of a card as dealt: two each in turn, then Player's third, then Banker's.
 * @param {Cards} hands
 * @param {Place} place
 */
function positionOf(hands, { side, at }) {
  if (at < 2) return 2 * at + (side === "player" ? 1 : 2);
  return side === "player" ? 5 : 3 + hands.player.length;
}

/**
 * Both hands as keys to touch, and the card keys for the one that is chosen.
 * @param {Cards} hands
 * @param {{ many: boolean }} how
 */
function handPicks({ player, banker }, { many }) {
  /** @type {Cards} */
  const before = { player, banker };
  /** @type {Cards} */
  let now = { player: [...player], banker: [...banker] };
  /** @type {Place | null} */
  let chosen = null;
  const hint = element("p", { class: "hint", "aria-live": "polite" });
  const keys = cardKeys((code, rank) => {
    if (chosen === null) return;
    hint.textContent = t("of_order", { order: place(chosen), text: chosenWords(code, rank) });
    if (code === null) return;
    if (!many) now = { player: [...player], banker: [...banker] };
    const { side, at } = chosen;
    now[side][at] = code;
    if (before[side][at] !== null) hint.textContent += t("card_was", { card: cardWords(before[side][at]) });
    chosen = null;
    show();
    one(`[data-place="${side}${at}"]`, HTMLElement, rows).focus();
    changed(rows);
  });
  const rows = element("div", { class: "hands picks" });
  /** @param {Place} place */
  const place = ({ side, at }) => t(`place.${["first", "second", "third"][at]}`, { side: SIDES[side] });

  function show() {
    rows.replaceChildren(
      ...HANDS.map((side) =>
        element(
          "div",
          { class: `hand ${side}` },
          element("h3", {}, SIDES[side]),
          element("div", { class: "cards" }, ...now[side].map((code, at) => pick(side, at, code))),
        ),
      ),
    );
    keys.node.hidden = chosen === null;
  }

  /**
   * @param {Side} side
   * @param {number} at
   * @param {string | null} code
   */
  function pick(side, at, code) {
    const words =
      t("card.at", { place: place({ side, at }), card: cardWords(code) }) +
      (code === before[side][at] ? "" : t("card_was", { card: cardWords(before[side][at]) }));
    return button(
      card(code),
      () => {
        chosen = { side, at };
        show();
        keys.clear();
        keys.focus();
      },
      {
        class: code === before[side][at] ? "pick" : "pick changed",
        "aria-label": words,
        "data-place": `${side}${at}`,
        "aria-pressed": String(chosen?.side === side && chosen.at === at),
      },
    );
  }

  show();
  return {
    node: element("div", { class: "picking" }, rows, hint, keys.node),
    hands: () => now,
    changes: () =>
      HANDS.flatMap((side) =>
        now[side]
          .map((code, at) => ({ side, at, card: code }))
          .filter(({ at, card: code }) => code !== before[side][at]),
      ),
  };
}
