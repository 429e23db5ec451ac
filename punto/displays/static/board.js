// One table on the screen. All message content goes into the page as text, never as HTML.

import { t, titled, titleOfWager } from "/shared/catalogue.js";
import { element, one } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { keepTime, newAward, winners } from "./award.js";
import { card, place } from "./cards.js";
import { fit } from "./fit.js";
import { limitLines, rangesInLine } from "./limits.js";
import { jackpotTold, Moment, resultTold } from "./moment.js";
import { Odometer } from "./odometer.js";
import { Pictures } from "./pictures.js";
import { askMarks, drawRoad } from "./roads.js";
import { TableShown } from "./table-shown.js";

/** @import { Hands, Progressive, Result, Scoreboard, State } from "#sent/displays" */
/** @import { Settings } from "./layout.js" */
/** @import { Liveness } from "./live.js" */
/** @import { Told } from "./moment.js" */
/** @typedef {State["overlays"][number]} Overlay */
/** @typedef {Record<string, import("./roads.js").Cell[]>} Roads */

/**
 * What stops the table, by the code that the board shows to staff; players are asked for a moment.
 * @type {[Overlay, number][]}
 */
const TROUBLES = [
  ["shoe_offline", 41],
  ["shoe_error", 42],
  ["card_awaited", 43],
  ["needs_supervisor", 44],
];
/** @type {Overlay[]} */
const REMARKS = ["last_hand", "dummy"];
const MANY_LINES = 7; // of limits: more have two columns where one is too low for them
const SIDES = /** @type {const} */ (["player", "banker"]);
const MARKS = /** @type {const} */ ([
  ["natural", null],
  ["player_pair", "player"],
  ["banker_pair", "banker"],
]);
/** @type {Hands} */
const NO_COUP = { player: [], banker: [], player_total: null, banker_total: null };

