"""`punto score`: what goes in and what comes out, line by line."""

import io
import json
import os
import subprocess
import sys
from dataclasses import asdict
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.baccarat.wagers.settlement import PlacedWager, settle
from punto.commands.score import score
from punto.configs.game_files import load_game
from punto.configs.text_file import LONGEST_LINE, lines
from tests.deadline import DEADLINE

SCORE = [sys.executable, "-m", "punto.commands.cli", "score", "--game"]
# Whoever tests may have asked Python not to buffer; the command must do without.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
DRAGON = load_game("dragon-bonus-1")
COUP = '"cards":["9S","KD","3H","4C","8D"]'


def answers(*source: str | bytes, game: str = "dragon-bonus-1") -> list[str]:
    encoded = [line.encode() if isinstance(line, str) else line for line in source]
    stream = io.BytesIO(b"".join(line + b"\n" for line in encoded))
    return [answer for answer, _ in score(load_game(game), lines(stream))]


def answer(line: str | bytes, game: str = "dragon-bonus-1") -> Any:
    (only,) = answers(line, game=game)
    return json.loads(only)


def test_the_example_to_the_letter():
    line = (
        '{"id":"r1","cards":["9S","KD","3H","4C","8D"],"wagers":[{"seat":1,"wager":"player","amount":2500}]}'
    )

    (only,) = answers(line)

    assert only == (
        '{"id":"r1","player":["9S","3H","8D"],"banker":["KD","4C"],"player_total":0,"banker_total":4,'
        '"winner":"banker","natural":false,"player_pair":false,"banker_pair":false,"settlements":[{"seat":1,'
        '"wager":"player","outcome":"lose","stake":2500,"returned":0,"net":-2500,"rule":"lose"}]}'
    )


@pytest.mark.parametrize(
    ("line", "identity", "error"),
    [
        # the tableau
        ('{"id":"a","cards":["9S","KD","3H","4C"]}', "a", "Player must get one more card"),
        ('{"id":"a","cards":["9S","KD"]}', "a", "2 cards do not finish a coup"),
        ('{"id":"a","cards":[]}', "a", "0 cards do not finish a coup"),
        ('{"id":"a","cards":["9S","KD","KH","4C","8D"]}', "a", "8D does not belong to a hand"),
        ('{"id":"a","cards":["9S","KD","3H","4C","8D","2D"]}', "a", "2D does not belong to a hand"),
        # cards
        ('{"id":"a","cards":["10S","KD","3H","4C","8D"]}', "a", '"10S" is not a card'),
        ('{"id":"a","cards":["9s","KD","3H","4C","8D"]}', "a", '"9s" is not a card'),
        ('{"id":"a","cards":[9,"KD","3H","4C","8D"]}', "a", "9 is not a card"),
        ('{"id":"a","cards":[["9S"],"KD","3H","4C","8D"]}', "a", '["9S"] is not a card'),
        ('{"id":"a","cards":[null,1.50]}', "a", "null is not a card"),
        ('{"id":"a","cards":"9S KD 3H 4C 8D"}', "a", "cards must be a list"),
        # keys
        ('{"id":"a"}', "a", 'the key "cards" is missing'),
        ('{"id":"a","card":["9S"]}', "a", 'unknown key "card" (did you mean "cards"?)'),
        (f'{{"id":"a",{COUP},"x":1}}', "a", 'unknown key "x"; there are id, cards, wagers'),
        (f'{{"id":"a",{COUP},{COUP}}}', "a", 'the key "cards" is there twice'),
        (f'{{"id":"a","id":"b",{COUP}}}', None, 'the key "id" is there twice'),
        # ids
        (f'{{"id":true,{COUP}}}', None, "the id must be a string or a number"),
        (f'{{"id":["a"],{COUP}}}', None, "the id must be a string or a number"),
        (f'{{"id":{{}},{COUP}}}', None, "the id must be a string or a number"),
        ('{"cards":["9S"]}', None, "1 card does not finish a coup"),
        # not JSON, or no object
        ("{", None, "the line is not JSON"),
        ("nonsense", None, "the line is not JSON"),
        (f'{{"id":"a",{COUP}}} {{}}', None, "the line is not JSON"),
        ('["9S"]', None, "the line is not a JSON object"),
        ("17", None, "the line is not a JSON object"),
        ("1.5", None, "the line is not a JSON object"),
        ("null", None, "the line is not a JSON object"),
        (f'{{"id":NaN,{COUP}}}', None, "NaN is not a JSON number"),
        (f'{{"id":"a","cards":[-Infinity],{COUP}}}', None, "-Infinity is not a JSON number"),
        (b'{"id":"a\xff"}', None, "the text is not UTF-8 (byte 9 of the line is 0xff): save it as UTF-8"),
        ('{"id":"a\0"}', None, "the line is not JSON"),
        ("[" * 100_000, None, "nested too deeply"),
        ('{"id":' * 100_000, None, "nested too deeply"),
        ('{"cards":' + "1" * 100_000 + "}", None, "cards must be a list"),
        ('{"id":"' + "a" * LONGEST_LINE + '"}', None, f"longer than {LONGEST_LINE} bytes"),
    ],
)
def test_a_bad_line_says_why(line, identity, error):
    found = answer(line)

    assert list(found) == ["id", "error"]
    assert found["id"] == identity
    assert error in found["error"]


