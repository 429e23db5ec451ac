// What each order asks and says before it is given.

import { cardKeys, chosenWords } from "./card-keys.js";
import { card, cardWords } from "./cards.js";
import { orderOf } from "./catalogue.js";
import { askOrder, reasonField } from "./dialogs.js";
import { element } from "./elements.js";
import { differences } from "./rounds.js";
import { SIDES, headline, sentence } from "./words.js";

// What an order says besides its sentence, where the table as it stands has something to say.
const TEXTS = {
  close_table: (view) => `Play stops. Wagers that stand go back: ${standing(view)}.`,
  change_shoe: changeWords,
  resume_play: stopWords,
};
const DIALOGS = { key_card: keyCard, accept_shoe: acceptShoe, void_coup: voidCoup, correct_card: correctCard, correct_round: correctRound, void_round: voidRound };

/** Ask for an order: in a dialog of its own, or by its sentence, and a reason where it takes one. */
export function askFor(order, view) {
  if (DIALOGS[order] !== undefined) return DIALOGS[order](view);
  const { sentence: what, fields } = orderOf(order);
  const reason = fields.includes("reason") ? reasonField(order) : null;
  return askOrder({
    order,
    view,
    text: TEXTS[order]?.(view) ?? `${sentence(what)}.`,
    parts: reason === null ? [] : [reason.node],
    read: () => (reason === null ? {} : { reason: reason.read() }),
    preview: ({ round }) => [element("p", { class: "good" }, round === null ? "It can be done now." : `The hand ends: ${headline(round)}.`)],
  });
}

const standing = ({ seats }) => (seats.length === 0 ? "none stand" : `of ${seats.length} ${seats.length === 1 ? "seat" : "seats"}`);

