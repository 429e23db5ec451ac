"""The orders that people give at a table, as the record keeps them."""

from dataclasses import dataclass
from typing import Literal

from punto.baccarat.cards import Card
from punto.baccarat.table.definition import DEALERS, FIELDS, OF_DEVICES, SUPERVISORS, order
from punto.baccarat.wagers.definition import Game

_MISDEALS = ("Misdeal", "Card exposed", "Wrong hand dealt", "Cards disturbed")


CALLED = "A supervisor is called"
"""The reason of a call that did not give one: a reason that follows takes its place."""

_MISREADS = ("Misread by the shoe", "Keyed wrongly", "Seen on surveillance")


@order(
    label="Resume play",
    sentence="resume play after the cause of a stop has been resolved",
    roles=OF_DEVICES,
    group="play",
    report="resumed play: {reason}",
    anywhere=True,
    usual=(
        "Checked: the cards are right",
        "Lid closed, cards undisturbed",
        "Card taken out of play",
        "Seen on surveillance",
    ),
)
@dataclass(frozen=True, slots=True)
class ResumePlay:
    """A supervisor has resolved what stopped the table."""

    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["resume_play"] = "resume_play"


@order(
    label="Unlock the table",
    sentence="become the table's operator, so that the table can be opened",
    roles=DEALERS,
    group="play",
    anywhere=True,
)
@dataclass(frozen=True, slots=True)
class SignOn:
    """An operator signs on; the table was locked until then (approval letter, 4)."""

    who: str
    kind: Literal["sign_on"] = "sign_on"


@order(
    label="Lock the table",
    sentence="lock the table; no hand can be played until an operator signs on again",
    roles=SUPERVISORS,
    group="play",
)
@dataclass(frozen=True, slots=True)
class SignOff:
    """The operator signs off; the table locks."""

    who: str
    kind: Literal["sign_off"] = "sign_off"


@order(
    label="Open betting",
    sentence="open betting for the next coup",
    roles=DEALERS,
    group="play",
    twice=True,
    key=True,
)
@dataclass(frozen=True, slots=True)
class OpenBetting:
    """Wagers may be made for the next coup."""

    who: str
    kind: Literal["open_betting"] = "open_betting"


@order(
    label="Close betting",
    sentence="accept no more wagers for this coup; the first card may then be drawn",
    roles=DEALERS,
    group="play",
    twice=True,
    of_this_hand=True,
    key=True,
)
@dataclass(frozen=True, slots=True)
class CloseBetting:
    """No more wagers; the first card may be drawn."""

    who: str
    kind: Literal["close_betting"] = "close_betting"


@order(
    label="Reveal",
    sentence="make the hidden cards public, and settle every wager if the hands are complete",
    roles=DEALERS,
    group="play",
    twice=True,
    of_this_hand=True,
    key=True,
)
@dataclass(frozen=True, slots=True)
class Reveal:
    """The cards on the table are face up: what the shoe knew of them may be shown (sheet 004, midi baccarat)."""

    who: str
    kind: Literal["reveal"] = "reveal"


@order(
    label="Key a card",
    sentence="enter by hand a card that no shoe has read",
    roles=DEALERS,
    group="play",
    of_this_hand=True,
)
@dataclass(frozen=True, slots=True)
class KeyCard:
    """A card entered by hand, because the shoe could not read it or no shoe reads the cards.

    `position` identifies the card, so that the same order twice does not enter two cards: its number in the
    coup as dealt, from 1, or 0 for the first card of the shoe, which is turned for the burn. None means the
    next card.
    """

    who: str
    card: Card
    position: int | None = None
    kind: Literal["key_card"] = "key_card"


@order(
    label="Close the table",
    sentence="stop play between coups; open wagers are returned",
    roles=SUPERVISORS,
    group="play",
)
@dataclass(frozen=True, slots=True)
class CloseTable:
    """Play stops between coups; wagers that stand are returned."""

    who: str
    kind: Literal["close_table"] = "close_table"


@order(
    label="Change the shoe",
    sentence="begin a shoe change: the cards are loaded, the first card is turned, and cards are burned",
    roles=SUPERVISORS,
    group="shoe",
    of_this_hand=True,
)
@dataclass(frozen=True, slots=True)
class ChangeShoe:
    """A new shoe of cards is to be loaded; the previous shoe is over."""

    who: str
    kind: Literal["change_shoe"] = "change_shoe"


@order(
    label="Accept the shoe",
    sentence="accept another shoe device in place of the previous one",
    roles=OF_DEVICES,
    group="shoe",
    report="accepted the shoe {serial}",
    anywhere=True,
)
@dataclass(frozen=True, slots=True)
class AcceptShoe:
    """A supervisor accepts the shoe with this serial number in place of the one before."""

    who: str
    serial: str
    approved_by: str | None = None
    kind: Literal["accept_shoe"] = "accept_shoe"


@order(
    label="Accept the device",
    sentence="accept another keypad, card reader or chain of wager sensors in place of the previous one",
    roles=OF_DEVICES,
    group="shoe",
    report="accepted the device {serial}",
    anywhere=True,
)
@dataclass(frozen=True, slots=True)
class AcceptDevice:
    """A supervisor accepts the keypad, wager sensors or card reader with this serial number in place of those before."""

    who: str
    serial: str
    approved_by: str | None = None
    kind: Literal["accept_device"] = "accept_device"


