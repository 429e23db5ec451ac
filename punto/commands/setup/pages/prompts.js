// What the setup waits for: a password, or that somebody has seen a secret. What is secret leaves the page with the answer.

import { t } from "/shared/catalogue.js";
import { button, byId, element, labelled, one, refresh, submitted, svg } from "/shared/elements.js";
import { post } from "./service.js";

/** @import { Prompt } from "#sent/setup" */

/**
 * Show the prompt, or none.
 * @param {Prompt | null} prompt
 */
export function showPrompt(prompt) {
  const box = byId("prompt");
  box.hidden = prompt === null;
  refresh(box, prompt?.number ?? null, () => (prompt === null ? [] : DRAWN[prompt.kind](prompt)));
  if (prompt !== null && !box.contains(document.activeElement)) one("input, button", HTMLElement, box).focus();
}

/**
 * Answer the prompt. Its part of the page is emptied at once, whatever becomes of the answer.
 * @param {Prompt} prompt
 * @param {string} text
 */
async function reply({ number }, text) {
  const box = byId("prompt");
  refresh(box, null, () => []);
  box.hidden = true;
  await post("/api/reply", { number, text });
}

/** @type {Record<Prompt["kind"], (prompt: Prompt) => (Node | string)[]>} */
const DRAWN = {
  password(prompt) {
    const [input, label] = labelled(t("password.of", { name: prompt.name }), { type: "password" });
    const form = element(
      "form",
      {},
      label,
      element("p", { class: "quiet" }, t("password.random")),
      element("p", { class: "fault", role: "alert" }),
      element("button", { type: "submit", class: "go" }, t("go_on")),
    );
    submitted(form, () => {
      const { value } = input;
      input.value = "";
      return reply(prompt, value);
    });
    return [form];
  },
  random_password: (prompt) => [
    element("h2", {}, t("password.of", { name: prompt.name })),
    element("p", {}, t("password.write_down")),
    element("p", { class: "secret" }, prompt.secret),
    element(
      "p",
      { class: "buttons" },
      button(t("password.written"), () => reply(prompt, ""), { class: "go" }),
    ),
  ],
  key: (prompt) => [
    element("h2", {}, t("key.of", { device: t(`device.${prompt.name}`) })),
    element("p", {}, t("key.how")),
    element(
      "div",
      { class: "key" },
      code(prompt.modules),
      element(
        "div",
        {},
        element("p", { class: "secret" }, prompt.secret.replace(/.{4}(?=.)/gu, "$& ")),
        element("ol", { class: "words", lang: "en" }, ...prompt.words.map((word) => element("li", {}, word))),
      ),
    ),
    element(
      "p",
      { class: "buttons" },
      button(t("key.there"), () => reply(prompt, ""), { class: "go" }),
    ),
  ],
  test: (prompt) => [
    element("h2", {}, t("test.wrong")),
    element("p", {}, t("test.how")),
    element(
      "p",
      { class: "buttons" },
      button(t("test.again"), () => reply(prompt, "again"), { class: "go" }),
      button(t("go_on"), () => reply(prompt, "")),
    ),
  ],
};

/**
 * The QR code of these modules, dark on light as scanners want it.
 * @param {boolean[][]} modules
 */
function code(modules) {
  const size = modules.length;
  const dark = modules.flatMap((row, y) => row.flatMap((module, x) => (module ? [`M${x} ${y}h1v1h-1z`] : [])));
  return svg(
    "svg",
    { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": t("key.code"), "shape-rendering": "crispEdges" },
    svg("rect", { width: size, height: size, fill: "#ffffff" }),
    svg("path", { d: dark.join(""), fill: "#000000" }),
  );
}
