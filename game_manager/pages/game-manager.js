// The Game Manager: five parts, one of them visible.

import { askOrder, say } from "/static/dialogs.js";
import { byId, button, element, put, refresh, submitted, svg, table } from "/static/elements.js";
import { ask, follow, goToSignOn, live, reasonOf } from "/static/service.js";
import { begin, pageLink, showTop } from "/static/top.js";
import { plain, sentence } from "/static/words.js";
import { exact, minor, read } from "./money.js";
import { dayReport, metersTable, reconciliation, verdict, weekReport } from "./reports.js";
import { dayAndClock, tellTimesBy } from "./times.js";

const READERS = ["supervisor", "executive", "auditor"];
const session = await begin(pageLink("Supervisor", "/supervisor"));
document.body.append(byId("said")); // at the foot of this page
if (!session.roles.some((role) => READERS.includes(role))) location.replace("/supervisor"); // which redirects dealers

let view;
let overview = null;

/** Request a report; a refusal is shown, and the result is null. */
async function get(path) {
  const answer = await ask("GET", `/api/progressive${path}`);
  if (answer.status === 401) goToSignOn("ended");
  if (answer.status === 200) return answer.body;
  say(reasonOf(answer), true);
  return null;
}

const may = (order) => live() && view.orders.includes(order);
const own = () => overview?.own ?? null;

// --- meters

async function loadOverview() {
  const found = await get("");
  if (found === null) return;
  overview = found;
  put("zone", `The house's clock: ${tellTimesBy(found.zone)}`);
  showOwn();
  refresh(byId("meter-list"), overview.meters, metersTable);
}

const PHASES = { new: "Not in service yet.", open: "In service.", retired: "Retired for good." };

function showOwn() {
  const mine = own();
  put("own-title", mine === null ? "This table has no progressive" : `${mine.title}, ${mine.progressive}`);
  const shown = byId("shown");
  refresh(shown, mine && [mine.phase, view.progressive?.meter ?? mine.shown], () =>
    mine === null || mine.phase !== "open" ? [] : [`${overview.currency} `, element("b", {}, minor(view.progressive?.meter ?? mine.shown))]);
  put("phase", mine === null ? "" : PHASES[mine.phase]);
  refresh(byId("own-orders"), [mine?.phase, may("open_meter"), may("retire")], () => [
    ...(mine?.phase === "new" ? [button("Open the meter", openMeter, { class: "go", disabled: !may("open_meter"), id: "open-meter" })] : []),
    ...(mine?.phase === "open" ? [button("Retire", retire, { disabled: !may("retire"), id: "retire" })] : []),
  ]);
  byId("adjusting").hidden = !session.roles.some((role) => role !== "auditor") || mine?.phase !== "open";
  byId("settings").hidden = mine?.phase !== "open";
  if (mine?.phase === "open") fillSettings(mine);
  for (const [form, order] of [["adjust-form", "adjust"], ["settings-form", "change_settings"]]) {
    byId(form).querySelector("[type=submit]").disabled = !may(order);
  }
}

function openMeter() {
  const { settings, advice } = own();
  askOrder({
    order: "open_meter",
    view,
    text: `The meter starts at its seed of ${minor(settings.seed)}, which the house puts up. Each wager then adds ${settings.contribution} to it and ${settings.reserve} to the reserve.`,
    parts: advice.map(advised),
    preview: ({ meter }) => [element("p", { class: "good" }, `The meter will show ${minor(meter ?? 0)}.`)],
  });
}

function retire() {
  const mine = overview.meters.find(({ progressive }) => progressive === own().progressive);
  const nothing = "0.00000000"; // of a meter that has moved no money yet
  const { primary, reserve, overflow } = mine?.accounts ?? { primary: nothing, reserve: nothing, overflow: nothing };
  askOrder({
    order: "retire",
    view,
    text: `The meter's ${primary}, the reserve's ${reserve} and the overflow's ${overflow} are taken off them, and the progressive is never opened again. This cannot be undone. The local rules decide where the money goes. Another executive must approve it.`,
    preview: () => [element("p", { class: "fault" }, "No round and no award is open: it can be retired.")],
  });
}

// --- the sheet's advice

const advised = ({ text, sheet, loud }) =>
  element("div", { class: loud ? "advice loud" : "advice" }, element("p", {}, `${sentence(text)}.`), element("blockquote", {}, sheet));

// --- manual adjustment: filled in on the page, reviewed in the dialog, which then knows if a second person must approve

const field = (form, name) => form.elements[name];

