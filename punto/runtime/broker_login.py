"""`[mqtt]`: the address of the broker and the login there. The table's service and the displays share it."""

import ssl
from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from punto.baccarat.unit import Unit
from punto.configs.toml_file import FromFolder, Host
from punto.runtime.secret_file import SecretFile, found_secret, read_secret, secret_warnings
from punto.runtime.tls import client_tls


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

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

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
    certificate: FromFolder | None = None
    """The program's own certificate, in PEM form, for a broker that requires one. The broker takes the user from its name."""
    key: SecretFile | None = None
    """The key of `certificate`, in PEM form and without a passphrase, or `$CREDENTIALS_DIRECTORY/NAME` for a credential from systemd."""
    keepalive: Annotated[int, Field(ge=1, le=65535), Unit("seconds")] = 15
    """After this time without a message, the program tests its connection to the broker."""

    @model_validator(mode="after")
    def _password_has_a_user(self) -> Self:
        if self.password_file is not None and self.username is None:
            raise ValueError("password_file is given without a username: add the username of this password")
        return self

    @model_validator(mode="after")
    def _certificate_is_whole(self) -> Self:
        if (self.certificate is None) is not (self.key is None):
            lone, other = ("certificate", "key") if self.key is None else ("key", "certificate")
            raise ValueError(f"{lone} is given without {other}: add the {other}")
        if self.certificate is not None and self.ca_file is None:
            raise ValueError(
                "certificate is given without ca_file: add the authority of the broker's certificate"
            )
        return self

    def password(self) -> str | None:
        """The password in the password file, None without one.

        Raises:
            ConfigError: the file cannot be read, or does not have exactly one line.
        """
        if self.password_file is None:
            return None
        return read_secret(self.password_file, "password", "mqtt.password_file")

    def tls(self) -> ssl.SSLContext | None:
        """The TLS context that verifies the broker's certificate and shows our own; None without TLS.

        Raises:
            ConfigError: one of the files cannot be used.
        """
        if self.ca_file is None:
            return None
        key = None if self.key is None else found_secret(self.key, "mqtt.key")
        return client_tls(self.ca_file, self.certificate, key, "mqtt")

    def warnings(self) -> Iterator[str]:
        """Likely problems with the files."""
        path = self.password_file
        if path is not None:
            yield from secret_warnings(path, "mqtt.password_file")
        if self.username is not None and path is None and self.certificate is None:
            yield f"warning: mqtt.username {self.username!r} has no password: write its password_file too"
        if self.key is not None:
            yield from secret_warnings(self.key, "mqtt.key")
        for name, file in (("ca_file", self.ca_file), ("certificate", self.certificate)):
            if file is not None and not file.is_file():
                yield f"warning: mqtt.{name} {file} does not exist"
