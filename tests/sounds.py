"""What a page makes heard: each oscillator that it starts, by its wave and its frequency."""

from playwright.async_api import Page

COUNT_SOUNDS = """
window.tones = [];
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (when) {
  window.tones.push([this.type, this.frequency.value]);
  return start.call(this, when);
};
"""
"""An init script."""
FIRST_TONES = {("sine", 880): "call", ("triangle", 440): "alarm", ("sine", 523): "award"}
"""The tone with which each sound begins."""
TONES = {"call": 2, "alarm": 3, "award": 4}


async def heard(page: Page) -> list[str]:
    """The sounds since this was asked last, in their order."""
    tones = [tuple(each) for each in await page.evaluate("window.tones.splice(0)")]
    found = []
    while tones:
        found.append(FIRST_TONES[tones[0]])
        del tones[: TONES[found[-1]]]
    return found
