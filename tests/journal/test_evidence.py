"""A bundle of evidence of a round, and the program in it that checks it with nothing but Python."""

import base64
import hashlib
import json
import subprocess
import sys
from random import Random
from typing import Any

import pytest

from punto.baccarat.cards import Card
from punto.baccarat.table.events import CardUnread, SetWager
from punto.baccarat.table.order_kinds import CorrectCard, HoldPlay, KeyCard, ResumePlay, VoidCoup, VoidRound
from punto.controller.journal import evidence_verifier as verifier
from punto.controller.journal import schema, store
from punto.controller.journal.evidence import NoEvidenceError, gather, write
from punto.controller.journal.recovery import history, replay
from punto.controller.journal.schema import RecordError
from punto.controller.signing.heads import HeadStatement, SignedHead
from punto.controller.signing.keys import SigningKey
from punto.witness.store import WitnessStore
from tests.command import punto
from tests.service.table_in_this_process import STAKE, TOPIC, edited, settings, table

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
    link = "0" * 64
    found: list[dict[str, Any]] = []
    with schema.reading(record) as connection:
        name = store.name(connection)
    key = SigningKey.open(tmp_path / "key")
    for step in history(record):
        link = step.entry.chained_to(link)
        if step.entry.seq % 10 == 0:
            head = f"{step.entry.seq}:{link}"
            statement = HeadStatement(table=TOPIC.table, record=name, head=head, ts=step.entry.ts)
            found.append(SignedHead.of(statement, key).model_dump())
    return found


def checked(files: dict[str, bytes], *, without_heads: bool = False) -> list[str]:
    """What the verifier finds wrong."""
    return verifier.checked(verifier.packed(files), without_heads=without_heads)[1]


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
        "before.json, game.json, shown.jsonl, incidents.jsonl, and what each wager is paid"
    ]
    (told,) = json.loads(files["round.json"])
    shown = [json.loads(line) for line in files["shown.jsonl"].splitlines()]
    rounds = [each for step in shown for each in step["messages"] if each["schema"] == "punto/round/1"]
    assert [each["round"]["settlements"] for each in rounds if each["seq"] == ROUND] == [told["settlements"]]
    assert len(told["settlements"]) == 2
    with pytest.raises(FileExistsError):
        write(files, tmp_path / "bundle.zip")


def test_only_its_owner_may_read_a_bundle(tmp_path, record):
    write(gather(record, ROUND, [], "0.1.0"), tmp_path / "bundle.zip")

    assert (tmp_path / "bundle.zip").stat().st_mode & 0o777 == 0o600


def test_each_state_is_the_one_after_its_input(record):
    shown = [json.loads(line) for line in gather(record, ROUND, [], "0.1.0")["shown.jsonl"].splitlines()]

    states = [each["messages"][0] for each in shown]
    assert [each["seq"] for each in states] == [each["seq"] for each in shown]
    assert [each["phase"] for each in states][:3] == ["betting", "betting", "dealing"]
    assert {each["round"] for each in states} == {ROUND, ROUND + 1}


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
    assert (
        "the witness's signature of the head"
        in checked(forged(files, heads_json=json.dumps(told).encode()))[0]
    )
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
        {name: files[name] for name in files if name != "game.json"},
    ):
        (fault,) = checked(other)
        assert "it must have the files before.json, " in fault


def forged(files: dict[str, bytes], **changed: bytes) -> dict[str, bytes]:
    """A bundle with other contents, whose manifest was written anew."""
    names = {name.replace("_", "."): content for name, content in changed.items()}
    manifest = json.loads(files["manifest.json"])
    manifest["files"] |= {name: hashlib.sha256(content).hexdigest() for name, content in names.items()}
    manifest["sha256"] = verifier.digest_of(manifest)
    return {**files, **names, "manifest.json": json.dumps(manifest).encode()}


