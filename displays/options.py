"""What a display is told at its start: `configs/display.toml` with the command's options over it."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from displays.checked import OptionsError, checked, read_toml
from displays.house import House, read_house
from displays.words import languages

Port = Annotated[int, Field(ge=1, le=65535)]
TableId = Annotated[str, Field(pattern=r"^[a-z0-9_-]+$")]
_STRICT = ConfigDict(frozen=True, extra="forbid")


class MqttOptions(BaseModel):
    """The broker, and the base of the tables' topics. The password stays in its file."""

    model_config = _STRICT

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Port = 1883
    username: str | None = None
    password_file: Path | None = None
    base: Annotated[str, Field(pattern=r"^[^+#/\s]+(/[^+#/\s]+)*$")] = "punto"

    def password(self) -> str | None:
        """The password, without the line end that editors leave.

        Raises:
            OptionsError: the file cannot be read, or there is no username to go with it.
        """
        if self.password_file is None:
            return None
        if self.username is None:
            raise OptionsError("mqtt.password_file needs mqtt.username beside it")
        try:
            return self.password_file.read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise OptionsError(
                f"mqtt.password_file: cannot read {self.password_file}: {error}; it must be a text file that the "
                "display's user may read"
            ) from error


class PageOptions(BaseModel):
    """The tables on show, how the pages look, and the address browsers find them at; port 0 takes a free one."""

    model_config = _STRICT

    tables: Annotated[tuple[TableId, ...], Field(min_length=1)]
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    layout: Literal["landscape", "portrait", "roads"] = "landscape"
    theme: Literal["dark", "light"] = "dark"
    lang: str = "en"
    house: Path | None = None

    @field_validator("tables")
    @classmethod
    def _each_once(cls, tables: tuple[str, ...]) -> tuple[str, ...]:
        twice = sorted({table for table in tables if tables.count(table) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} is there more than once: name each table once")
        return tables

    @field_validator("lang")
    @classmethod
    def _has_a_catalogue(cls, lang: str) -> str:
        if lang not in languages():
            raise ValueError(f"there is no catalogue for it: choose one of {', '.join(languages())}")
        return lang

    def house_theme(self) -> House:
        """The house's theme, one that changes nothing where none is named.

        Raises:
            OptionsError: its file cannot be used.
        """
        return House() if self.house is None else read_house(self.house)


class DisplayOptions(BaseModel):
    """All of it."""

    model_config = _STRICT

    mqtt: MqttOptions = Field(default_factory=MqttOptions)
    display: PageOptions


def read_options(path: Path | None, overrides: dict[tuple[str, str], Any]) -> DisplayOptions:
    """The options in the file `path`, with those of `overrides`, by section and key, in their place.

    Raises:
        OptionsError: the file cannot be read, or a value cannot be used.
    """
    sections: dict[str, Any] = {} if path is None else read_toml(path)
    for (section, key), value in overrides.items():
        table = sections.setdefault(section, {})
        if isinstance(table, dict):  # if not, the check below says so
            table[key] = value
    options = checked(DisplayOptions, sections, str(path or "the options"))
    # files that cannot be used are said now, not at each connection
    options.mqtt.password()
    options.display.house_theme()
    return options
