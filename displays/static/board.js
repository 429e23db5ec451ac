// One table on the screen. All message content goes into the page as text, never as HTML.

import { newAward } from "./award.js";
import { card, place } from "./cards.js";
import { fillIn, moneyFormat, orElse, t } from "./catalogue.js";
import { element } from "./drawing.js";
import { fit } from "./fit.js";
import { showHouse } from "./house.js";
import { Live } from "./live.js";
import { askMarks, drawRoad } from "./roads.js";

const TROUBLES = ["shoe_offline", "shoe_error", "card_awaited", "needs_supervisor"];
const REMARKS = ["last_hand", "dummy", "configuration_keypad"];
const LOSER = { banker: "player", player: "banker" };
const NO_COUP = { player: [], banker: [], player_total: null, banker_total: null };

export class Board {
  /** `house` has the display's settings of the house. `onPlay` is called when the table shows something new. */
  constructor(table, house, onPlay) {
    this.element = document.getElementById("board").content.firstElementChild.cloneNode(true);
    this.#onPlay = onPlay;
    this.#live = new Live(this.element);
    fillIn(this.element);
    for (const drawing of this.#all("svg[data-road]")) drawing.setAttribute("aria-label", t(`road.${drawing.dataset.road}`));
    showHouse(this.#one("logo"), house);
    this.#text("table-name", table); // until it says what it is called
    this.#text("not-live-reason", t("connecting"));
    new ResizeObserver(() => this.#fitAll()).observe(this.element);
    // The sizes are kept, so that a new scoreboard is drawn without a new layout by the browser.
    const resized = new ResizeObserver((each) =>
      each.forEach(({ target, contentRect }) => {
        this.#sizes.set(target, contentRect);
        this.#draw(target);
      }),
    );
    for (const drawing of this.#all(".road svg")) resized.observe(drawing);
  }

  #onPlay;
  #shown = new Map();
  #roads = {};
  #sizes = new Map();
  #live;
  #meterTimer;

  /** Show the content of a stream event. */
  show(name, json) {
    const message = JSON.parse(json);
    if (name === "state") this.#showState(message);
    else if (name === "scoreboard") this.#showScoreboard(message);
    else if (name === "progressive") this.#showProgressive(message);
    else if (name === "progressive_live") this.#showMeterLive(message);
    else this.showLive(message);
  }

  /** Live for this many milliseconds, then not live, or at once if they are 0, for the given reason. */
  showLive(word) {
    this.#live.show(word);
  }

  // --- the state. It comes every second: unchanged parts are left as they are on the screen

  #showState(state) {
    const { name, game, phase, overlays, shoe, hands, next, result, limits, currency } = state;
    this.#when("head", [name, game, phase, overlays, shoe], () => {
      this.#text("table-name", name);
      this.#text("game", game);
      this.#text("phase", t(`phase.${phase}`));
      this.#one("phase").dataset.phase = phase;
      this.#text("remark", inWords("remark", REMARKS, overlays));
      this.#text("shoe-number", shoe.number);
      this.#text("hand-number", shoe.coup);
      this.#text("cards-left", shoe.cards_left);
      for (const box of this.#all("header .fit")) fit(box); // what stands beside the name has taken its room
      this.element.dispatchEvent(new Event("named", { bubbles: true }));
    });
    this.#when("hands", [hands, result, next, overlays], () => {
      this.#showHands(hands ?? result ?? NO_COUP, hands === null ? result?.winner : null);
      this.#showOutcome(state, inWords("trouble", TROUBLES, overlays));
    });
    this.#when("limits", [limits, currency], () => this.#showLimits(limits, currency));
  }

