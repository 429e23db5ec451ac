// The floor: all tables of the house as they are now, and their alarms, worst first.

import { arrange, button, byId, element, faultOf, one, put, refresh } from "/shared/elements.js";
import { hear } from "/shared/sounds.js";
import { keepOpen } from "/shared/stream.js";
import { clock, moment, sentence } from "/shared/words.js";
import { fitAlarms } from "./alarm-strip.js";
import { isSignedOn, REASONS, reader, send, showFaults } from "./house.js";
import { byNeed, TableCard } from "./table-card.js";

/** @import { FloorAlarm, FloorView, TableView } from "#sent/floor" */

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
let mayAcknowledge = false; // as the person who is signed on
let whole = true; // whether the next view has all tables
let drawing = false;
let summedUp = true;

// --- the stream

async function start() {
  const here = await reader;
  mayAcknowledge = here?.bars === "";
  put("bars", here?.bars ? `${sentence(here.bars)}.` : "");
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
}

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
  cards = new Map([...cards].sort(([known], [other]) => byName.compare(known, other)));
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
  showFaults([
    ["Broker", broker],
    ["Store", takingIn],
  ]);
}

/** @type {(id: string, text: string, fault: boolean) => void} */
function showFact(id, text, fault) {
  put(id, text);
  byId(id).classList.toggle("fault", fault);
}

/** Nothing is known of the house now. The cards keep what was known, without colours. */
function forgetHouse() {
  showFact("live-tables", `0 of ${cards.size}`, true);
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
  const paces = live.flatMap(({ view }) => view.hands_an_hour ?? []);
  showFact("live-tables", `${live.length} of ${all.length}`, live.length < all.length);
  put("pace", paces.length === 0 ? "–" : Math.round(paces.reduce((sum, each) => sum + each) / paces.length));
  makeRoom(all);
  showAlarms(all);
  showFound();
}

/**
 * Cards are as wide as the longest name of a table and of a game need, with what stands beside them.
 * @param {TableCard[]} all
 */
function makeRoom(all) {
  const names = all.map(({ view }) => view.name).join("\n");
  const games = [...new Set(all.map(({ view }) => view.game))].join("\n");
  if (byId("ruler").textContent === names + games) return;
  one("#ruler .names").textContent = names;
  one("#ruler .games").textContent = games;
  measure();
}

function measure() {
  const { documentElement: root } = document;
  const wide = byId("ruler").offsetWidth / Number.parseFloat(getComputedStyle(root).fontSize);
  root.style.setProperty("--widest", `${Math.ceil(10 * wide) / 10}rem`);
}
document.fonts.addEventListener("loadingdone", measure);

// --- the alarms

/** @type {Map<string, HTMLLIElement>} by the ids of the card and of the alarm */
let listed = new Map();
let first = true;

/** @param {TableCard[]} all */
function showAlarms(all) {
  const alarms = all
    .flatMap((card) => card.view.alarms.map((alarm) => ({ card, alarm, key: `${card.element.id} ${alarm.id}` })))
    .sort(({ alarm }, { alarm: other }) => byNeed(alarm, other));
  const before = listed;
  listed = new Map(alarms.map(({ card, key }) => [key, before.get(key) ?? lineOf(card)]));
  for (const { card, alarm, key } of alarms) {
    const line = /** @type {HTMLLIElement} */ (listed.get(key));
    drawLine(line, card, alarm);
    if (!(first || before.has(key)))
      tellOf(`${card.view.name}: ${[alarm.label, alarm.text].filter(Boolean).join(": ")}`);
  }
  const calls = alarms.filter(({ alarm }) => alarm.kind === "call");
  hear("call", calls.map(keyOf));
  hear("alarm", alarms.filter((each) => !calls.includes(each)).map(keyOf));
  const focus = document.activeElement;
  arrange(byId("alarm-list"), [...listed.values()]);
  if (focus instanceof HTMLElement && focus.isConnected) focus.focus({ preventScroll: true });
  const waiting = alarms.filter(({ alarm }) => alarm.acknowledged === null).length;
  showFact("alarm-count", waiting === alarms.length ? String(waiting) : `${waiting} of ${alarms.length}`, waiting > 0);
  byId("no-alarms").hidden = alarms.length > 0;
  fitAlarms(JSON.stringify(alarms.map(({ key, card, alarm }) => [key, card.view.name, alarm])));
  first = false;
}