function written(form, name, missing) {
  const text = field(form, name).value.trim();
  if (!text) throw new Error(missing);
  return text;
}

const WAYS = { increase: "is added to the meter by the house", malfunction: "is taken off the meter for a documented malfunction", over_limit: "goes from the meter to the overflow", recovery_of_seed: "of seed money goes back to the house" };

submitted(byId("adjust-form"), (form) => {
  const amount = read(written(form, "amount", "Amount: say how much."), "Amount");
  const reason = written(form, "reason", "Say why: the reason goes on the record.");
  const cause = field(form, "cause").value;
  const dialog = askOrder({
    order: "adjust",
    view,
    text: `${minor(amount)} ${WAYS[cause]}. Reason: ${reason}`,
    read: () => ({ cause, amount, reason }),
    why: false,
    preview: ({ meter }) => [element("p", { class: "good" }, meter === null ? "The meter shows what it does now." : `The meter will show ${minor(meter)}.`)],
  });
  dialog.addEventListener("close", clearIfDone(form));
});

/** Empty a form when its order was carried out. */
const clearIfDone = (form) => () => {
  if (byId("said").className === "done" && !byId("said").hidden) form.reset();
  loadOverview();
};

// --- settings

const MONEY = ["seed", "display_limit", "approval_above", "executive_from"];
let filled = null;

function fillSettings({ settings, procedure, advice }) {
  if (filled === JSON.stringify(settings)) return;
  filled = JSON.stringify(settings);
  const form = byId("settings-form");
  for (const [name, now] of Object.entries(settings)) {
    field(form, name).value = now === null ? "" : MONEY.includes(name) ? minor(now) : now;
  }
  field(form, "executive_from").closest("label").hidden = procedure !== "nexus";
  byId("advice").replaceChildren(...advice.map(advised));
}

function changes(form) {
  const { settings } = own();
  const found = {};
  for (const [name, now] of Object.entries(settings)) {
    const text = field(form, name).value.trim();
    const next = !MONEY.includes(name) ? text : text === "" && name !== "seed" ? null : read(text, plain(name));
    if (next !== now) found[name] = next;
  }
  return found;
}

submitted(byId("settings-form"), async (form) => {
  const found = changes(form);
  if (Object.keys(found).length === 0) throw new Error("Nothing is changed.");
  const reason = written(form, "reason", "Say why: the reason goes on the record.");
  const asked = new URLSearchParams(Object.entries(found).filter(([name, next]) => next !== null && ["seed", "contribution", "reserve", "fixed_awards", "display_limit"].includes(name)));
  const answer = await ask("GET", `/api/progressive/advice?${asked}`);
  if (answer.status !== 200) {
    form.querySelector(".fault").textContent = reasonOf(answer);
    return;
  }
  const { settings } = own();
  const told = (name, setting) => (setting === null ? "none" : MONEY.includes(name) ? minor(setting) : setting);
  const dialog = askOrder({
    order: "change_settings",
    view,
    text: `Applies at once, a seed from the next meter on. Reason: ${reason}`,
    parts: [
      table("What changes", ["Setting", "Now", "Then"], Object.entries(found).map(([name, next]) => [plain(name), told(name, settings[name]), told(name, next)])),
      ...(answer.body.advice.length ? [element("h3", {}, "What the sheet advises"), ...answer.body.advice.map(advised)] : [verdict(true, "The sheet does not advise against this.")]),
    ],
    read: () => ({ ...found, reason }),
    why: false,
  });
  dialog.classList.add("tall");
  dialog.addEventListener("close", () => {
    field(form, "reason").value = "";
    loadOverview();
  });
});

// --- awards

const STATES = { locked: "Locked, not booked", booked: "Booked", backed_out: "Backed out" };
const pages = [null]; // the start of each visited page

async function loadAwards() {
  const before = pages.at(-1);
  const found = await get(`/awards${before === null ? "" : `?before=${before}`}`);
  if (found === null) return;
  byId("newer").disabled = pages.length === 1;
  byId("older").disabled = !found.more;
  byId("older").dataset.before = found.awards.at(-1)?.input ?? "";
  refresh(byId("award-list"), [found, may("back_out"), overview?.slip_printer], () => [awardsTable(found.awards), ...nobodyWon(found.nobody_won)]);
}

byId("older").addEventListener("click", () => {
  pages.push(byId("older").dataset.before);
  loadAwards();
});
byId("newer").addEventListener("click", () => {
  pages.pop();
  loadAwards();
});

