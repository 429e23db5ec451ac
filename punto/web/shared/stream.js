// An event stream that is opened again whenever it ends, fails or falls silent.

const AGAIN_MILLISECONDS = 1000;

/**
 * What a page follows.
 * @typedef {object} Followed
 * @property {string} address
 * @property {string[]} names of the events that it takes
 * @property {number} silent so many milliseconds without an event, and the stream is dead
 * @property {(name: string, json: string) => void} take
 * @property {(why: "ended" | "silent" | "not shown") => unknown} lost
 *   false if the stream is not to be opened again: with it the page says that it is not live
 */

/**
 * Keep a stream open from now on.
 * @param {Followed} followed
 */
export function keepOpen(followed) {
  const { address, names, silent, take, lost } = followed;
  const stream = new EventSource(address);
  /** @type {number | undefined} */
  let timer;
  let heardOnce = false;

  function listen() {
    clearTimeout(timer);
    timer = setTimeout(() => end(heardOnce ? "silent" : "ended"), silent);
  }

  /** @param {Parameters<Followed["lost"]>[0]} why */
  async function end(why) {
    stream.close();
    clearTimeout(timer);
    let again = true;
    try {
      again = (await lost(why)) !== false;
    } finally {
      if (again) setTimeout(() => keepOpen(followed), AGAIN_MILLISECONDS);
    }
  }

  /** @param {MessageEvent<string>} event */
  function hear({ type, data }) {
    heardOnce = true;
    listen();
    try {
      take(type, data);
    } catch (error) {
      end("not shown");
      throw error;
    }
  }

  stream.onopen = listen;
  stream.onerror = () => end("ended");
  for (const name of names) stream.addEventListener(name, /** @type {EventListener} */ (hear));
  listen();
}
