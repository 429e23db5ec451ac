"""Checks a bundle of evidence of a round, with nothing but Python: `python3 evidence_verifier.py BUNDLE --key KEY`.

It checks that a signed head covers the inputs and that the hashes of the inputs are a chain. Then it derives from the inputs what it
can without the program: the cards of the hand, the wagers, and who ordered what. It names what it cannot derive, and what is
therefore not proven: `punto evidence --check` derives that again from the record. The exit status is 1 if anything is wrong, or
if no signed head covers the inputs.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import re
import struct
import sys
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

FORMAT = "punto evidence 2"
MEMBERS = {"manifest.json", "round.json", "before.json", "inputs.jsonl", "heads.json"}
MEMBERS |= {"game.json", "shown.jsonl", "incidents.jsonl"}
NOT_PROVEN = (
    "before.json, game.json, shown.jsonl, incidents.jsonl, and what each wager is paid: no signature covers them, and they follow "
    "from the inputs only by the program. Run `punto evidence --check BUNDLE --record RECORD`"
)
# What these do to a hand depends on more than the inputs: the table can refuse them, or let cards wait for a person.
UNCERTAIN = {"card_unread", "card_overdrawn", "key_card", "resume_play", "hold_play", "void_coup"}
UNCERTAIN |= {"close_table", "sign_off", "records_lost", "shoe_hello", "shoe_lost", "accept_shoe"}
UNCERTAIN |= {"lid_moved", "reverse_movement", "shoe_fault"}

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
    """The files of a bundle; `keys` are the public keys that the signer and the witness must have, None if they are not known."""

    def __init__(self, files: dict[str, bytes], keys: Keys = NONE, *, without_heads: bool = False) -> None:
        if files.keys() != MEMBERS:
            raise ValueError(f"it must have the files {', '.join(sorted(MEMBERS))}, and no others")
        self.files = files
        self.keys, self.without_heads = keys, without_heads
        self.manifest: dict[str, Any] = read(files["manifest.json"])
        self.before: dict[str, Any] = {}
        self.links: dict[int, str] = {}
        self.inputs: list[dict[str, Any]] = []
        self.told: list[str] = []  # what is right, in words
        self.open: list[str] = []  # what is not proven
        self.faults: list[str] = []  # what is wrong

    def check(self) -> None:
        """Check everything."""
        self.told += [
            "round {round} of table {table}, record {record}, by {program}".format_map(self.manifest)
        ]
        self.check_files()
        if not self.faults:
            self.check_inputs()
            self.check_heads()
        if not self.faults:
            self.check_rounds()
            self.open.append(NOT_PROVEN)

    def check_files(self) -> None:
        """Each file is the one that was written."""
        if [self.manifest["format"], self.manifest["sha256"]] != [FORMAT, digest_of(self.manifest)]:
            self.faults.append(
                f"manifest.json is not the file that was written, or not of the format {FORMAT}"
            )
        for name in sorted(MEMBERS - {"manifest.json"}):
            if hashlib.sha256(self.files[name]).hexdigest() != self.manifest["files"][name]:
                self.faults.append(f"{name} is not the file that was written")

    def check_inputs(self) -> None:
        """The hashes of the inputs are a chain, no input is missing, and none can be read in two ways."""
        self.before = read(self.files["before.json"])
        link: str = self.before["hash"]
        for line in self.files["inputs.jsonl"].splitlines():
            entry = read(line)
            text = "\n".join([link, str(entry["seq"]), entry["ts"], entry["source"], entry["payload"]])
            link = self.links[entry["seq"]] = hashlib.sha256(text.encode()).hexdigest()
            if link != entry["hash"]:
                self.faults.append(f"input {entry['seq']} does not have its hash")
                return
            self.inputs.append({**read(entry["payload"]), "seq": entry["seq"]})
        if list(self.links) != list(range(min(self.links), max(self.links) + 1)):
            self.faults.append("an input is missing")
        if (self.before["state"] is None) != (min(self.links) == 1):
            self.faults.append("before.json is not the state before the first of the inputs")
        self.told.append(f"inputs {min(self.links)} to {max(self.links)}, whose hashes are a chain")

    def check_heads(self) -> None:
        """The heads are of these inputs, their signatures hold, and one covers all inputs."""
        covered = 0
        for head in read(self.files["heads.json"]):
            seq, _, digest = head["head"].partition(":")
            own = [self.links.get(int(seq)), self.manifest["table"], self.manifest["record"]]
            if own != [digest, head["table"], head["record"]]:
                self.faults.append(f"the signed head {seq} is of another record")
            elif self.check_signatures(head, seq):
                covered = max(covered, int(seq))
        if covered < max(self.links):
            lacking = f"no signed head covers the inputs after {covered}: nothing proves their origin"
            (self.open if self.without_heads else self.faults).append(lacking)

    def check_signatures(self, head: dict[str, Any], seq: str) -> bool:
        """Whether the signatures of a head hold: of the table's signer, and of the witness if it is there or expected."""
        body = "\n".join([head["table"], head["record"], head["head"], head["ts"], ""])
        parts = [("signer", "key", "signature", b"punto head 1\n" + body.encode(), head["ts"], self.keys[0])]
        if "witness" in head or self.keys[1] is not None:
            heard = head.get("witnessed", "")
            message = f"punto witness 1\n{head['signature']}\n{heard}\n".encode()
            parts.append(("witness", "witness", "countersignature", message, heard, self.keys[1]))
        for who, its_key, its_signature, message, ts, expected in parts:
            key, signature = (head.get(part, "").encode() for part in (its_key, its_signature))
            if not signed(
                base64.b64decode(key, None, True), base64.b64decode(signature, None, True), message
            ):
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
        rounds, number = read(self.files["round.json"]), self.manifest["round"]
        if not rounds or any(number not in {each["round"], each["corrects"]} for each in rounds):
            self.faults.append("it has not the round that it names")
        for record in rounds:
            self.check_order(record)
            self.check_result(record)
            if record["status"] != "correction":
                self.check_cards(record)
                self.check_wagers(record)
        ordered = [each["seq"] for each in self.inputs if each["kind"] in {"correct_round", "void_round"}]
        if len(ordered) > sum(each["status"] == "correction" for each in rounds):
            self.open.append(f"whether the table refused an order to correct or void: inputs {ordered}")

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
        before = [deal.state.get(part) for part in ("coup", "carried", "backlog", "stops", "doubt")]
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
        for each in [*state.get("wagers", ()), *own]:
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
        self.state: dict[str, Any] = state or {"phase": "locked", "round": 1}
        self.settings: dict[str, Any] = self.state.get("settings", {})
        coup, burning = self.state.get("coup"), self.state["phase"] == "shoe_change"
        self.cards: list[str] = list(coup["cards"] if coup else self.state.get("carried", ()))
        self.drawn: list[str] = list(self.state.get("drawn", ()))
        self.shown: int = self.state.get("shown", 0)
        self.burn: int | None = self.state.get("burn_left", 0) if burning else 0
        self.awaited = (
            None if coup else self.opens(closed=self.state["phase"] not in {"betting", "shoe_change"})
        )
        self.expected: int | None = self.state["link"]["taken"] + 1 if "link" in self.state else None
        self.corrections = list(record["corrections"])
        self.doubts: list[str] = []
        if self.state["round"] != record["round"]:
            self.doubts.append(f"round {self.state['round']}, which ended first")
        hand = (self.state.get("progressive") or {"procedure": {"hand": {}}})["procedure"]["hand"]
        if any(map(self.state.get, ("backlog", "stops", "doubt"))) or hand.get("won") or hand.get("awarded"):
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
        """Whether the hand has all its cards, and its corrections have come."""
        return not self.corrections and dealt_by_the_rules(*in_hands(self.cards))

    def draw(self, given: dict[str, Any]) -> None:
        """Burn a card or deal it."""
        card, dealt, game = given["card"], len(self.cards), self.settings["game"]
        self.doubt(given, given["confidence"] < self.settings["minimum_confidence"])
        self.doubt(given, self.drawn.count(card) >= game["decks"])
        self.drawn.append(card)
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
        begun = begun or self.cards != list(self.state.get("carried", ()))
        if begun or self.state.get("progressive") is not None:
            self.doubt(given, True)
        else:
            self.cards, self.doubts, self.drawn, self.expected = [], doubts, [], None
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


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON that has each key once."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("an object has a key twice")
    return dict(pairs)


def read(text: str | bytes) -> Any:
    """What a JSON text says, which has only one meaning."""
    return json.loads(text, object_pairs_hook=once)


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
        return [], [f"this is not a whole bundle: {error!r}"]
    return [*found.told, *(f"NOT PROVEN: {each}" for each in found.open)], found.faults


def main(arguments: list[str] | None = None) -> int:
    """Print what is right, what is not proven and what is wrong; 1 if anything is wrong, 2 if there is no such file."""
    parser = argparse.ArgumentParser(description="Check a bundle of evidence of a round.")
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--key", help="the public key of the table's signer, which you stored")
    parser.add_argument("--witness", metavar="KEY", help="the public key of the witness, which you stored")
    parser.add_argument("--without-heads", action="store_true", help="check also what nobody signed")
    asked = parser.parse_args(arguments)
    try:
        data = asked.bundle.read_bytes()
    except OSError as error:
        parser.error(f"{asked.bundle} cannot be read: {error.strerror}")
    told, faults = checked(data, (asked.key, asked.witness), without_heads=asked.without_heads)
    result = "something is wrong" if faults else "nothing is wrong in what is proven here"
    print(*told, *(f"WRONG: {each}" for each in faults), result, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
