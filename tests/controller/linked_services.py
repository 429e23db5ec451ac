"""Services of tables on one progressive, and of the authority that keeps its meter, as processes."""

import hmac
import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from punto.baccarat.table.state import AuthorityLink, TablesProgressive
from punto.controller.journal.recovery import history
from tests.controller.table_on_a_machine import Broker, Table, wait_until

TABLES = ("t1", "t2")
METER = '[progressive]\nid = "dragon"\nauthority = "meter-1"\n'
OF_THE_AUTHORITY = "approval_above = 100000000\n"


def key_of(table: str) -> bytes:
    """The key of a table's link."""
    return sha256(table.encode()).digest()


def signed(payload: dict[str, Any], table: str = "t1") -> str:
    """What the holder of a table's key sends the authority, or is sent by it, written by hand from the contract."""
    text = json.dumps({**payload, "signatures": []}, separators=(",", ":"))
    names = f"punto meter link 1\ndragon\nmeter-1\n{table}\n"
    tag = hmac.digest(key_of(table), (names + text).encode(), "sha256").hex()
    return text.removesuffix("]}") + f'"{tag}"]}}'


class Service(Table):
    """A service of the floor, in a folder of its own: `meter-1`, or a table whose cards are keyed.

    `without` is left out of the progressive's section. Of the keys in the folder `keys`, each has its own.
    """

    def __init__(self, folder: Path, broker: Broker, name: str, without: str = "") -> None:
        self.name = name
        self.keys = folder / name / "keys"
        self.keys.mkdir(parents=True)
        authority = name == "meter-1"
        for table in TABLES if authority else (name,):
            (self.keys / f"{table}.key").write_text(key_of(table).hex() + "\n")
        tables = OF_THE_AUTHORITY if authority or without else ""
        if authority:
            tables += f"tables = {json.dumps(TABLES)}\n"
        keys = f'key_folder = "{self.keys}"\n' if "authority" not in without else ""
        super().__init__(
            folder / name,
            broker,
            'cards = "keyed"\nburn = "none"',
            METER.replace(without, "") + tables + keys,
        )
        text = re.sub(r"\[shoe\]\nport = .*\n", "", self.config.read_text(encoding="utf-8"))
        text = text.replace('id = "table-1"', f'id = "{name}"').replace("dragon-bonus-1", "progressive-2")
        self.config.write_text(text, encoding="utf-8")

    @property
    def progressive(self) -> TablesProgressive:
        """The progressive, as its record gives it."""
        *_, last = history(self.record)
        assert last.state.progressive is not None
        return last.state.progressive

    @property
    def contributions(self) -> int:
        """What the wagers have brought, as far as it is known here."""
        return self.progressive.books.ledger.contributions

    @property
    def step(self) -> str:
        """The step of the game."""
        return self.progressive.procedure.step.value

    @property
    def key(self) -> str:
        """Where the supervisor's key is."""
        procedure = self.progressive.procedure
        assert procedure.kind == "aquarius"
        return procedure.key.value

    @property
    def link(self) -> AuthorityLink:
        """The link to the authority."""
        assert self.progressive.link is not None
        return self.progressive.link

    @property
    def linked(self) -> bool:
        """Whether the table hears its authority."""
        return self.link.online

    def open(self) -> None:
        """Open the table, and wait until it hears its authority."""
        for order in ("sign_on", "change_shoe", "open_betting"):
            self.order(order)
        wait_until(lambda: self.linked, f"{self.name} hears its authority")

    def play(self, cards: str) -> None:
        """Key the cards of a hand."""
        for card in cards.split():
            self.order("key_card", card=card)

    def start_game(self) -> None:
        """Press START GAME; the answer comes after the authority's."""
        self.order("start_game", round=self.status()["round"])
        assert self.step == "playing"

    def bet(self, seat: int) -> None:
        """A wager on the sensor, and START GAME."""
        self.order("wager_placed", seat=seat)
        self.start_game()
