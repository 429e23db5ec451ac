"""Checks a bundle of evidence of a round, with nothing but Python: `python3 evidence_verifier.py BUNDLE --key KEY`.

It checks that a signed head covers the inputs and that the hashes of the inputs are a chain. These hashes cover the outcome and the
results of each input, and the state from which the hand started, so no other file decides anything. Then it derives from the inputs
what it can without the program: the cards of the hand, the wagers, and who ordered what. It names what it cannot derive, which
`punto evidence --check` derives again from the record. The exit status is 1 if anything is wrong, or if no signed head covers the
inputs.

The bundle can come from a person who wants to deceive. So each file has one text for what it says, with exactly the fields that a
bundle has, and the program reads a bounded part of it into memory.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import re
import stat
import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMAT = "punto evidence 3"
MEMBERS = {"manifest.json", "round.json", "before.json", "inputs.jsonl", "shown.jsonl", "heads.json"}
MANIFEST = {"format", "program", "table", "record", "round", "files", "sha256"}
INPUT = ["seq", "ts", "source", "payload", "outcome", "results", "state", "rows", "hash"]
HEAD = {"table", "record", "head", "ts", "key", "signature"}
WITNESSED = {"witnessed", "witness", "countersignature"}
LARGEST = 1 << 25  # bytes: several times as many as a bundle of a signer that was away for a day
LARGEST_LINE = 1 << 20  # bytes of an input: several hundred times as many as most have
LARGEST_PARSED = 1 << 22  # bytes of JSON whose values are kept: a hundred times as many as those of a hand
NOT_PROVEN = (
    "shown.jsonl, the program that manifest.json names, and that the program's rules give the recorded results: a signed head proves "
    "that the service recorded them so, at that time. Run `punto evidence --check BUNDLE --record RECORD` to derive them again"
)
# What these do to a hand depends on more than the inputs: the table can refuse them, or let cards wait for a person.
UNCERTAIN = {"card_unread", "card_overdrawn", "key_card", "resume_play", "hold_play", "void_coup"}
UNCERTAIN |= {"close_table", "sign_off", "records_lost", "shoe_hello", "shoe_lost", "accept_shoe"}
UNCERTAIN |= {"lid_moved", "reverse_movement", "shoe_fault"}

# The state of a table before its first input.
NEW: dict[str, Any] = {"phase": "locked", "shoe": {}, "round": {"number": 1}, "waiting": {}}

Point = tuple[int, int, int, int]
Keys = tuple["str | None", "str | None"]
NONE: Keys = None, None

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


def pieces(files: dict[str, bytes]) -> Iterator[bytes]:
    """The bundle of these files, piece by piece: a ZIP file without compression, of which each byte follows from the files."""
    directory, start = b"", 0
    for name, content in sorted((name.encode(), content) for name, content in files.items()):
        size = len(content)
        of = struct.pack("<5H3I2H", 20, 0, 0, 0, 33, zlib.crc32(content), size, size, len(name), 0)
        yield from (b"PK\3\4" + of + name, content)
        directory += b"PK\1\2" + struct.pack("<H", 0x314) + of
        directory += struct.pack("<3H2I", 0, 0, 0, 0o600 << 16, start) + name
        start += 30 + len(name) + size
    yield directory
    yield b"PK\5\6" + struct.pack("<4H2IH", 0, 0, len(files), len(files), len(directory), start, 0)


def packed(files: dict[str, bytes]) -> bytes:
    """The bundle of these files."""
    return b"".join(pieces(files))


def digest_of(manifest: dict[str, Any]) -> str:
    """The SHA-256 of all that a manifest says, apart from this digest itself."""
    said = {name: value for name, value in manifest.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def unpacked(data: bytes) -> dict[str, bytes]:
    """The files of a bundle. A ValueError says that it is not one."""
    if len(data) > LARGEST:
        raise ValueError(f"it has more than {LARGEST} bytes")
    files: dict[str, bytes] = {}
    at = 0
    while data.startswith(b"PK\3\4", at) and len(files) <= len(MEMBERS):
        header = data[at : at + 30].ljust(30)  # padded, because the file can end here
        (*_, size, length, _) = struct.unpack("<4x5H3I2H", header)
        at += 30 + length
        files[data[at - length : at].decode()] = data[at : at + size]
        at += size
    if files.keys() != MEMBERS:
        raise ValueError(f"it must have the files {', '.join(sorted(MEMBERS))}, and no others")
    at = 0
    for piece in pieces(files):
        if not data.startswith(piece, at):
            raise ValueError("the ZIP file is not as it was written")
        at += len(piece)
    if at != len(data):
        raise ValueError("the ZIP file does not end with its files")
    return files


def written(value: Any) -> bytes:
    """The text of a JSON file."""
    return json.dumps(value, indent=1, ensure_ascii=False).encode() + b"\n"


def line_of(value: Any) -> bytes:
    """The text of a line of JSON."""
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


class Bundle:
    """The files of a bundle; `keys` are the public keys that the signer and the witness must have, None if they are not known."""

    def __init__(self, files: dict[str, bytes], keys: Keys = NONE, *, without_heads: bool = False) -> None:
        self.files = files
        self.keys, self.without_heads = keys, without_heads
        self.left = LARGEST_PARSED
        self.manifest: dict[str, Any] = self.file("manifest.json", MANIFEST)
        self.before: dict[str, Any] = {}
        self.heads: dict[int, dict[str, Any]] = {}
        self.links: dict[int, str] = {}  # the hashes of the inputs that have heads
        self.last = 0
        self.rounds: list[dict[str, Any]] = []  # the round, and its corrections
        self.inputs: list[dict[str, Any]] = []  # those that were accepted, while the round could be corrected
        self.corrected = True  # whether a correction can still come: only of the last round
        self.told: list[str] = []  # what is right, in words
        self.open: list[str] = []  # what is not proven
        self.faults: list[str] = []  # what is wrong

    def file(self, name: str, fields: set[str]) -> Any:
        """What a file says; an object has exactly these fields. A ValueError says that it is not the file of a bundle."""
        text = self.files[name]
        self.keep(text)
        value = json.loads(text)
        if written(value) != text:
            raise ValueError(f"{name} is not as a bundle has it")
        if isinstance(value, dict) and value.keys() != fields:
            raise ValueError(f"{name} must have the fields {', '.join(sorted(fields))}, and no others")
        return value

    def keep(self, text: bytes) -> None:
        """Count the bytes of JSON whose values are kept."""
        self.left -= len(text)
        if self.left < 0:
            raise ValueError(f"it has more than {LARGEST_PARSED} bytes about a single round")

    def check(self) -> None:
        """Check everything."""
        self.told.append("round {round} of table {table}, record {record}".format_map(self.manifest))
        self.check_files()
        if not self.faults:
            self.check_inputs()
        if not self.faults:
            self.check_heads()
        if not self.faults:
            self.check_rounds()
            self.open.append(NOT_PROVEN)

    def check_files(self) -> None:
        """Each file is the one that was written."""
        manifest, others = self.manifest, MEMBERS - {"manifest.json"}
        said = [manifest["format"], manifest["sha256"], manifest["files"].keys(), type(manifest["round"])]
        if said != [FORMAT, digest_of(manifest), others, int]:
            self.faults.append(
                f"manifest.json is not the file that was written, or not of the format {FORMAT}"
            )
            return
        for name in sorted(others):
            if hashlib.sha256(self.files[name]).hexdigest() != manifest["files"][name]:
                self.faults.append(f"{name} is not the file that was written")

    def check_inputs(self) -> None:
        """The hashes of the inputs are a chain, which covers their results and the state that the hand started from."""
        self.before = self.file("before.json", {"hash", "state"})
        heads = self.file("heads.json", set())
        self.heads = {int(head["head"].partition(":")[0]): head for head in heads}
        if [*self.heads.values()] != heads:
            raise ValueError("heads.json has two heads of an input")
        link: str = self.before["hash"]
        file, first = io.BytesIO(self.files["inputs.jsonl"]), 0
        for line in iter(lambda: file.readline(LARGEST_LINE + 1), b""):
            entry = input_of(line)
            seq, rows = entry["seq"], entry["rows"]
            if first and seq != self.last + 1:
                self.faults.append("an input is missing")
                return
            link = sha256("\n".join([link, str(seq), *(entry[part] for part in INPUT[1:7])]))
            if link != entry["hash"] or entry["results"] != (sha256(rows) if rows else ""):
                self.faults.append(
                    f"input {seq} does not have its hash, or other results than its hash covers"
                )
                return
            self.last = seq
            if seq in self.heads:
                self.links[seq] = link
            if not first:
                first = seq
                self.check_start(entry)
            if (seq > first or self.before["state"] is None) and self.corrected:
                self.keep(line)
                self.take(entry)
        self.told.append(f"inputs {first} to {self.last}, whose hashes are a chain")

    def check_start(self, entry: dict[str, Any]) -> None:
        """The state that the hand started from is the one after the first of the inputs, or the record begins here."""
        state = self.before["state"]
        if state is None:
            if (entry["seq"], self.before["hash"]) != (1, "0" * 64):
                self.faults.append("before.json has no state, but the record does not begin here")
        elif not entry["state"] or state_digest(state) != entry["state"]:
            self.faults.append("before.json is not the state that the hash of the first input covers")
        elif state["settings"]["table"] != self.manifest["table"]:
            self.faults.append("manifest.json names another table")

    def take(self, entry: dict[str, Any]) -> None:
        """Take an input of the round, and the rounds that it ended."""
        number = self.manifest["round"]
        for table, values in read(entry["rows"] or "[]"):
            if table == "rounds":
                record = read(values[-1])
                own = number in {record["round"], record["corrects"]}
                self.rounds += [record] if own else []
                self.corrected = own or not self.rounds
        if entry["outcome"] == "accepted":
            self.inputs.append({**read(entry["payload"]), "seq": entry["seq"]})

    def check_heads(self) -> None:
        """The heads are of these inputs, their signatures hold, and one covers all inputs."""
        covered = 0
        for seq, head in self.heads.items():
            own = [f"{seq}:{self.links.get(seq, '')}", self.manifest["table"], self.manifest["record"]]
            if seq not in self.links:
                self.faults.append(f"the bundle does not have input {seq}, of which it has the signed head")
            elif own != [head["head"], head["table"], head["record"]]:
                self.faults.append(f"the signed head {seq} is of another record")
            elif self.check_signatures(head, seq):
                covered = max(covered, seq)
            if self.faults:
                return
        if covered < self.last:
            lacking = f"no signed head covers the inputs after {covered}: nothing proves their origin"
            (self.open if self.without_heads else self.faults).append(lacking)

    def check_signatures(self, head: dict[str, Any], seq: int) -> bool:
        """Whether the signatures of a head hold: of the table's signer, and of the witness if it is there or expected."""
        body = "\n".join([head["table"], head["record"], head["head"], head["ts"], ""])
        parts = [("signer", "key", "signature", b"punto head 1\n" + body.encode(), head["ts"], self.keys[0])]
        if head.keys() != HEAD or self.keys[1] is not None:
            if head.keys() != HEAD | WITNESSED:
                self.faults.append(
                    f"the head {seq} must have the fields {', '.join(sorted(HEAD | WITNESSED))}"
                )
                return False
            message = f"punto witness 1\n{head['signature']}\n{head['witnessed']}\n".encode()
            parts.append(("witness", "witness", "countersignature", message, head["witnessed"], self.keys[1]))
        for who, its_key, its_signature, message, ts, expected in parts:
            if not signed(decoded(head[its_key]), decoded(head[its_signature]), message):
                self.faults.append(f"the {who}'s signature of the head {seq} does not hold")
            elif expected not in {None, head[its_key]}:
                self.faults.append(f"the {who}'s key of the head {seq} is {head[its_key]}, not {expected}")
            else:
                self.told.append(f"the {who} with the key {head[its_key]} signed input {seq} at {ts}")
            unknown = f"whose key it is: compare the {who}'s key with the one that you stored"
            if expected is None and unknown not in self.open:
                self.open.append(unknown)
        return not self.faults

    def check_rounds(self) -> None:
        """The cards, the wagers and the orders are those of the inputs, and the result follows from the cards."""
        number = self.manifest["round"]
        if not self.rounds or self.files["round.json"] != written(self.rounds):
            self.faults.append(f"round.json is not the round {number} that the inputs ended")
            return
        if self.corrected:
            self.open.append(f"whether round {number} was corrected after input {self.last}")
        for record in self.rounds:
            self.check_order(record)
            self.check_result(record)
            if record["status"] != "correction":
                self.check_cards(record)
                self.check_wagers(record)

    def check_order(self, record: dict[str, Any]) -> None:
        """An input orders what was done to a round, in the name of the same people."""
        kinds = {"correction": {"correct_round", "void_round"}, "void": {"void_coup"}}.get(
            record["status"], ()
        )
        if not kinds and record["who"] is None:
            return
        for given in self.inputs:
            same = [given.get(part) == record[part] for part in ("who", "reason", "approved_by")]
            if given["kind"] == "correct_round":
                same += [given[side] == record[side] for side in ("player", "banker")]
            if given["kind"] in {"correct_round", "void_round"}:
                same += [given["round"] == record["corrects"]]
                same += [(given["kind"] == "void_round") is (record["winner"] is None)]
            if given["kind"] in kinds and all(same):
                return
        self.faults.append(f"no input orders what round.json says of round {record['round']}")

    def check_cards(self, record: dict[str, Any]) -> None:
        """The cards are those that left the shoe or were keyed, in the order of the deal, and corrected by the orders of people."""
        deal = Deal(self.before["state"], record)
        deal.take(self.inputs)
        if not deal.doubts:
            if in_hands(deal.cards) != deal.hands:
                self.faults.append(f"the cards of round {record['round']} are not those of the inputs")
            return
        before = [deal.round.get("coup"), deal.shoe.get("carried"), deal.waiting]
        known = re.findall('"([2-9TJQKA][SHDC])"', json.dumps([before, self.inputs]))
        if Counter(record["player"] + record["banker"]) - Counter(known):
            self.faults.append(f"round {record['round']} has cards that no input has")
        why = ", ".join(deal.doubts)
        self.open.append(f"which cards went to the hands of round {record['round']}, because of {why}")

    def check_wagers(self, record: dict[str, Any]) -> None:
        """The stakes are those that the seats asked for, or that stood before."""
        state = self.before["state"] or {}
        asked: dict[tuple[int, str], list[int]] = {}
        own = [
            each
            for each in self.inputs
            if (each["kind"], each.get("round")) == ("set_wager", record["round"])
        ]
        for each in [*state.get("round", {}).get("wagers", ()), *own]:
            asked.setdefault((each["seat"], each["wager"]), []).append(each["amount"])
        stakes = {(each["seat"], each["wager"]): each["stake"] for each in record["settlements"]}
        progressive = state.get("progressive")
        of_the_meter = progressive and progressive["books"]["settings"]["wager"]["name"]
        for seat, wager in sorted(stakes.keys() | asked.keys()):
            stake, amounts = stakes.get((seat, wager), 0), asked.get((seat, wager), [])
            if stake == (amounts[-1] if amounts else 0):
                continue
            what = f"seat {seat}, {wager}, with {stake} in round {record['round']}"
            if stake in {0, *amounts}:
                self.open.append(f"whether the table refused or returned other wagers: {what}")
            elif wager == of_the_meter:
                self.open.append(f"the wager on the meter: {what}")
            else:
                self.faults.append(f"no input has this wager: {what}")

    def check_result(self, record: dict[str, Any]) -> None:
        """The result follows from the cards by the rules that need no game, and the amounts do not contradict each other."""
        player, banker, number = record["player"], record["banker"], record["round"]
        points = total(player), total(banker)
        if points != (record["player_total"], record["banker_total"]):
            self.faults.append(f"the totals of round {number} are not those of its cards")
        if record["status"] in {"played", "dummy"} or record["winner"] is not None:
            winner = "tie" if points[0] == points[1] else "player" if points[0] > points[1] else "banker"
            result = winner, max(total(player[:2]), total(banker[:2])) >= 8
            if not dealt_by_the_rules(player, banker) or result != (record["winner"], record["natural"]):
                self.faults.append(f"round {number} is not what the rules of the drawing give")
        if any(each["net"] != each["returned"] - each["stake"] for each in record["settlements"]):
            self.faults.append(f"the amounts of round {number} contradict each other")