def test_a_bundle_that_was_written_anew_is_refuted_by_its_chain_and_its_head(record, heads):
    files = gather(record, ROUND, heads, "0.1.0")
    assert checked(files) == []
    entries = [json.loads(line) for line in files["inputs.jsonl"].splitlines()]
    lines = [json.dumps(each).encode() for each in entries]

    def inputs(changed: list[bytes]) -> list[str]:
        return checked(forged(files, inputs_jsonl=b"\n".join(changed)))

    other = json.dumps(entries[3] | {"payload": entries[3]["payload"].replace("1", "2", 1)}).encode()
    assert inputs([*lines[:3], other, *lines[4:]])[0] == f"input {entries[3]['seq']} does not have its hash"
    assert inputs(lines[:3] + lines[4:])[0] == f"input {entries[4]['seq']} does not have its hash"
    assert (
        "no signed head covers the inputs after" in inputs(lines[:1])[0]
        or "is of another record" in inputs(lines[:1])[0]
    )
    link, rehashed = json.loads(files["before.json"])["hash"], []
    for each in [*entries[:3], json.loads(other), *entries[4:]]:
        text = "\n".join([link, str(each["seq"]), each["ts"], each["source"], each["payload"]])
        link = hashlib.sha256(text.encode()).hexdigest()
        rehashed.append(json.dumps(each | {"hash": link}).encode())
    assert "is of another record" in inputs(rehashed)[0]
    told = json.loads(files["heads.json"])
    told[-1]["ts"] = told[-1]["ts"].replace("2", "1", 1)
    assert "does not hold" in checked(forged(files, heads_json=json.dumps(told).encode()))[0]


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


@pytest.mark.parametrize("forge", [_swapped, _another_winner, _larger, _one_more, _corrected, _void])
def test_a_round_that_does_not_follow_from_the_signed_inputs_is_refuted(record, heads, forge):
    files = gather(record, ROUND, heads, "0.1.0")
    (told,) = json.loads(files["round.json"])
    forge(told)

    assert checked(forged(files, round_json=json.dumps([told]).encode())) != []


def test_the_round_of_other_inputs_is_refuted(record, heads):
    """The inputs go on up to the head, so that they have the cards of later rounds too."""
    files = gather(record, ROUND, heads[-1:], "0.1.0")
    (told,), (later,) = (
        json.loads(each["round.json"]) for each in (files, gather(record, ROUND + 1, heads[-1:], "0.1.0"))
    )

    changed = json.dumps([{**later, "round": ROUND, "settlements": told["settlements"]}]).encode()
    assert checked(forged(files, round_json=changed)) == [
        f"the cards of round {ROUND} are not those of the inputs"
    ]


def test_a_round_that_can_be_read_in_two_ways_is_refused(record, heads):
    files = gather(record, ROUND, heads, "0.1.0")
    twice = files["round.json"].replace(b'"winner":', b'"winner": "tie", "winner":', 1)

    assert "has a key twice" in checked(forged(files, round_json=twice))[0]


@pytest.fixture
async def eventful(tmp_path):
    """Rounds with a card that was keyed, one that was corrected, a void hand, and a correction after the settlement."""
    path = tmp_path / "eventful.db"
    async with table(path, settings(burn="first_card")) as here:
        await here.begin_shoe()
        await here.play(1, seats=[1])
        await here.order(SetWager("a", 1, "player", STAKE, here.state.round))
        await here.order(SetWager("b", 1, "player", 2 * STAKE, here.state.round))
        await here.draw(1)
        await here.shoe(CardUnread(here.state.link.expected))
        await here.draw(1)
        await here.order(KeyCard("mei", Card("9S")))
        await here.play(1)
        await here.draw(1)
        assert here.state.coup is not None
        card = here.state.coup.cards[0]
        await here.order(CorrectCard("mei", 1, Card("2C" if card != "2C" else "3C"), "a misread"))
        await here.play(1)
        await here.draw(2)
        await here.order(VoidCoup("mei", "a misdeal"))
        await here.play(1, seats=[1])
        last = here.state.last
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
            changed = [{**each, part: "eve"} if each in ordered else each for each in rounds]
            faults = checked(forged(files, round_json=json.dumps(changed).encode()), without_heads=True)
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
    lost = forged(files, incidents_jsonl=b'{"seq": 1}\n', game_json=b"{}")
    assert checked(lost) == []  # no signature covers them
    assert compared(lost) == (1, " differs from the record in game.json, incidents.jsonl, manifest.json\n")
    assert compared({"manifest.json": b"{}"})[0] == 2


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
