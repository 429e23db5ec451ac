// All incidents of the house, the newest first, and who acknowledged each.

import { openDialog } from "/shared/dialog.js";
import { arrange, button, byId, element, faultOf, labelled, put, submitted } from "/shared/elements.js";
import { lastOf } from "/shared/newer.js";
import { keepOpen } from "/shared/stream.js";
import { dayAndTime, sentence } from "/shared/words.js";
import { get, isSignedOn, kindOf, names, REASONS, reader, send, showFaults } from "./house.js";

/** @import { Alarm, AlarmChoices, Alarms, AlarmsView } from "#sent/floor" */

const SILENT_MILLISECONDS = 4000; // a view comes every second
const LONGEST_NOTE = 500;
const REFUSED = "refused: ";
const asked = new URLSearchParams(location.search);
const only = new URLSearchParams(
  ["table", "kind", "unacknowledged"].flatMap((name) => (asked.get(name) ? [[name, asked.get(name) ?? ""]] : [])),
);

/** @type {Map<string, string>} */
let named = new Map();
let mayWrite = false;
/** @type {Alarms | null} the newest, whichever page is shown */
let newest = null;
/** @type {string[]} the beginnings of the pages from the second to the one that is shown */
const turned = [];
/** @type {string | null} the beginning of the next page */
let next = null;

// --- the list

/** @type {Map<string, { json: string, line: HTMLLIElement }>} */
let lines = new Map();

/** @param {Alarms} page */
function draw({ alarms, before }) {
  const kept = lines;
  lines = new Map();
  for (const each of alarms) {
    const key = keyOf(each);
    const json = JSON.stringify(each);
    const known = kept.get(key);
    lines.set(key, known?.json === json ? known : { json, line: lineOf(each) });
  }
  arrange(
    byId("alarms"),
    [...lines.values()].map(({ line }) => line),
  );
  next = before;
  byId("none").hidden = alarms.length > 0;
  byId("newer", HTMLButtonElement).disabled = turned.length === 0;
  byId("older", HTMLButtonElement).disabled = next === null;
  put("which", turned.length === 0 ? "" : `Page ${turned.length + 1}. New alarms are on the first page.`);
}

/** @param {Alarm} alarm */
const keyOf = ({ record_id: record, seq, place }) => `${record}/${seq}/${place}`;

/** @param {Alarm} alarm */
const nameOf = ({ table }) => named.get(table) ?? table;

/** @param {Alarm} alarm */
function lineOf(alarm) {
  const { table, ts, source, who, journal, acknowledged } = alarm;
  const { title, more } = wordsOf(alarm);
  return element(
    "li",
    { class: journal || acknowledged !== null ? null : "waits" },
    element(
      "div",
      { class: "where" },
      element("a", { href: `?${new URLSearchParams({ table })}` }, nameOf(alarm)),
      element("time", { datetime: ts }, dayAndTime(ts)),
    ),
    element(
      "div",
      { class: "what" },
      element("b", {}, title),
      element("p", {}, more),
      element("p", { class: "quiet" }, placeOf(source, who)),
    ),
    element("div", { class: "acknowledged" }, ...acknowledgement(alarm)),
  );
}

/**
 * What happened, in a title and in more words. The text of what was refused begins with this word, which belongs to the title.
 * @param {Alarm} alarm
 */
function wordsOf({ kind, text }) {
  const refused = text.startsWith(REFUSED);
  return {
    title: `${kindOf(kind)}${refused ? " refused" : ""}`,
    more: sentence(refused ? text.slice(REFUSED.length) : text),
  };
}

/**
 * Where an incident comes from: a person's name says it alone, whoever was the operator of the table then.
 * @type {(source: string, who: string | null) => string}
 */
function placeOf(source, who) {
  if (who === null) return source;
  return source.startsWith("operator ") ? who : `${source}, ${who}`;
}

/** @param {Alarm} alarm */
function acknowledgement(alarm) {
  const { journal, acknowledged } = alarm;
  if (acknowledged !== null) {
    return [
      element(
        "p",
        { class: "quiet" },
        element("b", {}, "Acknowledged"),
        ` by ${acknowledged.who}, ${dayAndTime(acknowledged.ts)}`,
      ),
      element("p", {}, acknowledged.note),
    ];
  }
  if (journal) return [];
  if (!mayWrite) return [element("p", { class: "quiet" }, "Not acknowledged")];
  const words = `Acknowledge ${wordsOf(alarm).title} at ${nameOf(alarm)}`;
  return [button("Acknowledge", () => askForNote(alarm), { "aria-label": words })];
}

