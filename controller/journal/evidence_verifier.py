"""Checks a bundle of evidence of a round, with nothing but Python: `python3 verify.py FILE`.

It checks that each bit is the one that was written, that the hashes of the inputs are a chain, that a signed head covers them, and
that the round follows the rules of the drawing of cards. What each wager is paid follows from the game's rules: the program that
wrote the bundle derives it again from the record (`punto replay`). The exit status is 1 if anything is wrong.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

FORMAT = "punto evidence 1"

Point = tuple[int, int, int, int]

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)
BASE_Y = 4 * pow(5, P - 2, P) % P


def recovered(y: int, sign: int) -> int | None:
    """The x of a point of the curve Ed25519 (RFC 8032, 5.1.3), None if there is none."""
    squared = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(squared, (P + 3) // 8, P)
    if (x * x - squared) % P:
        x = x * ROOT % P
    if (x * x - squared) % P or (x == 0 and sign):
        return None
    return P - x if x % 2 != sign else x


def point_of(data: bytes) -> Point | None:
    """A point from its 32 bytes, None if they are not one."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    x = None if y >= P else recovered(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


def added(one: Point, other: Point) -> Point:
    """The sum of two points in extended coordinates (RFC 8032, 5.1.4)."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def multiplied(number: int, point: Point) -> Point:
    """A point added to itself so many times."""
    result: Point = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = added(result, point)
        point = added(point, point)
        number >>= 1
    return result


BASE_X = 15112221349535400772501151409588531511454012693041857206046113283949847762202
BASE: Point = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)


def signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the signature (64 bytes) over the message is of the owner of the public key (RFC 8032, 5.1.7)."""
    if len(key) != 32 or len(signature) != 64:
        return False
    public, commitment = point_of(key), point_of(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if public is None or commitment is None or scalar >= ORDER:
        return False
    digest = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    left, right = multiplied(scalar, BASE), added(commitment, multiplied(digest, public))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 == (left[1] * right[2] - right[1] * left[2]) % P


def value(card: str) -> int:
    """The value of a card such as KS or 5H."""
    return "A23456789".find(card[0]) + 1


def total(cards: list[str]) -> int:
    """The total of a hand."""
    return sum(map(value, cards)) % 10


def dealt_by_the_rules(player: list[str], banker: list[str]) -> bool:
    """Whether both hands have the cards that the rules of the drawing give them."""
    if len(player) < 2 or len(banker) < 2:
        return False
    first = total(player[:2]), total(banker[:2])
    if max(first) >= 8:
        return len(player) == len(banker) == 2
    if len(player) != (3 if first[0] <= 5 else 2):
        return False
    if len(player) == 2:
        draws = first[1] <= 5
    else:
        third = value(player[2])
        draws = third in {3: {0, 1, 2, 3, 4, 5, 6, 7, 9}, 4: range(2, 8), 5: range(4, 8), 6: range(6, 8)}.get(
            first[1], range(10) if first[1] <= 2 else ()
        )
    return len(banker) == (3 if draws else 2)


def packed(files: dict[str, bytes]) -> bytes:
    """The bundle of these files: a ZIP file without compression, of which each byte follows from the files."""
    entries, directory = b"", b""
    for name, content in sorted((name.encode(), content) for name, content in files.items()):
        size = len(content)
        of = struct.pack("<5H3I2H", 20, 0, 0, 0, 33, zlib.crc32(content), size, size, len(name), 0)
        directory += b"PK\1\2" + struct.pack("<H", 0x314) + of
        directory += struct.pack("<3H2I", 0, 0, 0, 0o600 << 16, len(entries)) + name
        entries += b"PK\3\4" + of + name + content
    end = struct.pack("<4H2IH", 0, 0, len(files), len(files), len(directory), len(entries), 0)
    return entries + directory + b"PK\5\6" + end


def digest_of(manifest: dict[str, Any]) -> str:
    """The SHA-256 of all that a manifest says, apart from this digest itself."""
    said = {name: value for name, value in manifest.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of a bundle. A ValueError says that it is not one."""
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        if any(each.compress_type or each.file_size > len(data) for each in bundle.infolist()):
            raise ValueError("a file in it is compressed")
        files = {name: bundle.read(name) for name in bundle.namelist()}
    if packed(files) != data:
        raise ValueError("the ZIP file is not as it was written")
    return files


class Bundle:
    """The files of a bundle by their names; `told` is what is right, and `faults` what is wrong, both in words."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.manifest: dict[str, Any] = json.loads(files["manifest.json"])
        self.links: dict[int, str] = {}
        self.told: list[str] = []
        self.faults: list[str] = []

    def check(self) -> None:
        """Check everything."""
        of = self.manifest
        self.told.append(
            f"round {of['round']} of table {of['table']}, record {of['record']}, by {of['program']}"
        )
        self.check_files()
        if not self.faults:
            self.check_inputs()
            self.check_heads()
            self.check_round()

    def check_files(self) -> None:
        """Each file is the one that was written."""
        if self.manifest["format"] != FORMAT:
            self.faults.append(f"the format is not {FORMAT}")
        if self.manifest["sha256"] != digest_of(self.manifest):
            self.faults.append("manifest.json is not the file that was written")
        known: dict[str, str] = self.manifest["files"]
        for name, digest in known.items():
            if hashlib.sha256(self.files.get(name, b"")).hexdigest() != digest:
                self.faults.append(f"{name} is not the file that was written")
        self.faults += [
            f"{name} was added" for name in sorted(self.files.keys() - known.keys() - {"manifest.json"})
        ]

    def check_inputs(self) -> None:
        """The hashes of the inputs are a chain, and no input is missing."""
        link: str = json.loads(self.files["before.json"])["hash"]
        for line in self.files["inputs.jsonl"].splitlines():
            entry = json.loads(line)
            text = "\n".join([link, str(entry["seq"]), entry["ts"], entry["source"], entry["payload"]])
            link = self.links[entry["seq"]] = hashlib.sha256(text.encode()).hexdigest()
            if link != entry["hash"]:
                self.faults.append(f"input {entry['seq']} does not have its hash")
                return
        if sorted(self.links) != list(range(min(self.links), max(self.links) + 1)):
            self.faults.append("an input is missing")
        self.told.append(f"inputs {min(self.links)} to {max(self.links)}, whose hashes are a chain")

    def check_heads(self) -> None:
        """The signed heads are of these inputs, and their signatures hold."""
        covered = 0
        for head in json.loads(self.files["heads.json"]):
            seq, _, digest = head["head"].partition(":")
            body = "\n".join([head["table"], head["record"], head["head"], head["ts"], ""])
            key, signature = (base64.b64decode(head[part], validate=True) for part in ("key", "signature"))
            if [self.links.get(int(seq)), head["table"], head["record"]] != [
                digest,
                self.manifest["table"],
                self.manifest["record"],
            ]:
                self.faults.append(f"the signed head {seq} is of another record")
            elif not signed(key, signature, b"punto head 1\n" + body.encode()):
                self.faults.append(f"the signature of the head {seq} does not hold")
            else:
                covered = max(covered, int(seq))
                self.told.append(f"the owner of the key {head['key']} signed input {seq} at {head['ts']}")
        if covered < max(self.links, default=0):
            self.told.append(
                f"no signed head covers the inputs after {covered}: nothing proves that these were recorded"
            )

    def check_round(self) -> None:
        """The cards and amounts follow the rules that need no game."""
        rounds = json.loads(self.files["round.json"])
        if not rounds or any(
            self.manifest["round"] not in {each["round"], each["corrects"]} for each in rounds
        ):
            self.faults.append("it has not the round that it names")
        for record in rounds:
            if record["status"] in {"played", "correction"} and record["winner"] is not None:
                player, banker = record["player"], record["banker"]
                points = total(player), total(banker)
                winner = "tie" if points[0] == points[1] else "player" if points[0] > points[1] else "banker"
                if not dealt_by_the_rules(player, banker) or winner != record["winner"]:
                    self.faults.append(f"round {record['round']} is not what the rules of the drawing give")
            for each in record["settlements"]:
                if each["net"] != each["returned"] - each["stake"]:
                    self.faults.append(
                        f"seat {each['seat']}, {each['wager']}: the amounts contradict each other"
                    )


def checked(data: bytes) -> tuple[list[str], list[str]]:
    """What is right and what is wrong in a bundle, both in words."""
    try:
        found = Bundle(unpacked(data))
        found.told.append(f"the SHA-256 of this bundle is {hashlib.sha256(data).hexdigest()}")
        found.check()
    except Exception as error:  # noqa: BLE001 - whatever a stranger wrote into the file
        return [], [f"this is not a whole bundle: {error!r}"]
    return found.told, found.faults


def main(path: str) -> int:
    """Print what is right and what is wrong; 1 if anything is wrong."""
    try:
        told, faults = checked(Path(path).read_bytes())
    except OSError as error:
        told, faults = [], [f"{path} cannot be read: {error.strerror}"]
    print(*told, *faults or ["nothing is wrong"], sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "evidence.zip"))
