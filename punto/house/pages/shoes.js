// The shoes that favoured the players: which wagers, and since when.

import { element, scrolling, table } from "/shared/elements.js";
import { dayAndTime, writtenDay } from "/shared/words.js";
import { showReport } from "./day-report.js";

/** @import { FavouredWager, ShoeReport, ShoesReport } from "#sent/floor" */

const percent = new Intl.NumberFormat("en", { style: "percent", minimumFractionDigits: 2 });

/** @type {(report: ShoesReport, names: Map<string, string>) => Node[]} */
function drawn({ shoes }, names) {
  if (shoes.length === 0)
    return [
      element(
        "p",
        { class: "quiet" },
        "No shoe of these days had an alarm. Tables compute the edge only with [edge] in their configuration.",
      ),
    ];
  const caption = `${shoes.length} ${shoes.length === 1 ? "shoe" : "shoes"}`;
  return [
    element(
      "p",
      { class: "quiet note" },
      "The edge is what the house keeps of each unit staked on the next hand: below zero, the wager favours the players.",
    ),
    scrolling(
      caption,
      table(
        caption,
        ["Table", ">Shoe", "Wager", ">Edge", "First alarm", ">After hand", "Gaming day"],
        shoes.flatMap((shoe) => shoe.wagers.map((wager, at) => rowOf(shoe, wager, at === 0, names))),
      ),
    ),
  ];
}

/** @type {(shoe: ShoeReport, wager: FavouredWager, first: boolean, names: Map<string, string>) => (Node | string | number)[]} */
const rowOf = (shoe, { title, ts, coup, edge }, first, names) => [
  element(first ? "b" : "span", {}, names.get(shoe.table) ?? shoe.table),
  shoe.shoe,
  title,
  percent.format(edge),
  element("time", { datetime: ts }, dayAndTime(ts)),
  coup ?? "–",
  element("time", {}, writtenDay(shoe.day)),
];

showReport("shoes", drawn);
