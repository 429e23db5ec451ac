// The sounds of pages: a call, an alarm and an award. The browser makes them itself, and only after the page was touched once.

import { element, svg } from "./elements.js";

/** @typedef {"call" | "alarm" | "award"} Sound */
/** @typedef {"on" | "waiting" | "muted"} Hearing whether sounds are heard, wait for a touch, or are off at this browser */

/** @type {Record<Sound, { wave: OscillatorType, tones: [hertz: number, from: number, seconds: number][] }>} */
const SOUNDS = {
  call: {
    wave: "sine", // a bell: high, low
    tones: [
      [880, 0, 0.35],
      [659, 0.3, 0.5],
    ],
  },
  alarm: {
    wave: "triangle", // three knocks on one tone
    tones: [
      [440, 0, 0.12],
      [440, 0.2, 0.12],
      [440, 0.4, 0.2],
    ],
  },
  award: {
    wave: "sine", // a chord that rises
    tones: [
      [523, 0, 0.2],
      [659, 0.12, 0.2],
      [784, 0.24, 0.2],
      [1047, 0.36, 0.5],
    ],
  },
};
/** What stands beside the loudspeaker: waves, an exclamation mark, or a cross. */
const SIGNS = {
  on: "M15 9a4 4 0 0 1 0 6M18 6a8 8 0 0 1 0 12",
  waiting: "M18 6v7M18 17v.5",
  muted: "M15 9l6 6M21 9l-6 6",
};
const LOUD = 0.25;
const SILENT = 0.0001; // a fall to this takes the click from a tone's end
const MUTED = "muted";

/** @type {AudioContext | null} */
let context = null;
/** @type {Set<string>} */
let allowed = new Set();
/** @type {Map<Sound, Set<string>>} what each sound was for at the last view */
const known = new Map();
/** @type {() => void} */
let changed = () => undefined;

const isMuted = () => localStorage.getItem(MUTED) !== null;
/** @returns {Hearing} */
const hearing = () => (isMuted() ? "muted" : context === null ? "waiting" : "on");

let woken = false; // whether the first touch was on the button, which then turns nothing off

/** @param {Event} touch */
function wake({ target }) {
  if (context !== null) return;
  context = new AudioContext();
  woken = target instanceof Element && target.closest("#sound") !== null;
  changed();
}
// A finger that goes down is no touch yet for browsers.
for (const touch of ["pointerup", "keydown"]) document.addEventListener(touch, wake, { capture: true });

/**
 * Make a sound once for all events that are new since the view before; nothing for those of the first view.
 * @param {Sound} sound
 * @param {string[]} events what the sound is for now, by names that stay
 */
export function hear(sound, events) {
  const before = known.get(sound);
  known.set(sound, new Set(events));
  if (before !== undefined && events.some((each) => !before.has(each))) play(sound);
}

/** @param {Sound} sound */
function play(sound) {
  if (context === null || !allowed.has(sound) || isMuted()) return;
  context.resume();
  for (const [hertz, from, seconds] of SOUNDS[sound].tones) {
    const begin = context.currentTime + from;
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.type = SOUNDS[sound].wave;
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(LOUD, begin);
    volume.gain.exponentialRampToValueAtTime(SILENT, begin + seconds);
    tone.connect(volume).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + seconds);
  }
}

/**
 * Allow these sounds; returns the button that turns them off at this browser, which is hidden if there is nothing to hear.
 * @param {string[]} sounds
 * @param {Record<Hearing, string>} words
 */
export function soundButton(sounds, words) {
  allowed = new Set(sounds);
  const sign = svg("path", { fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round" });
  const button = element("button", { id: "sound", type: "button", hidden: sounds.length === 0 }, loudspeaker(sign));
  changed = () => {
    const now = hearing();
    button.title = words[now];
    button.ariaLabel = words[now];
    button.dataset.hearing = now;
    sign.setAttribute("d", SIGNS[now]);
  };
  button.addEventListener("click", () => {
    const first = woken;
    woken = false;
    if (first && !isMuted()) return;
    if (isMuted()) localStorage.removeItem(MUTED);
    else localStorage.setItem(MUTED, "");
    changed();
  });
  changed();
  return button;
}

/**
 * A loudspeaker with a sign beside it.
 * @param {Node} sign
 */
const loudspeaker = (sign) =>
  svg(
    "svg",
    { viewBox: "0 0 24 24", width: "1.5em", height: "1.5em", "aria-hidden": true, "pointer-events": "none" },
    svg("path", { d: "M3 9h4l5-4v14l-5-4H3z", fill: "currentColor" }),
    sign,
  );
