// What is to be done now, in large words.

import { put } from "./elements.js";
import { PHASES, SIDES, headline, moneyIn, sentence } from "./words.js";

const ORDINALS = ["First", "Second", "Third"];
const LINES = {
  locked: () => "The table is locked",
  load_shoe: () => "Load the shoe",
  turn_first_card: () => "Turn the first card",
  burn: ({ count }) => (count === null ? "Burn" : `Burn ${count} ${count === 1 ? "card" : "cards"}`),
  place_wagers: () => "Place your wagers",
  draw: ({ side }, view) => (side ? `${ordinal(side, view)} card to ${SIDES[side]}` : "Draw a card"),
  key_card: ({ side }, view) => (side ? `Key ${SIDES[side]}'s ${ordinal(side, view).toLowerCase()} card` : "Key the card"),
  reveal: () => "Reveal the hands",
  award: ({ text }, { progressive, state }) => (progressive.todo.code === "pay" ? paying(progressive.award, state) : sentence(text)),
  pay: (_, { last }) => (last === null ? "Pay the wagers" : headline(last.round)),
  pay_difference: (_, { last }) => headline(last.correction),
  return_wagers: () => "Return all wagers",
  stopped: () => "Stop: a supervisor is needed",
  shoe_over: () => "The shoe is over",
  shoe_offline: () => "The shoe is offline",
};
const OF_A_SIDE = new Set(["draw", "key_card"]);
const TROUBLE = new Set(["stopped", "shoe_offline"]);

const ordinal = (side, { state }) => ORDINALS[state.hands?.[side].length ?? 0];

/** Whom to pay what of an award, in the order of paying. */
function paying({ shares }, { currency }) {
  const money = moneyIn(currency, { whole: false });
  return `Pay ${shares.map(({ seat, amount }) => `seat ${seat} ${money(amount)}`).join(", then ")}`;
}

/** What the service says of it, less what the large words say already. */
function rest(text, line) {
  const said = sentence(text);
  return said.startsWith(line) ? sentence(said.slice(line.length).replace(/^[;,:] */, "")) : said;
}

/** Draw the prompt into the section `now`. */
export function showPrompt(now, view) {
  const { prompt, state } = view;
  const line = LINES[prompt.code]?.(prompt, view) ?? prompt.text;
  now.className = OF_A_SIDE.has(prompt.code) ? (prompt.side ?? "") : prompt.code.startsWith("pay") ? (view.last?.round.winner ?? "") : "";
  now.dataset.code = prompt.code;
  now.classList.toggle("trouble", TROUBLE.has(prompt.code));
  put("phase", [PHASES[state.phase], state.overlays.includes("last_hand") && "Last hand", state.overlays.includes("dummy") && "Dummy hand: no wagers", prompt.code === "award" && "Award of the progressive"].filter(Boolean).join(" · "));
  put("headline", line);
  put("detail", prompt.code === "draw" ? "" : rest(prompt.text, line));
}
