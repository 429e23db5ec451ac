// The supervisor's page: four parts, of which one is shown.

import { awardOrders, showProgressive } from "./award.js";
import { groupOf } from "./catalogue.js";
import { byId, button, element, put, refresh } from "./elements.js";
import { showGames } from "./games.js";
import { showHandList } from "./hands.js";
import { acknowledge, askFor } from "./order-dialogs.js";
import { showPrompt } from "./prompt.js";
import { showHands } from "./rounds.js";
import { follow, live } from "./service.js";
import { showShift } from "./shift.js";
import { begin, pageLink, showTop } from "./top.js";
import { dayAndClock, moneyIn, sentence } from "./words.js";

const READS_REPORTS = ["supervisor", "executive", "auditor"];

const session = await begin(pageLink("Game Manager", "/game-manager", "to-game-manager"), pageLink("Dealer", "/dealer"));
if (session.roles.every((role) => role === "dealer")) location.replace("/dealer");
const readable = session.roles.some((role) => READS_REPORTS.includes(role));
for (const name of ["shift", "games"]) {
  document.querySelector(`#parts [href="#${name}"]`).hidden = !readable;
}
let view;

// --- orders

const GROUPS = { play: "Play", shoe: "Shoe", help: "Help", mistakes: "Mistakes" };
const keys = new Map();
byId("orders").append(...Object.entries(GROUPS).map(([group, title]) => element(
  "div",
  { class: "group", role: "group", "aria-label": title },
  element("h2", {}, title),
  ...groupOf(group).map(({ order, label }) => {
    const made = button(label, () => askFor(order, view), { "data-order": order, disabled: true });
    keys.set(order, made);
    return made;
  }),
)));

function showOrders() {
  for (const [order, key] of keys) key.disabled = !live() || !view.orders.includes(order);
  keys.get("sign_on").hidden = view.state.phase !== "locked";
  keys.get("sign_off").hidden = view.state.phase === "locked";
}

// --- the progressive: the award that waits for a supervisor

const awardKeys = awardOrders(() => view);
byId("progressive").append(awardKeys.node);

function showGame() {
  const { progressive } = view;
  byId("to-game-manager").hidden = progressive === null || !readable;
  const money = showProgressive(view);
  if (money === null) return;
  put("meter", `${money(progressive.meter)}${progressive.key ? ` · Key in ${progressive.key.toUpperCase()}` : ""}`);
  awardKeys.show();
}

// --- the table

function showTrouble() {
  const may = live() && view.orders.includes("acknowledge_alarm");
  const away = view.devices.some(({ warning }) => warning !== null);
  refresh(byId("trouble-list"), [view.stops, view.alarms, away, may], () => [
    ...view.stops.map(({ text }) => element("div", { class: "stop" }, element("strong", {}, "Stopped"), element("p", {}, sentence(text)))),
    ...view.alarms.map((alarm) => element(
      "div",
      { class: "alarm", "data-alarm": alarm.number },
      element("p", {}, alarm.text, alarm.times > 1 ? ` (${alarm.times} times)` : ""),
      element("small", {}, raisedBy(alarm)),
      button("Acknowledge", () => acknowledge(view, alarm), { disabled: !may }),
    )),
    ...(view.stops.length + view.alarms.length === 0 ? [element("p", { class: "quiet" }, away ? "No alarm stands." : "Nothing stops play, and no alarm stands.")] : []),
  ]);
}

const raisedBy = ({ ts, who }) => [ts && dayAndClock(ts), who && `called by ${who}`].filter(Boolean).join(", ");

function showSeats() {
  const { seats, last, state } = view;
  const settled = state.hands === null && last !== null ? last.seats : [];
  refresh(byId("seat-list"), [seats, settled], () => {
    const money = moneyIn(state.currency);
    const signed = moneyIn(state.currency, { sign: true });
    const all = [...new Set([...seats, ...settled].map(({ seat }) => seat))].sort((one, other) => one - other);
    if (all.length === 0) return element("p", { class: "quiet" }, "No wagers.");
    return all.map((seat) => {
      const standing = seats.find((each) => each.seat === seat)?.wagers ?? [];
      const net = settled.find((each) => each.seat === seat)?.net;
      return element(
        "div",
        { class: "seat", "data-seat": seat },
        element("b", {}, `Seat ${seat}`),
        element("span", {}, standing.map((each) => `${each.title} ${money(each.amount)}`).join(" · ")),
        element("span", { class: "number" }, net === undefined ? "" : `last ${signed(net)}`),
      );
    });
  });
}

// --- parts

const PARTS = { table: () => {}, hands: showHandList, shift: showShift, games: showGames };
const KEYS = { F2: "table", F4: "hands", F8: "shift", F9: "games" };
let part = null;

function showPart() {
  const [name, which] = location.hash.slice(1).split("/");
  const links = [...document.querySelectorAll("#parts a")];
  part = links.some((each) => each.hash === `#${name}` && !each.hidden) ? name : "table";
  for (const each of document.querySelectorAll("[data-part]")) each.hidden = each.dataset.part !== part;
  for (const each of links) {
    if (each.hash === `#${part}`) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  if (view !== undefined) PARTS[part](view, { opened: true, which });
}

addEventListener("hashchange", showPart);
document.addEventListener("keydown", (event) => {
  if (!(event.key in KEYS) || document.querySelector("dialog[open]") !== null) return;
  event.preventDefault();
  location.hash = KEYS[event.key];
});

follow((latest) => {
  const first = view === undefined;
  view = latest;
  showTop(view, "supervisor");
  showPrompt(byId("now"), view);
  showTrouble();
  showGame();
  showHands(byId("coup"), view.state);
  showOrders();
  showSeats();
  if (first) showPart();
  else PARTS[part](view, { opened: false });
});