class Deal:
    """The cards of a round as the inputs give them; `doubts` are inputs whose effect follows only by the whole program."""

    def __init__(self, state: dict[str, Any] | None, record: dict[str, Any]) -> None:
        self.hands = record["player"], record["banker"]
        self.voided_by = "void_coup" if record["status"] == "void" else None
        self.state: dict[str, Any] = state or NEW
        self.settings: dict[str, Any] = self.state.get("settings", {})
        self.shoe, self.round = self.state["shoe"], self.state["round"]
        self.waiting: dict[str, Any] = self.state["waiting"]
        coup, burning = self.round.get("coup"), self.state["phase"] == "shoe_change"
        self.cards: list[str] = list(coup["cards"] if coup else self.shoe.get("carried", ()))
        self.drawn = Counter(self.shoe.get("drawn", ()))
        self.shown: int = self.round.get("shown", 0)
        self.burn: int | None = self.shoe.get("burn_left", 0) if burning else 0
        self.awaited = (
            None if coup else self.opens(closed=self.state["phase"] not in {"betting", "shoe_change"})
        )
        self.expected: int | None = self.state["link"]["taken"] + 1 if "link" in self.state else None
        self.corrections = list(record["corrections"])
        self.doubts: list[str] = []
        if self.round["number"] != record["round"]:
            self.doubts.append(f"round {self.round['number']}, which ended first")
        hand = (self.state.get("progressive") or {"procedure": {"hand": {}}})["procedure"]["hand"]
        if any(self.waiting.values()) or hand.get("won") or hand.get("awarded"):
            self.doubts.append("what waited for a person before")

    def opens(self, *, closed: bool) -> str | None:
        """The order without which a card that is drawn begins no hand."""
        opens = "open_betting" if closed else None
        return "close_betting" if self.settings.get("betting_closes") == "order" else opens

    def take(self, inputs: list[dict[str, Any]]) -> None:
        """Take the inputs up to the end of the hand."""
        for given in inputs:
            kind = given["kind"]
            void = kind == self.voided_by  # the table can have refused an earlier one
            if self.over() or (void and in_hands(self.cards) == self.hands):
                return
            if isinstance(given.get("record"), int):  # the shoe numbers its records
                self.doubt(given, self.expected not in {None, given["record"]})
                self.expected = given["record"] + 1
            if kind == "card_drawn":
                self.draw(given)
            elif kind == "service_started":
                self.settings = given["settings"]
            elif kind == "change_shoe":
                self.change_shoe(given)
            elif kind == "correct_card":
                self.correct(given)
            elif kind == "reveal":
                self.shown = len(self.cards)
            elif kind == self.awaited:
                self.awaited = None
            else:
                self.doubt(given, kind in UNCERTAIN and not void)

    def doubt(self, given: dict[str, Any], uncertain: bool) -> None:
        """Note an input whose effect is not certain."""
        self.doubts += [f"input {given['seq']} ({given['kind']})"] if uncertain else []

    def over(self) -> bool:
        """Whether the hand has all its cards, and its corrections have come; or more cards than any hand."""
        done = not self.corrections and dealt_by_the_rules(*in_hands(self.cards))
        return done or len(self.cards) > 6

    def draw(self, given: dict[str, Any]) -> None:
        """Burn a card or deal it."""
        card, dealt, game = given["card"], len(self.cards), self.settings["game"]
        self.doubt(given, given["confidence"] < self.settings["minimum_confidence"])
        self.doubt(given, self.drawn[card] >= game["decks"])
        self.drawn[card] += 1
        if self.burn is None:
            self.burn = self.settings["burn_ace"] if card[0] == "A" else value(card) or 10
        elif self.burn:
            self.burn -= 1
        else:
            self.doubt(given, self.awaited is not None)
            self.doubt(given, game["reveal"] != "shoe" and dealt >= 4 and dealt > self.shown)
            self.cards.append(card)

    def change_shoe(self, given: dict[str, Any]) -> None:
        """Begin a shoe: what was uncertain of the shoe before no longer matters, unless the table refused the order."""
        doubts = [each for each in self.doubts if each.startswith("round ")]
        begun = self.awaited != self.opens(closed=False) == "close_betting"
        begun = begun or self.cards != list(self.shoe.get("carried", ()))
        if begun or self.state.get("progressive") is not None:
            self.doubt(given, True)
        else:
            self.cards, self.doubts, self.drawn, self.expected = [], doubts, Counter(), None
        burns = {"none": 0, "first_card": None, "fixed": self.settings["burn_cards"]}
        self.burn, self.awaited = burns[self.settings["burn"]], self.opens(closed=False)

    def correct(self, given: dict[str, Any]) -> None:
        """Correct a card of the hand, if the round has this correction."""
        following = self.corrections[0] if self.corrections else {}
        same = [following.get(part) == given[part] for part in ("position", "who", "reason")]
        at = given["position"] - 1
        same += [[following.get("after")] == [given["card"]]]
        same += [[following.get("before")] == self.cards[at : at + 1]]
        self.doubt(given, not all(same))
        if all(same):
            del self.corrections[0]
            self.cards[at] = given["card"]


