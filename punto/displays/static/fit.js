// Long names, many words and large amounts get smaller type; nothing is cut off.

const [SMALLEST, WHOLE] = [7, 20]; // in twentieths of the type's size

/**
 * Make a box's content as large as possible: the box's type must be in --fit, which is 1 if there is room for everything.
 * Each look lays the page out, so what has no room is found by halving.
 * @param {HTMLElement} box
 */
export function fit(box) {
  if (fitsAt(WHOLE, box)) return;
  let [small, large] = [SMALLEST, WHOLE];
  while (large - small > 1) {
    const middle = Math.floor((small + large) / 2);
    if (fitsAt(middle, box)) small = middle;
    else large = middle;
  }
  fitsAt(small, box);
}

/**
 * @param {number} twentieths
 * @param {HTMLElement} box
 */
function fitsAt(twentieths, box) {
  box.style.setProperty("--fit", String(twentieths / WHOLE));
  return fits(box);
}

/** @param {HTMLElement} box */
function fits(box) {
  const { parentElement } = box;
  if (box.matches(".tiers")) return [...box.children].every((each) => each.scrollHeight <= each.clientHeight);
  if (!box.matches(".limits > div") || parentElement === null) return box.scrollWidth <= box.clientWidth;
  const [inner, outer] = [box.getBoundingClientRect(), parentElement.getBoundingClientRect()];
  const { paddingTop, paddingLeft } = getComputedStyle(parentElement);
  return (
    inner.height <= outer.height - 2 * Number.parseFloat(paddingTop) + 1 &&
    box.scrollWidth <= outer.width - 2 * Number.parseFloat(paddingLeft) + 1
  );
}
