// The stream from the server: opened, and reopened whenever it ends, fails or falls silent.

const SILENT_MILLISECONDS = 6000; // three of the server's pings: a stream without data for this long is dead
const AGAIN_MILLISECONDS = 1000;
const NO_STREAM = "No connection to the display's server";
const NOT_SHOWN = "This page cannot show what the table published";

let stream;
let timer;

/** Keep the tables' boards or signs, by the tables' ids, up to date from now on. */
export function follow(boards) {
  stream?.close();
  stream = new EventSource(`/events?tables=${[...boards.keys()].join()}`);
  stream.onopen = () => heard(boards);
  stream.onerror = () => lost(boards, NO_STREAM);
  stream.addEventListener("ping", () => heard(boards));
  for (const [table, board] of boards) {
    for (const name of ["state", "scoreboard", "progressive", "live", "progressive_live"]) {
      stream.addEventListener(`${table}/${name}`, (event) => {
        heard(boards);
        try {
          board.show(name, event.data);
        } catch (error) {
          lost(boards, NOT_SHOWN);
          throw error;
        }
      });
    }
  }
  heard(boards);
}

function heard(boards) {
  clearTimeout(timer);
  timer = setTimeout(() => lost(boards, NO_STREAM), SILENT_MILLISECONDS);
}

function lost(boards, reason) {
  stream.close();
  for (const board of boards.values()) board.showLive({ milliseconds: 0, reason });
  clearTimeout(timer);
  timer = setTimeout(() => follow(boards), AGAIN_MILLISECONDS);
}
