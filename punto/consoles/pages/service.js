// The console's service: the session, requests and their answers, and the stream that keeps the page up to date.

import { byId, element, put } from "/shared/elements.js";
import { givenUpAfter } from "/shared/newer.js";
import { keepOpen } from "/shared/stream.js";
import { csrf, keepToken, tokens } from "/shared/token.js";
import { sentence } from "/shared/words.js";
import { nameWagers, t } from "./language.js";

/** @import { Refusal, SignedOnAnswer, View } from "#sent/consoles" */

/**
 * An answer always has a status, 0 if none came, and a body: what was asked for (a Blob if it is a PDF), or why not.
 * @template Body
 * @typedef {{ ok: true, status: number, body: Body } | { ok: false, status: number, body: Partial<Refusal> | null }} Answer
 */
/** @typedef {Omit<SignedOnAnswer, "csrf">} Session */
/** @typedef {(view: View) => void} Watcher */

const STALE_MILLISECONDS = 2500; // a view comes every second, and a page says NOT LIVE within three
const AGAIN_MILLISECONDS = 1000;
const ANSWER_MILLISECONDS = 10_000;
const ACTIVITY_MILLISECONDS = 20_000;
const WARNING_SECONDS = 60;
const NO_SERVICE = t("no_service");

let idleSeconds = Number.POSITIVE_INFINITY;
let lastActive = Date.now(); // as the service knows it

/**
 * Ask the service.
 * @template [Body=unknown]
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {{ token?: string | null, patience?: number }} [how] the session's token, and the milliseconds until it is given up
 * @returns {Promise<Answer<Body>>}
 */
export async function ask(method, path, body, { token = csrf, patience = ANSWER_MILLISECONDS } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token !== null) headers["X-CSRF-Token"] = token;
  try {
    const answer = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: givenUpAfter(patience),
    });
    const { ok, status } = answer;
    const text = answer.headers.get("Content-Type") === "application/pdf" ? null : await answer.text();
    const found = text === null ? await answer.blob() : text === "" ? null : JSON.parse(text);
    if (method === "POST" && found?.code === "csrf") goToSignOn("ended"); // another has signed on in this browser
    return { ok, status, body: found };
  } catch {
    return {
      ok: false,
      status: 0,
      body: { reason: t("no_answer") },
    };
  }
}

/**
 * Read something; what was refused is shown in the box, and null comes back.
 * @template Body
 * @param {string} path
 * @param {Element} box
 * @param {number} [patience] milliseconds
 * @returns {Promise<Body | null>}
 */
export async function read(path, box, patience) {
  /** @type {Answer<Body>} */
  const answer = await ask("GET", path, undefined, { patience });
  if (answer.ok) return answer.body;
  box.replaceChildren(element("p", { class: "fault" }, reasonOf(answer)));
  return null;
}

/**
 * What a refusal says of itself, as a sentence.
 * @param {{ status: number, body: { reason?: string | null } | null }} answer
 */
export const reasonOf = ({ status, body }) => sentence(body?.reason || t("service_answered", { status }));

let leaving = false;

/**
 * Sign on, and come back to this page: but for who signed off, and at the dealer's page, where anybody may be next.
 * @param {"" | "ended" | "signed-off"} [why]
 */
export function goToSignOn(why = "") {
  if (leaving) return;
  leaving = true;
  const forAnybody = why === "signed-off" || (why && location.pathname === "/dealer");
  const back = forAnybody ? "" : `?to=${encodeURIComponent(location.pathname + location.hash)}`;
  location.replace(`/${back}${why && `#${why}`}`);
}

/**
 * The answer to who is signed on, if a page of this browser has the session's token; otherwise it is as if nobody were.
 * @returns {Promise<Answer<Session>>}
 */
export async function session() {
  for await (const token of tokens()) {
    /** @type {Answer<Session>} */
    const answer = await ask("GET", "/api/session", undefined, { token });
    if (answer.ok) keepToken(token);
    if (answer.status !== 403) return answer; // else the token was that of an earlier session
  }
  return { ok: false, status: 401, body: null };
}

/**
 * Who is signed on; goes to the sign-on page if nobody is, and then never comes back.
 * @returns {Promise<Session>}
 */
export async function whoIsThere() {
  while (true) {
    const answer = await session();
    if (answer.ok) {
      idleSeconds = answer.body.idle_seconds;
      return answer.body;
    }
    if (answer.status === 401) {
      goToSignOn();
      await Promise.race([]); // which never ends
    }
    put("not-live-reason", NO_SERVICE);
    await new Promise((go) => setTimeout(go, AGAIN_MILLISECONDS));
  }
}

/** @param {"ended" | "signed-off"} why */
export async function signOff(why) {
  if (leaving) return;
  leaving = true; // for this reason: the stream ends before the answer comes, and would name another
  const { status } = await ask("DELETE", "/api/session");
  leaving = false;
  if (status !== 0) goToSignOn(why);
}

// --- activity: somebody who works stays signed on, whatever the work is. What a page asks for by itself is no work, and
// the service cannot tell: so the page ends the session of somebody who is gone.

export function watchActivity() {
  lastActive = Date.now();
  for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, active, { capture: true });
  setInterval(() => {
    const left = Math.round(idleSeconds - (Date.now() - lastActive) / 1000);
    byId("idle").hidden = left > Math.min(WARNING_SECONDS, idleSeconds / 2);
    put("idle-seconds", Math.max(0, left));
    if (left <= 0) signOff("ended");
  }, 1000);
}

/** Somebody is at work: the service is told, every now and then. */
export async function active() {
  if (Date.now() - lastActive < ACTIVITY_MILLISECONDS) return;
  lastActive = Date.now();
  const { status } = await ask("GET", "/api/session");
  if (status === 401 || status === 403) goToSignOn("ended");
}

// --- the stream

const REASONS = {
  ended: NO_SERVICE,
  silent: t("silent"),
  "not shown": t("not_shown"),
};
let following = false;
/** @type {Watcher[]} */
let watchers = [];
/** @type {View | null} */
let latest = null;

/**
 * Call this with every view, from now on. The page is live while views come.
 * @param {Watcher} show
 */
export function follow(show) {
  watchers.push(show);
  if (!following) open();
  else if (latest !== null) show(latest);
}

/**
 * Stop calling this.
 * @param {Watcher} show
 */
export function unfollow(show) {
  watchers = watchers.filter((each) => each !== show);
}

export const live = () => document.body.classList.contains("live");

function open() {
  following = true;
  keepOpen({
    address: "/api/table/events",
    names: ["view"],
    silent: STALE_MILLISECONDS,
    take(_, json) {
      /** @type {View} */
      const view = JSON.parse(json);
      latest = view;
      nameWagers(view.state.wager_titles, view.short_titles);
      setLive(null);
      for (const show of watchers) show(view);
    },
    async lost(why) {
      setLive(REASONS[why]);
      for (const show of watchers) if (latest !== null) show(latest);
      const { status } = await ask("GET", "/api/table"); // which is no activity
      if (status === 401) goToSignOn("ended");
      return status !== 401;
    },
  });
}

/** @param {string | null} reason */
function setLive(reason) {
  if (reason !== null) put("not-live-reason", reason);
  document.body.classList.toggle("live", reason === null);
}
