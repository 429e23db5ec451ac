// The questions as fields. The command says of each text what is wrong with it, so no field decides anything.

import { orElse, t } from "/shared/catalogue.js";
import { arrange, button, byId, element, refresh } from "/shared/elements.js";
import { post } from "./service.js";

/** @import { Asked, Form, Row } from "#sent/setup" */

const NO_DEVICE = "none";
const OTHER = " "; // no option is a space

/**
 * What is given so far, by question; the command has the defaults of the rest.
 * @type {Record<string, string>}
 */
export const texts = {};

/** @type {Map<string, { box: HTMLElement, show: (asked: Asked) => void }>} */
const fields = new Map();

let asked = 0;

/** Ask for the questions with the texts so far, and show them; only the last answer counts. */
export async function refill() {
  asked += 1;
  const own = asked;
  /** @type {Form} */
  const { questions } = await post("/api/questions", { texts });
  if (own === asked) showQuestions(questions);
}

/**
 * @param {string} key
 * @param {string} text
 */
function give(key, text) {
  texts[key] = text;
  refill();
}

/**
 * Show the questions, and leave the field that has the focus as it is.
 * @param {Asked[]} questions
 */
export function showQuestions(questions) {
  for (const each of questions) {
    if (!fields.has(each.key)) fields.set(each.key, each.key === "devices" ? deviceField() : field(each));
    fields.get(each.key)?.show(each);
  }
  arrange(
    byId("fields"),
    [...fields.values()].map(({ box }) => box),
  );
}

/** The first field with a fault. */
export const firstFault = () => document.querySelector("[aria-invalid=true]");

/** @param {Asked} asked */
const label = ({ key, values }) =>
  t(`question.${key}`, { ...values, roles: (values.roles ?? "").split(" and ").map(role).join(t("comma")) });

/** @param {string} name */
const role = (name) => orElse(`role.${name}`, name);

/**
 * A field for a text, or for one of the options; if other texts are possible too, the last option opens a field for one.
 * @param {Asked} first
 */
function field(first) {
  const { key, options, free } = first;
  const id = `question-${key}`;
  const words = element("span");
  const fault = element("p", { class: "fault", id: `${id}-fault`, lang: "en" });
  const input = element("input", {
    id: options.length > 0 ? `${id}-other` : id,
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": fault.id,
  });
  const select = element("select", { id, "aria-describedby": fault.id });
  const other = element("label", {}, element("span", {}, t("other")), input);
  input.addEventListener("change", () => give(key, input.value));
  select.addEventListener("change", () => {
    other.hidden = select.value !== OTHER;
    if (other.hidden) give(key, select.value);
    else input.focus();
  });
  const box =
    options.length > 0
      ? element("div", { class: "field" }, element("label", {}, words, select), other, fault)
      : element("div", { class: "field" }, element("label", {}, words, input), fault);

  /** @param {Asked} now */
  function show(now) {
    words.textContent = label(now);
    fault.textContent = now.fault;
    const invalid = String(now.fault !== "");
    input.setAttribute("aria-invalid", invalid);
    select.setAttribute("aria-invalid", invalid);
    refresh(select, now.options, () => [
      ...now.options.map((each) => element("option", { value: each.value }, option(key, each))),
      ...(free ? [element("option", { value: OTHER }, t("other.choose"))] : []),
    ]);
    const known = now.options.some(({ value }) => value === now.text);
    if (document.activeElement !== select && document.activeElement !== input) {
      select.value = known ? now.text : OTHER;
      input.value = options.length > 0 && known ? "" : now.text;
      other.hidden = select.value !== OTHER;
    }
  }
  return { box, show };
}

/**
 * @param {string} key
 * @param {{ value: string, text: string }} option
 */
const option = (key, { value, text }) => orElse(`${key}.${value}`, text === "" ? value : text);

/** The devices, each with a choice of what it is. */
function deviceField() {
  const rows = element("div", { class: "rows" });
  const fault = element("p", { class: "fault", id: "question-devices-fault", lang: "en" });
  const path = element("input", { id: "other-device", autocomplete: "off", spellcheck: "false" });
  const add = button(t("device.add"), () => {
    if (path.value.trim() !== "") give("devices", typed(rows, `${path.value.trim()} shoe`));
    path.value = "";
  });
  const box = element(
    "fieldset",
    { class: "field" },
    element("legend", {}, t("question.devices")),
    element("p", { class: "quiet" }, t("devices.hint")),
    rows,
    element("div", { class: "other" }, element("label", {}, t("device.path"), path), add),
    fault,
    element(
      "p",
      { class: "buttons" },
      button(t("devices.again"), () => post("/api/look"), { id: "look" }),
    ),
  );

  /** @param {Asked} now */
  function show(now) {
    fault.textContent = now.fault;
    refresh(rows, now.rows, () => (now.rows.length > 0 ? now.rows.map(row) : [element("p", {}, t("devices.none"))]));
    for (const each of rows.querySelectorAll("select")) each.setAttribute("aria-invalid", String(now.fault !== ""));
  }

  /** @param {Row} shown */
  function row({ path: of, about, chosen, choices }) {
    const select = element(
      "select",
      { "aria-label": t("device.is", { path: of }), "data-path": of, "aria-describedby": fault.id },
      ...choices.map((each) => element("option", { value: each, selected: each === chosen }, t(`kind.${each}`))),
    );
    select.addEventListener("change", () => give("devices", typed(rows)));
    return element(
      "div",
      { class: "device" },
      element("b", {}, of),
      select,
      element("span", { class: "about", lang: "en" }, about),
    );
  }
  return { box, show };
}

/**
 * The devices as the command reads them.
 * @param {HTMLElement} rows
 * @param {...string} others
 */
function typed(rows, ...others) {
  const items = [...rows.querySelectorAll("select")]
    .filter(({ value }) => value !== "")
    .map(({ dataset, value }) => `${dataset.path} ${value}`);
  return [...items, ...others].join(", ") || NO_DEVICE;
}
