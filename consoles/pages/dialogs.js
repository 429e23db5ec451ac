// Dialogs: what an order will do before it is given, the second person's approval, and why an order was refused.

import { byId, button, changed, element, labelled } from "./elements.js";
import { labelOf, orderOf } from "./catalogue.js";
import { addKey, approveByKey, keysHere } from "./security-keys.js";
import { sentence } from "./words.js";
import { ask, follow, goToSignOn, live, reasonOf, unfollow } from "./service.js";

/** Give an order at once; a refusal is shown. Returns whether it was accepted. */
export async function give(order, fields = {}) {
  if (!live()) {
    say("The page is not live: no order can be given.", true);
    return false;
  }
  const answer = await ask("POST", "/api/orders", { order, ...fields });
  if (answer.status === 401) goToSignOn("ended");
  const accepted = answer.status === 200 && answer.body.accepted;
  if (!accepted) say(`${labelOf(order)}: ${reasonOf(answer)}`, true); // what was done is seen at the table
  return accepted;
}

let hush;

/** Say something at the foot of the page: what was done goes by itself, a refusal stays until it is put away. */
export function say(text, refused = false) {
  const line = byId("said");
  clearTimeout(hush);
  byId("said-text").textContent = text;
  line.className = refused ? "refused" : "done";
  line.hidden = false;
  if (!refused) hush = setTimeout(() => { line.hidden = true; }, 4000);
}

const A_NAME = { autocapitalize: "none", spellcheck: "false" };
const NOT_LIVE = "NOT LIVE: no order can be given until the table is heard again.";

/**
 * Ask before an order is given.
 *
 * - `text`: what it comes to; its sentence, if there is no more to say.
 * - `parts`: what the person fills in; `read` gives the order's fields, or says what is missing by throwing an Error.
 * - `why`: whether a reason is asked for too.
 * - `preview`: the order can be confirmed only when the service has said what it would do with just these fields, and
 *   whether a second person must approve it; the answer is given to `preview`, which returns elements.
 * - `view`: the table as the person sees it. When it has gone on to another hand, what means this hand is off.
 * - `about`: what of a view the order is about, if it is off as soon as that is another.
 * - `signed`: whether it is given in the name of whoever signs it here.
 * - `path`: where it goes, which takes the order's fields alone if it is not where orders go.
 */
