"""The configuration file of a witness: `configs/witness.toml`."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from punto.baccarat.unit import Unit
from punto.configs.section import Section
from punto.configs.toml_file import FromFolder, read, typed
from punto.controller.signing.keys import read_public
from punto.runtime.broker_login import BrokerConfig


def _is_public(text: str) -> str:
    read_public(text)
    return text


PublicKey = Annotated[str, AfterValidator(_is_public)]


class WitnessBroker(BrokerConfig):
    """`[mqtt]`: the broker of the tables, or of the cluster that has all of their messages."""


class WitnessSection(Section):
    """`[witness]`: what the witness keeps, and when it reports."""

    path: FromFolder
    """The file of the heads, an SQLite database. It is made if it does not exist."""
    key: FromFolder
    """The file of the witness's own private key, which is made if it does not exist."""
    keep_seconds: Annotated[int, Field(ge=1, le=3600), Unit("seconds")] = 60
    """How much time there is between two heads of a record that are kept. Each head is compared with the one before."""
    silence_seconds: Annotated[int, Field(ge=20, le=86400), Unit("seconds")] = 60
    """A table whose head has not come for this time is reported."""


class WitnessConfig(Section):
    """The keys of the file."""

    version: Literal[1]
    """The version of this file's format."""
    mqtt: WitnessBroker = Field(default_factory=WitnessBroker)
    witness: WitnessSection
    keys: dict[str, PublicKey] = Field(default_factory=dict)
    """The public key of each table's signer, by the table's id. `punto signer` prints it at its start. The first key that is heard of
    any other table is its key from then on.
    """


def load_witness(path: Path) -> WitnessConfig:
    """Read the configuration of a witness.

    Raises:
        ConfigError: the file cannot be read or is invalid.
    """
    return typed(read(path), WitnessConfig, context=path.parent.absolute())