@pytest.mark.parametrize(
    ("wagers", "error"),
    [
        ('{"seat":1,"wager":"player","amount":2500}', "wagers must be a list"),
        ("null", "wagers must be a list"),
        ("[17]", "17 is not a wager"),
        ('[{"seat":1,"wager":"player"}]', 'the key "amount" is missing'),
        ('[{"seat":1,"wager":"player","amuont":1}]', 'unknown key "amuont" (did you mean "amount"?)'),
        ('[{"seat":1,"seat":2,"wager":"player","amount":1}]', 'the key "seat" is there twice'),
        ('[{"seat":0,"wager":"player","amount":1}]', "seat must be a whole number from 1 to 99, not 0"),
        ('[{"seat":true,"wager":"player","amount":1}]', "seat must be a whole number from 1 to 99, not true"),
        ('[{"seat":"1","wager":"player","amount":1}]', 'not "1"'),
        ('[{"seat":1,"wager":7,"amount":1}]', "wager must be a wager's name, not 7"),
        ('[{"seat":1,"wager":"player","amount":true}]', "amount must be a whole number of minor units"),
        ('[{"seat":1,"wager":"player","amount":25.00}]', "not 25.00"),
        ('[{"seat":1,"wager":"player","amount":1e3}]', "not 1e3"),
        ('[{"seat":1,"wager":"player","amount":"2500"}]', 'not "2500"'),
        ('[{"seat":1,"wager":"player","amount":-0}]', "not -0"),
        ('[{"seat":1,"wager":"player","amount":0}]', "not 0"),
        ('[{"seat":1,"wager":"player","amount":-2500}]', "not -2500"),
        ('[{"seat":1,"wager":"player","amount":1000000000001}]', "from 1 to 1000000000000"),
        ('[{"seat":1,"wager":"player","amount":' + "9" * 5000 + "}]", "from 1 to 1000000000000"),
        ('[{"seat":1,"wager":"player","amount":null}]', "not null"),
        ('[{"seat":1,"wager":"plaier","amount":1}]', "has no wager 'plaier'"),
        (
            '[{"seat":1,"wager":"dragon_bonus_player","amount":500}]',
            "needs a wager of the same seat on player",
        ),
    ],
)
def test_a_wager_that_may_not_stand_makes_the_line_bad(wagers, error):
    found = answer(f'{{"id":7,{COUP},"wagers":{wagers}}}')

    assert list(found) == ["id", "error"]
    assert found["id"] == 7
    assert error in found["error"]


def test_more_wagers_than_a_player_may_have():
    names = ["player", "banker", "tiger_7", "ox_6", "kill"]
    wagers = [{"seat": 1, "wager": name, "amount": 100} for name in names]
    cards = ["9S", "KD", "3H", "4C", "8D"]

    assert "more than the 4" in answer(json.dumps({"cards": cards, "wagers": wagers}), "dai-bacc")["error"]
    assert "error" not in answer(json.dumps({"cards": cards, "wagers": wagers[1:]}), "dai-bacc")


def test_more_copies_of_a_card_than_the_shoe_holds(tmp_path):
    own = tmp_path / "four.toml"
    text = """
        name = "four"
        title = "Four decks"
        sheet = "none"
        decks = 4
        wagers = [{name = "player", title = "Player", base = true, rules = [{name = "wins", pays = "1 to 1", when = {winner = ["player"]}}, {name = "lose", pays = "lose"}]}]
    """
    own.write_text(text, encoding="utf-8")
    five, four = '{"cards":["2S","2S","2S","2S","2S","KD"]}', '{"cards":["2S","2S","2S","2S","2D","KD"]}'

    assert "2S occurs 5 times" in answer(five, str(own))["error"]
    assert answer(four, str(own))["winner"] == "player"
    assert answer(five)["winner"] == "player"


@pytest.mark.parametrize(
    "identity",
    ['"r1"', '""', '"\\u00e9\\ud800"', "0", "-0", "17", "1.50", "1e400", "-1E-5", "9" * 5000, "null"],
)
@pytest.mark.parametrize("cards", [COUP, '"cards":[]'])
def test_an_id_is_given_back_as_it_came(identity, cards):
    (given_back,) = answers(f'{{"id":{identity},{cards}}}')

    assert given_back.startswith(f'{{"id":{identity},')


def test_a_line_without_an_id_or_wagers_is_scored():
    found = answer(f"{{{COUP}}}")

    assert found["id"] is None
    assert found["winner"] == "banker"
    assert found["settlements"] == []


