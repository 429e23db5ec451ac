// The i-Score of one table or of several. The server sends what the tables publish; the page draws it, and has the last
// word on whether it is live.

import { Board } from "./board.js";
import { speak } from "./catalogue.js";
import { chosen, layOut, tablesOnShow } from "./layout.js";
import { follow } from "./link.js";
import { takeCare } from "./screen-care.js";

const AGAIN_MILLISECONDS = 1000;

async function begin() {
  const settings = await (await fetch("/settings.json")).json();
  await speak(chosen("lang", settings)).catch(() => speak("en")); // an address may name a language that there is not
  const tables = tablesOnShow();
  layOut(tables.length, settings);
  const page = document.querySelector("main");
  const played = takeCare(page);
  const boards = new Map(tables.map((table) => [table, new Board(table, settings, played)]));
  page.replaceChildren(...[...boards.values()].map((board) => board.element));
  page.addEventListener("named", () => {
    const names = [...page.querySelectorAll(".table-name")].map((each) => each.textContent);
    document.title = `${names.filter((name) => name).join(", ")} i-Score`;
  });
  follow(boards);
}

/** Again and again until the server has answered: the page may be there before it, or outlive it. */
async function beginWhenTheServerIsThere() {
  try {
    await begin();
  } catch (error) {
    console.warn(error);
    setTimeout(beginWhenTheServerIsThere, AGAIN_MILLISECONDS);
  }
}

beginWhenTheServerIsThere();
