// What each order asks and says before it is given.

import { button, changed, element, labelled, one } from "/shared/elements.js";
import { cardKeys, chosenWords } from "./card-keys.js";
import { card, cardWords } from "./cards.js";
import { askOrder } from "./dialogs.js";
import { differences, HANDS } from "./rounds.js";
import { headline, SIDES, sentence } from "./words.js";

/** @import { RoundRecord, Side, StandingAlarm, View } from "#sent/consoles" */
/** @import { Asked } from "./dialogs.js" */
/** @typedef {{ side: Side, at: number }} Place the place of a card in its hand */
/** @typedef {(view: View) => Partial<Asked>} Dialog */
/** @typedef {Record<Side, (string | null)[]>} Cards */

/** @param {string} text */
const good = (text) => element("p", { class: "good" }, text);
/** @param {View} view */
const standing = ({ seats }) =>
  seats.length === 0 ? "none stand" : `of ${seats.length} ${seats.length === 1 ? "seat" : "seats"}`;
/** @param {View} view */
const stopWords = ({ stops }) => stops.map(({ text }) => `${sentence(text)}.`).join(" ");
/** @type {(round: RoundRecord | null, words: string) => Node} */
const endOr = (round, words) => good(round === null ? words : `The hand ends: ${headline(round)}.`);

/**
 * What an order asks and says besides its sentence and the reason that it takes.
 * @type {Record<string, Dialog>}
 */
const DIALOGS = {
  close_table: (view) => ({ text: `Play stops. Wagers that stand go back: ${standing(view)}.` }),
  change_shoe: changeShoe,
  resume_play: (view) => ({ text: stopWords(view) }),
  key_card: keyCard,
  accept_shoe: acceptShoe,
  void_coup: ({ state }) => ({
    text: `Hand ${state.shoe.coup} of shoe ${state.shoe.number} is a misdeal: it counts on no road, every wager goes back whole, and it stays on the record. This cannot be undone.`,
    preview: ({ round }) => differed(round, state),
  }),
  correct_card: correctCard,
  correct_round: correctRound,
  void_round: voidRound,
};

/** @type {(round: RoundRecord | null, state: View["state"]) => Node[]} */
const differed = (round, state) => (round === null ? [] : [differences(round, state)]);

/**
 * Ask for an order.
 * @param {string} order
 * @param {View} view
 */
export function askFor(order, view) {
  askOrder({ order, view, preview: ({ round }) => [endOr(round, "It can be done now.")], ...DIALOGS[order]?.(view) });
}

/**
 * @param {View} view
 * @param {StandingAlarm} alarm
 */
export function acknowledge(view, { number, text, times }) {
  askOrder({
    order: "acknowledge_alarm",
    view,
    title: "Acknowledge the alarm",
    text: `${text}${times > 1 ? ` (${times} times)` : ""}. You have seen to it, and the alarm goes.`,
    read: () => ({ number }),
    confirm: "Acknowledge",
  });
}

/** @type {Dialog} */
function changeShoe(view) {
  const { shoe } = view.state;
  const ends =
    shoe.number === 0
      ? "The first shoe is loaded."
      : `Ends shoe ${shoe.number} after ${shoe.coup} hands; its roads are cleared.`;
  return {
    text: `${ends} Wagers that stand go back: ${standing(view)}. Then load the new cards, turn the first card and burn as the page says.`,
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
    text: prompt.text,
    parts: [element("div", { class: "picking" }, hint, keys.node)],
    read: () => {
      if (chosen === null) throw new Error("Choose rank and suit.");
      return { card: chosen, position: prompt.position };
    },
    preview: ({ round }) => [endOr(round, "The card fits.")],
    confirm: "Key the card",
  };
}

/** @type {Dialog} */
function acceptShoe(view) {
  const [serial, field] = labelled("Serial number, as the plate on the shoe has it", {
    name: "serial",
    autocapitalize: "characters",
    spellcheck: "false",
  });
  return {
    text: `${stopWords(view)} The shoe that is on the line may deal here once you accept it.`,
    parts: [field],
    read: () => {
      if (!serial.value.trim()) throw new Error("Read the serial number from the shoe's plate.");
      return { serial: serial.value.trim() };
    },
    preview: () => [good(`Shoe ${serial.value.trim()} is the one that waits.`)],
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
    text: `Hand ${shoe.coup} of shoe ${shoe.number}: choose the card that was misread, then what it really is.`,
    parts: [picks.node],
    read: () => {
      const [change] = picks.changes();
      if (change === undefined) throw new Error("Choose the card, then its rank and suit.");
      return { position: positionOf(hands, change), card: change.card };
    },
    preview: ({ round }) => [endOr(round, "The hand goes on with this card."), ...differed(round, state)],
    confirm: "Correct the card",
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
    text: `Round ${round.round} (${headline(round)}) is taken back: it leaves the roads, and its wagers are as if they had been returned. This cannot be undone.`,
    read: () => ({ round: round.round }),
    preview: (answer) => differed(answer.round, state),
    confirm: `Void round ${round.round}`,
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
    text: `Round ${round.round} was settled as ${headline(round)}. Choose each card that was misread, then what it really is.`,
    parts: [picks.node],
    read: () => {
      if (picks.changes().length === 0) throw new Error("Choose a card, then its rank and suit.");
      return { round: round.round, ...picks.hands() };
    },
    preview: (answer) => [endOr(answer.round, ""), ...differed(answer.round, state)],
    confirm: `Correct round ${round.round}`,
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
    hint.textContent = `${place(chosen)}: ${chosenWords(code, rank)}`;
    if (code === null) return;
    if (!many) now = { player: [...player], banker: [...banker] };
    const { side, at } = chosen;
    now[side][at] = code;
    if (before[side][at] !== null) hint.textContent += `, was ${cardWords(before[side][at])}`;
    chosen = null;
    show();
    one(`[data-place="${side}${at}"]`, HTMLElement, rows).focus();
    changed(rows);
  });
  const rows = element("div", { class: "hands picks" });
  /** @param {Place} place */
  const place = ({ side, at }) => `${SIDES[side]}'s ${["first", "second", "third"][at]} card`;

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
    const words = `${place({ side, at })}, ${cardWords(code)}${code === before[side][at] ? "" : `, was ${cardWords(before[side][at])}`}`;
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
