"""A bundle of evidence of a round, and the program in it that checks it with nothing but Python."""

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from random import Random
from typing import Any

import pytest

from punto.controller.journal import evidence_verifier as verifier
from punto.controller.journal import schema, store
from punto.controller.journal.evidence import NoEvidenceError, gather, write
from punto.controller.journal.recovery import history
from punto.controller.signing.heads import HeadStatement, SignedHead
from punto.controller.signing.keys import SigningKey
from tests.command import punto
from tests.service.table_in_this_process import TOPIC, table

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


def checked(files: dict[str, bytes]) -> list[str]:
    """What the verifier finds wrong."""
    bundle = verifier.Bundle(files)
    bundle.check()
    return bundle.faults


def verified(bundle, folder) -> "subprocess.CompletedProcess[str]":
    """The verifier as a stranger runs it: another folder, and no package that is installed."""
    with zipfile.ZipFile(bundle) as opened:
        opened.extract("verify.py", folder)
    command = [sys.executable, "-I", "-S", str(folder / "verify.py"), str(bundle)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_bundle_proves_its_round_to_a_stranger(tmp_path, record, heads):
    files = gather(record, ROUND, heads, "0.1.0")
    write(files, tmp_path / "bundle.zip")
    ran = verified(tmp_path / "bundle.zip", tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith("nothing is wrong\n")
    assert f"the owner of the key {heads[0]['key']} signed input" in ran.stdout
    (told,) = json.loads(files["round.json"])
    shown = [json.loads(line) for line in files["shown.jsonl"].splitlines()]
    rounds = [each for step in shown for each in step["messages"] if each["schema"] == "punto/round/1"]
    assert [each["round"]["settlements"] for each in rounds if each["seq"] == ROUND] == [told["settlements"]]
    assert len(told["settlements"]) == 2
    with pytest.raises(FileExistsError):
        write(files, tmp_path / "bundle.zip")


def test_the_same_round_gives_the_same_bundle(tmp_path, record):
    for name in ("one.zip", "other.zip"):
        write(gather(record, ROUND, [], "0.1.0"), tmp_path / name)

    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "other.zip").read_bytes()


def test_each_change_of_a_file_is_found(record):
    files, dice = gather(record, ROUND, [], "0.1.0"), Random(1)
    assert checked(files) == []
    for name in files.keys() - {"manifest.json"}:
        for _ in range(20):
            changed = bytearray(files[name] or b"x")
            at = dice.randrange(len(changed))
            changed[at] ^= 1 << dice.randrange(8)
            assert checked({**files, name: bytes(changed)}) == [f"{name} is not the file that was written"]
    assert checked({**files, "more.json": b"{}"}) == ["more.json was added"]


def forged(files: dict[str, bytes], **changed: bytes) -> dict[str, bytes]:
    """A bundle with other contents, whose manifest was written anew."""
    names = {name.replace("_", "."): content for name, content in changed.items()}
    manifest = json.loads(files["manifest.json"])
    manifest["files"] |= {name: hashlib.sha256(content).hexdigest() for name, content in names.items()}
    manifest["sha256"] = verifier.digest_of(manifest)
    return {**files, **names, "manifest.json": json.dumps(manifest).encode()}


def test_a_bundle_that_was_written_anew_is_refuted_by_its_chain_its_head_or_the_rules(record, heads):
    files = gather(record, ROUND, heads, "0.1.0")
    assert checked(files) == []
    entries = [json.loads(line) for line in files["inputs.jsonl"].splitlines()]
    lines = [json.dumps(each).encode() for each in entries]

    def inputs(changed: list[bytes]) -> list[str]:
        return checked(forged(files, inputs_jsonl=b"\n".join(changed)))

    other = json.dumps(entries[3] | {"payload": entries[3]["payload"].replace("1", "2", 1)}).encode()
    assert inputs([*lines[:3], other, *lines[4:]])[0] == f"input {entries[3]['seq']} does not have its hash"
    assert inputs(lines[:3] + lines[4:])[0] == f"input {entries[4]['seq']} does not have its hash"
    link, rehashed = json.loads(files["before.json"])["hash"], []
    for each in [*entries[:3], json.loads(other), *entries[4:]]:
        text = "\n".join([link, str(each["seq"]), each["ts"], each["source"], each["payload"]])
        link = hashlib.sha256(text.encode()).hexdigest()
        rehashed.append(json.dumps(each | {"hash": link}).encode())
    assert "is of another record" in inputs(rehashed)[0]
    told = json.loads(files["heads.json"])
    told[-1]["ts"] = told[-1]["ts"].replace("2", "1", 1)
    assert "does not hold" in checked(forged(files, heads_json=json.dumps(told).encode()))[0]
    (round_,) = json.loads(files["round.json"])
    won = json.dumps([round_ | {"winner": "tie" if round_["winner"] != "tie" else "player"}]).encode()
    assert checked(forged(files, round_json=won)) == [
        f"round {ROUND} is not what the rules of the drawing give"
    ]
    paid = json.dumps(
        [round_ | {"settlements": [each | {"net": each["net"] + 1} for each in round_["settlements"]]}]
    )
    assert len(checked(forged(files, round_json=paid.encode()))) == 2


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
    assert verified(out, tmp_path).stdout.endswith("nothing is wrong\n")
    again = punto("evidence", str(ROUND), "--record", str(record), "--out", str(out))
    assert (again.returncode, again.stderr) == (1, f"punto evidence: {out} cannot be written: File exists\n")
    with pytest.raises(NoEvidenceError, match="the record has no round 99"):
        gather(record, 99, [], "0.1.0")
