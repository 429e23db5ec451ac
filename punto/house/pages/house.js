// What the pages of the house have in common: requests, who is signed on, and the way to sign-on when nobody is.

import { byId, element, put, refresh } from "/shared/elements.js";
import { givenUpAfter } from "/shared/newer.js";
import { soundButton } from "/shared/sounds.js";
import { csrf, keepToken, tokens } from "/shared/token.js";
import { sentence, spaced } from "/shared/words.js";

/** @import { FloorView, Reader } from "#sent/floor" */

const ANSWER_MILLISECONDS = 60_000;

/** Why a page is not live. */
export const REASONS = {
  ended: "No connection to the Game Manager",
  silent: "The Game Manager has sent nothing for some seconds",
  "not shown": "This page cannot show what the Game Manager sent",
};

let leaving = false; // to sign-on, which says why

/** The service leads to sign-on, and sign-on leads back to this page. */
export const goToSignOn = () => leaving || location.reload();

/**
 * Ask the service; a refusal is an error, and without a session the page goes to sign-on.
 * @template Answer
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<Answer>}
 */
async function ask(path, init) {
  const answer = await fetch(path, { signal: givenUpAfter(ANSWER_MILLISECONDS), ...init });
  if (answer.status === 401) {
    goToSignOn();
    throw new Error("Your session has ended: sign on.");
  }
  const text = await answer.text();
  const body = text === "" ? null : JSON.parse(text);
  if (answer.ok) return body;
  throw new RefusedError(body?.code, body?.detail ?? body?.reason ?? `the service answered ${answer.status}`);
}

class RefusedError extends Error {
  /**
   * @param {string | undefined} code
   * @param {string} reason
   */
  constructor(code, reason) {
    super(`${sentence(reason)}.`);
    this.code = code;
  }
}

/**
 * Request JSON.
 * @template Answer
 * @param {string} path
 * @returns {Promise<Answer>}
 */
export const get = (path) => ask(path);

/**
 * Send what only this session's own page may send. Without the session's token, the person signs on again.
 * @param {"POST" | "DELETE"} method
 * @param {string} path
 * @param {unknown} [body]
 */
export async function send(method, path, body) {
  /** @param {unknown} error */
  const ofEarlierSession = (error) => {
    if (error instanceof RefusedError && error.code === "csrf") return false;
    throw error;
  };
  for await (const token of tokens()) {
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": token };
    const init = { method, headers, body: body === undefined ? undefined : JSON.stringify(body) };
    if (await ask(path, init).then(() => true, ofEarlierSession)) {
      if (token !== csrf) keepToken(token);
      return;
    }
  }
  location.assign(`/sign-on/?to=${encodeURIComponent(location.pathname + location.search)}`);
  throw new Error("Sign on again to do this.");
}

/** The names of the tables by their ids, as they are now. */
export async function names() {
  /** @type {FloorView} */
  const { tables } = await get("/api/floor");
  return new Map(tables.map(({ table, name }) => [table, name]));
}

/** Whether the session has not ended; if it has, the page goes to sign-on. */
export async function isSignedOn() {
  const answer = await fetch("/api/reader").catch(() => null);
  if (answer?.status !== 401) return true;
  goToSignOn();
  return false;
}

/** The kinds of incidents whose names in programs say little. @type {Record<string, string>} */
const KINDS = {
  unread: "Card not read",
  low_confidence: "Card read, not certain",
  call_supervisor: "Supervisor called",
  flood: "Too many requests",
};

/**
 * The kind of an incident in words. People at a table call a coup a hand.
 * @param {string} kind
 */
export const kindOf = (kind) => KINDS[kind] ?? sentence(spaced(kind).replace("coup", "hand"));

/**
 * Lines below the head that say what is away.
 * @param {[string, string][]} parts with a reason each, which is empty if all is well
 */
export function showFaults(parts) {
  refresh(
    byId("house-faults"),
    parts.filter(([, reason]) => reason),
    (faults) => faults.map(([part, reason]) => element("p", {}, `${part}: ${reason}`)),
  );
}

// --- who is signed on

/**
 * Who reads this page.
 * @type {Promise<Reader | null>}
 */
export const reader = get("/api/reader").catch(() => null);

byId("sign-off").addEventListener("click", async () => {
  leaving = true; // the streams end before the answer comes
  await send("DELETE", "/api/session").catch((error) => {
    leaving = false;
    throw error;
  });
  location.assign("/sign-on/#signed-off");
});

reader.then((found) => {
  if (found === null) return;
  const words = { on: "Sound is on", waiting: "Sound is off: touch the page once", muted: "Sound is muted" };
  if (document.body.classList.contains("floor")) byId("colours").before(soundButton(found.sounds, words));
  if (!found.name) return; // the pages ask nobody to sign on
  put("you", found.name);
  byId("you").hidden = false;
  byId("sign-off").hidden = false;
});
