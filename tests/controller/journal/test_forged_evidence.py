"""What a person forges who has a true bundle and no key is found, with nothing but Python."""

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from punto.controller.journal import evidence_verifier as verifier
from punto.controller.journal.evidence import gather, write
from punto.controller.signing.heads import SignedHead
from punto.controller.signing.keys import SigningKey
from punto.witness.store import WitnessStore
from tests.command import punto
from tests.controller.journal.bundles import Files, chained, checked, entries_of, forged, heads_of
from tests.controller.table_in_this_process import table
from tests.share import ALL, part

ROUND = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record, the file of its witness, and their keys."""
    folder = tmp_path_factory.mktemp("true")

    async def play() -> None:
        async with table(folder / "table.db") as here:
            await here.begin_shoe()
            await here.play(6, seats=[1, 4])

    asyncio.run(play())
    with WitnessStore(folder / "witness.db", SigningKey.open(folder / "witness")) as witness:
        for each in heads_of(folder / "table.db", SigningKey.open(folder / "key")):
            witness.keep(SignedHead(**each))
    return folder


@pytest.fixture(scope="module")
def files(folder: Path) -> Files:
    """The files of a true bundle, with countersigned heads."""
    out = folder / "bundle.zip"
    arguments = ("--record", folder / "table.db", "--witness", folder / "witness.db", "--out", out)
    ran = punto("evidence", str(ROUND), *map(str, arguments))
    assert ran.stderr == ""
    found = verifier.unpacked(out.read_bytes())
    assert len(json.loads(found["heads.json"])) > 0
    return found


@pytest.fixture(autouse=True)
def _each_signature_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signature takes most of the time of a check, and its result is always the same."""
    monkeypatch.setattr(verifier, "signed", cache(verifier.signed))


@pytest.fixture
def verified(folder: Path, tmp_path: Path) -> Callable[[Files], "subprocess.CompletedProcess[str]"]:
    """The verifier as a stranger runs it, who knows both keys."""

    def run(files: Files) -> "subprocess.CompletedProcess[str]":
        write(files, tmp_path / "bundle.zip")
        keys = [SigningKey.open(folder / name).public for name in ("key", "witness")]
        command = [sys.executable, "-I", "-S", verifier.__file__, str(tmp_path / "bundle.zip")]
        command += ["--key", keys[0], "--witness", keys[1]]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


# --- a round that was never dealt


Told = dict[str, Any]


def _a_tie(told: Told) -> None:
    hands = {"player": ["KS", "9S"], "banker": ["QD", "9H"], "player_total": 9, "banker_total": 9}
    told.update(hands, winner="tie", natural=True)


def _a_wager(told: Told) -> None:
    told["settlements"].append({**told["settlements"][0], "seat": 7, "stake": 500_000, "net": 500_000})


def _cards(state: Told) -> None:
    state["round"]["coup"] = {"cards": ["KS", "QD", "9S", "9H"]}


def _carried(state: Told) -> None:
    state["shoe"]["carried"] = ["KS", "QD", "9S", "9H"]


def _burned(state: Told) -> None:
    state["phase"] = "shoe_change"
    state["shoe"].update(burn_left=6, carried=["KS", "QD", "9S", "9H"])


def _staked(state: Told) -> None:
    state["round"]["wagers"] = [{"seat": 7, "wager": "player", "amount": 500_000}]


def _nothing(_: Told) -> None:
    pass


FORGERIES = [
    pytest.param(_a_tie, _nothing, id="the result alone"),
    pytest.param(_a_tie, _cards, id="cards that were dealt before"),
    pytest.param(_a_tie, _carried, id="cards that were carried"),
    pytest.param(_a_tie, _burned, id="cards that were burned"),
    pytest.param(_a_wager, _staked, id="a wager that stood before"),
]


