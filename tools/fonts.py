"""Makes the fonts of the displays and of the consoles anew: `make fonts`, after a change of a Chinese catalogue.

All are from npm's @fontsource packages. Latin is Arimo, as wide as Arial, so that a page is laid out alike on every
screen. Of Noto Sans, each Chinese font gets the characters of its language's catalogues and no others. What a table itself
says, such as its name, may have more: those come from the screen's own fonts.
"""

import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from fontTools.merge import Merger
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

from punto.web.server import SHARED

ROOT: Final = Path(__file__).parents[1]
CATALOGS: Final = (ROOT / "punto" / "displays" / "catalogs", ROOT / "punto" / "consoles" / "catalogs")
FONTS: Final = SHARED / "fonts"
VERSION: Final = "5.3.0"
SOURCES: Final = {"zh-Hant": "noto-sans-tc", "zh-Hans": "noto-sans-sc"}
"""Language -> the npm package with its font."""
LATIN: Final = "arimo"
WEIGHTS: Final = (400, 700)


def characters(language: str) -> set[str]:
    """What of a language's catalogues is not Latin, so not in every font; and of dates, which browsers write."""
    found = set("年月日")
    for folder in CATALOGS:
        catalogue = json.loads((folder / f"{language}.json").read_text(encoding="utf-8"))
        found |= {character for words in catalogue.values() for character in words if ord(character) > 0x2E7F}
    return found


def font_of(language: str) -> Path:
    """The committed font of a language."""
    return FONTS / f"{SOURCES[language]}-700.woff2"


def latin_font(weight: int) -> Path:
    """The committed Latin font of a weight."""
    return FONTS / f"{LATIN}-{weight}.woff2"


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


def make_latin(folder: Path) -> None:
    """Take the Latin font as the package has it: that slice is small."""
    package = unpack(LATIN, folder)
    for weight in WEIGHTS:
        latin_font(weight).write_bytes(
            (package / "files" / f"{LATIN}-latin-{weight}-normal.woff2").read_bytes()
        )
    (FONTS / "OFL-Arimo.txt").write_bytes((package / "LICENSE").read_bytes())


def make(language: str, folder: Path) -> None:
    """Merge what a language's catalogue needs into one font."""
    name = SOURCES[language]
    package = unpack(name, folder)
    # The package has the font in slices. Its file for the whole script lacks characters that Macau uses: 曱甴, 枱.
    parts: list[str] = []
    for path in sorted((package / "files").glob(f"{name}-[0-9]*-700-normal.woff2")):
        font = TTFont(path)
        if wanted := characters(language) & {chr(code) for code in font.getBestCmap()}:
            subsetter = Subsetter(
                Options(layout_features=[], drop_tables=["GSUB", "GPOS", "GDEF", "vhea", "vmtx"])
            )
            subsetter.populate(text="".join(wanted))
            subsetter.subset(font)
            font.flavor = None
            parts.append(str(folder / f"part-{len(parts)}.ttf"))
            font.save(parts[-1])
    whole = Merger().merge(parts)
    whole.flavor = "woff2"
    whole.save(font_of(language))
    (FONTS / "OFL-Noto.txt").write_bytes((package / "LICENSE").read_bytes())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        make_latin(Path(scratch))
    for each in SOURCES:
        with tempfile.TemporaryDirectory() as scratch:
            make(each, Path(scratch))
    for path in sorted(FONTS.glob("*.woff2")):
        print(f"{path.name}: {path.stat().st_size:,} bytes")
