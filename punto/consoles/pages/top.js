// What both pages have at their top: who is signed on, what is away, and how every device stands.

import { titled } from "/shared/catalogue.js";
import { button, byId, element, facts, put, refresh, scrolling, table } from "/shared/elements.js";
import { hear, soundButton } from "/shared/sounds.js";
import { showWaiting } from "./approvals.js";
import { fetchOrders } from "./catalogue.js";
import { askForKey, show } from "./dialogs.js";
import { doctorsPart } from "./doctor.js";
import { orElse, t, toSupervisor, translated } from "./language.js";
import { keysHere } from "./security-keys.js";
import { follow, signOff, unfollow, watchActivity, whoIsThere } from "./service.js";
import { dayAndClock, plain } from "./words.js";

/** @import { StandingAlarm, View } from "#sent/consoles" */
/** @import { Session } from "./service.js" */

const FACTS = {
  "shoe-number": t("shoe"),
  "hand-number": t("hand"),
  // Of no use to whoever deals.
  ...(toSupervisor && { "cards-left": t("cards_left"), "hands-an-hour": t("hands_an_hour") }),
};

/**
 * Whether an alarm is a call for a supervisor.
 * @param {StandingAlarm} alarm
 */
export const isCall = ({ code }) => code === "supervisor_called";

/**
 * A link to another page; one with an id is hidden until the page shows it.
 * @param {string} title
 * @param {string} href
 * @param {string | null} [id]
 */
export const pageLink = (title, href, id = null) =>
  element("a", { id, class: "button", href, hidden: id !== null }, title);

/** @type {Session} */
let session;

/** Wait for somebody who is signed on, and for the orders that there are. */
export async function signedOn() {
  session = await whoIsThere();
  await fetchOrders();
}

/**
 * Draw the top of the page, with the name of the person.
 * @param {...Node} links
 */
export function begin(...links) {
  byId("not-live").after(
    element(
      "header",
      { class: "bar" },
      element("div", { class: "place" }, element("h1", { id: "table-name" }, t("table")), element("p", { id: "game" })),
      facts(
        Object.entries(FACTS).map(([id, title]) => [title, element("span", { id })]),
        { class: "facts" },
      ),
      element(
        "div",
        { class: "person" },
        element("p", { id: "you" }),
        button(t("devices"), showDevices, { id: "devices" }),
        ...links,
        ...(keysHere ? [button(t("key.title"), askForKey, { id: "add-key" })] : []),
        button(t("sign_off"), () => signOff("signed-off"), { id: "sign-off" }),
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
          { id: "said-away", "aria-label": t("put_away") },
        ),
      ),
    ),
    element("p", { id: "notice", role: "status", hidden: true }),
    element("div", { id: "away", role: "alert" }),
    element(
      "p",
      { id: "idle", role: "status", hidden: true },
      t("idle.before"),
      element("span", { id: "idle-seconds" }),
      t("idle.after"),
    ),
  );
  watchActivity();
  put("you", [session.name, ...session.roles.map((role) => orElse(`role.${role}`, role))].join(t("comma")));
  const words = { on: t("sound.on"), waiting: t("sound.waiting"), muted: t("sound.muted") };
  byId("devices").before(soundButton(session.sounds, words));
  put("notice", session.notice);
  byId("notice").hidden = session.notice === "";
  return session;
}

/**
 * @param {View} view
 * @param {string} page
 */
export function showTop(view, page) {
  const { state, operator, you, hands_an_hour, devices, alarms, stops, progressive } = view;
  showWaiting(view);
  hear("alarm", [
    ...alarms.filter((each) => !isCall(each)).map(({ number }) => String(number)),
    ...stops.map(({ code, text }) => `${code} ${text}`),
  ]);
  hear("award", progressive?.award ? [String(progressive.round)] : []);
  document.title = [state.name, page].join(t("comma"));
  put("table-name", state.name);
  const posted = state.maximum_wagers === null ? "" : t("maximum_wagers", { wagers: state.maximum_wagers });
  put(
    "game",
    [titled(state.game_titles, state.game), operator && operator !== you && t("operator", { name: operator }), posted]
      .filter(Boolean)
      .join(" · "),
  );
  put("shoe-number", state.shoe.number);
  put("hand-number", state.shoe.coup);
  if (toSupervisor) {
    put("cards-left", state.shoe.cards_left ?? "–");
    put("hands-an-hour", hands_an_hour === null ? "–" : Math.round(hands_an_hour));
  }
  refresh(byId("away"), devices, () =>
    devices.flatMap(({ warning }) => (warning === null ? [] : [element("p", {}, translated(warning))])),
  );
}

/** Every device with the broker and the record: there or not, since when and why, and which it is; for some people also the PC. */
function showDevices() {
  const box = scrolling(t("devices"));
  /** @param {View} view */
  const draw = ({ devices }) =>
    refresh(box, devices, () =>
      table(
        t("devices"),
        [t("device"), t("device.state"), t("device.since"), t("why"), t("device.which")],
        devices.map((each) => [
          element("b", {}, translated(each.title)),
          element("span", { class: each.state === "online" ? "good" : "fault" }, plain(each.state)),
          dayAndClock(each.since),
          each.reason,
          [each.port, each.serial && t("device.serial", { serial: each.serial }), ...each.versions]
            .filter(Boolean)
            .join(t("comma")),
        ]),
      ),
    );
  const parts = session.reads.includes("diagnostics") ? [box, doctorsPart()] : [box];
  show(t("devices_and_links"), ...parts).addEventListener("close", () => unfollow(draw));
  follow(draw);
}
