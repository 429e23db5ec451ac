// Signing on: the page follows that was asked for, or else the one of whose roles it is.

import { byId, put } from "/shared/elements.js";
import { keepToken } from "/shared/token.js";
import { homePage, t, tableName } from "./language.js";
import { ask, reasonOf, session } from "./service.js";

/** @import { SignedOnAnswer } from "#sent/consoles" */
/** @import { Answer, Session } from "./service.js" */

/** @type {Record<string, string>} */
const WHY = {
  "#ended": t("session.ended"),
  "#signed-off": t("session.signed_off"),
};

// Whatever else is in the address, only these pages and their parts are gone to: anybody can make an address up.
const ASKED_FOR = homePage()
  ? /^\/\w*(\?[\w=&.%-]*)?(#[\w/-]*)?$/u
  : /^\/(dealer|supervisor|game-manager)(#[\w/-]*)?$/u;

/** @param {Session} session */
function go({ reads }) {
  const to = new URLSearchParams(location.search).get("to") ?? "";
  const own = homePage() || (reads.includes("inputs") ? "/supervisor" : "/dealer");
  location.replace(ASKED_FOR.test(to) ? to : own);
}

const name = byId("name", HTMLInputElement);
const password = byId("password", HTMLInputElement);
const button = byId("go", HTMLButtonElement);

byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  put("fault", "");
  button.disabled = true;
  /** @type {Answer<SignedOnAnswer>} */
  const answer = await ask("POST", "/api/session", {
    name: name.value.trim(),
    password: password.value,
  });
  button.disabled = false;
  if (answer.ok) {
    keepToken(answer.body.csrf);
    go(answer.body);
    return;
  }
  put("fault", reasonOf(answer));
  password.value = "";
  password.focus();
});

button.disabled = false; // until now its form would not have come here
put(homePage() ? "place" : "table-name", tableName());
if (location.hash in WHY) put("why", WHY[location.hash]);
session().then((signedOn) => {
  if (signedOn.ok) go(signedOn.body);
});