export function askOrder({ order, view, title = labelOf(order), text = `${sentence(orderOf(order).sentence)}.`, parts = [], read = () => ({}), why = orderOf(order).fields.includes("reason"), preview = () => [], confirm = title, about = null, signed = false, path = "/api/orders" }) {
  const previews = path === "/api/orders";
  const reason = why ? reasonField(order) : null;
  const signature = signed ? person(SIGNATURE) : null;
  const second = element("p", { class: "hint second-needed" });
  const approval = person(APPROVAL);
  const people = [signature, approval].filter(Boolean);
  const shown = element("div", { class: "preview", "aria-live": "polite" });
  const fault = element("p", { class: "fault", role: "alert" });
  const go = element("button", { type: "submit", class: "go" }, confirm);
  const form = element(
    "form",
    {},
    element("p", { class: "consequence" }, text),
    element("div", { class: "asked" }, ...parts, ...(why ? [reason.node] : [])),
    element("div", { class: "told" }, shown, second, ...(signature === null ? [] : [signature.node])),
    fault,
    element("p", { class: "fault not-live-line" }, NOT_LIVE),
    element("div", { class: "choices" }, button("Cancel", () => dialog.close(), { class: "cancel" }), go),
  );
  const dialog = open(title, form, () => unfollow(watch));
  if (form.querySelector(".picks") !== null) dialog.classList.add("wide");
  let previewed = null; // the fields of which the service has said what they would do, as JSON
  let asking = Promise.resolve();
  let turn = 0;
  let busy = false;
  let off = false;
  let { seq } = view;

  const fields = () => {
    try {
      return { ...read(), ...(why && { reason: reason.read() }) };
    } catch (missing) {
      return missing.message;
    }
  };
  const stands = (now) => typeof now !== "string" && (!previews || previewed === JSON.stringify(now));
  const settle = () => { go.disabled = busy || off || !live() || !stands(fields()); };
  const check = () => (asking = look());

  async function look() {
    const now = fields();
    const asked = ++turn;
    // What was said of just these fields stands until it is said anew, so that a press in between, which waits, is not lost.
    if (previewed !== JSON.stringify(now)) previewed = null;
    settle();
    if (typeof now === "string" || !previews) {
      shown.replaceChildren(...(typeof now === "string" ? [element("p", { class: "hint" }, now)] : []));
      return;
    }
    const answer = await ask("POST", "/api/preview", { order, ...now });
    if (asked !== turn) return;
    const { accepted, code, second: needed, at_page: atPage } = answer.body;
    second.textContent = needed ? `${sentence(needed)}. ${atPage ? AT_PAGE : AT_SESSION}` : "";
    if (!needed || !atPage) approval.node.remove();
    else if (!approval.node.isConnected) form.querySelector(".told").append(approval.node);
    // Of cards that lie face down nothing is said beforehand, whatever the order.
    const possible = answer.status === 200 && (accepted || code === "not_revealed");
    previewed = possible ? JSON.stringify(now) : null;
    shown.replaceChildren(...(possible && accepted ? preview(answer.body) : [element("p", { class: possible ? "hint" : "fault" }, reasonOf(answer))]));
    settle();
  }

  function watch(latest) {
    const same = latest.state.round === view.state.round && latest.state.shoe.number === view.state.shoe.number;
    const another = about !== null && JSON.stringify(about(latest)) !== JSON.stringify(about(view));
    if ((orderOf(order)?.of_this_hand && !same) || another) {
      off = true;
      fault.textContent = "The table has gone on since. Cancel, and begin again if it is still to be done.";
    } else if (previews && latest.seq !== seq) {
      check();
    }
    seq = latest.seq;
    settle();
  }

  form.addEventListener("input", check);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const now = fields();
    if (go.disabled || typeof now === "string") return;
    busy = true;
    settle();
    const told = shown.textContent;
    for (let waited; waited !== asking; await waited) waited = asking;
    if (off || !stands(now) || shown.textContent !== told) {
      busy = false;
      if (!off && stands(now)) fault.textContent = "What this would do has changed. Look at it, and confirm it again.";
      settle();
      return;
    }
    const names = Object.fromEntries(people.filter(({ given }) => given()).map(({ field, read: sign }) => [field, sign()]));
    const answer = await ask("POST", path, { ...(previews ? { order } : {}), ...now, ...names });
    busy = false;
    if (answer.status === 202) {
      dialog.close();
      waitForApproval(order, answer.body.waiting);
    } else if (answer.status === 200 && answer.body.accepted) {
      dialog.close();
      say(`${labelOf(order)}: done`);
    } else if (answer.status === 401 && Object.keys(names).length === 0) {
      goToSignOn("ended");
    } else {
      fault.textContent = reasonOf(answer);
      settle();
    }
  });
  follow(watch);
  check();
  return dialog;
}

const AT_SESSION = "A second person approves it at a session of their own, on any page of this table.";
const AT_PAGE = "A second person approves it at a session of their own, or signs below.";
const APPROVAL = {
  field: "approval",
  title: "Second person's approval",
  hint: "Or the second person signs here, with their own name and password.",
};
const SIGNATURE = {
  field: "by",
  title: "Supervisor's signature",
  hint: "A supervisor gives this order here, with their own name and password. It is on the record in their name.",
};

