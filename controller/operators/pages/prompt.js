// What is to be done now, in large words.

import { PHASES, SIDES, headline, sentence } from "./words.js";

const ORDINALS = ["First", "Second", "Third"];
const LINES = {
  locked: () => "The table is locked",
  closed: () => "The table is closed",
  load_shoe: () => "Load the shoe",
  turn_first_card: () => "Turn the first card",
  burn: ({ count }) => (count === null ? "Burn" : `Burn ${count} ${count === 1 ? "card" : "cards"}`),
  place_wagers: () => "Place your wagers",
  draw: ({ side }, view) => (side ? `${ordinal(side, view)} card to ${SIDES[side]}` : "Draw a card"),
  key_card: ({ side }, view) => (side ? `Key ${SIDES[side]}'s ${ordinal(side, view).toLowerCase()} card` : "Key the card"),
  reveal: () => "Reveal the hands",
  pay: (_, { last }) => (last === null ? "Pay the wagers" : headline(last.round)),
  stopped: () => "Stop: a supervisor is needed",
  shoe_over: () => "The shoe is over",
  shoe_offline: () => "The shoe is offline",
};
const OF_A_SIDE = new Set(["draw", "key_card"]);
const TROUBLE = new Set(["stopped", "shoe_offline"]);

const ordinal = (side, { state }) => ORDINALS[state.hands?.[side].length ?? 0];

/** What the service says of it, less what the large words say already. */
function rest(text, line) {
  return sentence(text.startsWith(line) ? text.slice(line.length).replace(/^[;,:] */, "") : text);
}

/** Draw the prompt into the section `now`. */
export function showPrompt(now, view) {
  const { prompt, state } = view;
  const line = LINES[prompt.code]?.(prompt, view) ?? prompt.text;
  now.className = OF_A_SIDE.has(prompt.code) ? (prompt.side ?? "") : prompt.code === "pay" ? (view.last?.round.winner ?? "") : "";
  now.dataset.code = prompt.code;
  now.classList.toggle("trouble", TROUBLE.has(prompt.code));
  const put = (id, text) => {
    const box = now.querySelector(id);
    if (box.textContent !== text) box.textContent = text;
  };
  put("#phase", [PHASES[state.phase], state.overlays.includes("last_hand") && "Last hand", state.overlays.includes("dummy") && "Dummy hand: no wagers"].filter(Boolean).join(" · "));
  put("#headline", line);
  put("#detail", prompt.code === "draw" ? "" : rest(prompt.text, line));
}
