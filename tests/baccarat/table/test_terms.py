"""What a table and the authority of its meter must have alike."""

from dataclasses import replace
from typing import Any

import pytest

from punto.baccarat.table.terms import MOST_NAMED, Terms, unlike
from punto.baccarat.wagers.definition import Game, Limits
from punto.baccarat.wagers.pay import Rounding
from tests.baccarat.table.croupier import game, settings
from tests.baccarat.table.linked_floor import linked

PLAYED = game("progressive-2")
NO_COMMISSION = tuple(
    replace(each, pays="1 to 1") if each.wins else each for each in PLAYED.wager("banker").rules
)
NINE_TO_ONE = tuple(replace(each, pays="9 to 1") if each.wins else each for each in PLAYED.wager("tie").rules)


def terms(played: Game, table: str = "t1", currency: str = "USD") -> Terms:
    return Terms.of(replace(settings(table=table, currency=currency), game=played), linked(1))


def with_wager(name: str, **changes: Any) -> Game:
    """The game with a wager that differs in these fields."""
    others = tuple(replace(each, **changes) if each.name == name else each for each in PLAYED.wagers)
    return replace(PLAYED, wagers=others)


@pytest.mark.parametrize(
    ("played", "differ"),
    [
        (replace(PLAYED, decks=6), "decks"),
        (replace(PLAYED, rounding=Rounding(unit=100)), "rounding"),
        (with_wager("banker", rules=NO_COMMISSION), "wager banker"),
        (with_wager("tie", rules=NINE_TO_ONE), "wager tie"),
        (with_wager("dragon_bonus_player", requires_base="none"), "wager dragon_bonus_player"),
        (replace(PLAYED, wagers=PLAYED.wagers[:-1]), f"wager {PLAYED.wagers[-1].name}"),
        (
            replace(
                PLAYED, wagers=(*PLAYED.wagers, replace(PLAYED.wager("tie"), name="tie_again", base=False))
            ),
            "other wagers",
        ),
        (replace(with_wager("tie", rules=NINE_TO_ONE), decks=6), "decks, wager tie"),
    ],
)
def test_a_table_with_other_rules_cannot_share_the_meter(played, differ):
    assert played.rules_digest != PLAYED.rules_digest
    assert unlike(terms(played), terms(PLAYED, "meter-1"), "dragon") == (
        f"the game of t1 has other rules than the game for which meter-1 keeps the meter of dragon ({differ}): configure the "
        "same game with the same rules at both"
    )


@pytest.mark.parametrize(
    "played",
    [
        PLAYED,
        replace(PLAYED, title="Jackpot"),
        with_wager("tie", limits=Limits(minimum=500, maximum=10_000, step=500)),
        replace(PLAYED, reveal="dealer"),
    ],
)
def test_titles_limits_and_who_turns_the_cards_may_differ(played):
    assert unlike(terms(played), terms(PLAYED, "meter-1"), "dragon") is None


def test_a_simulation_and_another_currency_share_no_meter():
    table, meter = terms(PLAYED), terms(PLAYED, "meter-1")

    assert unlike(replace(table, simulation=not table.simulation), meter, "dragon") == (
        "either the table or the authority is a simulation, and not both: configure simulation alike at both"
    )
    assert unlike(terms(PLAYED, currency="EUR"), meter, "dragon") == (
        "t1 plays in EUR, but meter-1 keeps the meter of dragon in USD: write the same currency in [table] of both"
    )


def test_a_table_with_the_other_procedure_shares_no_meter():
    assert unlike(replace(terms(PLAYED), procedure="nexus"), terms(PLAYED, "meter-1"), "dragon") == (
        "t1 confirms awards by the procedure nexus, but meter-1 keeps the meter of dragon for aquarius: write the same procedure in "
        "[progressive] of both"
    )


def test_a_table_has_no_more_seats_than_its_authority_takes_wagers_of():
    def seats(number: int, table: str = "t1") -> Terms:
        return Terms.of(replace(settings(table=table, seats=number), game=PLAYED), linked(1))

    assert [unlike(seats(number), seats(9, "meter-1"), "dragon") for number in (1, 9)] == [None, None]
    assert unlike(seats(10), seats(9, "meter-1"), "dragon") == (
        "t1 has 10 seats, but meter-1 takes the wagers of 9: write seats = 10 in [table] of meter-1"
    )


def test_of_many_other_rules_the_first_are_named():
    wagers = tuple(
        replace(PLAYED.wager("tie"), name=f"tie_{number}", base=number == 1) for number in range(1, 20)
    )
    found = unlike(terms(PLAYED), terms(replace(PLAYED, wagers=wagers), "meter-1"), "dragon") or ""

    assert ", ".join(f"wager tie_{number}" for number in range(1, MOST_NAMED + 1)) + " and more)" in found