/** @param {{ key: string }} listed */
const keyOf = ({ key }) => key;

/** @param {TableCard} card */
const lineOf = (card) => element("li", {}, element("a", { href: `#${card.element.id}` }), element("div"));

/** @type {(line: HTMLLIElement, card: TableCard, alarm: FloorAlarm) => void} */
function drawLine(line, { view: { table, name: of } }, alarm) {
  const { label, text, need, since, acknowledged } = alarm;
  const [link, side] = line.children;
  line.classList.toggle("at-once", need === "at_once");
  line.classList.toggle("figure", need === "look_into");
  line.classList.toggle("taken", acknowledged !== null);
  refresh(link, [of, label, text, since], () =>
    element(
      "span",
      {},
      element("span", { class: "at" }, of),
      " ",
      element("b", {}, text === "" ? label : `${label}:`),
      " ",
      element("span", { class: "text" }, text),
      " ",
      element("span", { class: "since" }, "since ", element("time", { datetime: since }, moment(since))),
    ),
  );
  const focused = side.contains(document.activeElement);
  refresh(side, [of, acknowledged, mayAcknowledge], () => {
    if (acknowledged === null) return mayAcknowledge ? [acknowledgeButton(table, of, alarm)] : [];
    const { who, ts } = acknowledged;
    return [element("p", { class: "who" }, "acknowledged ", element("b", {}, `${who}, ${moment(ts)}`))];
  });
  if (focused && !side.contains(document.activeElement)) /** @type {HTMLElement} */ (link).focus();
}

/** @type {(table: string, of: string, alarm: FloorAlarm) => HTMLButtonElement} */
function acknowledgeButton(table, of, { id, label }) {
  const key = button("Acknowledge", () => acknowledge(key, { table, alarm: id }), {
    "aria-label": `Acknowledge ${label} at ${of}`,
  });
  return key;
}

/** @type {(key: HTMLButtonElement, alarm: { table: string, alarm: string }) => Promise<void>} */
async function acknowledge(key, alarm) {
  if (key.ariaDisabled === "true") return;
  key.ariaDisabled = "true"; // the next view has the name in its place
  put("refused", "");
  try {
    await send("POST", "/api/floor/acknowledgements", alarm);
  } catch (error) {
    key.ariaDisabled = "false";
    put("refused", faultOf(error));
  }
}

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

const troubled = byId("with-alarms", HTMLButtonElement);
const name = byId("name", HTMLInputElement);

function showFound() {
  const part = name.value.trim().toLowerCase();
  const alarmed = troubled.ariaPressed === "true";
  let shown = 0;
  for (const { element: box, view } of cards.values()) {
    const found = `${view.table} ${view.name}`.toLowerCase().includes(part) && !(alarmed && view.alarms.length === 0);
    if (box.hidden === found) box.hidden = !found;
    if (found) shown += 1;
  }
  put("found", shown === cards.size ? "" : `${shown} of ${cards.size} tables`);
}

/** @param {boolean} alarmed */
function choose(alarmed) {
  troubled.ariaPressed = String(alarmed);
  showFound();
}

troubled.addEventListener("click", () => choose(troubled.ariaPressed !== "true"));
name.addEventListener("input", showFound);
byId("filter").addEventListener("submit", (event) => event.preventDefault());
byId("alarm-list").addEventListener("click", () => {
  name.value = ""; // the table of an alarm may not be among those that are shown
  choose(false);
});

start();
