// What both pages have at their top: who is signed on, what is away, and how every device stands.

import { showWaiting } from "./approvals.js";
import { fetchOrders } from "./catalogue.js";
import { byId, button, element, put, refresh, table } from "./elements.js";
import { askForKey, show, wireSaid } from "./dialogs.js";
import { keysHere } from "./security-keys.js";
import { follow, signOff, unfollow, whoIsThere } from "./service.js";
import { dayAndClock, plain } from "./words.js";

/** Wait for somebody who is signed on, and put their name up. */
export async function begin() {
  wireSaid();
  byId("sign-off").addEventListener("click", () => signOff("signed-off"));
  document.querySelector(".bar").after(element("div", { id: "away", role: "alert" }));
  byId("you").after(button("Devices", showDevices, { id: "devices" }));
  if (keysHere) byId("sign-off").before(button("Security key", askForKey, { id: "add-key" }));
  const session = await whoIsThere();
  await fetchOrders();
  put("you", `${session.name}, ${session.roles.join(", ")}`);
  return session;
}

export function showTop(view, page) {
  const { state, operator, hands_an_hour, devices } = view;
  showWaiting(view);
  document.title = `${state.name}, ${page}`;
  put("table-name", state.name);
  put("game", operator === null ? state.game : `${state.game} · operator ${operator}`);
  put("shoe-number", state.shoe.number);
  put("hand-number", state.shoe.coup);
  put("cards-left", state.shoe.cards_left);
  put("hands-an-hour", hands_an_hour === null ? "–" : Math.round(hands_an_hour));
  refresh(byId("away"), devices, () => devices.filter(({ warning }) => warning !== null).map(({ warning }) => element("p", {}, warning)));
}

/** Every device with the broker and the record: there or not, since when and why, and which it is. */
function showDevices() {
  const box = element("div", { class: "scrolling", tabindex: "0", role: "region", "aria-label": "Devices" });
  const draw = ({ devices }) => refresh(box, devices, () => table("Devices", ["Device", "State", "Since", "Why", "Which"], devices.map((each) => [
    element("b", {}, each.title),
    element("span", { class: each.state === "online" ? "good" : "fault" }, plain(each.state)),
    dayAndClock(each.since),
    each.reason,
    [each.port, each.serial && `serial ${each.serial}`, ...each.versions].filter(Boolean).join(", "),
  ])));
  show("Devices and links", box).addEventListener("close", () => unfollow(draw));
  follow(draw);
}
