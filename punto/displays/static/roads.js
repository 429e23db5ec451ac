// The five roads and the ask marks, from the scoreboard: this decides how a cell looks and how many columns fit,
// never its place or its meaning.

import { t } from "/shared/catalogue.js";
import { svg } from "/shared/elements.js";

/** @import { AskMarks, Bead, Color, DerivedCell, RoadCell } from "#sent/displays" */
/** @typedef {Partial<RoadCell & Bead & DerivedCell> & { row: number, col: number }} Cell a cell of any road */

const ROWS = 6;
const CELL = 10; // units of the drawings

/** @type {Record<string, (cell: any) => Node[]>} each takes the cells of its own road */
const MARKS = {
  bead_plate: bead,
  big_road: ring,
  big_eye_boy: ({ color }) => [derived("big_eye_boy", color)],
  small_road: ({ color }) => [derived("small_road", color)],
  cockroach_pig: ({ color }) => [derived("cockroach_pig", color)],
};

/**
 * Draw a road, by its cells on the scoreboard, with as many columns as fit into its `size`.
 * @param {HTMLElement} drawing
 * @param {string} road
 * @param {Cell[]} cells
 * @param {{ width: number, height: number }} size
 */
export function drawRoad(drawing, road, cells, size) {
  const room = size.height === 0 ? 1 : (size.width / size.height) * ROWS; // in columns; height 0 if a layout lacks this road
  const width = Math.max(1, Math.floor(room));
  const first = firstShownColumn(cells, width);
  const newest = cells[cells.length - 1];
  const mark = MARKS[road];
  // Columns share the remaining width, so that the grid fills its place and marks stay round.
  const pitch = CELL * Math.max(1, room / width);
  drawing.setAttribute("viewBox", `0 0 ${width * pitch} ${ROWS * CELL}`);
  drawing.dataset.columns = String(width);
  drawing.replaceChildren(
    gridOf(width, pitch),
    ...cells
      .filter(({ col }) => col >= first && col < first + width)
      .map((cell) =>
        svg(
          "g",
          {
            class: `cell ${cell.color ?? cell.winner ?? "waiting"}`,
            transform: `translate(${(cell.col - first + 0.5) * pitch - CELL / 2} ${cell.row * CELL})`,
            "data-row": cell.row,
            "data-col": cell.col,
          },
          ...(cell === newest
            ? [svg("rect", { class: "newest", x: (CELL - pitch) / 2, width: pitch, height: CELL })]
            : []),
          ...mark(cell),
          ...dots(cell),
        ),
      ),
  );
}

/**
 * Whole columns are dropped from the left so that the last fits, but the newest cell always stays.
 * @param {Cell[]} cells
 * @param {number} width
 */
function firstShownColumn(cells, width) {
  const newest = cells[cells.length - 1];
  if (newest === undefined) return 0;
  const last = Math.max(...cells.map(({ col }) => col));
  return Math.min(Math.max(0, last + 1 - width), newest.col);
}

/**
 * @param {number} width
 * @param {number} pitch
 */
function gridOf(width, pitch) {
  const across = Array.from({ length: ROWS + 1 }, (_, row) => `M0 ${row * CELL}H${width * pitch}`);
  const down = Array.from({ length: width + 1 }, (_, col) => `M${col * pitch} 0V${ROWS * CELL}`);
  return svg("path", { class: "grid-lines", d: [...across, ...down].join("") });
}

/** @param {Bead} cell */
function bead({ winner, natural }) {
  return [
    svg("circle", { class: natural ? "bead natural" : "bead", cx: 5, cy: 5, r: 4.15 }),
    svg("text", { class: "letter", x: 5, y: 5 }, t(`letter.${winner}`)),
  ];
}

/** @param {RoadCell} cell */
function ring({ winner, ties, natural }) {
  /** @type {Node[]} */
  const marks = winner === null ? [] : [svg("circle", { class: "ring", cx: 5, cy: 5, r: 3.65 })];
  if (natural) marks.push(svg("circle", { class: "inner", cx: 5, cy: 5, r: 2.35 }));
  if (ties > 0) marks.push(svg("path", { class: "ties", d: "M1.2 8.8 8.8 1.2" }));
  if (ties > 1) marks.push(svg("text", { class: "tie-count", x: 5, y: 5 }, ties));
  return marks;
}

/** @param {Cell} cell */
function dots({ banker_pair, player_pair }) {
  /** @type {(name: string, cx: number, cy: number) => Node} */
  const dot = (name, cx, cy) => svg("circle", { class: `dot ${name}`, cx, cy, r: 1.6 });
  return [
    ...(banker_pair ? [dot("banker-pair", 1.8, 1.8)] : []),
    ...(player_pair ? [dot("player-pair", 8.2, 8.2)] : []),
  ];
}

/**
 * A mark of a derived road in its 10 × 10 cell: a ring, a dot or a slash.
 * @param {string} road
 * @param {Color} color
 */
function derived(road, color) {
  if (road === "big_eye_boy") return svg("circle", { class: `mark hollow ${color}`, cx: 5, cy: 5, r: 3.85 });
  if (road === "small_road") return svg("circle", { class: `mark solid ${color}`, cx: 5, cy: 5, r: 4.65 });
  return svg("path", { class: `mark slash ${color}`, d: "M1.2 8.8 8.8 1.2" });
}

/**
 * The next cell of each derived road; the place of a missing one is left empty.
 * @param {AskMarks} marks
 */
export function askMarks(marks) {
  return Object.entries(marks).map(([road, color]) =>
    svg(
      "svg",
      {
        viewBox: "0 0 10 10",
        role: "img",
        "aria-label": `${t(`road.${road}`)}: ${color === null ? t("none") : t(`color.${color}`)}`,
        "data-road": road,
        "data-color": color ?? "none",
      },
      ...(color === null ? [] : [derived(road, color)]),
    ),
  );
}
