"""The configuration file of the Game Manager of a house: `configs/game-manager.toml`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from punto.baccarat.unit import Unit
from punto.configs.problems import ConfigError, Problem
from punto.configs.section import Section
from punto.configs.toml_file import FromFolder, Host, read, typed
from punto.controller.config.sections import CalendarConfig, MonitoringConfig, SignOnConfig, SignOnPagesConfig
from punto.runtime.broker_login import BrokerConfig
from punto.runtime.secret_file import SecretFile, read_key, read_secret, secret_warnings
from punto.runtime.signatures import Signing, of_the_house

_POSTGRESQL: Final = "postgresql://"


class FloorsBroker(BrokerConfig):
    """`[mqtt]`: the broker of the tables, or of the cluster that has all of their messages."""


class StoreConfig(Section):
    """`[store]`: where the Game Manager keeps what it takes in: a file of SQLite, or a database of PostgreSQL."""

    path: FromFolder | None = None
    """The file of SQLite. It is made if it does not exist."""
    address: str | None = None
    """The database of PostgreSQL, such as `postgresql://punto@db.example/punto`, without the password."""
    password_file: SecretFile | None = None
    """A text file whose only line is the user's password at PostgreSQL, or `$CREDENTIALS_DIRECTORY/NAME` for a credential from
    systemd.
    """

    @field_validator("address")
    @classmethod
    def _postgresql(cls, address: str | None) -> str | None:
        if address is not None and not address.startswith(_POSTGRESQL):
            raise ValueError(
                f"address {address!r} is not of PostgreSQL: write postgresql://USER@HOST/DATABASE"
            )
        return address

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.path is None) is (self.address is None):
            raise ValueError("the store is in one place: write path for SQLite, or address for PostgreSQL")
        if self.password_file is not None and self.address is None:
            raise ValueError("password_file is given without an address: add the database's address")
        return self

    @property
    def url(self) -> str:
        """Its address for SQLAlchemy, without a password."""
        if self.address is None:
            return f"sqlite:///{self.path}"
        return self.address.replace(_POSTGRESQL, "postgresql+psycopg://", 1)

    def password(self) -> str | None:
        """The password in the password file, None without one.

        Raises:
            ConfigError: the file cannot be read, or does not have exactly one line.
        """
        if self.password_file is None:
            return None
        return read_secret(self.password_file, "password", "store.password_file")


class FloorConfig(Section):
    """`[floor]`: the tables of the house."""

    tables: tuple[str, ...] = ()
    """The ids of the tables that are followed. If left out, all tables below the broker's `base` are."""
    client: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] = "game-manager"
    """The name in the topics of its requests, `request/rounds/by/NAME`. It is the name of its user at the broker, because each
    user may only write the topics with its own name.
    """
    key_folder: FromFolder | None = None
    """The folder with the keys of the tables' [links](../how-to/follow-the-floor.md#sign-what-tables-send): `ID.key` for each table, and
    `ID.new.key` too while a key is changed. With this folder, the Game Manager stores nothing of a table that is not signed with
    one of its keys.
    """

    def signings(self) -> dict[str, Signing] | None:
        """The links of the tables that have keys; None if nothing is signed.

        Raises:
            ConfigError: the folder or a key cannot be read.
        """
        if self.key_folder is None:
            return None
        if not self.key_folder.is_dir():
            raise ConfigError([Problem("is not a folder (floor.key_folder)", str(self.key_folder))])
        keys: dict[str, tuple[bytes, ...]] = {}
        for file in sorted(self.key_folder.glob("*.key")):
            table = file.stem.removesuffix(".new")
            keys[table] = (*keys.get(table, ()), read_key(file, "key of a link", "floor.key_folder"))
        return {table: of_the_house(table, of) for table, of in keys.items()}


class PagesConfig(SignOnPagesConfig):
    """`[pages]`: the pages for the house. They show figures that are not for the public."""

    host: Host = "127.0.0.1"
    """The address at which browsers open the pages. Any address other than loopback needs `[accounts]` and TLS."""
    port: Annotated[int, Field(ge=0, le=65535)] = 8070
    """The port of the pages. With 0, the program chooses a free port."""
    idle_minutes: Annotated[int, Field(ge=1, le=480), Unit("minutes")] = 15
    """A session ends after this time without a request. The requests that pages make by themselves do not count."""


class FloorAccounts(SignOnConfig):
    """`[accounts]`: the people who may sign on at the pages.

    Without this section the pages ask nobody to sign on, and only this machine can open them.
    """

    house_key: FromFolder | None = None
    """The file of the house's key, which is made if it does not exist. With it, these are the accounts of the whole house: the Game
    Manager signs a copy and publishes it to the tables. Only one Game Manager of a house has this key.
    """


class FloorMetricsConfig(MonitoringConfig):
    """`[metrics]`: the address for monitoring, which only this machine can reach. Without this section there is no such address.

    At `/metrics` it has figures for Prometheus, and at `/healthz` and `/readyz` the answers for health checks.
    """

    port: Annotated[int, Field(ge=0, le=65535)] = 8075
    """The port. With 0, the program chooses a free port."""


class GameManagerConfig(Section):
    """The keys of the file."""

    version: Literal[1]
    """The version of this file's format."""
    mqtt: FloorsBroker = Field(default_factory=FloorsBroker)
    store: StoreConfig
    floor: FloorConfig = Field(default_factory=FloorConfig)
    pages: PagesConfig = Field(default_factory=PagesConfig)
    metrics: FloorMetricsConfig | None = None
    accounts: FloorAccounts | None = None
    calendar: CalendarConfig = Field(default_factory=CalendarConfig)

    @model_validator(mode="after")
    def _sign_on_beyond_this_machine(self) -> Self:
        if self.accounts is None and not self.pages.on_loopback:
            raise ValueError(
                f"host {self.pages.host!r} in [pages] can be reached from other machines, and without [accounts] the pages ask nobody to "
                'sign on: write [accounts], or host = "127.0.0.1"'
            )
        return self

    def warnings(self) -> Iterator[str]:
        """Likely problems with the files."""
        yield from self.mqtt.warnings()
        if self.store.password_file is not None:
            yield from secret_warnings(self.store.password_file, "store.password_file")
        if self.floor.key_folder is None:
            yield (
                "warning: floor: what the tables send is not signed, so anyone with a table's password at the broker can bring false "
                "rounds into the store: write key_folder (docs/how-to/follow-the-floor.md)"
            )
        else:
            names = {f"{table}.key" for table in self.floor.tables}
            for file in sorted(
                {*self.floor.key_folder.glob("*.key"), *map(self.floor.key_folder.joinpath, names)}
            ):
                yield from secret_warnings(file, "floor.key_folder", ": make it with `punto device-key`")
            try:
                self.floor.signings()
            except ConfigError as error:
                yield f"warning: {error}"


def load_game_manager(path: Path) -> GameManagerConfig:
    """Read the configuration of a Game Manager.

    Raises:
        ConfigError: the file cannot be read or is invalid.
    """
    return typed(read(path), GameManagerConfig, context=path.parent.absolute())