function awardsTable(awards) {
  if (awards.length === 0) return element("p", { class: "quiet" }, "No award yet.");
  return table("", ["Award", "Tier", "Round", ">Meter", ">Amount", "Shares, as paid", "Confirmed", "State", "Win page"], awards.map((award) => [
    element("b", {}, `${award.progressive} ${award.number}`),
    plain(award.tier),
    `${award.round} at ${award.table}`,
    award.payer === "meter" ? exact(award.meter) : "",
    element("span", {}, element("b", {}, exact(award.amount)), ...(award.payer === "tray" ? [element("small", {}, "from the tray")] : [])),
    element("ul", {}, ...award.shares.map(({ seat, amount }) => element("li", {}, `Seat ${seat} `, exact(amount)))),
    element("span", {}, confirmedBy(award), element("small", {}, dayAndClock(award.locked))),
    stateOf(award),
    element("div", { class: "keys" }, ...moneyBag(award), ...printed(award)),
  ]));
}

const BY = { key: () => "key", card: (level) => `${level} card`, signature: (level) => `${level} signature`, dealer: () => "dealer alone" };
const confirmedBy = ({ who, by, level, confirmed_by: first }) => `${first ? `${first}, then ` : ""}${who}, ${BY[by](level)}`;

/** Games that ended with NOBODY WON, and those of them that were reopened. */
const nobodyWon = (games) => games.map((game) => element("p", {}, game.again
  ? `${dayAndClock(game.ts)}, game ${game.round} at ${game.table} opened again by ${game.who}, approved by ${game.approved_by}: ${game.reason}`
  : `${dayAndClock(game.ts)}, nobody won game ${game.round} at ${game.table} (${plain(game.tier)}, ${game.amount}), confirmed by ${confirmedBy(game)}: ${game.reason}`));

function stateOf({ state, booked, backed_out: back }) {
  const made = element("span", { class: `state ${state}` }, STATES[state]);
  if (back) made.append(element("small", {}, `${dayAndClock(back.ts)}, ${back.who}${back.approved_by ? `, approved by ${back.approved_by}` : ""}: ${back.reason}`));
  else if (booked) made.append(element("small", {}, dayAndClock(booked)));
  return made;
}

const bag = () => svg("svg", { viewBox: "0 0 24 24", class: "bag", "aria-hidden": true },
  svg("path", { d: "M8 2h8l-2 4h-4zM9 7h6c4 3 6 7 6 10 0 3-2 5-5 5H8c-3 0-5-2-5-5 0-3 2-7 6-10z" }));

/** The money bag: the win page on paper, and on a slip if there is a printer. */
function moneyBag(award) {
  const words = `of award ${award.number}`;
  const page = button("Print", () => printPage(award), { "aria-label": `Print the win page ${words}` });
  page.prepend(bag());
  const made = [page];
  if (overview?.slip_printer) made.push(button("Slip", () => printSlip(award), { "aria-label": `Print a slip ${words}` }));
  if (award.state === "booked" && award.progressive === own()?.progressive) made.push(button("Back out", () => backOut(award), { disabled: !may("back_out"), "aria-label": `Back out award ${award.number}` }));
  return made;
}

const printed = ({ prints }) => {
  const copies = prints.filter(({ original }) => !original).length;
  const original = prints.find((each) => each.original);
  const said = [original && `Printed ${dayAndClock(original.ts)}, ${original.who}`, copies && `Copies: ${copies}`].filter(Boolean);
  return said.map((text) => element("small", {}, text));
};

async function printPage(award) {
  const tab = open("", "_blank"); // at once: later the browser would block it
  const answer = await ask("POST", `/api/progressive/awards/${award.input}/win-page`);
  if (answer.status === 200) {
    (tab ?? window).location = URL.createObjectURL(answer.body);
  } else {
    tab?.close();
    say(reasonOf(answer), true);
  }
  loadAwards();
}

async function printSlip(award) {
  const answer = await ask("POST", `/api/progressive/awards/${award.input}/slip`);
  if (answer.status === 204) say("The slip is printed");
  else say(reasonOf(answer), true);
  loadAwards();
}

function backOut(award) {
  const units = Number(award.amount.replace(".", ""));
  const dialog = askOrder({
    order: "back_out",
    view,
    title: `Back out award ${award.number}`,
    text: `The amount of ${minor(units)} ${award.payer === "meter" ? "goes back on the meter" : "was the tray's: the meter stays as it is"}, and the award stays on the record as backed out. The house must recover what was paid. If a seed began the next meter, take it back by a separate adjustment.`,
    read: () => ({ award: award.number, progressive: award.progressive }),
    preview: ({ meter }) => [element("p", { class: "good" }, meter === null ? "The meter shows what it does now." : `The meter will show ${minor(meter)}.`)],
  });
  dialog.addEventListener("close", loadAwards);
}

