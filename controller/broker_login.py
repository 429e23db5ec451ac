"""How a program signs on at the broker: the same for the table's service and for the displays.

A password stays out of the configuration, in a file that one user can read. Under systemd that is a credential of the unit:
systemd reads the source file as root and gives the unit's user a copy in a directory of its own (`LoadCredential=`,
systemd.exec(5)). The configuration writes that directory as systemd does: `$CREDENTIALS_DIRECTORY/mqtt-password`.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo, model_validator

from punto.configs.problems import ConfigError, Problem
from punto.configs.toml_file import in_folder

_VARIABLE: Final = "CREDENTIALS_DIRECTORY"
_CREDENTIALS: Final = Path(f"${_VARIABLE}")


def _in_folder_or_credential(path: Path, info: ValidationInfo) -> Path:
    """A credential keeps the variable's name: where systemd puts the directory is not known before the start."""
    return path if _is_credential(path) else in_folder(path, info)


def _is_credential(path: Path) -> bool:
    return path.parent == _CREDENTIALS


class BrokerLogin(BaseModel):
    """The user at the broker, and the file with the password on its only line, which may be a credential."""

    model_config = ConfigDict(frozen=True)

    username: str | None = None
    password_file: Annotated[Path, AfterValidator(_in_folder_or_credential)] | None = None

    @model_validator(mode="after")
    def _password_has_a_user(self) -> Self:
        if self.password_file is not None and self.username is None:
            raise ValueError("password_file is given without a username: add the username of this password")
        return self

    def password(self) -> str | None:
        """The password in the password file, None without one.

        Raises:
            ConfigError: the file cannot be read, or does not have exactly one line.
        """
        if self.password_file is None:
            return None
        path = _found(self.password_file)
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise ConfigError(
                [Problem(f"the password cannot be read: {error.strerror}", str(path))]
            ) from None
        except UnicodeDecodeError:
            raise ConfigError([Problem("the password is not UTF-8 text", str(path))]) from None
        if len(lines) != 1 or not lines[0]:
            message = "a password file has one line, the password, and nothing else"
            raise ConfigError([Problem(message, str(path))])
        return lines[0]

    def password_warnings(self) -> Iterator[str]:
        """What is likely to go wrong with the password file. A credential exists only while its unit runs."""
        path = self.password_file
        if path is None or _is_credential(path):
            return
        if not path.is_file():
            yield f"warning: mqtt.password_file {path} is not there"
        elif path.stat().st_mode & 0o007:
            yield f"warning: mqtt.password_file {path} is open to everybody on this machine: chmod o= {path}"


def _found(path: Path) -> Path:
    """Where a password file is now.

    Raises:
        ConfigError: it is a credential, and systemd gave this process none.
    """
    if not _is_credential(path):
        return path
    directory = os.environ.get(_VARIABLE)
    if directory is None:
        message = (
            f"{path}: systemd has given this program no credentials: start it as a unit with "
            f"LoadCredential={path.name}:FILE, or name a file that its user can read"
        )
        raise ConfigError([Problem(message, key="mqtt.password_file")])
    return Path(directory, path.name)
