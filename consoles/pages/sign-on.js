// Signing on: the page follows that was asked for, or else the one of whose roles it is.

import { byId, put } from "./elements.js";
import { ask, keepToken, reasonOf, session } from "./service.js";

const WHY = {
  "#ended": "Your session has ended: you were inactive too long, signed on elsewhere, or your account was changed. Sign on again.",
  "#signed-off": "You are signed off.",
};

// Whatever else is in the address, only these pages and their parts are gone to: anybody can make an address up.
const ASKED_FOR = /^\/(dealer|supervisor|game-manager)(#[\w/-]*)?$/;

function go({ roles }) {
  const to = new URLSearchParams(location.search).get("to") ?? "";
  const own = roles.every((role) => role === "dealer") ? "/dealer" : "/supervisor";
  location.replace(ASKED_FOR.test(to) ? to : own);
}

byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  put("fault", "");
  byId("go").disabled = true;
  const answer = await ask("POST", "/api/session", { name: byId("name").value.trim(), password: byId("password").value });
  byId("go").disabled = false;
  if (answer.status === 200) {
    keepToken(answer.body.csrf);
    go(answer.body);
    return;
  }
  put("fault", reasonOf(answer));
  byId("password").value = "";
  byId("password").focus();
});

if (location.hash in WHY) put("why", WHY[location.hash]);
const { status, body } = await session();
if (status === 200) go(body);
