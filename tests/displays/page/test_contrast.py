"""Colours that can be told apart without hue: WCAG 2.2's contrast, reckoned from the style sheet for both themes."""

import re
from itertools import combinations
from pathlib import Path

import pytest

CSS = (Path(__file__).parents[3] / "punto" / "displays" / "static" / "page.css").read_text(encoding="utf-8")
HEX = re.compile(r"--([a-z]+): (#[0-9a-f]{6});")
TEXT, LARGE, MARK = 4.5, 3.0, 3.0
APART = 1.3
"""Between Banker, Player and Tie: so much in luminance that a black and white photograph shows which is which."""


def theme(name: str) -> dict[str, str]:
    dark = dict(HEX.findall(CSS[CSS.index(":root {") : CSS.index(":root[data-theme")]))
    dark |= {"notice": dark["gold"], "onnotice": dark["ink"]}
    if name == "dark":
        return dark
    light = CSS[CSS.index(":root[data-theme") :]
    return dark | dict(HEX.findall(light[: light.index("}")]))


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mixed(colour: str, ground: str, share: float) -> str:
    """As CSS's color-mix does in sRGB."""
    return "#" + "".join(
        f"{round(int(colour[at : at + 2], 16) * share + int(ground[at : at + 2], 16) * (1 - share)):02x}"
        for at in (1, 3, 5)
    )


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize("on", ["ground", "panel"])
@pytest.mark.parametrize("colour", ["text", "quiet", "banker", "player", "tie", "gold"])
def test_words_can_be_read(name, on, colour):
    colours = theme(name)

    assert contrast(colours[colour], colours[on]) >= TEXT


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize("colour", ["banker", "player", "tie"])
def test_letters_can_be_read_in_beads_and_banners(name, colour):
    colours = theme(name)

    assert contrast(colours["ink"], colours[colour]) >= TEXT


@pytest.mark.parametrize("name", ["dark", "light"])
def test_not_live_can_be_read_from_afar(name):
    colours = theme(name)

    assert contrast(colours["onnotice"], colours["notice"]) >= 7


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize("side", ["banker", "player"])
def test_a_winning_hands_large_words_can_be_read_on_its_tint(name, side):
    colours = theme(name)

    assert contrast(colours[side], mixed(colours[side], colours["panel"], 0.16)) >= LARGE


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize("on", ["ground", "newest"])
@pytest.mark.parametrize("colour", ["banker", "player", "tie", "natural"])
def test_marks_can_be_seen_on_the_roads(name, on, colour):
    colours = theme(name)

    assert contrast(colours[colour], colours[on]) >= MARK


@pytest.mark.parametrize("name", ["dark", "light"])
@pytest.mark.parametrize(("one", "other"), [*combinations(("banker", "player", "tie"), 2)])
def test_banker_player_and_tie_differ_in_luminance_too(name, one, other):
    colours = theme(name)

    assert contrast(colours[one], colours[other]) >= APART
