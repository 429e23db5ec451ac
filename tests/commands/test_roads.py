"""`punto roads`: a shoe's rounds in, its roads out."""

import json
import subprocess
import sys

import pytest

from punto.baccarat.coup import Winner
from punto.baccarat.roads.rounds import RoadRound
from punto.baccarat.roads.scoreboard import draw, to_json
from tests.deadline import DEADLINE
from tests.started import Started

PUNTO = [sys.executable, "-m", "punto.commands.cli"]
WINNERS = {"B": Winner.BANKER, "P": Winner.PLAYER, "T": Winner.TIE}


def roads(source: str | bytes, *arguments: str) -> subprocess.CompletedProcess[str]:
    data = source if isinstance(source, bytes) else source.encode()
    pipe = subprocess.PIPE
    with Started([*PUNTO, "roads", *arguments], stdin=pipe, stdout=pipe, stderr=pipe) as ran:
        out, err = ran.communicate(data, timeout=DEADLINE)
    return subprocess.CompletedProcess(ran.args, ran.returncode, out.decode(), err.decode())


def winners(shoe: str) -> str:
    return "".join(f'{{"winner":"{WINNERS[each]}"}}\n' for each in shoe)


@pytest.mark.parametrize("tail", ["turn", "fall"])
def test_a_shoe_is_drawn(tail):
    shoe = "TBBBBBBBBPPTBPBPPPPPPPPB"
    ran = roads(winners(shoe), "--tail", tail)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == to_json(draw([RoadRound(WINNERS[each]) for each in shoe], tail))
    assert ran.stdout.count("\n") == 1


def test_what_is_said_of_a_round_is_on_the_bead_plate():
    line = '{"winner":"banker","player_pair":true,"banker_pair":false,"natural":true}'

    (cell,) = json.loads(roads(line).stdout)["bead_plate"]["cells"]
    assert cell == {
        "row": 0,
        "col": 0,
        "winner": "banker",
        "player_pair": True,
        "banker_pair": False,
        "natural": True,
    }


def test_no_rounds_are_an_empty_board():
    ran = roads("\n")

    assert ran.returncode == 0
    assert json.loads(ran.stdout) == to_json(draw([]))


def test_what_score_writes_is_read():
    coups = '{"id":1,"cards":["9S","KD","3H","4C","8D"]}\n{"id":2,"cards":["KS","4D","KH","4C"]}\n'
    scored = subprocess.run(
        [*PUNTO, "score", "--game", "mini-baccarat"],
        input=coups.encode(),
        capture_output=True,
        check=True,
        timeout=DEADLINE,
    )
    drawn = json.loads(roads(scored.stdout).stdout)

    assert drawn["big_road"]["columns"] == [
        [{"winner": "banker", "ties": 0}, {"winner": "banker", "ties": 0}]
    ]
    assert drawn["bead_plate"]["cells"][1]["player_pair"] is True
    assert drawn["bead_plate"]["cells"][1]["natural"] is True


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('{"winner":"bonker"}', 'line 3: winner must be "player", "banker" or "tie", not "bonker"'),
        ('{"winner":["tie"]}', 'line 3: winner must be "player", "banker" or "tie", not ["tie"]'),
        ('{"winner":null}', "line 3: winner must be"),
        ('{"winer":"tie"}', 'line 3: unknown key "winer" (did you mean "winner"?)'),
        ("{}", 'line 3: the key "winner" is missing'),
        ('{"winner":"tie","natural":1}', "line 3: natural must be true or false, not 1"),
        ('{"winner":"tie","player_pair":"true"}', 'line 3: player_pair must be true or false, not "true"'),
        ('{"winner":"tie","winner":"player"}', 'line 3: the key "winner" is there twice'),
        ('{"id":"r1","error":"no such card"}', "line 3: this coup could not be scored: no such card"),
        ("oops", "line 3: the line is not JSON"),
        ("[]", "line 3: the line is not a JSON object"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_drawn(line, error):
    ran = roads(f"{winners('B')}\n{line}\n{winners('P')}")

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith(error)
    assert ran.stderr.count("\n") == 1


def test_every_bad_line_is_named():
    ran = roads(b'{"winner":"tie"}\n{}\n\xff\n')

    assert [line.partition(":")[0] for line in ran.stderr.splitlines()] == ["line 2", "line 3"]


def test_a_tail_that_there_is_not():
    ran = roads("", "--tail", "drop")

    assert ran.returncode == 2
    assert "is not one of turn, fall" in ran.stderr
