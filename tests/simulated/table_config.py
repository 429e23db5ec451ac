"""The configuration of a simulated table, as its seed chooses it."""

from pathlib import Path
from random import Random
from typing import Final

from punto.controller.config.file import ServiceConfig, load_config

TABLE: Final = "table-1"
GAMES: Final = (
    *("dragon-bonus-1", "midi-baccarat", "mini-baccarat", "ez-baccarat", "super-6", "five-treasures"),
    *("progressive-2", "progressive-3") * 2,
)
PROGRESSIVES: Final = {"progressive-2": "aquarius", "progressive-3": "nexus"}
WHOLE_METER: Final = {"progressive-2": "2D KC 3D JC 4D KH", "progressive-3": "2H KH 3H QH 4H JH"}
"""A hand that wins the whole meter."""


def configuration(
    chance: Random, folder: Path, table: str = TABLE, game: str | None = None, progressive: str = ""
) -> ServiceConfig:
    """A table's configuration, as the seed chooses it; `progressive` has more settings of its progressive."""
    game = game or chance.choice(GAMES)
    orders = chance.sample(("correct_round", "void_round", "void_coup", "correct_card"), chance.randint(0, 4))
    burn = chance.choice(("none", "first_card", "fixed"))
    fixed = "burn_cards = 3\n" if burn == "fixed" else ""
    procedure = PROGRESSIVES.get(game)
    if procedure is not None and "authority" not in progressive:
        progressive += f'fixed_awards = "{chance.choice(("tray", "meter"))}"\n'
    if procedure is not None:
        progressive = f'[progressive]\nid = "dragon"\nprocedure = "{procedure}"\n{progressive}'
    limits = "\n".join(
        f"[limits.{name}]\nminimum = 500\nmaximum = 10000\nstep = 500" for name in ("player", "banker", "tie")
    )
    (folder / f"{table}.toml").write_text(
        f"""\
version = 1
[table]
id = "{table}"
name = "Baccarat 1"
game = "{game}"
seats = {chance.randint(2, 7)}
burn = "{burn}"
{fixed}betting_closes = "{chance.choice(("first_card", "order"))}"
next_coup = "{chance.choice(("automatic", "order"))}"
overdraw = "{chance.choice(("next_coup", "burn", "dummy"))}"
coups_after_cut_card = {chance.randint(0, 2)}
commission = "{chance.choice(("each_win", "shoe_end"))}"
approval = {sorted(orders)}
[shoe]
port = "/dev/simulated"
link_version = 1
[record]
path = "{folder}/{table}.db"
[mqtt]
restricted = {str(chance.random() < 0.5).lower()}
[accounts]
path = "{folder}/{table}-operators.db"
[console]
{progressive}{limits}
""",
        encoding="utf-8",
    )
    return load_config(folder / f"{table}.toml")
