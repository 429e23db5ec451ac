// What the doctor finds about the table's PC, below the list of the devices, and the same as a file.

import { button, element, relabel, scrolling, table } from "/shared/elements.js";
import { t } from "./language.js";
import { read } from "./service.js";
import { dayAndClock } from "./words.js";

/** @import { Examination, Finding } from "#sent/consoles" */

const EXAMINES_MILLISECONDS = 310_000; // the service ends the doctor after 300 s
/** @type {Record<Finding["level"], "good" | "fault" | "quiet">} */
const CLASSES = { ok: "good", warning: "fault", wrong: "fault", "not checked": "quiet" };

/** The buttons, and the box for what is found. */
export function doctorsPart() {
  const box = element("div", { "aria-live": "polite" });
  const examine = button(
    t("doctor.examine"),
    async () => {
      examine.disabled = true;
      relabel(examine, t("doctor.examines"));
      /** @type {Examination | null} */
      const found = await read("/api/diagnostics", box, EXAMINES_MILLISECONDS);
      if (found !== null) box.replaceChildren(drawn(found));
      relabel(examine, t("doctor.examine"));
      examine.disabled = false;
    },
    { id: "examine" },
  );
  const file = element(
    "a",
    { id: "diagnostics", class: "button", href: "/api/diagnostics.json", download: true },
    t("doctor.save"),
  );
  return element("section", { class: "doctor" }, element("div", { class: "buttons" }, examine, file), box);
}

/** @param {Examination} found */
const drawn = ({ ts, findings }) =>
  scrolling(
    t("doctor.title"),
    table(
      `${t("doctor.title")} · ${dayAndClock(ts)}`,
      [t("doctor.check"), t("device.state"), t("what")],
      findings.map(({ check, level, what, how, command }) => [
        element("b", {}, t(`check.${check}`)),
        element("span", { class: CLASSES[level] }, t(`level.${level}`)),
        element(
          "span",
          { lang: "en" },
          `${what} · ${how}`,
          ...(command === null ? [] : [element("code", { class: "command" }, command)]),
        ),
      ]),
    ),
  );
