// The progressive's game at the dealer's page: sensors and hand buttons seat by seat, its orders, and what to do now.

import { button, byId, element, put, refresh, relabel } from "/shared/elements.js";
import { columnIn, moneyIn } from "/shared/money.js";
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

/** What a seat's button shows of it, as classes. */
const MARKS = /** @type {const} */ (["lit", "won", "selected", "late", "spent"]);
/** What there is to do next for the progressive while no award waits. */
const IDLE = new Set(["wait", "start_game", "deal", "end", "pay"]);
const WIDEST = 70; // letters in the row of all seats, of which the smallest has 11 px
const SEEN_BY_SENSOR = t("game.seen_by_sensor");

/** Draws it, when `show` is called with a view; `pressSeat` and `pressOrder` are for the keyboard. */
export function gameSection() {
  /** @type {GameAtTable | null} */
  let view = null;
  /** @type {GameView["step"] | null} */
  let step = null; // of the game, as the seats' buttons show it
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
    showSeats(latest);
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

  /** @param {View} latest */
  function showSeats({ progressive, state }) {
    if (progressive === null) return;
    const money = columnIn(
      state.currency,
      progressive.seats.map(({ share }) => share ?? 0),
    );
    const begun = state.phase !== "betting";
    const box = byId("hand-buttons");
    // As the dealer sees the table, and as the keypad has them.
    const seats = progressive.seat_one === "right" ? [...progressive.seats].reverse() : progressive.seats;
    const next = waitForHandButtons(progressive);
    // What a seat means changes with the step, so the focus stays at a seat only within one.
    const focused = step === progressive.step ? document.activeElement?.getAttribute("data-hand") : null;
    step = progressive.step;
    box.style.setProperty("--seats", String(seats.length));
    refresh(box, [seats, progressive.step, progressive.by_device, progressive.unstarted, begun, live()], () =>
      seats.map((seat) => {
        const out = begun && progressive.unstarted.includes(seat.seat);
        const words = how(progressive, seat, out);
        const share = seat.share === null ? null : money(seat.share);
        const made = button(String(seat.seat), () => pressSeat(seat.seat), {
          class: ["hand-button", ...MARKS.filter((mark) => seat[mark]), out && "late", next.includes(seat) && "go"]
            .filter(Boolean)
            .join(" "),
          "data-hand": seat.seat,
          "aria-pressed": String(pressed(progressive, seat)),
          "aria-disabled": String(Boolean(seatOrder(progressive, seat).refused)),
          "aria-label": t("of_order", {
            order: t("seat", { seat: seat.seat }),
            text: [words, share].filter(Boolean).join(" "),
          }),
          disabled: !live(),
        });
        made.append(seat.selected && fits(share, seats.length) ? shareOf(String(share)) : below(words));
        made.addEventListener("mousedown", (event) => event.preventDefault()); // only a key leaves the focus there
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
    const lit = progressive.seats.filter((seat) => seat.lit);
    const wagers = lit.length === 0 ? t("game.no_wager") : counted("game.seats", lit.length, { seats: numbers(lit) });
    const start = progressive.start_label;
    return {
      order: "start_game",
      label: progressive.start_closes ? t("game.start_and_close", { start }) : start,
      again: t("game.again", { start, what: progressive.start_closes ? t("game.and_close", { wagers }) : wagers }),
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

/** @param {readonly SeatInGame[]} seats */
const numbers = (seats) => seats.map(({ seat }) => seat).join(t("comma"));

/**
 * Whether a share can be read on a seat's button, which is narrower the more seats there are.
 * @param {string | null} share
 * @param {number} seats
 */
const fits = (share, seats) => share !== null && share.length * seats <= WIDEST;

/** @param {string} words */
const below = (words) => element("span", { class: "how" }, words);

/** @param {string} share */
function shareOf(share) {
  const made = element("span", { class: "how share" }, share);
  made.style.setProperty("--letters", String(share.length));
  return made;
}

/** @param {HTMLElement | null} seat */
const again = (seat) => seat?.focus();

/** @type {(game: GameView, seat: SeatInGame) => boolean} */
const pressed = ({ step }, { lit, selected }) => (step === "betting" ? lit : selected);

/**
 * @param {GameView} game
 * @param {SeatInGame} seat
 * @param {boolean} out whether the hand began without its wager
 */
function how({ step }, { lit, wagered, late, spent, won, selected, share }, out) {
  if (out) return t("seat.not_in");
  if (late) return t("seat.late");
  if (spent) return t("seat.spent");
  if (selected) return t("seat.selected");
  if (won && step !== "playing") return share === null ? t("seat.may_have_won") : t("seat.won");
  if (wagered) return t("seat.in");
  return lit ? t("seat.wager") : "–";
}
