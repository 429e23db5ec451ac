// The progressive's game at the dealer's page: sensors and hand buttons seat by seat, its orders, and what to do now.

import { button, byId, element, put, refresh, relabel } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { askPassword, awardOrders, endOf, hasGame, showProgressive } from "./award.js";
import { labelOf } from "./catalogue.js";
import { give, say } from "./dialogs.js";
import { counted, t } from "./language.js";
import { CALLS, isCalled, waitForHandButtons } from "./prompt.js";
import { live } from "./service.js";
import { pressedTwice } from "./twice.js";

/** @import { GameView, SeatInGame, View } from "#sent/consoles" */
/** @import { GameAtTable } from "./award.js" */
/** @import { Meaning } from "./twice.js" */
/** @typedef {(minor: number) => string} Money */

/** What a seat's button shows of it, as classes. */
const MARKS = /** @type {const} */ (["lit", "won", "selected", "late", "spent"]);
/** What there is to do next for the progressive while no award waits. */
const IDLE = new Set(["wait", "start_game", "deal", "end", "pay"]);
const SEEN_BY_SENSOR = t("game.seen_by_sensor");

/** Draws it, when `show` is called with a view; `pressSeat` and `pressOrder` are for the keyboard. */
export function gameSection() {
  /** @type {GameAtTable | null} */
  let view = null;
  /** The view, of which nothing is asked before it is shown. */
  const current = () => /** @type {GameAtTable} */ (view);
  const twice = button("", () => undefined, { key: "F6", id: "game-order", disabled: true });
  const order = pressedTwice(
    twice,
    () => (view === null ? null : nextOrder(view)),
    (which) => (which === "start_game" ? give(which, { round: current().state.round }) : end(which)),
  );
  const supervisors = awardOrders(current);
  const swipe = element("p", { class: "swipe-now", role: "status" });
  const password = button("", () => askPassword(current()), { id: "card-password", class: "go", hidden: true });
  byId("game-orders").append(supervisors.node, twice, swipe, password);

  /**
   * The end of the game resets the table for the next hand, so betting opens with it.
   * @param {string} which
   */
  async function end(which) {
    const opens = opensBetting(current());
    if ((await give(which)) && opens) give("open_betting");
  }

  /** @param {number} seat */
  function pressSeat(seat) {
    const found = view?.progressive.seats.find((each) => each.seat === seat);
    if (view === null || found === undefined || !live()) return;
    const { order: which, refused } = seatOrder(view.progressive, found);
    if (refused) say(t("of_order", { order: t("seat", { seat }), text: refused }), true);
    else give(which, { seat });
  }

  /**
   * @param {View} latest
   * @param {string | null} gold which of the page's orders is the next one
   */
  function show(latest, gold) {
    const money = showProgressive(latest);
    view = hasGame(latest) ? latest : null;
    document.body.classList.toggle("with-progressive", view !== null);
    if (view === null || money === null) return;
    const { progressive, state } = view;
    put("meter", money(progressive.meter));
    const known = [
      t("game.each", { amount: moneyIn(state.currency)(progressive.wager) }),
      progressive.stale && t("game.meter_stale"),
      progressive.key && t("game.key_in", { key: progressive.key.toUpperCase() }),
      progressive.sensors === "offline" && t("game.sensors_away"),
    ];
    put("meter-facts", known.filter(Boolean).join(" · "));
    showSeats(latest, money);
    order.show();
    twice.classList.toggle("go", gold === "game");
    password.hidden = progressive.password_of === null;
    password.disabled = !live();
    relabel(password, t("password_of", { name: String(progressive.password_of) }));
    swipe.textContent =
      password.hidden && progressive.todo.code === "swipe_card" && progressive.by_device.includes("swipe_card")
        ? t("game.swipe_now")
        : "";
    const card = !password.hidden || swipe.textContent !== "";
    twice.hidden = card; // no game ends before the card is there
    supervisors.show(gold === "award" && !card);
    // Until there is an award, its orders have no place, and what to do next has it.
    const idle =
      IDLE.has(progressive.todo.code) && progressive.key !== "jph" && progressive.orders.reopen_game !== null;
    byId("progressive").classList.toggle("idle", idle);
  }

  /**
   * @param {View} latest
   * @param {Money} money
   */
  function showSeats({ progressive, state }, money) {
    if (progressive === null) return;
    const begun = state.phase !== "betting";
    const box = byId("hand-buttons");
    // As the dealer sees the table, and as the keypad has them.
    const seats = progressive.seat_one === "right" ? [...progressive.seats].reverse() : progressive.seats;
    const next = waitForHandButtons(progressive);
    const focused = document.activeElement?.getAttribute("data-hand");
    refresh(box, [seats, progressive.step, progressive.by_device, progressive.unstarted, begun, live()], () =>
      seats.map((seat) => {
        const { refused } = seatOrder(progressive, seat);
        const out = begun && progressive.unstarted.includes(seat.seat);
        const words = out ? t("seat.not_in") : how(progressive, seat);
        const made = button(String(seat.seat), () => pressSeat(seat.seat), {
          class: ["hand-button", ...MARKS.filter((mark) => seat[mark]), out && "late", next.includes(seat) && "go"]
            .filter(Boolean)
            .join(" "),
          "data-hand": seat.seat,
          "aria-pressed": String(pressed(progressive, seat)),
          "aria-disabled": String(Boolean(refused)),
          disabled: !live(),
        });
        made.append(element("span", { class: "how" }, words));
        const text = seat.share === null ? words : `${words} ${money(seat.share)}`;
        made.setAttribute("aria-label", t("of_order", { order: t("seat", { seat: seat.seat }), text }));
        return made;
      }),
    );
    if (focused) again(box.querySelector(`[data-hand="${focused}"]`));
  }

  return { show, pressSeat, pressOrder: order.press };
}

