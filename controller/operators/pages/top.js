// What both pages have at their top and at their foot.

import { byId, put } from "./elements.js";
import { wireSaid } from "./dialogs.js";
import { signOff, whoIsThere } from "./service.js";

/** Wait for somebody who is signed on, and put their name up. */
export async function begin() {
  wireSaid();
  byId("sign-off").addEventListener("click", () => signOff("signed-off"));
  const session = await whoIsThere();
  put("you", `${session.name}, ${session.roles.join(", ")}`);
  return session;
}

export function showTop({ state, operator, hands_an_hour }, page) {
  document.title = `${state.name}, ${page}`;
  put("table-name", state.name);
  put("game", operator === null ? state.game : `${state.game} · operator ${operator}`);
  put("shoe-number", state.shoe.number);
  put("hand-number", state.shoe.coup);
  put("cards-left", state.shoe.cards_left);
  put("hands-an-hour", hands_an_hour === null ? "–" : Math.round(hands_an_hour));
}