// --- acknowledging an alarm

/** @param {Alarm} alarm */
function askForNote(alarm) {
  const { title, more } = wordsOf(alarm);
  const [note, label] = labelled("Note: what was found or done", {
    name: "note",
    required: true,
    maxlength: LONGEST_NOTE,
  });
  const form = element(
    "form",
    {},
    element("p", { class: "quiet" }, `${nameOf(alarm)}, ${dayAndTime(alarm.ts)}`),
    element("p", { class: "consequence" }, more),
    label,
    element("p", { class: "hint" }, "The note is kept with your name, and is never changed."),
    element("p", { class: "fault", role: "alert" }),
    element(
      "div",
      { class: "choices" },
      button("Cancel", () => dialog.close()),
      element("button", { type: "submit", class: "go" }, "Acknowledge"),
    ),
  );
  const dialog = openDialog(title, form);
  submitted(form, async () => {
    await send("POST", `/api/alarms/${keyOf(alarm)}/acknowledgement`, { note: note.value.trim() });
    dialog.close();
    if (turned.length > 0) await turn(); // the first page is told by itself
  });
}

// --- pages

/** Show the page that was turned to. */
async function turn() {
  const before = lastOf(turned);
  if (before !== undefined) draw(await get(`/api/alarms?${new URLSearchParams([...only, ["before", before]])}`));
  else if (newest !== null) draw(newest);
}

/** @param {() => unknown} change */
async function turning(change) {
  change();
  try {
    await turn();
    showFaults([]);
    scrollTo(0, 0);
  } catch (error) {
    showFaults([["Alarms", faultOf(error)]]);
  }
}

byId("older").addEventListener("click", () => turning(() => next !== null && turned.push(next)));
byId("newer").addEventListener("click", () => turning(() => turned.pop()));

// --- what is asked for

const form = byId("only", HTMLFormElement);
const unacknowledged = /** @type {HTMLInputElement} */ (form.elements.namedItem("unacknowledged"));

async function showChoices() {
  /** @type {AlarmChoices} */
  const { tables, kinds } = await get("/api/alarms/choices");
  offer("table", tables, (table) => named.get(table) ?? table);
  offer("kind", kinds, kindOf);
  unacknowledged.checked = only.has("unacknowledged");
}

/** @type {(name: string, values: string[], words: (value: string) => string) => void} */
function offer(name, values, words) {
  const select = /** @type {HTMLSelectElement} */ (form.elements.namedItem(name));
  const chosen = only.get(name);
  const all = chosen === null || values.includes(chosen) ? values : [chosen, ...values];
  select.append(...all.map((value) => element("option", { value, selected: value === chosen }, words(value))));
}

unacknowledged.addEventListener("change", () => form.requestSubmit());
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const chosen = [...new FormData(form)].flatMap(([name, value]) => (value === "" ? [] : [[name, String(value)]]));
  location.assign(`?${new URLSearchParams(chosen)}`);
});

// --- the stream

/** @param {AlarmsView} view */
function take({ broker, taking_in: takingIn, away, newest: found }) {
  showFaults([
    ["Broker", broker],
    ["Store", takingIn || away],
  ]);
  if (found !== null) {
    tellOf(found);
    newest = found;
    if (turned.length === 0) draw(found);
  }
  document.body.classList.add("live");
}

/** @param {Alarms} found */
function tellOf({ alarms }) {
  if (newest === null) return;
  const known = new Set(newest.alarms.map(keyOf));
  const last = newest.alarms[0]?.ts ?? "";
  const fresh = alarms.filter((each) => !known.has(keyOf(each)) && each.ts >= last);
  if (fresh.length === 1) put("news", `${nameOf(fresh[0])}: ${fresh[0].text}`);
  else if (fresh.length > 1) put("news", `${fresh.length} new alarms`);
}

async function start() {
  const here = await reader;
  mayWrite = here?.bars === "";
  put("bars", here?.bars ? `${sentence(here.bars)}.` : "");
  named = await names().catch(() => new Map());
  await showChoices().catch((error) => showFaults([["Alarms", faultOf(error)]]));
  keepOpen({
    address: `/api/alarms/events?${only}`,
    names: ["alarms"],
    silent: SILENT_MILLISECONDS,
    take: (_, json) => take(JSON.parse(json)),
    lost(why) {
      put("not-live-reason", REASONS[why]);
      document.body.classList.remove("live");
      return isSignedOn();
    },
  });
}

start();
