"""A bundle of evidence of a round, and the program that checks it with nothing but Python."""

import base64
import json
import re
import subprocess
import sys
from random import Random
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.events import CardUnread, SetWager
from punto.baccarat.table.order_kinds import CorrectCard, HoldPlay, KeyCard, ResumePlay, VoidCoup, VoidRound
from punto.controller.journal import evidence_verifier as verifier
from punto.controller.journal.evidence import NoEvidenceError, gather, write
from punto.controller.journal.recovery import replay
from punto.controller.journal.schema import RecordError
from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import SigningKey
from punto.witness.store import WitnessStore
from tests.command import punto
from tests.controller.journal.bundles import chained, checked, entries_of, forged, heads_of, with_round
from tests.controller.table_in_this_process import STAKE, edited, settings, table

ROUND = 3


@pytest.fixture
async def record(tmp_path):
    async with table(tmp_path / "table.db") as here:
        await here.begin_shoe()
        await here.play(6, seats=[1, 4])
    return tmp_path / "table.db"


@pytest.fixture
def heads(tmp_path, record):
    """The signed heads of every tenth input."""
    return heads_of(record, SigningKey.open(tmp_path / "key"))


def verified(bundle, *options: str) -> "subprocess.CompletedProcess[str]":
    """The verifier as a stranger runs it: no package that is installed."""
    command = [sys.executable, "-I", "-S", verifier.__file__, str(bundle), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_bundle_proves_its_round_to_a_stranger(tmp_path, record, heads):
    files = gather(record, ROUND, heads, "0.1.0")
    write(files, tmp_path / "bundle.zip")
    key = heads[0]["key"]
    ran = verified(tmp_path / "bundle.zip", "--key", key)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith("nothing is wrong in what is proven here\n")
    assert f"the signer with the key {key} signed input" in ran.stdout
    assert [line.split(":")[1].strip() for line in ran.stdout.splitlines() if "NOT PROVEN" in line] == [
        "shown.jsonl, the program that manifest.json names, and that the program's rules give the recorded results"
    ]
    (told,) = json.loads(files["round.json"])
    shown = [json.loads(line) for line in files["shown.jsonl"].splitlines()]
    rounds = [each for step in shown for each in step["messages"] if each["schema"] == "punto/round/1"]
    assert [each["round"]["settlements"] for each in rounds if each["seq"] == ROUND] == [told["settlements"]]
    assert len(told["settlements"]) == 2
    with pytest.raises(FileExistsError):
        write(files, tmp_path / "bundle.zip")


def test_a_bundle_that_the_verifier_would_refuse_is_not_written(tmp_path, record, monkeypatch):
    files = gather(record, ROUND, [], "0.1.0")
    monkeypatch.setattr(verifier, "LARGEST", len(verifier.packed(files)) - 1)

    with pytest.raises(ValueError, match="give --witness a file with a head that is nearer to the round"):
        write(files, tmp_path / "bundle.zip")
    assert not (tmp_path / "bundle.zip").exists()


def test_only_its_owner_may_read_a_bundle(tmp_path, record):
    write(gather(record, ROUND, [], "0.1.0"), tmp_path / "bundle.zip")

    assert (tmp_path / "bundle.zip").stat().st_mode & 0o777 == 0o600


def test_each_state_is_the_one_after_its_input(record, heads):
    shown = [json.loads(line) for line in gather(record, ROUND, [], "0.1.0")["shown.jsonl"].splitlines()]

    states = [each["messages"][0] for each in shown]
    assert [each["seq"] for each in states] == [each["seq"] for each in shown]
    later = gather(record, ROUND, heads[-1:], "0.1.0")
    assert len(entries_of(later)) > len(shown) + 1
    assert [json.loads(line) for line in later["shown.jsonl"].splitlines()] == shown  # of the round alone
    assert [each["phase"] for each in states][:3] == ["betting", "betting", "dealing"]
    assert {each["round"] for each in states} == {ROUND, ROUND + 1}


def test_a_bundle_has_the_heads_of_its_own_inputs_from_the_first_to_the_last(tmp_path, record):
    files = gather(record, ROUND, heads_of(record, SigningKey.open(tmp_path / "key"), every=1), "0.1.0")

    signed = [each["head"] for each in json.loads(files["heads.json"])]
    assert signed[0] == "{seq}:{hash}".format(**entries_of(files)[0])
    assert len(signed) == len(entries_of(files))


def test_the_key_is_the_one_that_the_reader_knows(tmp_path, record, heads):
    write(gather(record, ROUND, heads, "0.1.0"), tmp_path / "bundle.zip")
    other = SigningKey.open(tmp_path / "other").public

    unknown = verified(tmp_path / "bundle.zip")
    assert unknown.returncode == 0
    assert (
        "NOT PROVEN: whose key it is: compare the signer's key with the one that you stored" in unknown.stdout
    )
    foreign = verified(tmp_path / "bundle.zip", "--key", other)
    assert foreign.returncode == 1
    assert f", not {other}" in foreign.stdout


def test_without_a_head_that_covers_the_inputs_nothing_is_proven(tmp_path, record, heads):
    write(gather(record, ROUND, heads[:1], "0.1.0"), tmp_path / "bundle.zip")

    assert verified(tmp_path / "bundle.zip").returncode == 1
    ran = verified(tmp_path / "bundle.zip", "--without-heads")
    assert ran.returncode == 0
    assert "NOT PROVEN: no signed head covers the inputs after " in ran.stdout


def test_the_witness_countersigns(tmp_path, record, heads):
    with WitnessStore(tmp_path / "witness.db", SigningKey.open(tmp_path / "witness")) as witness:
        for each in heads:
            witness.keep(SignedHead(**each))
    out = tmp_path / "bundle.zip"
    ran = punto(
        *("evidence", str(ROUND), "--record", str(record)),
        *("--witness", str(tmp_path / "witness.db"), "--out", str(out)),
    )
    assert (ran.returncode, ran.stderr) == (0, "")

    key = SigningKey.open(tmp_path / "witness").public
    assert verified(out, "--key", heads[0]["key"], "--witness", key).returncode == 0
    assert verified(out, "--witness", heads[0]["key"]).returncode == 1
    files = verifier.unpacked(out.read_bytes())
    told = json.loads(files["heads.json"])
    told[-1]["witnessed"] = told[-1]["witnessed"].replace("2", "1", 1)
    assert "the witness's signature of the head" in checked(forged(files, heads=told))[0]
    unsigned = gather(record, ROUND, heads, "0.1.0")
    assert verifier.checked(verifier.packed(unsigned), (None, key))[1] != []


def test_the_same_round_gives_the_same_bundle(tmp_path, record):
    for name in ("one.zip", "other.zip"):
        write(gather(record, ROUND, [], "0.1.0"), tmp_path / name)

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()


def test_each_change_of_a_file_is_found(record, heads):
    files, dice = gather(record, ROUND, heads, "0.1.0"), Random(1)
    assert checked(files) == []
    for name in files.keys() - {"manifest.json"}:
        for _ in range(20):
            changed = bytearray(files[name] or b"x")
            at = dice.randrange(len(changed))
            changed[at] ^= 1 << dice.randrange(8)
            assert checked({**files, name: bytes(changed)}) == [f"{name} is not the file that was written"]
    for other in (
        {**files, "more.json": b"{}"},
        {name: files[name] for name in files if name != "heads.json"},
    ):
        (fault,) = checked(other)
        assert "it must have the files before.json, " in fault


def test_a_bundle_that_was_written_again_is_refuted_by_its_chain_and_its_head(record, heads):
    files = gather(record, ROUND, heads, "0.1.0")
    assert checked(files) == []
    entries = entries_of(files)

    def inputs(changed: list[dict[str, Any]]) -> str:
        return checked(forged(files, inputs=changed))[0]

    payload = {"payload": entries[3]["payload"].replace("1", "2", 1)}
    other = [*entries[:3], entries[3] | payload, *entries[4:]]
    sentence = "input {} does not have its hash, or other results than its hash covers"
    assert inputs(other) == sentence.format(entries[3]["seq"])
    assert inputs(entries[:3] + entries[4:]) == "an input is missing"
    assert inputs(entries[1:]) == sentence.format(entries[1]["seq"])
    assert inputs(entries[:1]).endswith(", of which it has the signed head")
    assert inputs(chained(files, other)).endswith(" is of another record")
    told = json.loads(files["heads.json"])
    told[-1]["ts"] = told[-1]["ts"].replace("2", "1", 1)
    assert "does not hold" in checked(forged(files, heads=told))[0]


def _swapped(told: dict[str, Any]) -> None:
    for one, other in (("player", "banker"), ("player_total", "banker_total")):
        told[one], told[other] = told[other], told[one]
    told["winner"] = {"player": "banker", "banker": "player"}.get(told["winner"], "tie")


def _another_winner(told: dict[str, Any]) -> None:
    told["winner"] = "tie" if told["winner"] != "tie" else "player"


def _larger(told: dict[str, Any]) -> None:
    for each in told["settlements"]:
        each.update(stake=10_000_000, returned=20_000_000, net=10_000_000)


def _one_more(told: dict[str, Any]) -> None:
    told["settlements"].append({**told["settlements"][0], "seat": 7})


def _the_smallest(told: dict[str, Any]) -> None:
    told["settlements"].append({**told["settlements"][0], "seat": 7, "stake": 1, "returned": 1, "net": 0})


def _corrected(told: dict[str, Any]) -> None:
    before = told["player"][0]
    told["corrections"] = [
        {
            "position": 1,
            "side": "player",
            "before": before,
            "after": before,
            "who": "eve",
            "reason": "misread",
        }
    ]


def _void(told: dict[str, Any]) -> None:
    told.update(status="void", winner=None, who="mei", reason="a misdeal")


@pytest.mark.parametrize(
    "forge", [_swapped, _another_winner, _larger, _one_more, _the_smallest, _corrected, _void]
)
def test_a_round_that_does_not_follow_from_the_inputs_is_refuted(record, heads, forge):
    files = gather(record, ROUND, heads, "0.1.0")
    (told,) = json.loads(files["round.json"])
    forge(told)

    assert checked(forged(files, round=[told])) == [
        f"round.json is not the round {ROUND} that the inputs ended"
    ]
    # As if the service itself had recorded it so.
    assert checked(with_round(files, lambda _: None), without_heads=True) == []
    (fault, *_) = checked(with_round(files, forge), without_heads=True)
    assert re.search(r"round(.json says of round)? 3\b", fault)


def test_the_round_of_other_inputs_is_refuted(record, heads):
    """The inputs go on up to the head, so that they have the cards of later rounds too."""
    files = gather(record, ROUND, heads[-1:], "0.1.0")
    (told,), (later,) = (
        json.loads(each["round.json"]) for each in (files, gather(record, ROUND + 1, heads[-1:], "0.1.0"))
    )
    other = {**later, "round": ROUND, "settlements": told["settlements"]}

    assert checked(with_round(files, lambda record: record.update(other)), without_heads=True) == [
        f"the cards of round {ROUND} are not those of the inputs"
    ]


def test_a_file_that_can_be_read_in_two_ways_is_refused(record, heads):
    files = gather(record, ROUND, heads, "0.1.0")
    twice = files["round.json"].replace(b'"winner":', b'"winner": "tie", "winner":', 1)

    assert checked(forged(files, round=twice)) == [
        f"round.json is not the round {ROUND} that the inputs ended"
    ]
    entries = entries_of(files)
    entries[1]["payload"] = '{"kind":"call_supervisor",' + entries[1]["payload"][1:]
    assert "has a key twice" in checked(forged(files, inputs=chained(files, entries), heads=[]))[0]


def test_what_a_bundle_says_stays_on_its_line(record, heads):
    """A terminal obeys some letters, and a line of the bundle's own could look like one of the verifier."""
    files = gather(record, ROUND, heads, "0.1.0")
    lie = {"table": "table-1\x1b[8m\nthe signer with the key of the house signed input 99"}
    manifest = verifier.written({**json.loads(files["manifest.json"]), **lie})
    told, faults = verifier.checked(verifier.packed(forged(files, manifest=manifest)))

    assert faults != []
    assert all(line.isprintable() for line in (*told, *faults))


@pytest.fixture
async def eventful(tmp_path):
    """Rounds with a card that was keyed, one that was corrected, a void hand, and a correction after the settlement."""
    path = tmp_path / "eventful.db"
    async with table(path, settings(burn="first_card")) as here:
        await here.begin_shoe()
        await here.play(1, seats=[1])
        await here.order(SetWager("a", 1, "player", STAKE, here.state.round.number))
        await here.order(SetWager("b", 1, "player", 2 * STAKE, here.state.round.number))
        await here.draw(1)
        await here.shoe(CardUnread(here.state.link.expected))
        await here.draw(1)
        await here.order(KeyCard("mei", Card("9S")))
        await here.play(1)
        await here.draw(1)
        assert here.state.round.coup is not None
        card = here.state.round.coup.cards[0]
        await here.order(CorrectCard("mei", 1, Card("2C" if card != "2C" else "3C"), "a misread"))
        await here.play(1)
        await here.draw(2)
        await here.order(VoidCoup("mei", "a misdeal"))
        await here.play(1, seats=[1])
        last = here.state.history.last
        assert last is not None
        await here.order(VoidRound("mei", last.round, "a misdeal"))
        await here.play(1)
    return path


def test_what_was_out_of_the_ordinary_is_right_and_what_is_not_proven_is_named(eventful):
    told = {}
    for number in range(1, replay(eventful).rounds + 1):
        bundle = verifier.packed(gather(eventful, number, [], "0.1.0"))
        told[number], faults = verifier.checked(bundle, without_heads=True)
        assert faults == [], number
    uncertain = [number for number in told if any("which cards went to" in line for line in told[number])]
    assert uncertain == [2]
    assert any("(card_unread), " in line and "(key_card)" in line for line in told[2])


def test_orders_are_in_the_name_of_the_people_of_their_inputs(eventful):
    for number in range(1, replay(eventful).rounds + 1):
        files = gather(eventful, number, [], "0.1.0")
        rounds = json.loads(files["round.json"])
        ordered = [each for each in rounds if each["who"] is not None]
        for part in ("who", "reason", "approved_by") if ordered else ():

            def change(told: dict[str, Any], part: str = part) -> None:
                told.update({part: "eve"} if told["who"] is not None else {})

            faults = checked(with_round(files, change), without_heads=True)
            assert f"no input orders what round.json says of round {ordered[0]['round']}" in faults


async def test_a_record_that_differs_gives_no_evidence(tmp_path, eventful):
    path = tmp_path / "dispute.db"
    async with table(path) as here:
        await here.begin_shoe()
        await here.play(2, seats=[1])
        await here.order(HoldPlay("tove", "cards swapped by dealer"))
        await here.order(ResumePlay("tove", "ok"))
        await here.play(5)
    with edited(path) as shell:
        shell.execute("DELETE FROM incidents")

    with pytest.raises(
        RecordError, match="the record proves nothing, because it differs: the incidents of input "
    ):
        gather(path, 3, [], "0.1.0")
    ran = punto("evidence", "3", "--record", str(path), "--out", str(tmp_path / "bundle.zip"))
    assert ran.returncode == 2
    assert not (tmp_path / "bundle.zip").exists()


def test_a_bundle_is_compared_with_the_record_file_by_file(tmp_path, record, heads):
    files = gather(record, ROUND, heads, "0.1.0")

    def compared(bundle: dict[str, bytes]) -> tuple[int, str]:
        path = tmp_path / "bundle.zip"
        path.write_bytes(verifier.packed(bundle))
        ran = punto("evidence", "--check", str(path), "--record", str(record))
        return ran.returncode, ran.stdout.removeprefix(str(path))

    assert compared(files) == (0, " is what the record gives, file by file\n")
    lost = forged(files, shown=b'{"seq": 1}\n')
    assert checked(lost) == []  # no signature covers it
    assert compared(lost) == (1, " differs from the record in manifest.json, shown.jsonl\n")
    assert compared({"manifest.json": b"{}"})[0] == 2
    unsigned = [
        {**each, "signature": heads[0]["signature"][::-1]} for each in json.loads(files["heads.json"])
    ]
    status, said = compared(forged(files, heads=unsigned))
    assert (status, said.startswith(" is what the record gives, but ")) == (1, True)
    for content in (b"", b"PK\3\4", verifier.packed(files)[:-1], verifier.packed(files)[:3000]):
        (tmp_path / "bundle.zip").write_bytes(content)
        ran = punto("evidence", "--check", str(tmp_path / "bundle.zip"), "--record", str(record))
        assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)


