"""The house's theme: its colours, its logo and its names, from a small TOML file such as configs/house.toml.

A style sheet receives only the colours' names and six hexadecimal digits from the file.
"""

import errno
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from punto.baccarat.unit import Unit
from punto.configs.given_files import check_given, read_given
from punto.configs.problems import ConfigError
from punto.configs.toml_file import TomlFile, read, typed

ColourName = Literal[
    "glow",
    "ground",
    "panel",
    "line",
    "text",
    "quiet",
    "bright",
    "gold",
    "deep",
    "banker",
    "player",
    "tie",
    "banker-band",
    "player-band",
    "tie-band",
    "ivory",
    "ink",
    "newest",
]
"""The colours that a house may set, named as the page's custom properties."""

LOGO_TYPES: Final = {".svg": ("image/svg+xml", b"<svg"), ".png": ("image/png", b"\x89PNG\r\n\x1a\n")}
"""A logo's file name extension -> its media type, and the bytes near the beginning of every such file."""

LARGEST_LOGO: Final = 100_000
"""Bytes; after a power cut every screen of the floor requests it at once."""

LOGO_ADDRESS: Final = "/theme/logo"

PICTURE_TYPES: Final = {".jpg", ".jpeg", ".png", ".svg", ".webp", ".mp4", ".webm"}
"""Extensions of the pictures and films that are shown between shoes."""
MOST_PICTURES: Final = 40
"""A folder with more is one that was named by mistake."""


def _colour(text: str) -> str:
    if not re.fullmatch("#[0-9a-fA-F]{6}", text):
        raise ValueError(f"{text!r} is not a colour: write # and six hexadecimal digits, such as #c8102e")
    return text


def _language(text: str) -> str:
    if not re.fullmatch("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", text):
        raise ValueError(f"{text!r} is not a language: write its code, such as en or zh-Hant")
    return text


_Colours = dict[ColourName, Annotated[str, AfterValidator(_colour)]]
_Language = Annotated[str, AfterValidator(_language)]
_Name = Annotated[str, Field(min_length=1, max_length=60)]


class HouseFile(BaseModel):
    """The house's theme, as the file is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    logo: Path | None = None
    """An SVG or PNG picture of at most 100 kB. The path of the picture is relative to the folder of the theme file."""
    names: dict[_Language, _Name] = Field(default_factory=dict)
    """The house's name in each language, such as `en = "The Golden Crane"`. A name has 1 to 60 characters."""
    tables: dict[str, dict[_Language, _Name]] = Field(default_factory=dict)
    """The tables' names in other languages, by the table's id, such as `table-1 = { zh-Hant = "翡翠廳" }`. In a language that is
    left out, a table has the name of its own configuration.
    """
    pictures: Path | None = None
    """The folder of the pictures and films that a board shows while its table is closed or its shoe is changed, in the order of
    their names: up to 40 files that end in .jpg, .png, .svg, .webp, .mp4 or .webm. Its path is relative to the folder of the theme
    file.
    """
    picture_seconds: Annotated[int, Field(ge=3, le=600), Unit("seconds")] = 12
    """How long each picture stays. A film stays until its end."""
    colours: _Colours = Field(default_factory=dict)
    """The [colours](../how-to/displays.md#the-houses-theme) of the pages, by name. A value is `#` and six hexadecimal digits.
    A colour that is left out stays as the theme has it.
    """


@dataclass(frozen=True, slots=True)
class Logo:
    """A picture and its media type."""

    media_type: str
    picture: bytes


@dataclass(frozen=True, slots=True)
class House:
    """A house's theme; without arguments it does not change the pages."""

    file: HouseFile = field(default_factory=HouseFile)
    logo: Logo | None = None
    pictures: tuple[Path, ...] = ()

    def css(self) -> str:
        """The theme as CSS custom properties."""
        rules = []
        if self.file.colours:
            colours = " ".join(f"--{name}: {colour};" for name, colour in self.file.colours.items())
            rules.append(f":root[data-theme] {{ {colours} }}\n")
        if self.logo is not None:
            rules.append(f':root {{ --logo: url("{LOGO_ADDRESS}"); }}\n')
        return "".join(rules)


def read_house(path: Path) -> House:
    """The theme in the file `path`, with its logo; raises ConfigError if the file or its logo cannot be read or used."""
    file = read(path)
    written = typed(file, HouseFile)
    return House(
        written,
        None if written.logo is None else _read_logo(file, path.parent / written.logo),
        () if written.pictures is None else _pictures_in(file, path.parent / written.pictures),
    )


def _pictures_in(file: TomlFile, folder: Path) -> tuple[Path, ...]:
    try:
        found = sorted(each for each in folder.iterdir() if each.suffix.lower() in PICTURE_TYPES)
        for each in found:
            check_given(each)
    except OSError as error:
        raise _unusable(file, "pictures", f"cannot read {error.filename}: {error.strerror}") from None
    if not 1 <= len(found) <= MOST_PICTURES:
        raise _unusable(
            file, "pictures", f"{folder} has {len(found)} pictures and films: put 1 to {MOST_PICTURES} there"
        )
    return tuple(found)


def _read_logo(file: TomlFile, logo: Path) -> Logo:
    if logo.suffix not in LOGO_TYPES:
        raise _no_logo(file, f"{logo.name} is not a picture that can be shown: give a .svg or .png file")
    media_type, beginning = LOGO_TYPES[logo.suffix]
    try:
        picture = read_given(logo, LARGEST_LOGO)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _no_logo(
                file, f"{logo.name} has {logo.stat().st_size:,} bytes: make it {LARGEST_LOGO:,} at most"
            ) from None
        message = f"cannot read {logo}: {error.strerror}. The logo must be beside the theme's file"
        raise _no_logo(file, message) from None
    if beginning not in picture[:1000]:
        raise _no_logo(
            file, f"{logo.name} is not a picture of the type {media_type}, although its name says so"
        )
    return Logo(media_type, picture)


def _no_logo(file: TomlFile, message: str) -> ConfigError:
    return _unusable(file, "logo", message)


def _unusable(file: TomlFile, key: str, message: str) -> ConfigError:
    return ConfigError([file.problem((key,), message)])
