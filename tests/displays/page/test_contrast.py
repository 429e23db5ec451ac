"""Colours that can be told apart, also without hue or with less of it, reckoned from the style sheet for each theme."""

import re
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest

from punto.displays.options import PageOptions

CSS = (Path(__file__).parents[3] / "punto" / "displays" / "static" / "page.css").read_text(encoding="utf-8")
THEMES = get_args(PageOptions.model_fields["theme"].annotation)
COLOUR = re.compile(r"--([a-z-]+): (#[0-9a-f]{6}|rgba\([^)]*\));")
TEXT, MARK = 4.5, 3.0
APART = 1.3
"""Between Banker, Player and Tie: so much in luminance that a black and white photograph shows which is which."""
SEEN_APART = 20
"""Between them for each colour blindness, as a distance in CIELAB: ten times what can just be told apart."""
BLIND = {
    # Machado, Oliveira and Fernandes (2009), severity 1.0, of linear light.
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}

Rgb = tuple[float, float, float]
"""Linear light from 0 to 1."""


def theme(name: str) -> dict[str, str]:
    """The colours of a theme: those of the first rule, and over them those of its own."""
    rules = re.findall(r":root(?:\[data-theme=\"(\w+)\"\])? \{(.*?)\}", CSS, re.DOTALL)
    return {key: value for of, rule in rules if of in {"", name} for key, value in COLOUR.findall(rule)}


def channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def linear(colour: str) -> Rgb:
    parts = [part / 255 for part in channels(colour)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return red, green, blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted(
        0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in map(linear, (one, other))
    )
    return (lighter + 0.05) / (darker + 0.05)


def over(glaze: str, ground: str) -> str:
    """What a panel that lets the ground through looks like."""
    *parts, share = map(float, re.findall(r"[\d.]+", glaze))
    mixed = (
        part * share + behind * (1 - share) for part, behind in zip(parts, channels(ground), strict=True)
    )
    return "#" + "".join(f"{round(part):02x}" for part in mixed)


def grounds(name: str) -> dict[str, str]:
    """The lightest of what each thing can stand on."""
    colours = theme(name)
    panel = over(colours["panel"], colours["glow"])
    return {"ground": colours["glow"], "panel": panel, "newest": over(colours["newest"], panel)}


def lab(colour: Rgb) -> Rgb:
    """CIELAB, D65."""
    red, green, blue = (min(1.0, max(0.0, part)) for part in colour)
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    )
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("on", ["ground", "panel"])
@pytest.mark.parametrize("colour", ["text", "quiet", "bright", "gold"])
def test_words_can_be_read(name, on, colour):
    assert contrast(theme(name)[colour], grounds(name)[on]) >= TEXT


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("colour", ["banker", "player", "tie"])
def test_a_sides_words_can_be_read_on_a_panel_and_its_large_figures_on_the_ground(name, colour):
    assert contrast(theme(name)[colour], grounds(name)["panel"]) >= TEXT
    assert contrast(theme(name)[colour], grounds(name)["ground"]) >= MARK


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("side", ["banker", "player", "tie"])
def test_letters_can_be_read_in_beads_and_words_on_the_band_of_the_result(name, side):
    colours = theme(name)

    assert contrast(colours["ink"], colours[side]) >= TEXT
    assert contrast("#ffffff", colours[f"{side}-band"]) >= TEXT
    assert contrast(colours["gold"], colours[f"{side}-band"]) >= MARK


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("on", ["panel", "newest"])
@pytest.mark.parametrize("colour", ["banker", "player", "tie", "bright"])
def test_marks_can_be_seen_on_the_roads(name, on, colour):
    assert contrast(theme(name)[colour], grounds(name)[on]) >= MARK


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize(("one", "other"), [*combinations(("banker", "player", "tie"), 2)])
def test_banker_player_and_tie_differ_in_luminance_too(name, one, other):
    colours = theme(name)

    assert contrast(colours[one], colours[other]) >= APART


@pytest.mark.parametrize("name", THEMES)
@pytest.mark.parametrize("blindness", BLIND)
@pytest.mark.parametrize(("one", "other"), [*combinations(("banker", "player", "tie"), 2)])
def test_banker_player_and_tie_are_told_apart_by_the_colour_blind(name, blindness, one, other):
    def seen(colour: str) -> Rgb:
        light = linear(theme(name)[colour])
        red, green, blue = (
            sum(part * each for part, each in zip(row, light, strict=True)) for row in BLIND[blindness]
        )
        return lab((red, green, blue))

    distance = sum((first - second) ** 2 for first, second in zip(seen(one), seen(other), strict=True)) ** 0.5
    assert distance >= SEEN_APART
