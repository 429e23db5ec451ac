// The stream from the server: what each table's board or sign is given, and what all of them are told when it is lost.

import { keepOpen } from "/shared/stream.js";

/** @import { Board } from "./board.js" */
/** @import { Sign } from "./sign.js" */

const SILENT_MILLISECONDS = 6000; // three of the server's pings
const EVENTS = ["state", "scoreboard", "progressive", "live", "progressive_live"];
/** Why no table is live, as its code: the server's own are in punto/displays/board.py. */
const CODES = { ended: 31, silent: 31, "not shown": 32 };

/**
 * Keep the tables' boards or signs, by the tables' ids, up to date from now on.
 * After an upgrade of the server the page loads itself again, between two hands.
 * @param {Map<string, Board | Sign>} boards
 * @param {import("./layout.js").Settings} settings
 */
export function follow(boards, { made }) {
  const tables = [...boards.keys()];
  let outdated = false;
  keepOpen({
    address: `/events?tables=${tables.join()}`,
    names: ["ping", ...tables.flatMap((table) => EVENTS.map((name) => `${table}/${name}`))],
    silent: SILENT_MILLISECONDS,
    take(event, json) {
      const [table, name] = event.split("/");
      if (event === "ping") outdated = json !== made;
      else boards.get(table)?.show(name, json);
      if (outdated && ![...boards.values()].some(({ busy }) => busy)) location.reload();
    },
    lost(why) {
      for (const board of boards.values()) board.showLive({ milliseconds: 0, code: CODES[why] });
    },
  });
}