/**
 * Whether the end of the game is followed by the opening of betting: not after the last hand, and not while something waits.
 * @param {View} view
 */
const opensBetting = ({ state, stops, prompt }) =>
  state.phase === "settled" &&
  !state.overlays.includes("last_hand") &&
  stops.length === 0 &&
  prompt.code !== "pay_difference";

/**
 * START GAME, or the end of the game that was started.
 * @param {GameAtTable} view
 * @returns {Meaning}
 */
function nextOrder(view) {
  const { progressive } = view;
  if (progressive.step === "betting") {
    const count = progressive.seats.filter(({ lit }) => lit).length;
    const wagers = count === 0 ? t("game.no_wager") : counted("game.wagers", count);
    const start = progressive.start_label;
    return {
      order: "start_game",
      label: progressive.start_closes ? t("game.start_and_close", { start }) : start,
      again: t("press_again", { what: progressive.start_closes ? t("game.and_close", { wagers }) : wagers }),
      refused: progressive.orders.start_game,
    };
  }
  const order = endOf(progressive);
  const opens = progressive.orders[order] === null && opensBetting(view);
  const label = opens ? t("game.end_and_open", { end: labelOf(order) }) : labelOf(order);
  return {
    order,
    label,
    again: t("press_again", { what: label }),
    refused: progressive.orders[order],
  };
}

/**
 * Whether the next order is one of the progressive's: "game" if its own is, "award" if a supervisor's is, "call" if the supervisor
 * is called first, "possible" if its own can be given, though nothing waits for it.
 * @param {View} view
 */
export function nextOfGame(view) {
  if (!hasGame(view)) return null;
  const { progressive, prompt } = view;
  if (prompt.code === "award" && !IDLE.has(progressive.todo.code)) {
    const calls = progressive.award?.dealer === false && CALLS.has(progressive.todo.code);
    return calls && !isCalled(view) ? "call" : "award";
  }
  if (nextOrder(view).refused) return null;
  return progressive.step !== "betting" || progressive.unstarted.length > 0 ? "game" : "possible";
}

/**
 * What pressing a seat means now, and why it cannot be pressed.
 * @param {GameView} progressive
 * @param {SeatInGame} seat
 */
function seatOrder(progressive, { lit, refused }) {
  if (progressive.step !== "betting") return { order: "hand_button", refused };
  const order = lit ? "wager_lifted" : "wager_placed";
  return { order, refused: progressive.by_device.includes(order) ? SEEN_BY_SENSOR : refused };
}

/** @param {HTMLElement | null} seat */
const again = (seat) => seat?.focus();

/** @type {(game: GameView, seat: SeatInGame) => boolean} */
const pressed = ({ step }, { lit, selected }) => (step === "betting" ? lit : selected);

/**
 * @param {GameView} game
 * @param {SeatInGame} seat
 */
function how({ step }, { lit, wagered, late, spent, won, selected, share }) {
  if (late) return t("seat.late");
  if (spent) return t("seat.spent");
  if (selected) return t("seat.selected");
  if (won && step !== "playing") return share === null ? t("seat.may_have_won") : t("seat.won");
  if (wagered) return t("seat.in");
  return lit ? t("seat.wager") : "–";
}
