// The floor: all tables of the house as they are now, and their alarms, worst first.

import { arrange, byId, element, put, refresh } from "/shared/elements.js";
import { keepOpen } from "/shared/stream.js";
import { clock } from "/shared/words.js";
import { isSignedOn, REASONS, showFaults } from "./house.js";
import { TableCard } from "./table-card.js";

/** @import { FloorView, TableView } from "#sent/floor" */
/** @import { Alarm } from "./table-alarms.js" */

const SILENT_MILLISECONDS = 4000; // a view comes every second
const CARDS_A_FRAME = 10; // a change of all tables is drawn over several frames, so that none is late
const NEWS_MILLISECONDS = 3000;
const MOST_NEWS = 3;
/** The size of everything, by the number of tables. */
const SIZES = /** @type {const} */ ([
  [12, "few"],
  [48, "some"],
  [Number.POSITIVE_INFINITY, "many"],
]);
const byName = new Intl.Collator("en", { numeric: true });

/** @type {Map<string, TableCard>} by the ids of the tables, in their order */
let cards = new Map();
/** @type {Set<TableCard>} */
const toDraw = new Set();
let whole = true; // whether the next view has all tables
let drawing = false;
let summedUp = true;

// --- the stream

keepOpen({
  address: "/api/floor/events",
  names: ["floor"],
  silent: SILENT_MILLISECONDS,
  take: (_, json) => take(JSON.parse(json)),
  lost(why) {
    put("not-live-reason", REASONS[why]);
    document.body.classList.remove("live");
    whole = true;
    summedUp = true;
    forgetHouse();
    return isSignedOn();
  },
});

/** @param {FloorView} view */
function take(view) {
  if (whole) forgetOthers(new Set(view.tables.map(({ table }) => table)));
  whole = false;
  meet(view.tables.filter(({ table }) => !cards.has(table)));
  for (const each of view.tables) {
    const card = /** @type {TableCard} */ (cards.get(each.table));
    card.take(each);
    toDraw.add(card);
  }
  summedUp = false;
  showHouse(view);
  document.body.classList.add("live");
  if (!drawing) requestAnimationFrame(draw);
  drawing = true;
}

/** @param {Set<string>} there */
function forgetOthers(there) {
  for (const [table, card] of [...cards].filter(([known]) => !there.has(known))) {
    card.element.remove();
    cards.delete(table);
    toDraw.delete(card);
  }
}

/** @param {TableView[]} others */
function meet(others) {
  if (others.length === 0) return;
  for (const each of others) cards.set(each.table, new TableCard(each));
  cards = new Map([...cards].sort(([one], [other]) => byName.compare(one, other)));
}

/** Alarms are drawn first, and then some cards in each frame. */
function draw() {
  if (summedUp) drawSome(CARDS_A_FRAME);
  else showAll();
  summedUp = true;
  drawing = toDraw.size > 0;
  if (drawing) requestAnimationFrame(draw);
}

/** @param {number} most */
function drawSome(most) {
  for (const card of [...toDraw].slice(0, most)) {
    toDraw.delete(card);
    card.draw();
  }
}

/** @param {FloorView} view */
function showHouse({ at, broker, taking_in: takingIn }) {
  put("at", clock(at));
  showPart("broker", broker ? "Away" : "Connected", Boolean(broker));
  showPart("store", takingIn ? "Not taking in" : "Taking in", Boolean(takingIn));
  showFaults([
    ["Broker", broker],
    ["Store", takingIn],
  ]);
}

/** @type {(id: string, text: string, fault: boolean) => void} */
function showPart(id, text, fault) {
  put(id, text);
  byId(id).classList.toggle("fault", fault);
}

/** Nothing is known of the house now. The cards keep what was known, without colours. */
function forgetHouse() {
  showPart("broker", "Unknown", true);
  showPart("store", "Unknown", true);
  showPart("live-tables", `0 of ${cards.size}`, true);
  put("pace", "–");
  showFaults([]);
}