def sha256(text: str) -> str:
    """The SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def state_digest(state: dict[str, Any]) -> str:
    """The digest of a table's state: over a line for each field, with the field's name and the SHA-256 of its JSON."""
    if not all(name.isidentifier() for name in state):
        raise ValueError("a field's name that is not a word could hide the lines of other fields")
    texts = {
        name: json.dumps(value, ensure_ascii=False, separators=(",", ":")) for name, value in state.items()
    }
    return sha256("".join(f"{name} {sha256(text)}\n" for name, text in texts.items()))


def decoded(text: str) -> bytes:
    """The bytes of a base64 text, of which only one text has these bytes; nothing if it is another text."""
    found = base64.b64decode(text.encode(), None, True)
    return found if base64.b64encode(found).decode() == text else b""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON that has each key once."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("an object has a key twice")
    return dict(pairs)


def read(text: str) -> Any:
    """What a JSON text says, which has only one meaning."""
    return json.loads(text, object_pairs_hook=once)


def input_of(line: bytes) -> dict[str, Any]:
    """The input of a line. No part has a line break, because the hash is over one part a line."""
    if len(line) > LARGEST_LINE:
        raise ValueError(f"an input has more than {LARGEST_LINE} bytes")
    entry: dict[str, Any] = json.loads(line)
    if line_of(entry) != line or list(entry) != INPUT or type(entry["seq"]) is not int:
        raise ValueError("an input is not as a bundle has it")
    if any("\n" in entry[part] for part in INPUT[1:]):
        raise ValueError(f"a part of input {entry['seq']} has more than one line")
    return entry


def plain(text: str) -> str:
    """A text on one line, whose letters do nothing to a terminal."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def in_hands(cards: list[str]) -> tuple[list[str], list[str]]:
    """The cards in the order of the deal as the two hands; the fifth is Player's if its first two call for one."""
    player, banker, more = cards[0:4:2], cards[1:4:2], cards[4:]
    third = 1 if total(player) <= 5 else 0
    return player + more[:third], banker + more[third:]


