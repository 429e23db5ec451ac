"""The house's theme: what a file may say, and that nothing but colours comes of it in a style sheet."""

import re
from pathlib import Path
from typing import get_args

import pytest

from punto.configs.problems import ConfigError
from punto.displays.house import ColourName, House, read_house
from punto.displays.server import STATIC

PNG = b"\x89PNG\r\n\x1a\n" + bytes(50)
RULE = re.compile(r':root(\[data-theme\])? \{( --[a-z-]+: (#[0-9a-fA-F]{6}|url\("/theme/logo"\));)+ \}\n')


def house(tmp_path, toml: str) -> House:
    path = tmp_path / "house.toml"
    path.write_text(toml, encoding="utf-8")
    return read_house(path)


def test_a_house_has_its_colours_its_logo_and_its_names(tmp_path):
    (tmp_path / "crane.png").write_bytes(PNG)
    read = house(
        tmp_path,
        """
        logo = "crane.png"
        [names]
        en = "The Golden Crane"
        zh-Hant = "金鶴"
        [tables]
        table-1 = { zh-Hant = "翡翠廳" }
        [colours]
        ground = "#101820"
        gold = "#C9A227"
        """,
    )

    assert read.css() == (
        ':root[data-theme] { --ground: #101820; --gold: #C9A227; }\n:root { --logo: url("/theme/logo"); }\n'
    )
    assert read.file.names == {"en": "The Golden Crane", "zh-Hant": "金鶴"}
    assert read.file.tables == {"table-1": {"zh-Hant": "翡翠廳"}}
    assert read.logo is not None
    assert (read.logo.media_type, read.logo.picture) == ("image/png", PNG)


def test_the_shipped_house_can_be_used():
    shipped = read_house(Path(__file__).parents[2] / "configs" / "house.toml")

    assert shipped.css().count("--gold: ") == 1


def test_a_house_may_set_each_colour_that_the_themes_have():
    css = (STATIC / "page.css").read_text(encoding="utf-8")
    first, *others = re.findall(r":root[^{]*\{([^}]*--ground:[^}]*)\}", css)
    colour = re.compile(r"--([a-z-]+): (?:#|rgba)")

    assert set(colour.findall(first)) == set(get_args(ColourName))
    assert all(set(colour.findall(other)) <= set(get_args(ColourName)) for other in others)


def test_no_house_changes_nothing():
    assert House().css() == ""


@pytest.mark.parametrize(
    "value",
    [
        "#12345",
        "#1234567",
        "#12345g",
        "red",
        "#123456; } body { display: none",
        "#123456\\n",
        "\\n#123456",
        "url(//elsewhere/x)",
        "expression(1)",
        "var(--text)",
        "",
        "\\uff03123456",
        "#\\uff11\\uff12\\uff13\\uff14\\uff15\\uff16",
    ],
)
def test_an_invalid_colour_is_refused_and_never_in_a_style_sheet(tmp_path, value):
    with pytest.raises(
        ConfigError, match=r"house\.toml:2: colours\.ground: '.*' is not a colour: write # and"
    ):
        house(tmp_path, f'[colours]\nground = "{value}"')


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[colours]\ngruond = '#000000'", "colours.gruond.[key]: must be 'glow', "),
        ("[colours]\n'ground; } *' = '#000000'", "must be 'glow', "),
        ("[dusk]\nground = '#000000'", "house.toml:1: dusk: no such key; there are logo, names, tables, pictures, picture_seconds, colours"),
        ("[colours]\nground = 7", "house.toml:2: colours.ground: must be text in quotes"),
        ("[names]\n'<b>' = 'x'", "'<b>' is not a language: write its code, such as en or zh-Hant"),
        ("[names]\nen = ''", "names.en: must not be empty"),
        ("[tables.table-1]\n'<b>' = 'x'", "'<b>' is not a language: write its code, such as en or zh-Hant"),
        (f"[names]\nen = '{'x' * 61}'", "names.en: must have at most 60 characters"),
        ("logo = 'crane.gif'", "logo: crane.gif is not a picture that can be shown: give a .svg or .png file"),
        ("logo = 'none.svg'", "none.svg: No such file or directory. The logo must be beside the theme's file"),
        ("logo = 'text.png'", "logo: text.png is not a picture of the type image/png, although its name says so"),
        ("logo = 'text.svg'", "logo: text.svg is not a picture of the type image/svg+xml, although its name says so"),
        ("logo = 'big.png'", "logo: big.png has 100,001 bytes: make it 100,000 at most"),
        ("logo", "is not TOML"),
        ("pictures = 'none'", "pictures: cannot read "),
        ("pictures = 'empty'", " has 0 pictures and films: put 1 to 40 there"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_reported(tmp_path, toml, says):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.png").write_text("a text", encoding="utf-8")
    (tmp_path / "text.svg").write_text("a text", encoding="utf-8")
    (tmp_path / "big.png").write_bytes(PNG.ljust(100_001))

    with pytest.raises(ConfigError, match=re.escape(says)):
        house(tmp_path, toml)


def test_every_rule_is_a_colour_or_the_logo(tmp_path):
    (tmp_path / "crane.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    read = house(
        tmp_path,
        'logo = "crane.svg"\n[names]\nen = "</style><script>"\n[colours]\nbanker = "#ff0000"',
    )

    assert all(RULE.fullmatch(line) for line in read.css().splitlines(keepends=True))