  /** The current coup, or else the last one with its winner. */
  #showHands(shown, winner) {
    for (const side of ["player", "banker"]) {
      const hand = this.element.querySelector(`.hand.${side}`);
      // A hand that was voided before it was shown has neither cards nor a total.
      hand.querySelector(".total").textContent = shown[side].length === 0 ? "" : (shown[`${side}_total`] ?? "");
      const cards = shown[side].map((code) => card(code, cardInWords(code)));
      while (cards.length < 2) cards.push(place());
      const lying = hand.querySelector(".cards");
      // A card that is already shown stays, so that only the new one changes on the screen.
      cards.forEach((each, at) => {
        const there = lying.children[at];
        if (there === undefined) lying.append(each);
        else if (there.dataset.card !== each.dataset.card) there.replaceWith(each);
      });
      while (lying.children.length > cards.length) lying.lastChild.remove();
      hand.classList.toggle("won", winner === side);
      hand.classList.toggle("lost", LOSER[winner] === side);
    }
  }

  /** The reason for a stop, or else the side of the next card, or else the result of the last coup. */
  #showOutcome({ hands, next, result }, trouble) {
    const outcome = this.#one("outcome");
    if (trouble) {
      outcome.className = "outcome fit trouble";
      outcome.textContent = trouble;
    } else if (hands !== null || result === null) {
      outcome.className = "outcome fit";
      outcome.textContent = next ? t(`next.${next}`) : "";
    } else {
      outcome.className = `outcome fit ${result.winner ?? "void"}`;
      outcome.replaceChildren(
        element("strong", "", result.status === "void" ? t("void") : t(`wins.${result.winner}`)),
        ...remarksOn(result).map((text) => element("small", "", text)),
      );
    }
    fit(outcome);
  }

  #showLimits(limits, currency) {
    const money = moneyFormat(currency);
    const table = this.element.querySelector(".limits table");
    table.tBodies[0].replaceChildren(
      ...limits.map(({ wager, title, minimum, maximum }) => {
        const row = element("tr", ["banker", "player", "tie"].includes(wager) ? wager : "");
        const name = element("th", "", orElse(`wager.${wager}`, title));
        name.scope = "row";
        row.append(name, element("td", "", money(minimum)), element("td", "", maximum === null ? "–" : money(maximum)));
        return row;
      }),
    );
    fit(table);
  }

  // --- the scoreboard

  #showScoreboard(scoreboard) {
    const { id, ts, seq, ...drawn } = scoreboard;
    this.#when("scoreboard", drawn, () => {
      this.#roads = scoreboard;
      for (const drawing of this.#all(".road svg")) this.#draw(drawing);
      for (const [name, count] of Object.entries(scoreboard.counts)) {
        this.element.querySelector(`[data-count="${name}"]`).textContent = count;
      }
      this.element.querySelector('[data-ask="banker"]').replaceChildren(...askMarks(scoreboard.ask_banker));
      this.element.querySelector('[data-ask="player"]').replaceChildren(...askMarks(scoreboard.ask_player));
      const streak = this.#one("streak");
      streak.className = `streak ${scoreboard.streak?.winner ?? ""}`;
      streak.querySelector("dd").textContent =
        scoreboard.streak === null ? "–" : `${t(`letter.${scoreboard.streak.winner}`)} × ${scoreboard.streak.length}`;
    });
  }

  // --- the progressive's strip, shown only while its meter is running and live itself

  #showProgressive(progressive) {
    const strip = this.#one("progressive");
    strip.hidden = progressive?.phase !== "open";
    if (strip.hidden) return;
    const { title, meter, currency } = progressive;
    const award = newAward(progressive);
    this.#when("progressive", [title, meter, currency, award], () => {
      const money = moneyFormat(currency, { cents: true });
      strip.querySelector("h2").textContent = award ? t("award.short", { amount: money(award.amount) }) : title;
      strip.querySelector("p").textContent = money(meter);
      fit(strip.querySelector("h2"));
    });
  }

  #showMeterLive({ milliseconds }) {
    const strip = this.#one("progressive");
    clearTimeout(this.#meterTimer);
    if (milliseconds > 0 && !strip.classList.contains("fresh")) {
      strip.classList.add("fresh");
      fit(strip.querySelector("h2"));
    }
    this.#meterTimer = setTimeout(() => strip.classList.remove("fresh"), milliseconds);
  }

  // --- shared helpers

  #one = (name) => this.element.querySelector(`.${name}`);
  #all = (selector) => this.element.querySelectorAll(selector);

  #text(name, text) {
    const box = this.#one(name);
    if (box.textContent !== `${text}`) box.textContent = text;
  }

  /** Do it if the shown value has changed. */
  #when(part, value, show) {
    const json = JSON.stringify(value);
    if (this.#shown.get(part) === json) return;
    show();
    this.#shown.set(part, json);
    this.#onPlay();
  }

  #draw(drawing) {
    drawRoad(drawing, this.#roads[drawing.dataset.road] ?? [], this.#sizes.get(drawing) ?? { width: 1, height: 0 });
  }

  #fitAll() {
    for (const box of this.#all(".fit")) fit(box);
  }
}

// --- texts

const inWords = (kind, known, overlays) =>
  known.filter((name) => overlays.includes(name)).map((name) => t(`${kind}.${name}`)).join(" · ");

function remarksOn(result) {
  if (result.status === "void") return [];
  return [
    ...(result.status === "dummy" ? [t("remark.dummy")] : []),
    ...["natural", "player_pair", "banker_pair"].filter((name) => result[name]).map((name) => t(name)),
  ];
}

const cardInWords = (code) => (code === null ? t("card.back") : `${code[0] === "T" ? "10" : code[0]} ${t(`suit.${code[1]}`)}`);