def checked(data: bytes, keys: Keys = NONE, *, without_heads: bool = False) -> tuple[list[str], list[str]]:
    """What is right and not proven, and what is wrong in a bundle, both in words."""
    try:
        found = Bundle(unpacked(data), keys, without_heads=without_heads)
        found.told.append(f"the SHA-256 of this bundle is {hashlib.sha256(data).hexdigest()}")
        found.check()
    except Exception as error:  # noqa: BLE001 - whatever a stranger wrote into the file
        return [], [plain(f"this is not a whole bundle: {error!r}")]
    told = [*found.told, *(f"NOT PROVEN: {each}" for each in found.open)]
    return [*map(plain, told)], [*map(plain, found.faults)]


def main(arguments: list[str] | None = None) -> int:
    """Print what is right, what is not proven and what is wrong; 1 if anything is wrong, 2 if there is no such file."""
    parser = argparse.ArgumentParser(description="Check a bundle of evidence of a round.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--key", help="the public key of the table's signer, which you stored")
    parser.add_argument("--witness", metavar="KEY", help="the public key of the witness, which you stored")
    parser.add_argument("--without-heads", action="store_true", help="check also what nobody signed")
    asked = parser.parse_args(arguments)
    try:
        if not stat.S_ISREG(asked.bundle.stat().st_mode):  # a pipe could hold it up for ever
            parser.error(f"{asked.bundle} cannot be read: it is not a file")
        with asked.bundle.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        parser.error(f"{asked.bundle} cannot be read: {error.strerror}")
    told, faults = checked(data, (asked.key, asked.witness), without_heads=asked.without_heads)
    result = "something is wrong" if faults else "nothing is wrong in what is proven here"
    print(*told, *(f"WRONG: {each}" for each in faults), result, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # whatever letters the terminal has
    sys.exit(main())
