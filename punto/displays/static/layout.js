// Which tables, how they share the screen, and in which theme: from the page's address, or else the display's settings.

/**
 * What the display is set to, and the names of the house and its tables by language; /settings.json.
 * @typedef {object} Settings
 * @property {string} layout
 * @property {string} theme
 * @property {string} lang
 * @property {Record<string, string>} names
 * @property {Record<string, Record<string, string>>} tables the tables' names in other languages, by the table's id
 * @property {string | null} logo
 * @property {{ address: string, film: boolean }[]} pictures
 * @property {number} picture_seconds
 * @property {string} made which files the server's pages are made of
 */

/** For each layout the designed size of one board in rem; type grows with the screen, roads get more columns. */
const DESIGNS = {
  landscape: [120, 67.5],
  portrait: [67.5, 120],
  roads: [120, 67.5],
  "roads portrait": [67.5, 120],
  strip: [120, 30],
  phone: [36, 0],
  split: [60, 67.5],
  wall: [60, 33.75],
  progressive: [120, 67.5],
  "progressive portrait": [67.5, 120],
};
const PHONE_PIXELS = 600; // a screen that is narrower is a phone

const query = new URLSearchParams(location.search);

/** The ids of the shown tables. */
export function tablesOnShow() {
  const [, tables, id] = location.pathname.split("/");
  return tables === "tables" ? [decodeURIComponent(id)] : (query.get("tables") ?? "").split(",");
}

/**
 * The value in the address, or else the configured one.
 * @param {"layout" | "theme" | "lang"} name
 * @param {Settings} settings
 */
export const chosen = (name, settings) => query.get(name) ?? settings[name];

/**
 * Lay out this many boards, now and whenever the screen changes.
 * @param {number} boards
 * @param {Settings} settings
 */
export function layOut(boards, settings) {
  const page = document.documentElement;
  page.dataset.theme = chosen("theme", settings);
  const arrange = () => {
    const { layout, columns, rows } = arrangement(boards, chosen("layout", settings));
    const [width, height] = DESIGNS[layout];
    page.dataset.layout = layout;
    page.style.setProperty("--columns", String(columns));
    page.style.setProperty("--rows", String(rows));
    page.style.fontSize = `${Math.min(innerWidth / columns / width, innerHeight / rows / height)}px`;
  };
  addEventListener("resize", arrange);
  arrange();
}

/**
 * @param {number} boards
 * @param {string} layout
 * @returns {{ layout: keyof typeof DESIGNS, columns: number, rows: number }}
 */
function arrangement(boards, layout) {
  const upright = innerHeight > innerWidth;
  if (location.pathname === "/split") return { layout: "split", columns: upright ? 1 : 2, rows: upright ? 2 : 1 };
  if (location.pathname === "/wall") return wall(boards);
  return { layout: ofOneBoard(layout, upright), columns: 1, rows: 1 };
}

/**
 * @param {string} layout
 * @param {boolean} upright
 * @returns {keyof typeof DESIGNS}
 */
function ofOneBoard(layout, upright) {
  if (location.pathname.endsWith("/progressive")) return upright ? "progressive portrait" : "progressive";
  if (innerWidth < PHONE_PIXELS) return "phone";
  if (layout === "roads") return upright ? "roads portrait" : "roads";
  if (innerWidth > 3 * innerHeight) return "strip";
  return upright || layout === "portrait" ? "portrait" : "landscape";
}

/**
 * The number of columns that makes each board largest.
 * @param {number} boards
 * @returns {ReturnType<typeof arrangement>}
 */
function wall(boards) {
  const [width, height] = DESIGNS.wall;
  /** @param {number} across */
  const size = (across) => Math.min(innerWidth / across / width, innerHeight / Math.ceil(boards / across) / height);
  let columns = 1;
  for (let more = 2; more <= boards; more += 1) if (size(more) > size(columns)) columns = more;
  return { layout: "wall", columns, rows: Math.ceil(boards / columns) };
}
