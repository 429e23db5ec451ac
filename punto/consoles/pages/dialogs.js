// Dialogs: what an order will do before it is given, the second person's approval, and why an order was refused.

import { openDialog } from "/shared/dialog.js";
import { button, byId, changed, element, faultOf, labelled } from "/shared/elements.js";
import { sentence } from "/shared/words.js";
import { labelOf, orderOf } from "./catalogue.js";
import { t, translated } from "./language.js";
import { addKey, approveByKey, keysHere } from "./security-keys.js";
import { ask, follow, goToSignOn, live, reasonOf, unfollow } from "./service.js";

/** @import { OrderAnswer, Preview, View } from "#sent/consoles" */
/** @import { Answer } from "./service.js" */
/** @typedef {Record<string, unknown>} Fields what an order takes, by name */

/**
 * Give an order at once; a refusal is shown. Returns whether it was accepted.
 * @param {string} order
 * @param {Fields} [fields]
 */
export async function give(order, fields = {}) {
  if (!live()) {
    say(t("not_live.say"), true);
    return false;
  }
  /** @type {Answer<OrderAnswer>} */
  const answer = await ask("POST", "/api/orders", { order, ...fields });
  if (answer.status === 401) goToSignOn("ended");
  const accepted = answer.ok && answer.body.accepted;
  if (!accepted) say(t("of_order", { order: labelOf(order), text: reasonOf(answer) }), true); // what was done is seen at the table
  return accepted;
}

/** @type {number | undefined} */
let hush;

/**
 * Say something at the foot of the page: what was done goes by itself, a refusal stays until it is put away.
 * @param {string} text
 * @param {boolean} [refused]
 */
export function say(text, refused = false) {
  const line = byId("said");
  clearTimeout(hush);
  byId("said-text").textContent = text;
  line.className = refused ? "refused" : "done";
  line.hidden = false;
  const away = () => {
    line.hidden = true;
  };
  if (!refused) hush = setTimeout(away, 4000);
}

export const DOUBLE_TAP_MILLISECONDS = 150; // the second half of a nervous double tap confirms nothing
const A_NAME = { autocapitalize: "none", spellcheck: "false" };
const NOT_LIVE = t("not_live.dialog");

/**
 * What a dialog asks and says before an order is given. The order can be confirmed only when the service has said what it
 * would do with just these fields, and whether a second person must approve it.
 * @typedef {object} Asked
 * @property {string} order
 * @property {View} view the table as the person sees it. When it has gone on to another hand, what means this hand is off
 * @property {string} [title]
 * @property {string} [text] what it comes to; its sentence, if there is no more to say
 * @property {Node[]} [parts] what the person fills in
 * @property {() => Fields} [read] gives the order's fields, or says what is missing by throwing an Error
 * @property {boolean} [why] whether a reason is asked for too
 * @property {string[]} [usual] the reasons to touch
 * @property {(preview: Preview) => Node[]} [preview] shows what the service says that the order would do
 * @property {string} [confirm]
 * @property {string} [cancel]
 * @property {((view: View) => unknown) | null} [about] what of a view the order is about, if it is off when that changes
 * @property {boolean} [signed] whether it is given in the name of whoever signs it here
 * @property {string} [path] where it goes, which takes the order's fields alone if it is not where orders go
 */

/**
 * Ask before an order is given.
 * @param {Asked} asked
 */
