"""Makes the fonts of the displays and of the consoles anew: `make fonts`, after a change of a Chinese catalogue.

All are from npm's @fontsource packages, and under the SIL Open Font License. A font of Latin letters gets the letters of Western
Europe, because tables and houses have names. A Chinese font gets the characters of its language's catalogues, and of the titles of the games that ship, and no others:
what a table itself says may have more, and those come from the screen's own fonts.
"""

import json
import string
import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fontTools.merge import Merger
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

from punto.web.server import SHARED

ROOT: Final = Path(__file__).parents[1]
CONSOLES: Final = ROOT / "punto" / "consoles"
DISPLAYS: Final = ROOT / "punto" / "displays"
SETUP: Final = ROOT / "punto" / "commands" / "setup"
VERSION: Final = "5.3.0"
FIGURES: Final = f"{string.digits}{string.ascii_letters}.,:'+- %$€£¥"
"""What is written in the font of amounts, totals and cards' corners: pays too, such as 40 for 1, and currencies, such as HK$."""


@dataclass(frozen=True)
class Font:
    """A font that ships: its file, the npm package it is from, and which characters it has."""

    file: Path
    package: str
    weight: int
    language: str | None = None
    """Of the catalogues whose characters it has; None for Latin."""
    only: str = ""
    """Its only characters; empty for all Latin ones."""


_SHARED: Final = SHARED / "fonts"
_OF_DISPLAYS: Final = DISPLAYS / "static" / "fonts"
FONTS: Final = (
    Font(_SHARED / "arimo-400.woff2", "arimo", 400),
    Font(_SHARED / "arimo-700.woff2", "arimo", 700),
    Font(_SHARED / "noto-sans-tc-700.woff2", "noto-sans-tc", 700, "zh-Hant"),
    Font(_SHARED / "noto-sans-sc-700.woff2", "noto-sans-sc", 700, "zh-Hans"),
    Font(_SHARED / "label.woff2", "barlow-condensed", 600),
    Font(_SHARED / "heading.woff2", "cinzel", 700),
    Font(_SHARED / "figures.woff2", "playfair-display", 700, only=FIGURES),
    Font(_OF_DISPLAYS / "serif-tc.woff2", "noto-serif-tc", 700, "zh-Hant"),
    Font(_OF_DISPLAYS / "serif-sc.woff2", "noto-serif-sc", 700, "zh-Hans"),
)


NAMES_OF_TABLES: Final = {"zh-Hant": "翡翠龍鳳凰金貴賓廳房號枱", "zh-Hans": "翡翠龙凤凰金贵宾厅房号台"}
"""The characters of which houses make most names of their tables, such as 翡翠廳."""


def titles(language: str) -> Iterator[str]:
    """The titles in a language of the games that ship, and of their wagers."""
    for path in sorted((ROOT / "configs" / "games").glob("*.toml")):
        game = tomllib.loads(path.read_text(encoding="utf-8"))
        for each in (game, *game["wagers"]):
            yield each.get("titles", {}).get(language, "")


def characters(language: str, rooms: Iterable[Path]) -> set[str]:
    """What of a language's catalogues and titles is not Latin, so not in every font; and of dates, which browsers write."""
    found = (
        json.loads((room / "catalogs" / f"{language}.json").read_text(encoding="utf-8")) for room in rooms
    )
    words = [
        *(each for catalogue in found for each in catalogue.values()),
        *titles(language),
        *([NAMES_OF_TABLES[language]] if DISPLAYS in rooms else []),
    ]
    return set("年月日") | {character for each in words for character in each if ord(character) > 0x2E7F}


def rooms_of(font: Font) -> tuple[Path, ...]:
    """The rooms of the pages that a font is for."""
    return (DISPLAYS,) if font.file.parent == _OF_DISPLAYS else (CONSOLES, SETUP)


def unpack(name: str, folder: Path) -> Path:
    """Fetch a font's package into a folder, and return where it lies."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"@fontsource/{name}@{VERSION}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    with tarfile.open(folder / packed) as package:
        package.extractall(folder, filter="data")
    return folder / "package"


def make(font: Font, folder: Path) -> None:
    """Write a font with the characters that it is to have."""
    package = unpack(font.package, folder)
    files = package / "files"
    latin = files / f"{font.package}-latin-{font.weight}-normal.woff2"
    if font.language is not None:
        # The package has the font in slices. Its file for the whole script lacks characters that Macau uses: 曱甴, 枱.
        slices = sorted(files.glob(f"{font.package}-[0-9]*-{font.weight}-normal.woff2"))
        subset(slices, characters(font.language, rooms_of(font)), font.file, folder)
    elif font.only:
        more = files / f"{font.package}-latin-ext-{font.weight}-normal.woff2"
        subset([latin, more], set(font.only), font.file, folder)
    else:
        font.file.write_bytes(latin.read_bytes())
    licence = font.file.with_name(f"OFL-{font.package}.txt")
    licence.write_bytes((package / "LICENSE").read_bytes())


def stand_on_the_line(font: TTFont) -> None:
    """Take the figures of a font that are as high as its capitals for the usual ones: amounts hang otherwise."""
    if "GSUB" not in font:
        return
    rules = font["GSUB"].table
    lookups = {
        at
        for each in rules.FeatureList.FeatureRecord
        if each.FeatureTag == "lnum"
        for at in each.Feature.LookupListIndex
    }
    lining = {
        old: new
        for at in lookups
        for table in rules.LookupList.Lookup[at].SubTable
        for old, new in table.mapping.items()
    }
    for characters_of in font["cmap"].tables:
        characters_of.cmap = {code: lining.get(glyph, glyph) for code, glyph in characters_of.cmap.items()}


def subset(slices: Iterable[Path], wanted: set[str], file: Path, folder: Path) -> None:
    """Merge what is wanted of the slices of a font into one file."""
    parts: list[str] = []
    for path in slices:
        font = TTFont(path)
        if found := wanted & {chr(code) for code in font.getBestCmap()}:
            wanted = wanted - found
            stand_on_the_line(font)
            subsetter = Subsetter(
                Options(layout_features=[], drop_tables=["GSUB", "GPOS", "GDEF", "vhea", "vmtx"])
            )
            subsetter.populate(text="".join(found))
            subsetter.subset(font)
            font.flavor = None
            parts.append(str(folder / f"part-{len(parts)}.ttf"))
            font.save(parts[-1])
    whole = Merger().merge(parts)
    whole.flavor = "woff2"
    whole.save(file)


if __name__ == "__main__":
    _OF_DISPLAYS.mkdir(exist_ok=True)
    for each in FONTS:
        with tempfile.TemporaryDirectory() as scratch:
            make(each, Path(scratch))
        print(f"{each.file.relative_to(ROOT)}: {each.file.stat().st_size:,} bytes")