@order(
    label="Correct a card",
    sentence="correct a misread card before settlement",
    roles=SUPERVISORS,
    group="mistakes",
    of_this_hand=True,
    usual=_MISREADS,
)
@dataclass(frozen=True, slots=True)
class CorrectCard:
    """A misread, found before settlement: the card at `position` (from 1, as dealt) is really `card`."""

    who: str
    position: int
    card: Card
    reason: str
    approved_by: str | None = None
    kind: Literal["correct_card"] = "correct_card"


@order(
    label="Void the hand",
    sentence="declare a misdeal; the wagers are returned",
    roles=SUPERVISORS,
    group="mistakes",
    of_this_hand=True,
    usual=_MISDEALS,
)
@dataclass(frozen=True, slots=True)
class VoidCoup:
    """A misdeal: wagers are returned, the coup is kept on the record but not on the roads.

    `approved_by`, here and in other orders, is a second person, if the table's settings ask for one.
    """

    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["void_coup"] = "void_coup"


@order(
    label="Correct the last hand",
    sentence="settle the last hand again with the cards that were really dealt",
    roles=SUPERVISORS,
    group="mistakes",
    of_this_hand=True,
    usual=_MISREADS,
)
@dataclass(frozen=True, slots=True)
class CorrectRound:
    """A misread, found after settlement: the hands of the last round, `round`, were really these, as dealt."""

    who: str
    round: int
    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    reason: str
    approved_by: str | None = None
    kind: Literal["correct_round"] = "correct_round"


@order(
    label="Void the last hand",
    sentence="void the last hand after it was settled",
    roles=SUPERVISORS,
    group="mistakes",
    of_this_hand=True,
    usual=_MISDEALS,
)
@dataclass(frozen=True, slots=True)
class VoidRound:
    """A misdeal, found after settlement: the last round, `round`, and its wagers are taken back."""

    who: str
    round: int
    reason: str
    approved_by: str | None = None
    kind: Literal["void_round"] = "void_round"


@order(
    label="Change game or limits",
    sentence="change the game, or the limits of its wagers, from the next shoe on",
    roles=SUPERVISORS,
    group="games",
    takes={"game": FIELDS["game"], "limits": FIELDS["limits"]},
)
@dataclass(frozen=True, slots=True)
class ChangeGame:
    """The table plays this game and its limits from the next shoe on, whatever its configuration names."""

    who: str
    game: Game
    approved_by: str | None = None
    kind: Literal["change_game"] = "change_game"


@order(
    label="Call supervisor",
    sentence="call a supervisor to the table; an alarm is shown until it is acknowledged",
    roles=DEALERS,
    group="help",
    key=True,
    report="called a supervisor: {reason}",
    anywhere=True,
    usual=(
        "A card is not known",
        "A dispute at the table",
        "A mistake was made",
        "Fill or credit",
        "Help at the table",
    ),
)
@dataclass(frozen=True, slots=True)
class CallSupervisor:
    """A supervisor is wanted at the table; the reason can follow in a second call."""

    who: str
    reason: str = CALLED
    kind: Literal["call_supervisor"] = "call_supervisor"


@order(
    label="Hold play",
    sentence="hold play: no card is dealt and betting does not open until a supervisor resumes play",
    roles=DEALERS,
    group="help",
    key=True,
    report="held play: {reason}",
    anywhere=True,
    usual=("The last hand is disputed", "A mistake was made", "A break", "Help at the table"),
)
@dataclass(frozen=True, slots=True)
class HoldPlay:
    """Play is held, to give time to check and correct the last hand."""

    who: str
    reason: str
    kind: Literal["hold_play"] = "hold_play"


@order(
    label="Collect commission",
    sentence="collect the commission that this seat owes; the seat then owes nothing",
    roles=DEALERS,
    group="commission",
    anywhere=True,
)
@dataclass(frozen=True, slots=True)
class CollectCommission:
    """The commission that the seat owes was paid: `amount`, which must be all of it, so that no win since is collected unseen."""

    who: str
    seat: int
    amount: int
    kind: Literal["collect_commission"] = "collect_commission"


@order(
    label="Waive commission",
    sentence="write off the commission that this seat owes, because it cannot be collected",
    roles=SUPERVISORS,
    group="commission",
    report="waived the commission of seat {seat}: {reason}",
    anywhere=True,
    usual=("The player left without paying", "The seat has too few chips", "A decision of the house"),
)
@dataclass(frozen=True, slots=True)
class WaiveCommission:
    """The house renounces the commission that the seat owes: `amount`, which must be all of it."""

    who: str
    seat: int
    amount: int
    reason: str
    approved_by: str | None = None
    kind: Literal["waive_commission"] = "waive_commission"


@order(
    label="Acknowledge",
    sentence="acknowledge an alarm after its cause has been resolved",
    roles=OF_DEVICES,
    group="alarms",
    report="acknowledged alarm {number}",
    anywhere=True,
)
@dataclass(frozen=True, slots=True)
class AcknowledgeAlarm:
    """A person has acknowledged the alarm that was raised as the public event `number`."""

    who: str
    number: int
    kind: Literal["acknowledge_alarm"] = "acknowledge_alarm"


_OfPlay = SignOn | SignOff | ChangeShoe | OpenBetting | CloseBetting | CloseTable | Reveal
_OfCards = VoidCoup | CorrectCard | CorrectRound | VoidRound | KeyCard
_OfTheTable = (
    ResumePlay | AcceptShoe | AcceptDevice | ChangeGame | CallSupervisor | HoldPlay | AcknowledgeAlarm
)
_OfCommission = CollectCommission | WaiveCommission
Order = _OfPlay | _OfCards | _OfTheTable | _OfCommission
