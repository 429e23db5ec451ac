// What both pages have at their top: who is signed on, what is away, and how every device stands.

import { button, byId, element, facts, put, refresh, scrolling, table } from "/shared/elements.js";
import { showWaiting } from "./approvals.js";
import { fetchOrders } from "./catalogue.js";
import { askForKey, show } from "./dialogs.js";
import { keysHere } from "./security-keys.js";
import { follow, signOff, unfollow, whoIsThere } from "./service.js";
import { dayAndClock, plain } from "./words.js";

/** @import { View } from "#sent/consoles" */

const FACTS = {
  "shoe-number": "Shoe",
  "hand-number": "Hand",
  "cards-left": "Cards left",
  "hands-an-hour": "Hands an hour",
};

/**
 * A link to another page; one with an id is hidden until the page shows it.
 * @param {string} title
 * @param {string} href
 * @param {string | null} [id]
 */
export const pageLink = (title, href, id = null) =>
  element("a", { id, class: "button", href, hidden: id !== null }, title);

/**
 * Draw the top of the page, wait for somebody who is signed on, and put their name up.
 * @param {...Node} links
 */
export async function begin(...links) {
  byId("not-live").after(
    element(
      "header",
      { class: "bar" },
      element("div", { class: "place" }, element("h1", { id: "table-name" }, "Table"), element("p", { id: "game" })),
      facts(
        Object.entries(FACTS).map(([id, title]) => [title, element("span", { id })]),
        { class: "facts" },
      ),
      element(
        "div",
        { class: "person" },
        element("p", { id: "you" }),
        button("Devices", showDevices, { id: "devices" }),
        ...links,
        ...(keysHere ? [button("Security key", askForKey, { id: "add-key" })] : []),
        button("Sign off", () => signOff("signed-off"), { id: "sign-off" }),
      ),
      element(
        "p",
        { id: "said", role: "status", hidden: true },
        element("span", { id: "said-text" }),
        " ",
        button(
          "OK",
          () => {
            byId("said").hidden = true;
          },
          { id: "said-away", "aria-label": "Put this message away" },
        ),
      ),
    ),
    element("p", { id: "notice", hidden: true }),
    element("div", { id: "away", role: "alert" }),
    element(
      "p",
      { id: "idle", role: "status", hidden: true },
      "You will be signed off in ",
      element("span", { id: "idle-seconds" }),
      " s. Touch the screen or press a key to stay.",
    ),
  );
  const session = await whoIsThere();
  await fetchOrders();
  put("you", `${session.name}, ${session.roles.join(", ")}`);
  put("notice", session.notice);
  byId("notice").hidden = session.notice === "";
  return session;
}

/**
 * @param {View} view
 * @param {string} page
 */
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
  refresh(byId("away"), devices, () =>
    devices.flatMap(({ warning }) => (warning === null ? [] : [element("p", {}, warning)])),
  );
}

/** Every device with the broker and the record: there or not, since when and why, and which it is. */
function showDevices() {
  const box = scrolling("Devices");
  /** @param {View} view */
  const draw = ({ devices }) =>
    refresh(box, devices, () =>
      table(
        "Devices",
        ["Device", "State", "Since", "Why", "Which"],
        devices.map((each) => [
          element("b", {}, each.title),
          element("span", { class: each.state === "online" ? "good" : "fault" }, plain(each.state)),
          dayAndClock(each.since),
          each.reason,
          [each.port, each.serial && `serial ${each.serial}`, ...each.versions].filter(Boolean).join(", "),
        ]),
      ),
    );
  show("Devices and links", box).addEventListener("close", () => unfollow(draw));
  follow(draw);
}