export class Board extends TableShown {
  /**
   * @param {string} table
   * @param {Settings} house
   * @param {() => void} onPlay
   */
  constructor(table, house, onPlay) {
    super("board", table, house, onPlay);
    this.#odometer = new Odometer(one(".progressive .odometer", HTMLElement, this.element));
    this.#pictures = new Pictures(this.one("pictures"), house);
    this.#moment = new Moment(this.one("moment"), () => {
      this.one("now").classList.remove("told");
      this.#drawRoads();
    });
    for (const drawing of this.all("svg[data-road]"))
      drawing.setAttribute("aria-label", t(`road.${drawing.dataset.road}`));
    // The sizes are kept, so that a new scoreboard is drawn without a new layout by the browser. They are those of the
    // panels: for a drawing old browsers give the size of what is drawn.
    const resized = new ResizeObserver((entries) => {
      for (const { target, contentRect } of entries) {
        const drawing = /** @type {HTMLElement} */ (target.firstElementChild);
        this.#sizes.set(drawing, contentRect);
        this.#draw(drawing);
      }
    });
    for (const panel of this.all(".road")) resized.observe(panel);
    // The progressive's plaque takes room from the limits whenever it appears.
    new ResizeObserver(() => this.#fitLimits()).observe(one(".limits", HTMLElement, this.element));
  }

  #odometer;
  #pictures;
  #moment;
  /** @type {number | null} */
  #round = null; // that of the result on show, null before the first state
  /** @type {Roads} */
  #roads = {};
  /** @type {Map<Element, DOMRectReadOnly>} */
  #sizes = new Map();
  /** @type {number | undefined} */
  #meterTimer;

  /**
   * Show the content of a stream event.
   * @param {string} name
   * @param {string} json
   */
  show(name, json) {
    const message = JSON.parse(json);
    if (name === "state") this.#showState(message);
    else if (name === "scoreboard") this.#showScoreboard(message);
    else if (name === "progressive") this.#showProgressive(message);
    else if (name === "progressive_live") this.#showMeterLive(message);
    else this.showLive(message);
  }

  // --- the state

  /** @param {State} state */
  #showState(state) {
    keepTime(state.zone);
    const { phase, overlays, shoe, hands, next, result, limits, currency, maximum_wagers, wager_titles } = state;
    const name = this.nameOf(this.table, state.name);
    const game = titled(state.game_titles, state.game);
    const turns = phase === "reveal" ? state.revealing_seat : null;
    this.when("head", [name, game, phase, overlays, shoe, maximum_wagers], () => {
      this.named();
      this.text("table-name", name);
      this.text("whose", name);
      const posted = maximum_wagers === null ? [] : [t("maximum_wagers", { wagers: maximum_wagers })];
      this.text("game", [game, ...posted].join(" · "));
      this.text("phase", t(`phase.${phase}`));
      this.one("phase").dataset.phase = phase;
      const remarks = REMARKS.filter((each) => overlays.includes(each)).map((each) => t(`remark.${each}`));
      this.text("remark", remarks.join(" · "));
      this.text("shoe-number", t("shoe", { number: shoe.number }));
      this.text("hand-number", t("hand", { number: shoe.coup }));
      this.#fitHead();
      this.element.dispatchEvent(new Event("named", { bubbles: true }));
    });
    const troubles = TROUBLES.filter(([overlay]) => overlays.includes(overlay)).map(([, code]) => code);
    this.stopped(overlays.includes("configuration_keypad") ? [...troubles, 45] : troubles);
    this.when("hands", [hands, result, next, turns, troubles], () => {
      this.#showHands(hands ?? result ?? NO_COUP, hands === null && result !== null ? result.winner : null);
      this.#showOutcome(state, troubles.length > 0, turns);
    });
    this.when("limits", [limits, currency, wager_titles], () => {
      const lines = limitLines(limits, currency, wager_titles);
      const box = one(".limits > div", HTMLElement, this.element);
      box.classList.toggle("many", lines.length > MANY_LINES);
      box.style.setProperty("--half", String(Math.ceil(lines.filter((each) => each.matches(".side")).length / 2)));
      box.replaceChildren(...lines);
      this.text("range", rangesInLine(limits, currency, wager_titles));
      this.#fitLimits();
    });
    this.busy = hands !== null;
    this.text("soon", t(phase === "shoe_change" ? "next_shoe_soon" : "phase.closed"));
    this.#pictures.show(["closed", "locked", "shoe_change"].includes(phase) && troubles.length === 0);
    for (const box of this.all(".caption .fit")) fit(box);
    this.#celebrate(state);
  }

  #fitLimits() {
    fit(one(".limits > div", HTMLElement, this.element));
  }

  /**
   * A result that comes while the page is looked at has its moment; one that was there before has had it.
   * @param {State} state
   */
  #celebrate({ hands, result, wager_titles }) {
    const round = result?.round ?? 0;
    if (hands !== null) this.#moment.end();
    else if (result?.winner && this.#round !== null && round > this.#round)
      this.#tell(resultTold(result, wager_titles));
    this.#round = round;
  }

  /**
   * Begin a moment, in which nobody is asked for wagers: the winners are paid first.
   * @param {Told} told
   */
  #tell(told) {
    this.one("now").classList.add("told");
    this.#moment.begin(told);
  }

  /**
   * The current coup, or else the last one with its winner.
   * @param {Hands | Result} shown
   * @param {Result["winner"]} winner
   */
  #showHands(shown, winner) {
    for (const side of SIDES) {
      const hand = this.one(`hand.${side}`);
      // A hand that was voided before it was shown has neither cards nor a total.
      one(".total", HTMLElement, hand).textContent =
        shown[side].length === 0 ? "" : String(shown[`${side}_total`] ?? "");
      const cards = shown[side].map((code) => card(code, cardInWords(code)));
      while (cards.length < 2) cards.push(place());
      const lying = one(".cards", HTMLElement, hand);
      // A card that is already shown stays, so that only the new one changes on the screen.
      cards.forEach((each, at) => {
        const there = lying.children[at];
        if (there === undefined) lying.append(each);
        else if (there.getAttribute("data-card") !== each.getAttribute("data-card")) there.replaceWith(each);
      });
      while (lying.children.length > cards.length) lying.lastElementChild?.remove();
      hand.classList.toggle("won", winner === side);
      hand.classList.toggle("lost", winner === (side === "player" ? "banker" : "player"));
    }
  }

  /**
   * The reason for a stop, or else the side of the next card or the seat that turns the cards, or else the last result.
   * @param {State} state
   * @param {boolean} trouble
   * @param {State["revealing_seat"]} turns
   */
  #showOutcome({ hands, next, result }, trouble, turns) {
    const outcome = this.one("outcome");
    if (trouble) {
      outcome.className = "outcome fit trouble";
      outcome.textContent = t("moment");
    } else if (hands !== null || result === null) {
      outcome.className = "outcome fit";
      outcome.textContent = next ? t(`next.${next}`) : turns === null ? "" : t("turns", { seat: turns });
    } else {
      outcome.className = `outcome fit ${result.winner ?? "void"}`;
      outcome.replaceChildren(
        element("strong", {}, result.status === "void" ? t("void") : t(`wins.${result.winner}`)),
        ...remarksOn(result),
      );
    }
    const now = this.one("now");
    now.classList.toggle("taken", outcome.textContent !== "");
    now.classList.toggle("stopped", trouble); // players are not asked for wagers and for a moment at once
    this.#fitHead();
  }

  #fitHead() {
    for (const box of this.all("header .fit")) fit(box); // what stands beside the name has taken its room
  }

  // --- the scoreboard

  /** @param {Scoreboard} scoreboard */
  #showScoreboard(scoreboard) {
    const { id: _, ts: __, seq: ___, ...drawn } = scoreboard;
    this.when("scoreboard", drawn, () => {
      this.#roads = /** @type {Roads} */ (/** @type {unknown} */ (scoreboard));
      if (!this.#moment.lasts) this.#drawRoads();
      for (const [name, count] of Object.entries(scoreboard.counts)) {
        one(`[data-count="${name}"]`, HTMLElement, this.element).textContent = String(count);
      }
      one('[data-ask="banker"]', HTMLElement, this.element).replaceChildren(...askMarks(scoreboard.ask_banker));
      one('[data-ask="player"]', HTMLElement, this.element).replaceChildren(...askMarks(scoreboard.ask_player));
    });
  }

  #drawRoads() {
    for (const drawing of this.all(".road svg")) this.#draw(drawing);
  }

  // --- the progressive's plaque, shown only while its meter is running and live itself

  /** @param {Progressive | null} progressive */
  #showProgressive(progressive) {
    const strip = this.one("progressive");
    strip.hidden = progressive?.phase !== "open";
    if (progressive?.phase !== "open") return;
    const heading = one("h2", HTMLElement, strip);
    const { meter, currency } = progressive;
    const title = titleOfWager("progressive", progressive.title, progressive.titles);
    const award = newAward(progressive);
    this.when("progressive", [title, meter, currency, award], () => {
      const money = moneyIn(currency, { whole: false });
      heading.textContent = award ? `${t("award.short", { amount: money(award.amount) })} · ${winners(award)}` : title;
      this.#odometer.show(meter, money, true);
      if (award?.whole_meter) this.#tell(jackpotTold(award, money(award.amount)));
      fit(heading);
    });
  }

  /** @param {Liveness} liveness */
  #showMeterLive({ milliseconds }) {
    const strip = this.one("progressive");
    clearTimeout(this.#meterTimer);
    if (milliseconds > 0 && !strip.classList.contains("fresh")) {
      strip.classList.add("fresh");
      fit(one("h2", HTMLElement, strip));
    }
    this.#meterTimer = setTimeout(() => strip.classList.remove("fresh"), milliseconds);
  }

  /** @param {HTMLElement} drawing */
  #draw(drawing) {
    const road = drawing.dataset.road ?? "";
    drawRoad(drawing, road, this.#roads[road] ?? [], this.#sizes.get(drawing) ?? { width: 1, height: 0 });
  }
}

// --- texts

/**
 * What is to be said of a result besides its winner, in the colour of the side of which it is said.
 * @param {Result} result
 */
function remarksOn(result) {
  if (result.status === "void") return [];
  return [
    ...(result.status === "dummy" ? [element("small", {}, t("remark.dummy"))] : []),
    ...MARKS.filter(([name]) => result[name]).map(([name, side]) => element("small", { class: side }, t(name))),
  ];
}

/** @param {string | null} code */
const cardInWords = (code) =>
  code === null ? t("card.back") : `${code[0] === "T" ? "10" : code[0]} ${t(`suit.${code[1]}`)}`;
