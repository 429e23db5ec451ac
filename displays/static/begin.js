// How a page begins: with the display's settings and its words, as soon as there is a server to give them.

import { speak } from "./catalogue.js";
import { chosen } from "./layout.js";

const AGAIN_MILLISECONDS = 1000;

/** Call `show` with the settings; again and again until the server has answered: the page may be there before it, or outlive it. */
export async function begin(show) {
  try {
    const settings = await (await fetch("/settings.json")).json();
    await speak(chosen("lang", settings)).catch(() => speak("en")); // an address may name a language that there is not
    show(settings);
  } catch (error) {
    console.warn(error);
    setTimeout(() => begin(show), AGAIN_MILLISECONDS);
  }
}
