"""The configurations that follow from the answers: of the table, of its display, and of a rehearsal without any device."""

from collections.abc import Iterator
from math import gcd
from pathlib import Path
from typing import Any, Final

from punto.baccarat.wagers.definition import Game, Limits
from punto.commands.setup.answers import OWN_BROKER_PORT, Answers, DeviceAnswer, toml_of
from punto.configs.game_files import load_game

CREDENTIAL: Final = "$CREDENTIALS_DIRECTORY/mqtt-password"
"""The password at the broker, as the units have it."""
_BASES: Final = ("player", "banker")
_STEP: Final = 100
_SHARE_OF_MINIMUM: Final = 5
_SHARE_OF_MAXIMUM: Final = 10
"""The limits of Tie and of side wagers, as in configs/table.toml: a fifth of the base wagers' minimum, and a tenth of their maximum."""


def key_file(answers: Answers, section: str) -> str:
    """The name of the file with a device's key."""
    return f"{answers.table}.{section.replace('_', '-')}.key"


def metered(game: Game) -> bool:
    """Whether the game has a progressive."""
    return any(wager.progressive is not None for wager in game.wagers)


def table_config(answers: Answers) -> str:
    """The text of the table's configuration.

    Raises:
        ConfigError: the game cannot be read.
    """
    return toml_of(_document(answers))


def _document(answers: Answers) -> dict[str, Any]:
    game = load_game(answers.game)
    at_table: dict[str, Any] = {
        "id": answers.table,
        "name": answers.name,
        "game": answers.game,
        "seats": answers.seats,
        "currency": answers.currency,
        "cards": "keyed" if answers.shoe is None else "shoe",
    }
    if answers.simulation:
        at_table["simulation"] = True
    if metered(game):
        at_table |= {"betting_closes": "order", "next_coup": "order"}
    folder = f"/var/lib/punto/{answers.table}"
    document: dict[str, Any] = {"version": 1, "table": at_table}
    document |= {f"limits.{wager}": limits for wager, limits in limits_of(answers, game)}
    document |= {section: _device(answers, section, device) for section, device in answers.devices()}
    if metered(game):
        procedure = "aquarius" if answers.card_reader is None else "nexus"  # only Nexus Command has cards
        document["progressive"] = {"id": answers.table, "procedure": procedure, "reserve": "1%"}
    document |= {
        "record": {"path": f"{folder}/{answers.table}.db"},
        "mqtt": _mqtt(answers, answers.table),
        "accounts": {"path": f"{folder}/operators.db"},
        "operator": {
            "socket": f"/run/punto/{answers.table}/operator.sock",
            "mode": "0660",
            "group": "punto-operators",
        },
        "calendar": {"day_starts": "06:00", "zone": answers.zone},
        "console": _console(answers),
    }
    return document


def _device(answers: Answers, section: str, device: DeviceAnswer) -> dict[str, Any]:
    keys = device.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if section == "coin_spot":
        keys["seats"] = getattr(device, "seats")  # noqa: B009 - only this device has them
    if device.keyed:
        keys["key_file"] = key_file(answers, section)
    return keys


def _mqtt(answers: Answers, user: str) -> dict[str, Any]:
    broker = answers.broker
    if broker is None:
        keys: dict[str, Any] = {"host": "127.0.0.1", "port": OWN_BROKER_PORT, "base": "punto"}
    else:
        keys = broker.model_dump(mode="json", exclude_none=True, exclude={"passwords"})
    if broker is None or broker.passwords is not None:
        keys |= {"username": user, "password_file": CREDENTIAL}
    return keys


def _console(answers: Answers) -> dict[str, Any]:
    keys: dict[str, Any] = {"host": answers.console.host, "port": answers.console.port}
    if not answers.console.on_loopback:
        keys |= {"certificate": f"{answers.table}.pem", "key": f"{answers.table}.key"}
    return keys


def limits_of(answers: Answers, game: Game) -> Iterator[tuple[str, dict[str, int]]]:
    """The house's limits: those of the answers for Player and Banker, and smaller ones for wagers that the game does not limit."""
    step = gcd(_STEP, answers.minimum, answers.maximum)
    least = max(answers.minimum // _SHARE_OF_MINIMUM // step, 1) * step
    most = max(answers.maximum // _SHARE_OF_MAXIMUM // step * step, least)
    for wager in game.wagers:
        if wager.name in _BASES:
            yield wager.name, {"minimum": answers.minimum, "maximum": answers.maximum, "step": step}
        elif wager.limits == Limits():
            yield wager.name, {"minimum": least, "maximum": most, "step": step}


def display_config(answers: Answers) -> str:
    """The text of the configuration of the table's display."""
    page = {
        "tables": [answers.table],
        "host": answers.display.host,
        "port": answers.display.port,
        "lang": answers.language,
    }
    return toml_of({"mqtt": _mqtt(answers, f"{answers.table}-display"), "display": page})


def can_be_rehearsed(answers: Answers) -> bool:
    """Whether a shoe may read the cards of the game, by the approval letter."""
    game = load_game(answers.game)
    return not (game.variation and game.dealt == "face_down")


def rehearsal_config(answers: Answers, folder: Path) -> str:
    """The text of the configuration of a table that plays the same game by itself in this folder: no broker, device or page."""
    document = _document(answers)
    kept = {
        key: document[key] for key in document if key in {"version", "calendar"} or key.startswith("limits.")
    }
    at_table = document["table"] | {
        "cards": "shoe",
        "simulation": True,
        "betting_closes": "first_card",
        "next_coup": "automatic",
    }
    return toml_of(
        {
            **kept,
            "table": at_table,
            "shoe": {"port": str(folder / "shoe")},
            "record": {"path": str(folder / "rehearsal.db")},
            "accounts": {"path": str(folder / "operators.db")},
            "operator": {"socket": str(folder / "operator.sock")},
        }
    )
