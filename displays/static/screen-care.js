// A screen that shows the same page for years: nothing stays on one pixel, and a table at rest is dimmed.

const SHIFT_MILLISECONDS = 60_000;
const IDLE_MILLISECONDS = 10 * 60_000;
/** Where the page stands in turn, in steps of a tenth of a rem: round the middle, a step a minute. */
const PATH = [[0, 0], [1, 0], [2, 1], [2, 2], [1, 3], [0, 3], [-1, 3], [-2, 2], [-2, 1], [-1, 0], [-2, -1], [-2, -2], [-1, -3], [0, -3], [1, -3], [2, -2], [2, -1]];

/** Shift the page slowly from now on, and dim it when nothing has been played for long; gives what to call on play. */
export function takeCare(page) {
  let step = 0;
  let timer;
  setInterval(() => {
    step = (step + 1) % PATH.length;
    const [x, y] = PATH[step];
    page.style.translate = `${x / 10}rem ${y / 10}rem`;
  }, SHIFT_MILLISECONDS);
  const played = () => {
    clearTimeout(timer);
    page.classList.remove("idle");
    timer = setTimeout(() => page.classList.add("idle"), IDLE_MILLISECONDS);
  };
  played();
  return played;
}
