// Orders of others that wait for a second person: approved or declined here, at one's own session.

import { button, element, facts, one, refresh } from "/shared/elements.js";
import { sentence } from "/shared/words.js";
import { say } from "./dialogs.js";
import { orElse, t, translated } from "./language.js";
import { ask, live, reasonOf } from "./service.js";
import { plain } from "./words.js";

/** @import { View } from "#sent/consoles" */

const box = element("section", {
  id: "waiting",
  "aria-label": t("section.waiting"),
  "aria-live": "polite",
  hidden: true,
});

/**
 * Draw them under the page's bar.
 * @param {View} view
 */
export function showWaiting({ waiting }) {
  if (!box.isConnected) one("header.bar").after(box);
  const mine = waiting.filter(({ may }) => may);
  box.hidden = mine.length === 0;
  refresh(box, [mine.map(({ number }) => number), live()], () =>
    mine.map(({ number, order, label, giver, why, fields }) =>
      element(
        "div",
        { class: "waits", "data-waiting": number },
        element(
          "p",
          {},
          element("strong", {}, t("of_order", { order: giver, text: orElse(`label.${order}`, label) })),
          " ",
          t("full_stop", { text: translated(sentence(why)) }),
        ),
        facts(Object.entries(fields).map(([name, value]) => [plain(name), value])),
        element(
          "div",
          { class: "decide" },
          button(t("decline"), () => decide("DELETE", number), { disabled: !live() }),
          button(t("approve"), () => decide("POST", number), { class: "go", disabled: !live() }),
        ),
      ),
    ),
  );
}

/**
 * @param {string} method
 * @param {number} number
 */
async function decide(method, number) {
  const answer = await ask(method, `/api/approvals/${number}`);
  if (!answer.ok) say(reasonOf(answer), true);
}
