// The Game Manager: five parts, one of them visible.

import { dayReport, metersTable, reconciliation, weekReport } from "/shared/books.js";
import { daysLater, setDay } from "/shared/days.js";
import { button, byId, element, one, put, refresh, submitted, table } from "/shared/elements.js";
import { exact, isZero, minor } from "/shared/exact.js";
import { decimal, readMoney } from "/shared/money.js";
import { lastOf } from "/shared/newer.js";
import { dayAndClock, tellTimesBy } from "/shared/times.js";
import { sentence, writtenDay } from "/shared/words.js";
import { askOrder, say } from "/static/dialogs.js";
import { showPart } from "/static/parts.js";
import { ask, follow, goToSignOn, live, reasonOf } from "/static/service.js";
import { begin, pageLink, showTop } from "/static/top.js";
import { awardsTable, bag, nobodyWon } from "./awards.js";
import { wordsOf } from "./words.js";

/** @import { View } from "#sent/consoles" */
/** @import { Advice, Award, Awards, Day, InForce, Overview, Own, Reconciliation, Week } from "#sent/game-manager" */
/** @import { Answer } from "/static/service.js" */
/** @typedef {"days" | "weeks" | "reconciliations"} Period */

const session = begin(pageLink("Supervisor", "/supervisor"));
document.body.append(byId("said")); // at the foot of this page
if (!session.reads.includes("progressive")) location.replace("/supervisor"); // which redirects dealers

/** @type {View} */
let view;
/** @type {Overview | null} */
let overview = null;

/**
 * Request a report; a refusal is shown, and the result is null.
 * @template Report
 * @param {string} path
 * @returns {Promise<Report | null>}
 */
async function get(path) {
  /** @type {Answer<Report>} */
  const answer = await ask("GET", `/api/progressive${path}`);
  if (answer.status === 401) goToSignOn("ended");
  if (answer.ok) return answer.body;
  say(reasonOf(answer), true);
  return null;
}

/** @param {string} order */
const may = (order) => live() && view.orders.includes(order);
const own = () => overview?.own ?? null;
const currency = () => overview?.currency ?? "";
const words = wordsOf(() => overview);
/** @param {number} units */
const told = (units) => minor(units, currency());

// --- meters

async function loadOverview() {
  /** @type {Overview | null} */
  const found = await get("");
  if (found === null) return;
  overview = found;
  put("of-table", found.name);
  put("zone", `The house's clock: ${tellTimesBy(found.zone)}`);
  showOwn();
  refresh(byId("meter-list"), found.meters, (meters) => metersTable(meters, words.title));
}

const PHASES = { new: "Not in service yet.", open: "In service.", retired: "Retired for good." };

function showOwn() {
  const mine = own();
  put("own-title", mine === null ? "This table has no progressive" : words.title(mine.progressive));
  const shown = byId("shown");
  refresh(shown, mine && [mine.phase, view.progressive?.meter ?? mine.shown], () =>
    mine === null || mine.phase !== "open"
      ? []
      : [`${currency()} `, element("b", {}, told(view.progressive?.meter ?? mine.shown))],
  );
  put("phase", mine === null ? "" : PHASES[mine.phase]);
  refresh(byId("own-orders"), [mine?.phase, may("open_meter"), may("retire"), may("forget_table")], () => [
    ...(mine?.phase === "new"
      ? [
          button("Open the meter", () => openMeter(mine), {
            class: "go",
            disabled: !may("open_meter"),
            id: "open-meter",
          }),
        ]
      : []),
    ...(mine?.phase === "open"
      ? [button("Retire", () => retire(mine), { disabled: !may("retire"), id: "retire" })]
      : []),
    ...(may("forget_table") ? [button("Begin again with a table", forgetTable, { id: "forget-table" })] : []),
  ]);
  byId("adjusting").hidden = !session.orders.includes("adjust") || mine?.phase !== "open";
  byId("settings").hidden = mine?.phase !== "open";
  if (mine?.phase === "open") fillSettings(mine);
  for (const [form, order] of [
    ["adjust-form", "adjust"],
    ["settings-form", "change_settings"],
  ]) {
    one(`#${form} [type=submit]`, HTMLButtonElement).disabled = !may(order);
  }
}

