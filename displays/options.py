"""What a display is told at its start: `configs/display.toml` with the command's options over it."""

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Port = Annotated[int, Field(ge=1, le=65535)]
_STRICT = ConfigDict(frozen=True, extra="forbid")


class OptionsError(ValueError):
    """The options cannot be used; the text says which, and what to do."""


class MqttOptions(BaseModel):
    """The broker, and the base of the table's topics. The password stays in its file."""

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
    """The table on show, and the address browsers find it at; port 0 takes a free one."""

    model_config = _STRICT

    table: Annotated[str, Field(pattern=r"^[a-z0-9_-]+$")]
    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080


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
    sections: dict[str, Any] = {} if path is None else _read_toml(path)
    for (section, key), value in overrides.items():
        table = sections.setdefault(section, {})
        if isinstance(table, dict):  # if not, the check below says so
            table[key] = value
    try:
        options = DisplayOptions.model_validate(sections)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise OptionsError(f"{path or 'the options'}: {faults}") from error
    options.mqtt.password()  # a file that cannot be read is said now, not at each connection
    return options


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise OptionsError(f"cannot read the configuration {path}: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise OptionsError(f"{path} is not TOML: {error}") from error