async def test_a_bundle_of_another_record_is_reported_as_such(tmp_path, record, heads):
    (tmp_path / "bundle.zip").write_bytes(verifier.packed(gather(record, ROUND, heads, "0.1.0")))
    other = tmp_path / "other.db"
    async with table(other) as here:
        await here.begin_shoe()
        await here.play(5)

    ran = punto("evidence", "--check", str(tmp_path / "bundle.zip"), "--record", str(other))

    assert (ran.returncode, "give --record the file of the bundle's record" in ran.stderr) == (2, True)


def test_the_verifiers_signatures_are_those_of_the_library(tmp_path):
    key, dice = SigningKey.open(tmp_path / "key"), Random(2)
    public = base64.b64decode(key.public)
    for length in (0, 1, 64, 1000):
        message = dice.randbytes(length)
        signature = key.sign(b"", message)
        assert verifier.signed(public, signature, message)
        flipped = bytearray(signature)
        flipped[dice.randrange(64)] ^= 1 << dice.randrange(8)
        assert not verifier.signed(public, bytes(flipped), message)
        assert not verifier.signed(public, signature, message + b" ")


def test_the_command_writes_a_new_bundle_and_says_what_is_missing(tmp_path, record):
    out = tmp_path / "round.zip"
    ran = punto("evidence", str(ROUND), "--record", str(record), "--out", str(out))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert verified(out, "--without-heads").stdout.endswith("nothing is wrong in what is proven here\n")
    again = punto("evidence", str(ROUND), "--record", str(record), "--out", str(out))
    assert (again.returncode, again.stderr) == (1, f"punto evidence: {out} cannot be written: File exists\n")
    with pytest.raises(NoEvidenceError, match="the record has no round 99"):
        gather(record, 99, [], "0.1.0")
