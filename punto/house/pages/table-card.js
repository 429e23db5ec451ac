// One table on the floor. A card is made once with what its table says; after that, only what has changed is written.

import { element } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { moment, sentence, spaced } from "/shared/words.js";

/** @import { FloorAlarm, TableView } from "#sent/floor" */

const CLOSED = new Set(["locked", "closed"]);

export class TableCard {
  /** @param {TableView} view */
  constructor(view) {
    this.view = view;
    TableCard.#made += 1;
    const number = TableCard.#made;
    const { name, phase, game, pace, shoe, cards, title, meter, more } = this.#texts;
    this.element = element(
      "article",
      { id: `table-${number}`, class: "table", tabindex: -1, "aria-labelledby": `name-${number}` },
      row(element("h3", { id: `name-${number}` }, name), element("p", { class: "phase" }, phase)),
      row(element("p", {}, game), element("p", {}, pace)),
      row(element("p", {}, shoe), element("p", {}, cards)),
      row(element("p", {}, title), element("p", { class: "amount" }, meter)),
      row(element("p", { class: "alarm" }, this.#label), element("p", {}, more)),
    );
  }

  static #made = 0;
  #currency = "";
  #money = moneyIn("", { whole: false });
  #label = element("b");
  #texts = {
    name: new Text(),
    phase: new Text(),
    game: new Text(),
    pace: new Text(),
    shoe: new Text(),
    cards: new Text(),
    title: new Text(),
    meter: new Text(),
    more: new Text(),
  };

  /** @param {TableView} view */
  take(view) {
    this.view = view;
  }

  /** Write what the table has said last. */
  draw() {
    const { view } = this;
    const [first, ...others] = [...view.alarms].sort(byNeed);
    const { shoe, meter } = view;
    const texts = {
      name: view.name,
      phase: phaseOf(view),
      game: view.game,
      pace: paceOf(view),
      shoe: [...(shoe === null ? [] : [`Shoe ${shoe.number}, hand ${shoe.coup}`]), ...view.signed_on].join(", "),
      cards: cardsOf(view),
      title: meter === null ? "" : meterOf(meter),
      meter: meter === null ? "" : this.#moneyOf(view.currency, meter.meter),
      more: [first?.acknowledged?.who, others.length > 0 ? `+${others.length} more` : ""].filter(Boolean).join(", "),
    };
    for (const [part, text] of Object.entries(texts)) {
      const node = this.#texts[/** @type {keyof typeof texts} */ (part)];
      if (node.data !== text) node.data = text;
    }
    if (this.#label.textContent !== (first?.label ?? "")) this.#label.textContent = first?.label ?? "";
    this.#look(view, first);
  }

  /** @type {(currency: string, amount: number) => string} */
  #moneyOf(currency, amount) {
    if (this.#currency !== currency) this.#money = moneyIn(currency, { whole: false });
    this.#currency = currency;
    return this.#money(amount);
  }

  /** @type {(view: TableView, first: FloorAlarm | undefined) => void} */
  #look({ live, phase, meter }, first) {
    const looks = {
      away: !live,
      closed: phase === null || CLOSED.has(phase),
      frozen: meter?.live === false,
      needs: first?.acknowledged === null,
      alarmed: first !== undefined,
      "at-once": first?.need === "at_once",
      figure: first?.need === "look_into",
    };
    for (const [name, is] of Object.entries(looks)) this.element.classList.toggle(name, is);
  }
}

/**
 * Alarms that nobody has acknowledged come first, then the worst, then the oldest.
 * @type {(one: FloorAlarm, other: FloorAlarm) => number}
 */
export const byNeed = (one, other) =>
  Number(one.acknowledged !== null) - Number(other.acknowledged !== null) ||
  one.rank - other.rank ||
  Date.parse(one.since) - Date.parse(other.since);

/** @type {(left: Node, right: Node) => HTMLElement} */
const row = (left, right) => element("div", {}, left, right);

/** @param {TableView} view */
function phaseOf({ live, phase, overlays }) {
  if (!live) return "NOT LIVE";
  return phase === null ? "" : sentence(spaced(phase)) + (overlays.includes("dummy") ? ", dummy" : "");
}

/** @param {TableView} view */
function cardsOf({ shoe, overlays }) {
  if (shoe === null) return "";
  const near = overlays.includes("last_hand") ? "last hand, " : shoe.cut_card ? "cut card, " : "";
  return `${near}${shoe.cards_left ?? "–"} left`;
}

/** @param {TableView} view */
function paceOf({ live, as_of: asOf, hands_an_hour: pace, waiting }) {
  if (!live) return asOf === null ? "" : moment(asOf);
  if (waiting > 0) return `${waiting} not received`;
  return pace === null ? "" : `${Math.round(pace)} hands/h`;
}

/** @param {NonNullable<TableView["meter"]>} meter */
const meterOf = ({ title, phase, as_of: asOf }) =>
  asOf === null ? [title, ...(phase === "open" ? [] : [phase])].join(", ") : `as of ${moment(asOf)}`;