function changeWords(view) {
  const { shoe } = view.state;
  const ends = shoe.number === 0 ? "The first shoe is loaded." : `Ends shoe ${shoe.number} after ${shoe.coup} hands; its roads are cleared.`;
  return `${ends} Wagers that stand go back: ${standing(view)}. Then load the new cards, turn the first card and burn as the page says.`;
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

function keyCard(view) {
  const picker = onePick();
  const { check, dialog } = askOrder({
    order: "key_card",
    view,
    text: view.prompt.text,
    parts: [picker.node],
    read: () => ({ card: picker.read(), position: view.prompt.position }),
    preview: ({ round }) => [element("p", { class: "good" }, round === null ? "The card fits." : `The hand ends: ${headline(round)}.`)],
    confirm: "Key the card",
  });
  picker.changed = check;
  onEnter(picker, dialog);
}

function acceptShoe(view) {
  const serial = element("input", { name: "serial", autocomplete: "off", autocapitalize: "characters", spellcheck: "false" });
  askOrder({
    order: "accept_shoe",
    view,
    text: `${stopWords(view)} The shoe that is on the line may deal here once you accept it.`,
    parts: [element("label", {}, "Serial number, as the plate on the shoe has it", serial)],
    read: () => ({ serial: filled(serial, "Read the serial number from the shoe's plate.") }),
    preview: () => [element("p", { class: "good" }, `Shoe ${serial.value.trim()} is the one that waits.`)],
  });
}

function stopWords({ stops }) {
  return stops.map(({ text }) => `${sentence(text)}.`).join(" ");
}

function voidCoup(view) {
  const reason = reasonField("void_coup");
  askOrder({
    order: "void_coup",
    view,
    text: `Hand ${view.state.shoe.coup} of shoe ${view.state.shoe.number} is a misdeal: it counts on no road, every wager goes back whole, and it stays on the record. This cannot be undone.`,
    parts: [reason.node],
    read: () => ({ reason: reason.read() }),
    preview: ({ round }) => [differences(round, view.state)],
  });
}

function voidRound(view) {
  const { round } = view.last;
  const reason = reasonField("void_round");
  askOrder({
    order: "void_round",
    view,
    text: `Round ${round.round} (${headline(round)}) is taken back: it leaves the roads, and its wagers are as if they had been returned. This cannot be undone.`,
    parts: [reason.node],
    read: () => ({ round: round.round, reason: reason.read() }),
    preview: (answer) => [differences(answer.round, view.state)],
    confirm: `Void round ${round.round}`,
  });
}

/** A misread found before settlement: one card of the hand. */
function correctCard(view) {
  const { hands, shoe } = view.state;
  const reason = reasonField("correct_card");
  const picks = handPicks(hands, { many: false });
  const { check } = askOrder({
    order: "correct_card",
    view,
    text: `Hand ${shoe.coup} of shoe ${shoe.number}: choose the card that was misread, then what it really is.`,
    parts: [picks.node, reason.node],
    read: () => {
      const [change] = picks.changes();
      if (change === undefined) throw new Error("Choose the card, then its rank and suit.");
      return { position: positionOf(hands, change), card: change.card, reason: reason.read() };
    },
    preview: ({ round }) =>
      round === null
        ? [element("p", { class: "good" }, "The hand goes on with this card.")]
        : [element("p", { class: "good" }, `The hand ends: ${headline(round)}.`), differences(round, view.state)],
    confirm: "Correct the card",
  });
  picks.changed = check;
}

/** A misread found after settlement: any cards of the last round. */
function correctRound(view) {
  const { round } = view.last;
  const reason = reasonField("correct_round");
  const picks = handPicks(round, { many: true });
  const { check } = askOrder({
    order: "correct_round",
    view,
    text: `Round ${round.round} was settled as ${headline(round)}. Choose each card that was misread, then what it really is.`,
    parts: [picks.node, reason.node],
    read: () => {
      if (picks.changes().length === 0) throw new Error("Choose a card, then its rank and suit.");
      return { round: round.round, ...picks.hands(), reason: reason.read() };
    },
    preview: (answer) => [element("p", { class: "good" }, headline(answer.round)), differences(answer.round, view.state)],
    confirm: `Correct round ${round.round}`,
  });
  picks.changed = check;
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
  const picks = { changed: () => {} };
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
    picks.changed();
  });
  const rows = element("div", { class: "hands picks" });
  const place = ({ side, at }) => `${SIDES[side]}'s ${["first", "second", "third"][at]} card`;
  const same = (one, side, at) => one !== null && one.side === side && one.at === at;

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
    const made = element("button", { type: "button", class: code === before[side][at] ? "pick" : "pick changed", "aria-label": words, "data-place": `${side}${at}`, "aria-pressed": String(same(chosen, side, at)) }, card(code));
    made.addEventListener("click", () => {
      chosen = { side, at };
      show();
      keys.clear();
      keys.focus();
    });
    return made;
  }

  show();
  picks.node = element("div", { class: "picking" }, rows, hint, keys.node);
  picks.hands = () => now;
  picks.changes = () =>
    ["player", "banker"].flatMap((side) => now[side].map((code, at) => ({ side, at, card: code })).filter(({ at, card: code }) => code !== before[side][at]));
  return picks;
}

function onePick() {
  const picker = { changed: () => {} };
  let code = null;
  const hint = element("p", { class: "hint", "aria-live": "polite" }, chosenWords(null, null));
  const keys = cardKeys((whole, rank) => {
    code = whole;
    hint.textContent = chosenWords(whole, rank);
    picker.changed();
  });
  picker.node = element("div", { class: "picking" }, hint, keys.node);
  picker.keys = keys;
  picker.read = () => {
    if (code === null) throw new Error("Choose rank and suit.");
    return code;
  };
  return picker;
}

function onEnter({ keys }, dialog) {
  keys.focus();
  keys.node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    dialog.querySelector("form").requestSubmit();
  });
}

function filled(input, missing) {
  if (!input.value.trim()) throw new Error(missing);
  return input.value.trim();
}

