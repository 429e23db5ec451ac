// What each order asks and says before it is given.

import { cardKeys, chosenWords } from "./card-keys.js";
import { card, cardWords } from "./cards.js";
import { askOrder } from "./dialogs.js";
import { button, changed, element, labelled } from "./elements.js";
import { differences } from "./rounds.js";
import { SIDES, headline, sentence } from "./words.js";

const good = (text) => element("p", { class: "good" }, text);
const standing = ({ seats }) => (seats.length === 0 ? "none stand" : `of ${seats.length} ${seats.length === 1 ? "seat" : "seats"}`);
const stopWords = ({ stops }) => stops.map(({ text }) => `${sentence(text)}.`).join(" ");
const endOr = (round, words) => good(round === null ? words : `The hand ends: ${headline(round)}.`);

// What an order asks and says besides its sentence and the reason that it takes.
const DIALOGS = {
  close_table: (view) => ({ text: `Play stops. Wagers that stand go back: ${standing(view)}.` }),
  change_shoe: changeShoe,
  resume_play: (view) => ({ text: stopWords(view) }),
  key_card: keyCard,
  accept_shoe: acceptShoe,
  void_coup: ({ state }) => ({
    text: `Hand ${state.shoe.coup} of shoe ${state.shoe.number} is a misdeal: it counts on no road, every wager goes back whole, and it stays on the record. This cannot be undone.`,
    preview: ({ round }) => [differences(round, state)],
  }),
  correct_card: correctCard,
  correct_round: correctRound,
  void_round: ({ state, last: { round } }) => ({
    text: `Round ${round.round} (${headline(round)}) is taken back: it leaves the roads, and its wagers are as if they had been returned. This cannot be undone.`,
    read: () => ({ round: round.round }),
    preview: (answer) => [differences(answer.round, state)],
    confirm: `Void round ${round.round}`,
  }),
};

/** Ask for an order. */
export function askFor(order, view) {
  askOrder({ order, view, preview: ({ round }) => [endOr(round, "It can be done now.")], ...DIALOGS[order]?.(view) });
}

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

function changeShoe(view) {
  const { shoe } = view.state;
  const ends = shoe.number === 0 ? "The first shoe is loaded." : `Ends shoe ${shoe.number} after ${shoe.coup} hands; its roads are cleared.`;
  return { text: `${ends} Wagers that stand go back: ${standing(view)}. Then load the new cards, turn the first card and burn as the page says.` };
}

function keyCard({ prompt }) {
  let chosen = null;
  const hint = element("p", { class: "hint", "aria-live": "polite" }, chosenWords(null, null));
  const keys = cardKeys((code, rank) => {
    chosen = code;
    hint.textContent = chosenWords(code, rank);
    changed(hint);
  }, () => keys.node.closest("form").requestSubmit());
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

function acceptShoe(view) {
  const [serial, field] = labelled("Serial number, as the plate on the shoe has it", { name: "serial", autocapitalize: "characters", spellcheck: "false" });
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

/** A misread found before settlement: one card of the hand. */
function correctCard({ state }) {
  const { hands, shoe } = state;
  const picks = handPicks(hands, { many: false });
  return {
    text: `Hand ${shoe.coup} of shoe ${shoe.number}: choose the card that was misread, then what it really is.`,
    parts: [picks.node],
    read: () => {
      const [change] = picks.changes();
      if (change === undefined) throw new Error("Choose the card, then its rank and suit.");
      return { position: positionOf(hands, change), card: change.card };
    },
    preview: ({ round }) => [endOr(round, "The hand goes on with this card."), ...(round === null ? [] : [differences(round, state)])],
    confirm: "Correct the card",
  };
}

/** A misread found after settlement: any cards of the last round. */
function correctRound({ state, last: { round } }) {
  const picks = handPicks(round, { many: true });
  return {
    text: `Round ${round.round} was settled as ${headline(round)}. Choose each card that was misread, then what it really is.`,
    parts: [picks.node],
    read: () => {
      if (picks.changes().length === 0) throw new Error("Choose a card, then its rank and suit.");
      return { round: round.round, ...picks.hands() };
    },
    preview: (answer) => [good(headline(answer.round)), differences(answer.round, state)],
    confirm: `Correct round ${round.round}`,
  };
}

/** The number of a card as dealt: two each in turn, then Player's third, then Banker's. */
function positionOf(hands, { side, at }) {
  if (at < 2) return 2 * at + (side === "player" ? 1 : 2);
  return side === "player" ? 5 : 3 + hands.player.length;
}

/** Both hands as keys to touch, and the card keys for the one that is chosen. */
function handPicks({ player, banker }, { many }) {
  const before = { player, banker };
  let now = { player: [...player], banker: [...banker] };
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
    rows.querySelector(`[data-place="${side}${at}"]`).focus();
    changed(rows);
  });
  const rows = element("div", { class: "hands picks" });
  const place = ({ side, at }) => `${SIDES[side]}'s ${["first", "second", "third"][at]} card`;

  function show() {
    rows.replaceChildren(...["player", "banker"].map((side) => element(
      "div",
      { class: `hand ${side}` },
      element("h3", {}, SIDES[side]),
      element("div", { class: "cards" }, ...now[side].map((code, at) => pick(side, at, code))),
    )));
    keys.node.hidden = chosen === null;
  }

  function pick(side, at, code) {
    const words = `${place({ side, at })}, ${cardWords(code)}${code === before[side][at] ? "" : `, was ${cardWords(before[side][at])}`}`;
    return button(card(code), () => {
      chosen = { side, at };
      show();
      keys.clear();
      keys.focus();
    }, { class: code === before[side][at] ? "pick" : "pick changed", "aria-label": words, "data-place": `${side}${at}`, "aria-pressed": String(chosen?.side === side && chosen.at === at) });
  }

  show();
  return {
    node: element("div", { class: "picking" }, rows, hint, keys.node),
    hands: () => now,
    changes: () => ["player", "banker"].flatMap((side) => now[side].map((code, at) => ({ side, at, card: code })).filter(({ at, card: code }) => code !== before[side][at])),
  };
}