/** @param {Own} mine */
function openMeter({ settings, advice }) {
  askOrder({
    order: "open_meter",
    view,
    text: `The meter starts at its seed of ${told(settings.seed)}, which the house puts up. Each wager then adds ${settings.contribution} to it and ${settings.reserve} to the reserve.`,
    parts: advice.map(advised),
    preview: meterThen,
  });
}

/** @param {Own} mine */
function retire(mine) {
  const meter = overview?.meters.find(({ progressive }) => progressive === mine.progressive);
  const nothing = decimal(0, currency()); // of a meter that has moved no money yet
  const { primary, reserve, overflow } = meter?.accounts ?? { primary: nothing, reserve: nothing, overflow: nothing };
  askOrder({
    order: "retire",
    view,
    text: `${primary} is taken off the meter, ${reserve} off the reserve and ${overflow} off the overflow. The progressive can never be opened again. This cannot be undone. The local rules decide where the money goes. Another executive must approve it.`,
    preview: () => [element("p", { class: "fault" }, "No round and no award is open: the progressive can be retired.")],
  });
}

/** For a linked table whose record was lost or restored; only an authority has them. */
function forgetTable() {
  const lost = element("input", { name: "table", autocomplete: "off", maxlength: 64 });
  askOrder({
    order: "forget_table",
    view,
    text: "The table's game at this meter ends: its wagers stay on the meter, and an award that is logged is booked. If players won an award that nobody had confirmed, take its amount off the meter by a manual adjustment. The meter then takes the next request of the table, from any record.",
    parts: [element("label", {}, "Table ", lost)],
    read: () => ({ table: lost.value.trim() }),
    preview: () => [],
  });
}

// --- the sheet's advice

/** @param {Advice} advice */
const advised = ({ text, sheet, loud }) =>
  element(
    "div",
    { class: loud ? "advice loud" : "advice" },
    element("p", {}, `${sentence(text)}.`),
    element("blockquote", {}, sheet),
  );

// --- manual adjustment: filled in on the page, reviewed in the dialog, which then knows if a second person must approve

/** @type {(form: HTMLFormElement, name: string) => HTMLInputElement | HTMLSelectElement} */
const field = (form, name) => /** @type {HTMLInputElement | HTMLSelectElement} */ (form.elements.namedItem(name));

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 * @param {string} missing
 */
function written(form, name, missing) {
  const text = field(form, name).value.trim();
  if (!text) throw new Error(missing);
  return text;
}

/** @type {Record<string, string>} */
const WAYS = {
  increase: "is added to the meter by the house",
  malfunction: "is taken off the meter for a documented malfunction",
  over_limit: "goes from the meter to the overflow",
  recovery_of_seed: "of seed money goes back to the house",
};

submitted(byId("adjust-form", HTMLFormElement), (form) => {
  const amount = readMoney(written(form, "amount", "Amount: say how much."), "Amount", currency());
  const reason = written(form, "reason", "Say why: the reason goes on the record.");
  const cause = field(form, "cause").value;
  const dialog = askOrder({
    order: "adjust",
    view,
    text: `${told(amount)} ${WAYS[cause]}. Reason: ${reason}`,
    read: () => ({ cause, amount, reason }),
    why: false,
    preview: meterThen,
  });
  dialog.addEventListener("close", clearIfDone(form));
});

/** @param {{ meter: number | null }} preview */
const meterThen = ({ meter }) => [
  element(
    "p",
    { class: "good" },
    meter === null ? "The amount that the meter shows does not change." : `The meter will show ${told(meter)}.`,
  ),
];

