// What is to be done now, in large words.

import { put } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { headline, PHASES, SIDES, sentence } from "./words.js";

/** @import { AwardInGame, Prompt, Side, State, View } from "#sent/consoles" */

const ORDINALS = ["First", "Second", "Third"];
/** @type {Partial<Record<Prompt["code"], (prompt: Prompt, view: View) => string>>} */
const LINES = {
  locked: () => "The table is locked",
  load_shoe: () => "Load the shoe",
  turn_first_card: () => "Turn the first card",
  burn: ({ count }) => (count === null ? "Burn" : `Burn ${count} ${count === 1 ? "card" : "cards"}`),
  place_wagers: () => "Place your wagers",
  draw: ({ side }, view) => (side ? `${ordinal(side, view)} card to ${SIDES[side]}` : "Draw a card"),
  key_card: ({ side }, view) =>
    side ? `Key ${SIDES[side]}'s ${ordinal(side, view).toLowerCase()} card` : "Key the card",
  reveal: () => "Reveal the hands",
  award: ({ text }, { progressive, state }) =>
    progressive?.todo.code === "pay" && progressive.award ? paying(progressive.award, state) : sentence(text),
  pay: (_, { last }) => (last === null ? "Pay the wagers" : headline(last.round)),
  pay_difference: ({ text }, { last }) => (last?.correction ? headline(last.correction) : text),
  return_wagers: () => "Return all wagers",
  stopped: () => "Stop: a supervisor is needed",
  shoe_over: () => "The shoe is over",
  shoe_offline: () => "The shoe is offline",
};
const OF_A_SIDE = new Set(["draw", "key_card"]);
const TROUBLE = new Set(["stopped", "shoe_offline"]);

/** @type {(side: Side, view: View) => string} */
const ordinal = (side, { state }) => ORDINALS[state.hands?.[side].length ?? 0];

/**
 * Whom to pay what of an award, in the order of paying.
 * @param {AwardInGame} award
 * @param {State} state
 */
function paying({ shares }, { currency }) {
  const money = moneyIn(currency, { whole: false });
  return `Pay ${shares.map(({ seat, amount }) => `seat ${seat} ${money(amount)}`).join(", then ")}`;
}

/**
 * What the service says of it, less what the large words say already.
 * @param {string} text
 * @param {string} line
 */
function rest(text, line) {
  const said = sentence(text);
  return said.startsWith(line) ? sentence(said.slice(line.length).replace(/^[;,:] */u, "")) : said;
}

/**
 * Draw the prompt into the section `now`.
 * @param {HTMLElement} now
 * @param {View} view
 */
export function showPrompt(now, view) {
  const { prompt, state } = view;
  const line = LINES[prompt.code]?.(prompt, view) ?? prompt.text;
  now.className = OF_A_SIDE.has(prompt.code)
    ? (prompt.side ?? "")
    : prompt.code.startsWith("pay")
      ? (view.last?.round.winner ?? "")
      : "";
  now.dataset.code = prompt.code;
  now.classList.toggle("trouble", TROUBLE.has(prompt.code));
  const phase = [
    PHASES[state.phase],
    state.overlays.includes("last_hand") && "Last hand",
    state.overlays.includes("dummy") && "Dummy hand: no wagers",
    prompt.code === "award" && "Award of the progressive",
  ];
  put("phase", phase.filter(Boolean).join(" · "));
  put("headline", line);
  put("detail", prompt.code === "draw" ? "" : rest(prompt.text, line));
}