// --- day, week, reconciliation

const REPORTS = { day: ["days", dayReport], week: ["weeks", weekReport], reconcile: ["reconciliations", reconciliation] };

for (const form of document.querySelectorAll("form.when")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    loadReport(form);
  });
  for (const key of form.querySelectorAll("[data-step]")) {
    key.addEventListener("click", () => {
      const day = new Date(`${field(form, "day").value}T00:00:00Z`);
      if (Number.isNaN(day.getTime())) return;
      day.setUTCDate(day.getUTCDate() + Number(key.dataset.step));
      field(form, "day").value = day.toISOString().slice(0, 10);
      loadReport(form);
    });
  }
}

async function loadReport(form) {
  const day = field(form, "day").value;
  if (!day) return;
  const name = form.closest("main").dataset.part;
  const [path, draw] = REPORTS[name];
  form.querySelector("[download]").href = `/api/progressive/csv/${path}/${day}`;
  const found = await get(`/${path}/${day}`);
  if (found === null) return;
  refresh(byId(`${name}-report`), found, draw);
  if (name === "reconcile") offerCount(found);
}

/** The form for the coins: the progressive that was played and still needs its count comes first. */
function offerCount({ day, progressives }) {
  const form = byId("coins-form");
  const dropped = progressives.filter(({ coins }) => coins.taken !== null);
  form.hidden = !session.roles.some((role) => role !== "auditor") || dropped.length === 0;
  form.querySelector("[type=submit]").disabled = !may("count_coins");
  const waits = dropped.find(({ coins }) => coins.taken !== "0.00" && coins.counted === null) ?? dropped.at(-1);
  refresh(field(form, "progressive"), [day, dropped.map(({ progressive }) => progressive)], ([, names]) =>
    names.map((name) => element("option", { value: name, selected: name === waits.progressive }, name)));
}

submitted(byId("coins-form"), (form) => {
  const when = document.querySelector('[data-of="reconciliations"]');
  const day = field(when, "day").value;
  const amount = read(written(form, "amount", "Amount: say what was counted."), "Amount");
  const progressive = field(form, "progressive").value;
  const dialog = askOrder({
    order: "count_coins",
    view,
    text: `${minor(amount)} was counted for the gaming day ${day}, of ${progressive}. It moves no money; the last count of a day is the one that counts.`,
    read: () => ({ day, amount, progressive }),
  });
  dialog.addEventListener("close", () => {
    field(form, "amount").value = "";
    loadReport(when);
  });
});

// --- parts

const KEYS = { F2: "meters", F4: "awards", F7: "day", F8: "week", F9: "reconcile" };
let part = null;

function showPart() {
  const links = [...document.querySelectorAll("#parts a")];
  part = links.some(({ hash }) => hash === location.hash) ? location.hash.slice(1) : "meters";
  for (const each of document.querySelectorAll("[data-part]")) each.hidden = each.dataset.part !== part;
  for (const each of links) {
    if (each.hash === `#${part}`) each.setAttribute("aria-current", "page");
    else each.removeAttribute("aria-current");
  }
  load();
}

async function load() {
  if (part === "meters" || overview === null) await loadOverview();
  if (part === "awards") await loadAwards();
  if (part in REPORTS && overview !== null) {
    const form = document.querySelector(`[data-part="${part}"] form.when`);
    if (!field(form, "day").value) field(form, "day").value = overview.today;
    await loadReport(form);
  }
}

addEventListener("hashchange", showPart);
document.addEventListener("keydown", (event) => {
  if (!(event.key in KEYS) || document.querySelector("dialog[open]") !== null) return;
  event.preventDefault();
  location.hash = KEYS[event.key];
});

let known = null;
let reads = 0;

follow((latest) => {
  const first = view === undefined;
  view = latest;
  showTop(view, "Game Manager");
  const now = JSON.stringify([view.progressive, view.orders]);
  if (first) showPart();
  else if (now !== known) reads = 2; // the effect of an order is on the record a moment after the table has it
  if (reads > 0) {
    reads -= 1;
    load();
  } else if (part === "meters" && overview !== null) {
    showOwn();
  }
  known = now;
});