/**
 * Empty a form when its order was carried out.
 * @param {HTMLFormElement} form
 */
const clearIfDone = (form) => () => {
  if (byId("said").className === "done" && !byId("said").hidden) form.reset();
  loadOverview();
};

// --- settings

const ADVISED_ON = ["seed", "contribution", "reserve", "fixed_awards", "display_limit"];
const MONEY = ["seed", "display_limit", "approval_above", "executive_from"];
/** @type {string | null} */
let filled = null;

/** @typedef {Record<string, string | number | null>} Settings the settings in force, or some of them, by name */

/** @param {Settings[string]} setting */
const settingOf = (setting) => (typeof setting === "number" ? told(setting) : (setting ?? ""));

/**
 * The words of a field's label.
 * @param {HTMLInputElement | HTMLSelectElement} of
 */
const nameOf = (of) => of.labels?.[0].firstChild?.textContent?.trim() ?? of.name;

/**
 * A setting as its field has it for people.
 * @type {(of: HTMLInputElement | HTMLSelectElement, setting: Settings[string]) => string}
 */
function inWords(of, setting) {
  const text = settingOf(setting);
  const chosen = of instanceof HTMLSelectElement ? [...of.options].find(({ value }) => value === text) : undefined;
  return chosen?.text ?? (text || "none");
}

/** @param {Own} mine */
function fillSettings({ settings, procedure, advice }) {
  if (filled === JSON.stringify(settings)) return;
  filled = JSON.stringify(settings);
  const form = byId("settings-form", HTMLFormElement);
  for (const [name, now] of Object.entries(settings)) field(form, name).value = settingOf(now);
  for (const label of field(form, "executive_from").labels ?? []) label.hidden = procedure !== "nexus";
  byId("advice").replaceChildren(...advice.map(advised));
}

/**
 * @param {HTMLFormElement} form
 * @param {InForce} settings
 */
function changes(form, settings) {
  /** @type {Settings} */
  const found = {};
  for (const [name, now] of Object.entries(settings)) {
    const text = field(form, name).value.trim();
    const next = MONEY.includes(name)
      ? text === "" && name !== "seed"
        ? null
        : readMoney(text, nameOf(field(form, name)), currency())
      : text;
    if (next !== now) found[name] = next;
  }
  return found;
}

submitted(byId("settings-form", HTMLFormElement), async (form) => {
  const mine = own();
  const found = mine === null ? {} : changes(form, mine.settings);
  if (mine === null || Object.keys(found).length === 0) throw new Error("Nothing is changed.");
  const reason = written(form, "reason", "Say why: the reason goes on the record.");
  const asked = new URLSearchParams();
  for (const name of ADVISED_ON)
    if (found[name] !== undefined && found[name] !== null) asked.set(name, String(found[name]));
  /** @type {Answer<{ advice: Advice[] }>} */
  const answer = await ask("GET", `/api/progressive/advice?${asked}`);
  if (!answer.ok) throw new Error(reasonOf(answer));
  /** @type {Settings} */
  const before = { ...mine.settings };
  const dialog = askOrder({
    order: "change_settings",
    view,
    text: `The changes apply at once, but a new seed applies from the next meter on. Reason: ${reason}`,
    parts: [
      table(
        "What changes",
        ["Setting", "Now", "Then"],
        Object.entries(found).map(([name, next]) => [
          nameOf(field(form, name)),
          inWords(field(form, name), before[name]),
          inWords(field(form, name), next),
        ]),
      ),
      ...(answer.body.advice.length > 0
        ? [element("h3", {}, "What the sheet advises"), ...answer.body.advice.map(advised)]
        : [element("p", { class: "good" }, "The sheet does not advise against this.")]),
    ],
    read: () => ({ ...found, reason }),
    why: false,
  });
  dialog.addEventListener("close", () => {
    field(form, "reason").value = "";
    loadOverview();
  });
});

// --- awards

/** @type {(string | null)[]} */
const pages = [null]; // the start of each visited page