/** Wait until a second person has approved or declined an order that was given here. */
async function waitForApproval(order, number) {
  const left = element("p", { role: "status" }, "Waiting for a second person.");
  const take = () => ask("DELETE", `/api/approvals/${number}`);
  const dialog = open(`${labelOf(order)}: waiting`, element("div", { class: "reading" },
    element("p", {}, `Nothing has happened yet. A second person approves this order at a session of their own${keysHere ? ", or here with their security key" : ""}.`),
    left,
    ...(keysHere ? [approvalByKey(number)] : []),
    element("div", { class: "choices" }, button("Take the order back", take, { class: "cancel" }))), () => unfollow(watch));
  function watch({ ts, waiting }) {
    if (ts < now.ts) return; // a view from before the order
    const found = waiting.find((each) => each.number === number);
    if (found?.outcome === null) {
      left.textContent = found.being_given ? "Approved: it is being carried out." : `Waiting for a second person: ${found.seconds} s left.`;
      return;
    }
    dialog.close();
    say(`${labelOf(order)}: ${found?.outcome ?? "nobody approved it in time"}`, !found?.accepted);
  }
  const { body: now } = await ask("GET", "/api/table");
  follow(watch);
}

/** Where a second person approves an order with their security key. */
function approvalByKey(number) {
  const [name, field] = labelled("Name", { name: "key-name", ...A_NAME, required: true });
  return keyForm({
    title: "Second person's security key",
    field,
    label: "Approve with a security key",
    act: () => approveByKey(number, name.value.trim()),
  });
}

/** Add a security key of whoever is signed on. */
export function askForKey() {
  const [password, field] = labelled("Password", { name: "key-password", type: "password", required: true });
  const form = keyForm({
    title: "Your new key",
    field,
    label: "Add the key",
    act: () => addKey(password.value),
    done: () => {
      dialog.close();
      say("Your security key is added.");
    },
  });
  const dialog = show("Add a security key", element("p", {}, "With it you approve orders at other people's pages. Give your password again, then use the key when the browser asks for it."), form);
}

function keyForm({ title, field, label, act, done = () => {} }) {
  const fault = element("p", { class: "fault", role: "alert" });
  const go = element("button", { type: "submit", class: "go" }, label);
  const form = element("form", {}, element("fieldset", { class: "second" }, element("legend", {}, title), field, go), fault);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    fault.textContent = "";
    const answer = await act();
    go.disabled = false;
    if (answer.status === 200 || answer.status === 204) done();
    else fault.textContent = reasonOf(answer);
  });
  return form;
}

function person({ field, title, hint }) {
  const required = field === "by"; // a second person need not sign here
  const [name, itsName] = labelled("Name", { name: `${field}-name`, ...A_NAME, required });
  const [password, itsPassword] = labelled("Password", { name: `${field}-password`, type: "password", required });
  const node = element("fieldset", { class: "second" }, element("legend", {}, title), element("p", { class: "hint" }, hint), itsName, itsPassword);
  node.addEventListener("input", (event) => event.stopPropagation()); // a signature changes nothing of the order
  const given = () => node.isConnected && name.value.trim() !== "";
  return { node, field, given, read: () => ({ name: name.value.trim(), password: password.value }) };
}

/** An order's usual reasons to touch, and words of one's own; every one is on the record. */
function reasonField(order) {
  const [words, field] = labelled("Reason", { name: "reason", maxlength: 200 });
  const keys = orderOf(order).usual.map((text) =>
    button(text, () => {
      words.value = text;
      changed(words);
    }, { class: "usual" }),
  );
  const node = element("div", { class: "reason" }, field, element("div", { class: "usuals" }, ...keys));
  const read = () => {
    if (!words.value.trim()) throw new Error("Say why: the reason goes on the record.");
    return words.value.trim();
  };
  return { node, read };
}

/** Show something that only wants reading. */
export function show(title, ...content) {
  const dialog = open(title, element("div", { class: "reading" }, ...content, element("div", { class: "choices" }, button("Close", () => dialog.close(), { key: "Esc" }))));
  dialog.classList.add("wide");
  return dialog;
}

function open(title, content, closed = () => {}) {
  const heading = element("h2", { id: `dialog-title-${document.querySelectorAll("dialog").length}` }, title);
  const dialog = element("dialog", { "aria-labelledby": heading.id }, heading, content);
  dialog.addEventListener("close", () => {
    closed();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
