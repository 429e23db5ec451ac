// What is to be done now, in large words.

import { byId, element, put, refresh } from "/shared/elements.js";
import { columnIn } from "/shared/money.js";
import { sentence } from "/shared/words.js";
import { counted, t, toSupervisor, translated } from "./language.js";
import { live } from "./service.js";
import { isCall } from "./top.js";
import { headline, PHASES, SIDES } from "./words.js";

/** @import { AwardInGame, GameView, LastRound, Prompt, Side, State, View } from "#sent/consoles" */

const ORDINALS = /** @type {const} */ (["first", "second", "third"]);
/** @type {Partial<Record<Prompt["code"], (prompt: Prompt, view: View) => string>>} */
const LINES = {
  locked: () => t("line.locked"),
  load_shoe: () => t("line.load_shoe"),
  turn_first_card: () => t("line.turn_first_card"),
  burn: ({ count }) => (count === null ? t("line.burn") : counted("line.burn", count)),
  place_wagers: () => t("line.place_wagers"),
  start_game: (_, { progressive }) =>
    progressive === null
      ? t("line.draw")
      : counted("line.start_game", progressive.unstarted.length, { start: progressive.start_label }),
  draw: ({ side }, view) => (side ? t(`line.draw.${ordinal(side, view)}`, { side: SIDES[side] }) : t("line.draw")),
  key_card: ({ side }, view) => (side ? t(`line.key.${ordinal(side, view)}`, { side: SIDES[side] }) : t("line.key")),
  reveal: () => t("line.reveal"),
  award: ({ text }, view) => {
    const { progressive, state } = view;
    const { todo, award, seats } = progressive ?? {};
    if (todo?.code === "pay" && award) return paying(award, state);
    if (award?.dealer === false && todo && CALLS.has(todo.code)) {
      const selected = seats?.filter((each) => each.selected) ?? [];
      const which = { seats: listed(selected) };
      if (toSupervisor) return counted("line.verify", selected.length, which);
      return isCalled(view)
        ? counted("line.award_called", selected.length, which)
        : counted("line.award", selected.length, which);
    }
    const toPress = progressive === null ? [] : waitForHandButtons(progressive);
    if (toPress.length > 0) return counted("line.hand_buttons", toPress.length, { seats: listed(toPress) });
    return OF_AN_AWARD[todo?.code ?? ""]?.() ?? translated(sentence(text));
  },
  pay: (_, { last }) => {
    if (last === null) return t("line.pay");
    const seats = toSupervisor ? [] : paidSeats(last);
    return seats.length > 0 ? counted("line.pay_to", seats.length, { seats: listed(seats) }) : headline(last.round);
  },
  pay_difference: ({ text }, { last }) => (last?.correction ? headline(last.correction) : translated(text)),
  return_wagers: () => t("line.return_wagers"),
  stopped: () => t("line.stopped"),
  shoe_over: () => t("line.shoe_over"),
  shoe_offline: () => t("line.shoe_offline"),
};
/** Of what the service says at length, the act alone. @type {Partial<Record<string, () => string>>} */
const OF_AN_AWARD = {
  hand_buttons: () => t("line.hand_buttons.each"),
  jpot: () => t("line.jpot"),
  key_to_run: () => t("line.key_to_run"),
  swipe_card: () => t("line.swipe_card"),
};
/** What waits for a supervisor to come to the table. */
export const CALLS = new Set(["key_to_jph", "confirm"]);
const OF_A_SIDE = new Set(["draw", "key_card"]);
const TROUBLE = new Set(["stopped", "shoe_offline"]);

/** @type {(side: Side, view: View) => string} */
const ordinal = (side, { state }) => ORDINALS[state.hands?.[side].length ?? 0];

/**
 * The seats that have certainly won, and whose hand buttons the dealer has not pressed yet.
 * @param {GameView} game
 */
export const waitForHandButtons = ({ todo, seats }) =>
  todo.code === "hand_buttons" ? seats.filter(({ won, selected, share }) => won && !selected && share !== null) : [];

/** The game for whose award a supervisor was called. @type {number | null} */
let calledIn = null;

/**
 * Whether a supervisor was called for the award; also once the call is acknowledged.
 * @param {View} view
 */
export function isCalled({ progressive, alarms }) {
  const round = progressive?.round ?? null;
  if (alarms.some(isCall)) calledIn = round;
  return round !== null && calledIn === round;
}

/**
 * The seats that are paid by the last hand, in the order of paying.
 * @param {LastRound} last
 */
export const paidSeats = ({ seats }) => seats.filter(({ pay }) => pay > 0);

/** @param {readonly { seat: number }[]} seats */
const listed = (seats) =>
  new Intl.ListFormat(document.documentElement.lang).format(seats.map(({ seat }) => String(seat)));

/**
 * Whom to pay what of an award, in the order of paying.
 * @param {AwardInGame} award
 * @param {State} state
 */
function paying({ shares }, { currency }) {
  const money = columnIn(
    currency,
    shares.map(({ amount }) => amount),
  );
  const each = shares.map(({ seat, amount }) => t("line.pay_seat", { seat, amount: money(amount) }));
  return t("line.pay_seats", { seats: each.join(t("line.then")) });
}

/**
 * What the service says of it, less what the large words say already.
 * @param {string} text
 * @param {string} line
 */
function rest(text, line) {
  const said = translated(sentence(text));
  return said.startsWith(line) ? sentence(said.slice(line.length).replace(/^(?:[;,:] *|[；，：])/u, "")) : said;
}

/**
 * Draw the prompt into the section `now`.
 * @param {HTMLElement} now
 * @param {View} view
 */
export function showPrompt(now, view) {
  const { prompt, state } = view;
  const line = LINES[prompt.code]?.(prompt, view) ?? translated(prompt.text);
  now.className = OF_A_SIDE.has(prompt.code)
    ? (prompt.side ?? "")
    : prompt.code.startsWith("pay")
      ? (view.last?.round.winner ?? "")
      : "";
  now.dataset.code = live() ? prompt.code : "not_live";
  now.classList.toggle("trouble", !live() || TROUBLE.has(prompt.code));
  const phase = [
    PHASES[state.phase],
    state.overlays.includes("last_hand") && t("remark.last_hand"),
    state.overlays.includes("dummy") && t("remark.dummy"),
    prompt.code === "award" && t("remark.award"),
  ];
  put("phase", phase.filter(Boolean).join(" · "));
  put("headline", live() ? line : t("line.not_live")); // what was to be done may be wrong by now
  const said = prompt.code === "draw" ? "" : rest(prompt.text, line);
  const detail = live() ? said : t("not_live.before", { line });
  refresh(byId("detail"), [detail, prompt.technical], () => [
    detail,
    ...(prompt.technical === null ? [] : [" ", element("small", {}, prompt.technical)]),
  ]);
}
