// Long names, many words and large amounts get smaller type; nothing is cut off.

/**
 * Make a box's content as large as possible: the box's type must be in --fit, which is 1 if there is room for everything.
 * @param {HTMLElement} box
 */
export function fit(box) {
  for (let size = 1; size > 0.3; size -= 0.05) {
    box.style.setProperty("--fit", String(size));
    if (fits(box)) break;
  }
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