@pytest.mark.parametrize(("result", "start"), FORGERIES)
def test_a_round_that_was_never_dealt_is_refuted_however_far_the_digests_were_computed_again(
    files, verified, result, start
):
    (told,) = json.loads(files["round.json"])
    before, heads = json.loads(files["before.json"]), json.loads(files["heads.json"])
    result(told)
    start(before["state"])
    entries = entries_of(files)
    entries[0]["state"] = verifier.state_digest(before["state"])
    rechained = chained(files, entries)
    for head in heads:
        link = next(each["hash"] for each in rechained if head["head"].startswith(f"{each['seq']}:"))
        head["head"] = f"{head['head'].partition(':')[0]}:{link}"
    number = json.loads(files["manifest.json"])["round"]

    everything: dict[str, Any] = {"round": [told], "before": before}
    stages = {
        "round.json is not the round 3 that the inputs ended": {"round": [told]},
        "before.json is not the state that the hash of the first input covers": everything,
        "is of another record": {**everything, "inputs": rechained},
        "signature of the head": {**everything, "inputs": rechained, "heads": heads},
        "no signed head covers the inputs": {**everything, "inputs": rechained, "heads": []},
    }
    if start is _nothing:
        del stages["before.json is not the state that the hash of the first input covers"]
        stages = dict([*stages.items()][:1])
    for sentence, changed in stages.items():
        faults = checked(forged(files, **changed))
        assert sentence in "".join(faults), (number, sentence)
    ran = verified(forged(files, **everything))
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (1, "something is wrong")


def test_the_true_bundle_is_proven(files, verified):
    ran = verified(files)

    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, "nothing is wrong in what is proven here")


def test_a_field_cannot_be_hidden_in_the_name_of_another(files):
    """The digest of a state is over lines, and a line break in a name would make two lines of it."""
    before = json.loads(files["before.json"])
    names, state = [*before["state"]], {}
    for name, following in pairwise(names):
        value = before["state"][name]
        if following == "round":
            hidden = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
            state[f"{name} {verifier.sha256(hidden)}\nround"] = before["state"][following]
        elif name != "round":
            state[name] = value
    state[names[-1]] = before["state"][names[-1]]
    assert "round" not in state

    (fault,) = checked(forged(files, before={**before, "state": state}))
    assert "could hide the lines of other fields" in fault


# --- each file and each field


NOT_COMPARED = {
    "shown.jsonl": "the verifier says that it proves nothing of it",
    "program": "it decides nothing: the verifier says that it proves nothing of it",
}
"""What can be changed without a fault, and why."""

