// Long names, many words and large amounts get smaller type; nothing is cut off.

/** Make a box's content as large as possible: the box's type must be in --fit, which is 1 if there is room for everything. */
export function fit(box) {
  for (let size = 1; size > 0.3; size -= 0.05) {
    box.style.setProperty("--fit", size);
    if (fits(box)) break;
  }
}

function fits(box) {
  if (box.tagName !== "TABLE") {
    const high = box.classList.contains("outcome") && box.scrollHeight > box.clientHeight + 1;
    return box.scrollWidth <= box.clientWidth && !high;
  }
  const [inner, outer] = [box.getBoundingClientRect(), box.parentElement.getBoundingClientRect()];
  const { paddingTop, paddingLeft } = getComputedStyle(box.parentElement);
  return (
    inner.height <= outer.height - 2 * parseFloat(paddingTop) + 1 && inner.width <= outer.width - 2 * parseFloat(paddingLeft) + 1
  );
}
