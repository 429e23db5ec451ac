// Protects a screen that shows the same page for years: the page moves slowly, and an idle table is dimmed.

const SHIFT_MILLISECONDS = 60_000;
const IDLE_MILLISECONDS = 10 * 60_000;
/** The successive offsets of the page, in steps of a tenth of a rem: around the middle, a step a minute. */
const PATH = [
  [0, 0],
  [1, 0],
  [2, 1],
  [2, 2],
  [1, 3],
  [0, 3],
  [-1, 3],
  [-2, 2],
  [-2, 1],
  [-1, 0],
  [-2, -1],
  [-2, -2],
  [-1, -3],
  [0, -3],
  [1, -3],
  [2, -2],
  [2, -1],
];

/**
 * Shift the page slowly from now on, and dim it if there is no play for long; returns the function to call on play.
 * @param {HTMLElement} page
 */
export function takeCare(page) {
  let step = 0;
  /** @type {number | undefined} */
  let timer;
  setInterval(() => {
    step = (step + 1) % PATH.length;
    const [x, y] = PATH[step];
    page.style.transform = `translate(${x / 10}rem, ${y / 10}rem)`;
  }, SHIFT_MILLISECONDS);
  const played = () => {
    clearTimeout(timer);
    page.classList.remove("idle");
    timer = setTimeout(() => page.classList.add("idle"), IDLE_MILLISECONDS);
  };
  played();
  return played;
}