export function askOrder({
  order,
  view,
  title = labelOf(order),
  text = t("full_stop", { text: sentence(orderOf(order).sentence) }),
  parts = [],
  read = () => ({}),
  why = orderOf(order).fields.includes("reason"),
  usual = orderOf(order).usual,
  preview = () => [],
  confirm = title,
  cancel = t("cancel"),
  about = null,
  signed = false,
  path = "/api/orders",
}) {
  const previews = path === "/api/orders";
  const reason = why ? reasonField(usual) : null;
  const signature = signed ? person(SIGNATURE) : null;
  const second = element("p", { class: "hint second-needed" });
  const approval = person(APPROVAL);
  const people = signature === null ? [approval] : [signature, approval];
  const shown = element("div", { class: "preview", "aria-live": "polite" });
  const fault = element("p", { class: "fault", role: "alert" });
  const go = element("button", { type: "submit", class: "go" }, confirm);
  const signatures = element("div", { class: "signatures" }, second, ...(signature === null ? [] : [signature.node]));
  const form = element(
    "form",
    {},
    element("p", { class: "consequence" }, text),
    element("div", { class: "asked" }, ...parts, ...(reason === null ? [] : [reason.node])),
    shown,
    element(
      "div",
      { class: "foot" },
      signatures,
      element("div", { class: "faults" }, fault, element("p", { class: "fault not-live-line" }, NOT_LIVE)),
      element(
        "div",
        { class: "choices" },
        button(cancel, () => dialog.close(), { class: "cancel" }),
        go,
      ),
    ),
  );
  const dialog = openDialog(title, form, () => unfollow(watch));
  const opened = Date.now();
  if (form.querySelector(".picks") !== null) dialog.classList.add("wide");
  /** @type {string | null} */
  let previewed = null; // the fields of which the service has said what they would do, as JSON
  let asking = Promise.resolve();
  let turn = 0;
  let busy = false;
  let off = false;
  let { seq } = view;

  const fields = () => {
    try {
      return { ...read(), ...(reason === null ? {} : { reason: reason.read() }) };
    } catch (missing) {
      return faultOf(missing);
    }
  };
  /** @param {Fields | string} now */
  const stands = (now) => typeof now !== "string" && (!previews || previewed === JSON.stringify(now));
  const settle = () => {
    const unasked = [dialog, go].some((each) => each === document.activeElement); // there is nothing to fill in
    go.disabled = busy || off || !live() || !stands(fields());
    if (unasked) (go.disabled ? dialog : go).focus(); // so Enter gives the order, as soon as it can be given
  };
  const check = () => {
    asking = look();
  };

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: counted are the conditions of what is shown
  async function look() {
    const now = fields();
    turn += 1;
    const asked = turn;
    // What was said of just these fields stands until it is said anew, so that a press in between, which waits, is not lost.
    if (previewed !== JSON.stringify(now)) previewed = null;
    settle();
    if (typeof now === "string" || !previews) {
      shown.replaceChildren(...(typeof now === "string" ? [element("p", { class: "hint" }, now)] : []));
      return;
    }
    /** @type {Answer<Preview>} */
    const answer = await ask("POST", "/api/preview", { order, ...now });
    if (asked !== turn) return;
    const found = answer.ok ? answer.body : null;
    const needed = found?.second;
    second.textContent = needed
      ? `${t("full_stop", { text: translated(sentence(needed)) })} ${found.at_page ? AT_PAGE : AT_SESSION}`
      : "";
    if (!(needed && found.at_page)) approval.node.remove();
    else if (!approval.node.isConnected) signatures.append(approval.node);
    // Of cards that lie face down nothing is said beforehand, whatever the order.
    const possible = found !== null && (found.accepted || found.code === "not_revealed");
    previewed = possible ? JSON.stringify(now) : null;
    shown.replaceChildren(
      ...(found?.accepted ? preview(found) : [element("p", { class: possible ? "hint" : "fault" }, reasonOf(answer))]),
    );
    settle();
  }

  /** @param {View} latest */
  function watch(latest) {
    const same = latest.state.round === view.state.round && latest.state.shoe.number === view.state.shoe.number;
    const another = about !== null && JSON.stringify(about(latest)) !== JSON.stringify(about(view));
    if ((orderOf(order).of_this_hand && !same) || another) {
      off = true;
      fault.textContent = t("dialog.gone_on");
    } else if (previews && latest.seq !== seq) {
      check();
    }
    seq = latest.seq;
    settle();
  }

  form.addEventListener("input", check);
  // The key that opened the dialog confirms nothing by being held, nor by being pressed twice.
  go.addEventListener("keydown", (event) => {
    const early = event.repeat || Date.now() - opened < DOUBLE_TAP_MILLISECONDS;
    if (early && ["Enter", " "].includes(event.key)) event.preventDefault();
  });
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: every way in which an order can end, in one place
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const now = fields();
    if (go.disabled || typeof now === "string") return;
    busy = true;
    settle();
    const told = shown.textContent;
    /** @type {Promise<void> | undefined} */
    let waited;
    while (waited !== asking) {
      waited = asking;
      await waited;
    }
    if (off || !stands(now) || shown.textContent !== told) {
      busy = false;
      if (!off && stands(now)) fault.textContent = t("dialog.changed");
      settle();
      return;
    }
    const names = Object.fromEntries(
      people.filter(({ given }) => given()).map(({ field, read: sign }) => [field, sign()]),
    );
    /** @type {Answer<OrderAnswer>} */
    const answer = await ask("POST", path, { ...(previews ? { order } : {}), ...now, ...names });
    busy = false;
    if (answer.ok) {
      dialog.close();
      if (answer.body.waiting === null) say(t("of_order", { order: labelOf(order), text: t("order.done") }));
      else waitForApproval(order, answer.body.waiting);
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

const AT_SESSION = t("second.at_session");
const AT_PAGE = t("second.at_page");
const APPROVAL = {
  field: "approval",
  title: t("second.title"),
};
const SIGNATURE = {
  field: "by",
  title: t("signature.title"),
  hint: t("signature.hint"),
};

/**
 * Wait until a second person has approved or declined an order that was given here.
 * @param {string} order
 * @param {number} number
 */
async function waitForApproval(order, number) {
  const left = element("p", { role: "status" }, t("waiting.begun"));
  const take = () => ask("DELETE", `/api/approvals/${number}`);
  const dialog = openDialog(
    t("of_order", { order: labelOf(order), text: t("order.waiting") }),
    element(
      "div",
      { class: "reading" },
      element("p", {}, keysHere ? t("waiting.text_key") : t("waiting.text")),
      left,
      ...(keysHere ? [approvalByKey(number)] : []),
      element("div", { class: "choices" }, button(t("waiting.take_back"), take, { class: "cancel" })),
    ),
    () => unfollow(watch),
  );
  /** @param {View} view */
  function watch({ ts, waiting }) {
    if (now.ok && ts < now.body.ts) return; // a view from before the order
    const found = waiting.find((each) => each.number === number);
    if (found?.outcome === null) {
      left.textContent = found.being_given ? t("waiting.approved") : t("waiting.left", { seconds: found.seconds });
      return;
    }
    dialog.close();
    const text = found?.outcome ? translated(found.outcome) : t("waiting.nobody");
    say(t("of_order", { order: labelOf(order), text }), !found?.accepted);
  }
  /** @type {Answer<View>} */
  const now = await ask("GET", "/api/table");
  follow(watch);
}

/**
 * Where a second person approves an order with their security key.
 * @param {number} number
 */
function approvalByKey(number) {
  const [name, field] = labelled(t("name"), { name: "key-name", ...A_NAME, required: true });
  return keyForm({
    title: t("key.second"),
    field,
    label: t("key.approve"),
    act: () => approveByKey(number, name.value.trim()),
  });
}

/** Add a security key of whoever is signed on. */
export function askForKey() {
  const [password, field] = labelled(t("password"), { name: "key-password", type: "password", required: true });
  const form = keyForm({
    title: t("key.new"),
    field,
    label: t("key.add"),
    act: () => addKey(password.value),
    done: () => {
      dialog.close();
      say(t("key.added"));
    },
  });
  const dialog = show(t("key.add_title"), element("p", {}, t("key.text")), form);
}

/**
 * @typedef {object} KeyForm
 * @property {string} title
 * @property {Node} field
 * @property {string} label
 * @property {() => Promise<Answer<unknown>>} act
 * @property {() => void} [done]
 */

/** @param {KeyForm} asked */
function keyForm({ title, field, label, act, done }) {
  const fault = element("p", { class: "fault", role: "alert" });
  const go = element("button", { type: "submit", class: "go" }, label);
  const form = element(
    "form",
    {},
    element("fieldset", { class: "second" }, element("legend", {}, title), field, go),
    fault,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    fault.textContent = "";
    const answer = await act();
    go.disabled = false;
    if (answer.ok) done?.();
    else fault.textContent = reasonOf(answer);
  });
  return form;
}

/** @param {{ field: string, title: string, hint?: string }} asked */
function person({ field, title, hint = "" }) {
  const required = field === "by"; // a second person need not sign here
  const [name, itsName] = labelled(t("name"), { name: `${field}-name`, ...A_NAME, required });
  const [password, itsPassword] = labelled(t("password"), { name: `${field}-password`, type: "password", required });
  const node = element(
    "fieldset",
    { class: "second" },
    element("legend", {}, title),
    ...(hint === "" ? [] : [element("p", { class: "hint" }, hint)]),
    itsName,
    itsPassword,
  );
  node.addEventListener("input", (event) => event.stopPropagation()); // a signature changes nothing of the order
  const given = () => node.isConnected && name.value.trim() !== "";
  return { node, field, given, read: () => ({ name: name.value.trim(), password: password.value }) };
}

/**
 * An order's usual reasons to touch, and words of one's own; every one is on the record.
 * @param {string[]} usual
 */
function reasonField(usual) {
  const [words, field] = labelled(t("reason"), { name: "reason", maxlength: 200 });
  const keys = usual.map((text) =>
    button(
      text,
      () => {
        words.value = text;
        words.closest("dialog")?.focus(); // there is nothing more to fill in, so Enter gives the order
        changed(words);
      },
      { class: "usual" },
    ),
  );
  const node = element("div", { class: "reason" }, field, element("div", { class: "usuals" }, ...keys));
  const read = () => {
    if (!words.value.trim()) throw new Error(t("reason.missing"));
    return words.value.trim();
  };
  return { node, read };
}

/**
 * Show something that only wants reading.
 * @param {string} title
 * @param {...Node} content
 */
export function show(title, ...content) {
  const dialog = openDialog(
    title,
    element(
      "div",
      { class: "reading" },
      ...content,
      element(
        "div",
        { class: "choices" },
        button(t("close"), () => dialog.close(), { key: "Esc" }),
      ),
    ),
  );
  dialog.classList.add("wide");
  return dialog;
}
