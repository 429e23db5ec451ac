// The rounds on the record, and any one of them with everything that made it.

import { titled } from "/shared/catalogue.js";
import { button, byId, element, scrolling, table } from "/shared/elements.js";
import { moneyIn } from "/shared/money.js";
import { lastOf } from "/shared/newer.js";
import { clock } from "/shared/words.js";
import { t } from "./language.js";
import { changeWords, wholeRound } from "./rounds.js";
import { ask, read, reasonOf } from "./service.js";
import { dayAndClock, handOf, headline, hourAndMinute, plain } from "./words.js";

/** @import { Entry, Input, PastRound, RoundInputs, Rounds, View } from "#sent/consoles" */

const AT_ONCE = 20;
/** @type {View} */
let view;
/** @type {number | null} */
let fetched = null; // the coming round when the list was fetched

byId("find-round").addEventListener("submit", (event) => {
  event.preventDefault();
  const number = byId("round-number", HTMLInputElement).value.trim();
  if (/^\d+$/u.test(number)) location.hash = `hands/${number}`;
});

/**
 * @param {View} latest
 * @param {{ opened: boolean, which?: string }} how
 */
export function showHandList(latest, { opened, which }) {
  view = latest;
  if (opened && which) showRound(Number(which));
  if (view.state.round !== fetched) {
    fetched = view.state.round;
    shoe = null;
    byId("hand-list").replaceChildren();
    addHands(null);
  }
}

/** @param {number | null} before */
async function addHands(before) {
  const asked = fetched;
  /** @type {import("./service.js").Answer<Rounds>} */
  const answer = await ask("GET", `/api/rounds?limit=${AT_ONCE}${before === null ? "" : `&before=${before}`}`);
  if (asked !== fetched) return; // the list has begun anew since
  const list = byId("hand-list");
  list.querySelector(".older")?.remove();
  if (!answer.ok) {
    if (answer.status === 0) fetched = null; // with the next view again
    list.append(element("p", { class: "fault" }, reasonOf(answer)));
    return;
  }
  const { rounds, more } = answer.body;
  if (before === null && rounds.length === 0) list.append(element("p", { class: "quiet" }, t("no_hand_yet")));
  for (const each of rounds) list.append(...rowOf(each));
  const last = lastOf(rounds);
  if (more && last) list.append(button(t("older"), () => addHands(last.round.round), { class: "older" }));
}

/** @type {number | null} */
let shoe = null; // of the last row

/**
 * A row of the list, below the number of its shoe where another one begins.
 * @param {PastRound} past
 */
function rowOf({ ts, round, entries }) {
  const begins = round.shoe !== shoe;
  shoe = round.shoe;
  const change = lastOf(entries);
  return [
    ...(begins ? [element("h3", {}, t("shoe.numbered", { shoe }))] : []),
    element(
      "a",
      { class: `past ${round.winner ?? "void"}`, href: `#hands/${round.round}` },
      element("b", {}, handOf(round)),
      element("span", {}, headline(round)),
      ...(change === undefined ? [] : [markOf(change)]),
      element("time", {}, hourAndMinute(ts)),
    ),
  ];
}

/** @param {Entry} change */
const markOf = (change) =>
  element(
    "em",
    {},
    element("span", { class: "unseen" }, changeWords(change)),
    element("span", { "aria-hidden": true }, change.round.winner === null ? t("letter.void") : t("letter.correction")),
  );

/** @param {number} number */
async function showRound(number) {
  const box = byId("hand-shown");
  /** @type {RoundInputs | null} */
  const found = await read(`/api/rounds/${number}`, box);
  if (found === null) return;
  const { inputs, earlier, ts, title, titles } = found;
  box.replaceChildren(
    wholeRound(found, view.state),
    element("p", { class: "quiet" }, [dayAndClock(ts), titled(titles, title)].join(t("comma"))),
    ...(earlier > 0 ? [element("p", { class: "quiet" }, t("earlier_events", { shown: inputs.length, earlier }))] : []),
    scrolling(
      t("events"),
      table(
        t("events"),
        [t("number"), t("time"), t("from"), t("what")],
        inputs.map(({ seq, ts: when, source, event }) => [String(seq), clock(when), source, inWords(event)]),
      ),
    ),
  );
  box.focus({ preventScroll: true });
  const { top } = box.getBoundingClientRect();
  if (top < 0 || top > innerHeight / 2) box.scrollIntoView();
}

/**
 * An event of the record: what it is and whatever else it says.
 * @param {Input["event"]} event
 */
function inWords({ kind, ...rest }) {
  const money = moneyIn(view.state.currency);
  /** @type {(name: string, value: unknown) => unknown} */
  const words = (name, value) =>
    name === "amount" ? money(Number(value)) : typeof value === "object" ? JSON.stringify(value) : value;
  const said = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${plain(name)} ${words(name, value)}`);
  return said.length === 0
    ? plain(String(kind))
    : t("of_order", { order: plain(String(kind)), text: said.join(t("comma")) });
}