def test_blank_lines_are_passed_over_and_a_last_line_needs_no_end():
    stream = io.BytesIO(b"\n  \r\n{" + COUP.encode() + b"}\r\n\t\n{" + COUP.encode() + b"}")

    assert len(list(score(DRAGON, lines(stream)))) == 2


def test_a_line_too_long_does_not_hide_the_next():
    too_long, good = "x" * (3 * LONGEST_LINE), f'{{"id":2,{COUP}}}'

    first, second = answers(too_long, good)
    assert "longer" in json.loads(first)["error"]
    assert json.loads(second)["id"] == 2


@given(st.binary(max_size=60) | st.text('{}[]":,0-eE.\\"idcarswger9SKD ', max_size=60).map(str.encode))
def test_no_line_is_too_strange(line):
    for text, good in score(DRAGON, lines(io.BytesIO(line))):
        found = json.loads(text)

        assert not good
        assert list(found) == ["id", "error"]
        assert found["error"]


@given(
    st.lists(st.sampled_from(Card), min_size=6, max_size=6),
    st.integers(1, 10**12),
    st.sampled_from(DRAGON.wagers[:3]),
)
def test_it_settles_as_the_table_does(cards, amount, wager):
    coup = Coup()
    for card in cards:
        coup = coup if coup.over else coup.with_card(card)
    line = {"cards": coup.cards, "wagers": [{"seat": 1, "wager": wager.name, "amount": amount}]}
    (settled,) = settle(DRAGON, coup, [PlacedWager(1, wager.name, amount)])

    found = answer(json.dumps(line))
    (settlement,) = found["settlements"]
    assert settlement == {key: getattr(settled, key) for key in settlement}
    assert found["winner"] == coup.winner
    assert (found["player"], found["banker"]) == (list(coup.player), list(coup.banker))


@pytest.mark.parametrize("name", ["canberra", "dai-bacc", "dragon-bonus-3"])
def test_settlements_of_one_line_are_not_another_lines(name):
    """Many results after one another, every wager, few amounts: what was settled before must not be mistaken."""
    # Few ranks, so that pairs are common.
    game, dice, deck = load_game(name), Random(4), [card for card in Card if card.rank in "A267K"]
    source, expected = [], []
    for _ in range(600):
        coup = Coup()
        while not coup.over:
            coup = coup.with_card(dice.choice(deck))
        seat, amount = dice.randint(1, 7), dice.choice([500, 1001])
        names = ["player", "banker", dice.choice([each.name for each in game.wagers[2:]])]
        wagers = [PlacedWager(seat, each, amount) for each in names]
        source.append(json.dumps({"cards": coup.cards, "wagers": [asdict(each) for each in wagers]}))
        expected.append([asdict(each) for each in settle(game, coup, wagers)])

    found = [json.loads(line)["settlements"] for line in answers(*source, game=name)]
    assert [
        [{**each, "remainder": full["remainder"]} for each, full in zip(*both, strict=True)]
        for both in zip(found, expected, strict=True)
    ] == expected


# --- the program


def test_it_ends_with_1_after_a_bad_line_and_goes_on_with_the_rest():
    source = f"oops\n{{{COUP}}}\n".encode()
    ran = subprocess.run(
        [*SCORE, "mini-baccarat"], input=source, capture_output=True, check=False, timeout=DEADLINE
    )

    first, second = ran.stdout.decode().splitlines()
    assert (ran.returncode, ran.stderr) == (1, b"")
    assert json.loads(first)["id"] is None
    assert json.loads(second)["winner"] == "banker"


def test_it_ends_with_0_when_every_line_was_good_and_when_there_was_none():
    for source in (f"{{{COUP}}}\n".encode(), b""):
        ran = subprocess.run(
            [*SCORE, "mini-baccarat"], input=source, capture_output=True, check=False, timeout=DEADLINE
        )

        assert (ran.returncode, ran.stderr) == (0, b"")


def test_each_answer_comes_before_the_next_line_is_asked_for():
    with subprocess.Popen(
        [*SCORE, "mini-baccarat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=BUFFERED
    ) as ran:
        assert ran.stdin is not None
        assert ran.stdout is not None
        for number in range(3):
            ran.stdin.write(f'{{"id":{number},{COUP}}}\n'.encode())
            ran.stdin.flush()

            assert json.loads(ran.stdout.readline())["id"] == number
        ran.stdin.close()
        assert ran.wait(DEADLINE) == 0


def test_a_game_that_cannot_be_read_ends_it_with_2(tmp_path):
    ran = subprocess.run(
        [*SCORE, "mini-bacarat"], input=b"", capture_output=True, check=False, timeout=DEADLINE
    )

    assert (ran.returncode, ran.stdout) == (2, b"")
    assert b"did you mean mini-baccarat?" in ran.stderr
    assert b"Traceback" not in ran.stderr
