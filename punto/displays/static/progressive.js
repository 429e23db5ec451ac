// The sign of one table's progressive. The server sends the table's messages; the page requests nothing else.

import { one } from "/shared/elements.js";
import { begin } from "./begin.js";
import { layOut, tablesOnShow } from "./layout.js";
import { follow } from "./link.js";
import { takeCare } from "./screen-care.js";
import { Sign } from "./sign.js";

begin((settings) => {
  const [table] = tablesOnShow();
  layOut(1, settings);
  const page = one("main");
  const sign = new Sign(table, settings, takeCare(page));
  page.replaceChildren(sign.element);
  follow(new Map([[table, sign]]), settings);
});
