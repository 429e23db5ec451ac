"""`[mqtt]`: the address of the broker and the login there. The table's service and the displays share it.

The password is not in the configuration but in a file that one user can read. Under systemd, the file is a
credential of the unit: systemd reads the source file as root and copies it to a directory that only the unit's
user can read (`LoadCredential=`, systemd.exec(5)). The configuration names that directory as systemd does:
`$CREDENTIALS_DIRECTORY/mqtt-password`.
"""

import os
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from punto.configs.problems import ConfigError, Problem
from punto.configs.toml_file import FromFolder, Host, Unit, in_folder

_VARIABLE: Final = "CREDENTIALS_DIRECTORY"
_CREDENTIALS: Final = Path(f"${_VARIABLE}")


def _in_folder_or_credential(path: Path, info: ValidationInfo) -> Path:
    """A credential keeps the variable in its path: the directory is not known before systemd starts the unit."""
    return path if _is_credential(path) else in_folder(path, info)


def _is_credential(path: Path) -> bool:
    return path.parent == _CREDENTIALS


def _topic(base: str) -> str:
    # MQTT 3.1.1, 4.7: a topic can have spaces, but no wildcards or NUL; topics that begin with $ belong to the broker.
    # Empty levels are refused by our own rule: `/punto` and `punto/` would be different topics from `punto`.
    if not all(base.split("/")) or set(base) & set("+#\0") or base.startswith("$"):
        raise ValueError(
            f"base {base!r} cannot begin a topic: write names with / between them, without +, # and a leading $"
        )
    return base


class BrokerConfig(BaseModel):
    """The message broker."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: Host = "127.0.0.1"
    """The broker's name or address."""
    port: Annotated[int, Field(ge=1, le=65535)] = 1883
    """The broker's port."""
    base: Annotated[str, AfterValidator(_topic)] = "punto"
    """The levels that every topic begins with."""
    username: str | None = None
    """The user at the broker."""
    password_file: Annotated[Path, AfterValidator(_in_folder_or_credential)] | None = None
    """A text file with the user's password on its only line, or `$CREDENTIALS_DIRECTORY/NAME`, a credential
    that systemd gives the unit.
    """
    ca_file: FromFolder | None = None
    """The certificate of the broker's authority, in PEM form. If given, the connection uses TLS."""
    keepalive: Annotated[int, Field(ge=1, le=65535), Unit("seconds")] = 15
    """After this time without a message, the connection to the broker is tested."""

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

    def tls(self) -> ssl.SSLContext | None:
        """The TLS context that verifies the broker's certificate; None without TLS.

        Raises:
            ConfigError: the authority's certificate cannot be read.
        """
        if self.ca_file is None:
            return None
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:  # ssl.SSLError is one
            message = f"{self.ca_file} cannot be used as the broker's authority ({error}): name a readable file in PEM form"
            raise ConfigError([Problem(message, key="mqtt.ca_file")]) from error

    def warnings(self) -> Iterator[str]:
        """Likely problems with the files. A credential is not checked: it exists only while its unit runs."""
        path = self.password_file
        if path is not None and not _is_credential(path):
            if not path.is_file():
                yield f"warning: mqtt.password_file {path} does not exist"
            elif path.stat().st_mode & 0o007:
                yield f"warning: mqtt.password_file {path} is open to every user of this machine: chmod o= {path}"
        if self.username is not None and path is None:
            yield f"warning: mqtt.username {self.username!r} has no password: write its password_file too"
        if self.ca_file is not None and not self.ca_file.is_file():
            yield f"warning: mqtt.ca_file {self.ca_file} does not exist"


def _found(path: Path) -> Path:
    """The path of a password file, with the credentials directory filled in.

    Raises:
        ConfigError: the file is a credential, but systemd gave this process no credentials.
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