// --- the tables

function showAll() {
  const all = [...cards.values()];
  const fresh = all.length > byId("tables").children.length;
  if (fresh) {
    drawSome(all.length);
    arrange(
      byId("tables"),
      all.map(({ element: box }) => box),
    );
    const size = SIZES.find(([most]) => all.length <= most) ?? SIZES[0];
    document.documentElement.dataset.tables = size[1];
  }
  const live = all.filter(({ view }) => view.live);
  showPart("live-tables", `${live.length} of ${all.length}`, live.length < all.length);
  put("pace", Math.round(live.reduce((sum, { view }) => sum + (view.hands_an_hour ?? 0), 0)).toLocaleString("en"));
  showAlarms(all);
  showFound();
}

// --- the alarms

/** @type {Map<string, HTMLLIElement>} by the id of the card and the key of the alarm */
let listed = new Map();
let first = true;

/** @param {TableCard[]} all */
function showAlarms(all) {
  const alarms = all
    .flatMap((card) => card.alarms.map((alarm) => ({ card, alarm, key: `${card.element.id} ${alarm.key}` })))
    .sort((one, other) => one.alarm.rank - other.alarm.rank);
  const before = listed;
  listed = new Map(alarms.map(({ card, key }) => [key, before.get(key) ?? lineOf(card)]));
  for (const { card, alarm, key } of alarms) {
    refresh(/** @type {Element} */ (listed.get(key)?.firstElementChild), [card.view.name, alarm], () =>
      wordsOf(card, alarm),
    );
    if (!(first || before.has(key))) tellOf(`${card.view.name}: ${alarm.label} ${alarm.text}`);
  }
  arrange(byId("alarm-list"), [...listed.values()]);
  showPart("alarm-count", String(alarms.length), alarms.length > 0);
  byId("no-alarms").hidden = alarms.length > 0;
  first = false;
}

/** @param {TableCard} card */
const lineOf = (card) => element("li", {}, element("a", { href: `#${card.element.id}` }));

/** @type {(card: TableCard, alarm: Alarm) => (Node | string)[]} */
const wordsOf = (card, { label, text, loud }) => [
  element("span", { class: "at" }, card.view.name),
  " ",
  element("b", { class: loud ? "loud" : null }, label),
  ` ${text}`,
];

/** @type {string[]} */
let news = [];

/**
 * Have a reader of the screen tell of a new alarm, together with others that come within some seconds.
 * @param {string} text
 */
function tellOf(text) {
  news.push(text);
  if (news.length > 1) return;
  setTimeout(() => {
    const more = news.length - MOST_NEWS;
    put("news", [...news.slice(0, MOST_NEWS), ...(more > 0 ? [`and ${more} more alarms`] : [])].join(". "));
    news = [];
  }, NEWS_MILLISECONDS);
}

// --- the filter

const everything = byId("show-all", HTMLButtonElement);
const troubled = byId("show-alarms", HTMLButtonElement);
const name = byId("name", HTMLInputElement);

function showFound() {
  const part = name.value.trim().toLowerCase();
  const alarmed = troubled.ariaPressed === "true";
  let shown = 0;
  for (const { element: box, view, alarms } of cards.values()) {
    const found = `${view.table} ${view.name}`.toLowerCase().includes(part) && !(alarmed && alarms.length === 0);
    if (box.hidden === found) box.hidden = !found;
    if (found) shown += 1;
  }
  put("found", shown === cards.size ? "" : `${shown} of ${cards.size} tables`);
}

/** @param {boolean} alarmed */
function choose(alarmed) {
  everything.ariaPressed = String(!alarmed);
  troubled.ariaPressed = String(alarmed);
  showFound();
}

everything.addEventListener("click", () => choose(false));
troubled.addEventListener("click", () => choose(true));
name.addEventListener("input", showFound);
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("alarm-list").addEventListener("click", () => {
  name.value = ""; // the table of an alarm may not be among those that are shown
  choose(false);
});
