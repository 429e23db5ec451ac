// The start of a page: with the display's settings and its words, as soon as a server provides them.

import { speak } from "/shared/catalogue.js";
import { chosen } from "./layout.js";

const AGAIN_MILLISECONDS = 1000;

/**
 * Call `show` with the settings; retry until the server answers: the page may start before it, or outlive it.
 * @param {(settings: import("./layout.js").Settings) => void} show
 */
export async function begin(show) {
  try {
    const settings = await (await fetch("/settings.json")).json();
    await speak(chosen("lang", settings));
    show(settings);
  } catch (error) {
    // biome-ignore lint/suspicious/noConsole: a technician finds here why a screen does not begin
    console.warn(error);
    setTimeout(() => begin(show), AGAIN_MILLISECONDS);
  }
}