const newer = byId("newer", HTMLButtonElement);
const older = byId("older", HTMLButtonElement);

async function loadAwards() {
  const before = lastOf(pages) ?? null;
  /** @type {Awards | null} */
  const found = await get(`/awards${before === null ? "" : `?before=${before}`}`);
  if (found === null) return;
  newer.disabled = pages.length === 1;
  older.disabled = !found.more;
  older.value = String(lastOf(found.awards)?.input ?? "");
  refresh(byId("award-list"), [found, may("back_out"), overview?.slip_printer], () => [
    awardsTable(found.awards, words, { print: moneyBag, back: backOutKey }),
    ...nobodyWon(found.nobody_won, words),
  ]);
}

older.addEventListener("click", () => {
  pages.push(older.value);
  loadAwards();
});
newer.addEventListener("click", () => {
  pages.pop();
  loadAwards();
});

/**
 * The money bag: the win page on paper, and on a slip if there is a printer.
 * @param {Award} award
 */
function moneyBag(award) {
  const of = `of award ${award.number}`;
  const page = button("Print", () => printPage(award), { "aria-label": `Print the win page ${of}` });
  page.prepend(bag());
  const made = [page];
  if (overview?.slip_printer) made.push(button("Slip", () => printSlip(award), { "aria-label": `Print a slip ${of}` }));
  return made;
}

/** @param {Award} award */
function backOutKey(award) {
  if (award.state !== "booked" || award.progressive !== own()?.progressive) return [];
  const attributes = { disabled: !may("back_out"), "aria-label": `Back out award ${award.number}` };
  return [button("Back out", () => backOut(award), attributes)];
}

/** @param {Award} award */
async function printPage(award) {
  const tab = open("", "_blank"); // at once: later the browser would block it
  /** @type {Answer<Blob>} */
  const answer = await ask("POST", `/api/progressive/awards/${award.input}/win-page`);
  if (answer.ok) {
    (tab ?? globalThis).location.href = URL.createObjectURL(answer.body);
  } else {
    tab?.close();
    say(reasonOf(answer), true);
  }
  loadAwards();
}

/** @param {Award} award */
async function printSlip(award) {
  const answer = await ask("POST", `/api/progressive/awards/${award.input}/slip`);
  if (answer.ok) say("The slip is printed");
  else say(reasonOf(answer), true);
  loadAwards();
}

/** @param {Award} award */
function backOut(award) {
  const dialog = askOrder({
    order: "back_out",
    view,
    title: `Back out award ${award.number}`,
    text: `The amount of ${exact(award.amount).textContent} ${award.payer === "meter" ? "goes back on the meter" : "was paid from the tray, so the meter does not change"}. The award stays on the record as backed out. The house must recover what was paid. If a seed began the next meter, take it back by a separate adjustment.`,
    read: () => ({ award: award.number, progressive: award.progressive }),
    preview: meterThen,
  });
  dialog.addEventListener("close", loadAwards);
}

// --- day, week, reconciliation

/** @typedef {HTMLFormElement & { dataset: { of: Period } }} PeriodForm */

const forms = /** @type {PeriodForm[]} */ ([...document.querySelectorAll("form.when")]);
/** @param {HTMLFormElement} form */
const dayOf = (form) => /** @type {HTMLInputElement} */ (form.elements.namedItem("day"));

for (const form of forms) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    loadReport(form);
  });
  for (const key of form.querySelectorAll("[data-step]")) {
    const step = Number(key.getAttribute("data-step"));
    key.addEventListener("click", () => {
      const day = dayOf(form);
      if (day.value === "") return;
      setDay(day, daysLater(day.value, step));
      loadReport(form);
    });
  }
}

