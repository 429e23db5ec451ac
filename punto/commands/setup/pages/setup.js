// The page of `punto setup`: the questions, the work with what it waits for, and the end.

import { orElse, t } from "/shared/catalogue.js";
import { byId, element, put, refresh } from "/shared/elements.js";
import { firstFault, refill, showQuestions, texts } from "./fields.js";
import { showPrompt } from "./prompts.js";
import { begin, follow, forget, post, StrangerError } from "./service.js";

/** @import { Form, Progress } from "#sent/setup" */

const LANGUAGES = { en: "English", "zh-Hant": "繁體中文", "zh-Hans": "简体中文" };

/** @type {Progress["stage"] | null} */
let stage = null;

const language = byId("lang", HTMLSelectElement);
for (const [code, name] of Object.entries(LANGUAGES)) {
  language.append(
    element("option", { value: code, lang: code, selected: code === document.documentElement.lang }, name),
  );
}
language.addEventListener("change", () => {
  location.search = `?lang=${language.value}`;
});

let ended = false;

/** @param {Progress} progress */
function take(progress) {
  if (ended) return false;
  put("away", "");
  const { lines, prompt, rows } = progress;
  const working = progress.stage === "working";
  byId("questions").hidden = progress.stage !== "questions" || !progress.looked;
  byId("done").hidden = progress.stage !== "done";
  byId("work").hidden = lines.length === 0;
  put("failed", progress.fault);
  put("name", progress.name);
  if (progress.stage === "questions" && progress.looked) refill();
  if (!progress.looked) put("away", t("looking"));
  refresh(byId("lines"), lines, () => lines.map((line) => element("p", {}, line)));
  byId("lines").scrollTop = byId("lines").scrollHeight;
  showPrompt(working ? prompt : null);
  refresh(byId("rows"), rows, () => table(rows));
  if (stage !== progress.stage) scrollTo(0, 0);
  ({ stage } = progress);
  return true;
}

/**
 * What the page for the pit says; each address is a link.
 * @param {Record<string, string>} rows
 */
const table = (rows) =>
  element(
    "table",
    {},
    element(
      "tbody",
      {},
      ...Object.entries(rows).map(([name, text]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, orElse(`row.${name}`, name)),
          element("td", { lang: "en" }, text.startsWith("http") ? element("a", { href: text }, text) : text),
        ),
      ),
    ),
  );

byId("questions").addEventListener("submit", async (event) => {
  event.preventDefault();
  const go = byId("go", HTMLButtonElement);
  go.disabled = true;
  /** @type {Form} */
  const form = await post("/api/answers", { texts });
  go.disabled = false;
  showQuestions(form.questions);
  const faults = form.questions.some(({ fault }) => fault !== "");
  put("fault", faults ? t("faults") : "");
  const first = firstFault();
  if (first instanceof HTMLElement) first.focus();
});

byId("print").addEventListener("click", () => print());
byId("end").addEventListener("click", async () => {
  ended = true; // so the page does not say that the command is away
  for (const id of ["print", "end"]) byId(id, HTMLButtonElement).disabled = true;
  try {
    await post("/api/end");
  } finally {
    forget();
    put("away", t("over"));
  }
});

/** Whether to ask again. */
function lost() {
  if (!ended) put("away", t("away"));
  return !ended;
}

begin()
  .then(() => follow(take, lost))
  .catch((error) => {
    if (!(error instanceof StrangerError)) throw error;
    put("away", t("used"));
  });
