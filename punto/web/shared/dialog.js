// A dialog over the page.

import { element } from "./elements.js";

/**
 * Open a dialog, which is gone when it is closed. Its first field has the focus, but never a button that cancels.
 * @param {string} title
 * @param {Node} content
 * @param {() => void} [closed]
 */
export function openDialog(title, content, closed) {
  const heading = element("h2", { id: `dialog-title-${document.querySelectorAll("dialog").length}` }, title);
  const dialog = element("dialog", { "aria-labelledby": heading.id, tabindex: -1 }, heading, content);
  dialog.addEventListener("close", () => {
    closed?.();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  if (document.activeElement?.classList.contains("cancel")) dialog.focus();
  return dialog;
}