/** @param {PeriodForm} form */
async function loadReport(form) {
  const day = field(form, "day").value;
  if (!day) return;
  const path = `${form.dataset.of}/${day}`;
  for (const file of form.querySelectorAll("[data-form]"))
    file.setAttribute("href", `/api/progressive/${file.getAttribute("data-form")}/${path}`);
  if (form.dataset.of === "days")
    await drawReport("day", path, /** @param {Day} report */ (report) => dayReport(report, words));
  else if (form.dataset.of === "weeks")
    await drawReport("week", path, /** @param {Week} report */ (report) => weekReport(report, words.title));
  else {
    const drawn = /** @param {Reconciliation} report */ (report) => reconciliation(report, words.title);
    offerCount(await drawReport("reconcile", path, drawn));
  }
}

/**
 * @template {Day | Week | Reconciliation} Report
 * @param {string} name
 * @param {string} path
 * @param {(report: Report) => Node[]} draw
 */
async function drawReport(name, path, draw) {
  /** @type {Report | null} */
  const found = await get(`/${path}`);
  if (found !== null) refresh(byId(`${name}-report`), found, draw);
  return found;
}

/**
 * The form for the coins: the progressive that was played and still needs its count comes first.
 * @param {Reconciliation | null} found
 */
function offerCount(found) {
  if (found === null) return;
  const form = byId("coins-form", HTMLFormElement);
  const dropped = found.progressives.filter(({ coins }) => coins.taken !== null);
  form.hidden = !session.orders.includes("count_coins") || dropped.length === 0;
  one("[type=submit]", HTMLButtonElement, form).disabled = !may("count_coins");
  const waits = dropped.find(({ coins }) => !isZero(coins.taken ?? "") && coins.counted === null) ?? lastOf(dropped);
  refresh(field(form, "progressive"), [found.day, ...dropped.map(({ progressive }) => progressive)], ([, ...names]) =>
    names.map((name) => element("option", { value: name, selected: name === waits?.progressive }, words.title(name))),
  );
}

submitted(byId("coins-form", HTMLFormElement), (form) => {
  const when = /** @type {PeriodForm} */ (one('[data-of="reconciliations"]'));
  const day = field(when, "day").value;
  const amount = readMoney(written(form, "amount", "Amount: say what was counted."), "Amount", currency());
  const progressive = field(form, "progressive").value;
  const dialog = askOrder({
    order: "count_coins",
    view,
    text: `${told(amount)} was counted for ${words.title(progressive)} on the gaming day ${writtenDay(day)}. The count moves no money. If a day has several counts, the last one is used.`,
    read: () => ({ day, amount, progressive }),
  });
  dialog.addEventListener("close", () => {
    field(form, "amount").value = "";
    loadReport(when);
  });
});

// --- paper

for (const key of document.querySelectorAll("[data-print]")) key.addEventListener("click", () => print());
addEventListener("beforeprint", () => {
  const day = forms.find((form) => form.closest(`[data-part="${part}"]`));
  const shown = day === undefined ? "" : `${writtenDay(dayOf(day).value)}. `;
  put("printed", `${shown}Printed ${dayAndClock(new Date().toISOString())}`);
});

// --- parts

let part = "meters";

function openPart() {
  part = showPart().name;
  load();
}

async function load() {
  if (part === "meters" || overview === null) await loadOverview();
  if (part === "awards") await loadAwards();
  const form = forms.find((each) => each.closest(`[data-part="${part}"]`));
  if (form === undefined || overview === null) return;
  if (!dayOf(form).value) setDay(dayOf(form), overview.today);
  await loadReport(form);
}

addEventListener("hashchange", openPart);

/** @type {string | null} */
let known = null;
let reads = 0;

follow((latest) => {
  const first = view === undefined;
  view = latest;
  showTop(view, "Game Manager");
  const now = JSON.stringify([view.progressive, view.orders]);
  if (first) openPart();
  else if (now !== known) reads = 2; // the effect of an order is on the record a moment after the table has it
  if (reads > 0) {
    reads -= 1;
    load();
  } else if (part === "meters" && overview !== null) {
    showOwn();
  }
  known = now;
});
