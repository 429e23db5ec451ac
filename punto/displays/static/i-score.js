// The i-Score of one table or of several. The server sends what the tables publish; the page draws it, and has the last
// word on whether it is live.

import { one } from "/shared/elements.js";
import { begin } from "./begin.js";
import { Board } from "./board.js";
import { layOut, tablesOnShow } from "./layout.js";
import { follow } from "./link.js";
import { takeCare } from "./screen-care.js";

begin((settings) => {
  const tables = tablesOnShow();
  layOut(tables.length, settings);
  const page = one("main");
  const played = takeCare(page);
  const boards = new Map(tables.map((table) => [table, new Board(table, settings, played)]));
  page.replaceChildren(...[...boards.values()].map((board) => board.element));
  page.addEventListener("named", () => {
    const names = [...page.querySelectorAll(".table-name")].map((each) => each.textContent);
    document.title = `${names.filter((name) => name).join(", ")} i-Score`;
  });
  follow(boards, settings);
});
