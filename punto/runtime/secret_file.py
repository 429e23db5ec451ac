"""Files with a secret: the broker's password, a device's key, the key of a certificate.

The secret is not in the configuration but in a file that one user can read. Under systemd, the file is a credential of the
unit: systemd reads the source file as root and copies it to a directory that only the unit's user can read
(`LoadCredential=`, systemd.exec(5)). The configuration names that directory as systemd does:
`$CREDENTIALS_DIRECTORY/mqtt-password`.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, ValidationInfo

from punto.configs.problems import ConfigError, Problem
from punto.configs.text_file import TextError, read_text
from punto.configs.toml_file import in_folder
from punto.runtime.permissions import User, obstacle

_KEY: Final = re.compile("[0-9a-fA-F]{64}")
_VARIABLE: Final = "CREDENTIALS_DIRECTORY"
_CREDENTIALS: Final = Path(f"${_VARIABLE}")


def _in_folder_or_credential(path: Path, info: ValidationInfo) -> Path:
    """A credential keeps the variable in its path: the directory is not known before systemd starts the unit."""
    return path if is_credential(path) else in_folder(path, info)


SecretFile = Annotated[Path, AfterValidator(_in_folder_or_credential)]


def read_secret(path: Path, what: str, key: str) -> str:
    """The only line of the file; in the messages, `what` is "password", and `key` the key of the configuration that names it.

    Raises:
        ConfigError: the file cannot be read, or does not have exactly one line.
    """
    found = found_secret(path, key)
    try:
        secret = read_text(found).removesuffix("\n")
    except OSError as error:
        stands = obstacle(found, User.here(), os.R_OK) if isinstance(error, PermissionError) else None
        remedy = "" if stands is None else f"; run `{stands.remedy}`"
        message = f"the {what} cannot be read: {error.strerror}{remedy}"
        raise ConfigError([Problem(message, str(found))]) from None
    except TextError as error:
        raise ConfigError([Problem(f"the {what} cannot be read: {error}", str(found))]) from None
    if not secret or "\n" in secret:
        message = f"the file must have one line with the {what}, and nothing else"
        raise ConfigError([Problem(message, str(found))])
    return secret


def read_key(path: Path, what: str, key: str) -> bytes:
    """The key of 32 bytes in a file of 64 hexadecimal digits (`punto device-key`); `what` and `key` as in `read_secret`.

    Raises:
        ConfigError: the file cannot be read, or does not have a key.
    """
    written = read_secret(path, what, key)
    if _KEY.fullmatch(written) is None:
        message = f"does not have a {what}, which is 64 hexadecimal digits (`punto device-key` writes one)"
        raise ConfigError([Problem(message, str(path))])
    return bytes.fromhex(written)


def secret_warnings(path: Path, key: str, remedy: str = "") -> Iterator[str]:
    """Likely problems with a secret's file. A credential is not checked: it exists only while its unit runs."""
    if is_credential(path):
        return
    if not path.is_file():
        yield f"warning: {key} {path} does not exist{remedy}"
    elif path.stat().st_mode & 0o007:
        yield f"warning: {key} {path} is open to every user of this machine: chmod o= {path}"


def is_credential(path: Path) -> bool:
    """Whether systemd gives the file to the unit that runs, so that it is nowhere else."""
    return path.parent == _CREDENTIALS


def found_secret(path: Path, key: str) -> Path:
    """The path of a secret's file, with the credentials directory filled in; `key` is its key in the configuration.

    Raises:
        ConfigError: the file is a credential, but systemd gave this process no credentials.
    """
    if not is_credential(path):
        return path
    directory = os.environ.get(_VARIABLE)
    if directory is None:
        message = (
            f"{path}: systemd has given this program no credentials: start it as a unit with "
            f"LoadCredential={path.name}:FILE, or name a file that its user can read"
        )
        raise ConfigError([Problem(message, key=key)])
    return Path(directory, path.name)
