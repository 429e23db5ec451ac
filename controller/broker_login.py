"""`[mqtt]`: the address of the broker and the login there. The table's service and the displays share it."""

import ssl
from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from punto.configs.problems import ConfigError, Problem
from punto.configs.toml_file import FromFolder, Host, Unit
from punto.controller.secret_file import SecretFile, read_secret, secret_warnings


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
    """The first part of every topic. It can have several levels, such as `casino/punto`."""
    username: str | None = None
    """The user name with which the program signs on at the broker."""
    password_file: SecretFile | None = None
    """A text file whose only line is the user's password, or `$CREDENTIALS_DIRECTORY/NAME` for a credential from systemd."""
    ca_file: FromFolder | None = None
    """The certificate of the authority that signed the broker's certificate, in PEM form. With this file, the connection uses TLS."""
    keepalive: Annotated[int, Field(ge=1, le=65535), Unit("seconds")] = 15
    """After this time without a message, the program tests its connection to the broker."""

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
        return read_secret(self.password_file, "password")

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
        """Likely problems with the files."""
        path = self.password_file
        if path is not None:
            yield from secret_warnings(path, "mqtt.password_file")
        if self.username is not None and path is None:
            yield f"warning: mqtt.username {self.username!r} has no password: write its password_file too"
        if self.ca_file is not None and not self.ca_file.is_file():
            yield f"warning: mqtt.ca_file {self.ca_file} does not exist"
