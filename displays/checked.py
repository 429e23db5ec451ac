"""Files that a person wrote for a display, read strictly: what cannot be used is said with where and why."""

import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

ModelT = TypeVar("ModelT", bound=BaseModel)


class OptionsError(ValueError):
    """The options cannot be used; the text says which, and what to do."""


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file says.

    Raises:
        OptionsError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise OptionsError(f"cannot read the configuration {path}: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise OptionsError(f"{path} is not TOML: {error}") from error


def checked(model: type[ModelT], said: dict[str, Any], where: str) -> ModelT:
    """What was said, as the model wants it; `where` names its file in the error.

    Raises:
        OptionsError: with every key that is missing, unknown or has a value that cannot be used.
    """
    try:
        return model.model_validate(said)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False, include_input=False)
        )
        raise OptionsError(f"{where}: {faults}") from error