Path_ = tuple[str | int, ...]


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Each value in a JSON value that is not a list or an object with values, and its path."""
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, each in children:
        yield from leaves(each, (*path, key))
    if not children:
        yield path, value


def others(value: Any) -> list[Any]:
    """Values that a person could put in its place."""
    if isinstance(value, bool):
        return [not value, int(value), None]
    if isinstance(value, int):
        return [value + 1, -value - 1, float(value), str(value), None]
    if isinstance(value, str):
        return [f"{value}0", value[1:] if value else "x", value.swapcase() + " ", [value], None]
    return ["x", 0, [None]]


def with_other(whole: Any, path: Path_, value: Any) -> Any:
    """A copy with another value at a path, or with one more."""
    key, *rest = path
    if rest:
        value = with_other(whole[key], tuple(rest), value)
    if isinstance(whole, dict):
        return {**whole, key: value}
    return [*whole, value] if isinstance(key, str) else [*whole[:key], value, *whole[key + 1 :]]


def without(whole: Any, path: Path_) -> Any:
    """A copy without the value at a path."""
    key, *rest = path
    if rest:
        return with_other(whole, (key,), without(whole[key], tuple(rest)))
    if isinstance(whole, dict):
        return {name: value for name, value in whole.items() if name != key}
    return [*whole[:key], *whole[int(key) + 1 :]]


@pytest.mark.in_part
@pytest.mark.parametrize("name", ["before", "round", "heads", "inputs"])
def test_each_value_of_a_file_that_was_changed_is_reported(files, name):
    file = next(each for each in files if each.startswith(name))
    whole = entries_of(files) if name == "inputs" else json.loads(files[file])
    found = [*leaves(whole)]
    assert len(found) > 10
    for number, (path, value) in enumerate(part(found, one_in=3)):
        changes = [with_other(whole, path, other) for other in others(value)]
        changes += [without(whole, path), with_other(whole, (*path[:-1], "more"), value)]
        # A state has a thousand values, so each of them is changed in one way.
        for changed in changes if ALL or len(found) < 100 else [changes[number % len(changes)]]:
            assert checked(forged(files, **{name: changed})) != [], (path, changed)


def test_each_value_of_the_manifest_that_was_changed_is_reported(files):
    whole = json.loads(files["manifest.json"])
    for path, value in leaves(whole):
        changes = [with_other(whole, path, other) for other in others(value)]
        changes += [without(whole, path), with_other(whole, (*path[:-1], "more"), value)]
        for number, changed in enumerate(changes):
            if path != ("sha256",):
                changed["sha256"] = verifier.digest_of(changed)
            faults = checked({**files, "manifest.json": verifier.written(changed)})
            allowed = path == ("program",) and number < len(others(value))
            assert (faults == []) == allowed, (path, changed)


def test_the_table_is_the_one_of_the_state_without_a_head_too(files):
    manifest = verifier.written({**json.loads(files["manifest.json"]), "table": "table-2"})

    assert checked(forged(files, manifest=manifest, heads=[]), without_heads=True) == [
        "manifest.json names another table"
    ]


def test_each_line_that_is_missing_doubled_or_moved_is_reported(files):
    entries = entries_of(files)
    for at, entry in enumerate(entries):
        assert checked(forged(files, inputs=entries[:at] + entries[at + 1 :])) != []
        assert checked(forged(files, inputs=[*entries[:at], entry, *entries[at:]])) != []
        moved = [*entries[:at], *reversed(entries[at : at + 2]), *entries[at + 2 :]]
        assert moved == entries or checked(forged(files, inputs=moved)) != []


@pytest.mark.parametrize("name", ["before", "round", "heads", "inputs", "manifest"])
def test_a_file_has_one_text_for_what_it_says(files, name):
    file = next(each for each in files if each.startswith(name))
    text = files[file]
    for changed in (text + b"\n", text.replace(b": ", b":", 1), b" " + text, text[:-1], text + text, b""):
        assert changed != text
        other = {**files, file: changed} if name == "manifest" else forged(files, **{name: changed})
        assert checked(other) != [], changed[:100]


def test_what_is_not_compared_is_named_by_the_verifier(files):
    assert checked(forged(files, shown=b"")) == []
    told, _ = verifier.checked(verifier.packed(files))
    (said,) = (line for line in told if line.startswith("NOT PROVEN: ") and "rules" in line)
    assert all(what in said for what in NOT_COMPARED)


def test_the_parts_of_an_input_have_one_border(files):
    """The hash is over one part a line, so a line break in a part could move text from one part to the next."""
    entries = entries_of(files)
    entries[1]["source"] += "\n" + entries[1]["payload"]

    (fault,) = checked(forged(files, inputs=chained(files, entries), heads=[]), without_heads=True)
    assert f"a part of input {entries[1]['seq']} has more than one line" in fault


def test_an_input_has_one_head(files):
    (*others, last) = json.loads(files["heads.json"])

    (fault,) = checked(forged(files, heads=[*others, {**last, "ts": "2020"}, last]))
    assert "heads.json has two heads of an input" in fault


def test_a_signature_has_one_text(files):
    """Base64 leaves some bits of the last letter open."""
    heads = json.loads(files["heads.json"])
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for which in ("signature", "countersignature", "key", "witness"):
        text = heads[0][which]
        end = text.rstrip("=")
        same = [
            other
            for letter in letters
            if (other := end[:-1] + letter + text[len(end) :]) != text
            and base64.b64decode(other) == base64.b64decode(text)
        ]
        assert same
        for other in same:
            changed = [{**heads[0], which: other}, *heads[1:]]
            assert checked(forged(files, heads=changed)) != [], which


def test_a_correction_that_can_follow_is_named(folder):
    """A bundle that ends with its round cannot say that nobody corrected the round afterwards."""
    key = SigningKey.open(folder / "key")
    record = folder / "table.db"
    heads = heads_of(record, key)
    last = [gather(record, 6, heads[-1:], "0.1.0"), gather(record, ROUND, heads[-1:], "0.1.0")]
    told = [verifier.checked(verifier.packed(each), without_heads=True)[0] for each in last]

    named = [any("was corrected after input" in line for line in each) for each in told]
    assert named == [True, False]
