"""Everything that can happen to a table: the inputs, as the record keeps them.

Device events say what a device saw; orders are what a person decided and name who; a wager is what a seat asks
for. They are the only things that change a table, and replaying them in order gives the same table again.
"""

from dataclasses import dataclass
from typing import Literal

from punto.baccarat.cards import Card
from punto.baccarat.progressive import aquarius, nexus, procedure
from punto.baccarat.progressive.events import (
    Adjust,
    BackOut,
    ChangeSettings,
    CountCoins,
    OpenMeter,
    PrintWinPage,
    Retire,
)
from punto.baccarat.table.definition import (
    DEALERS,
    FIELDS,
    OF_DEVICES,
    SUPERVISORS,
    order,
)
from punto.baccarat.table.settings import Settings
from punto.baccarat.wagers.definition import Game


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a device's software: its name, version and SHA-256 digest in lower-case hex."""

    name: str
    version: str
    digest: str


# --- what the shoe saw. `record` is the shoe's own sequence number for it, counted from 1.


@dataclass(frozen=True, slots=True)
class ShoeHello:
    """The shoe introduced itself.

    `log` names the run of record numbers (another one means that the shoe lost its memory), `first_kept` is the
    oldest record it still keeps and `next_record` the number its next record will get.
    """

    serial: str
    log: int
    first_kept: int
    next_record: int
    decks: int
    components: tuple[Component, ...] = ()
    kind: Literal["shoe_hello"] = "shoe_hello"


@dataclass(frozen=True, slots=True)
class ShoeLost:
    """The link to the shoe went silent or away."""

    reason: str
    kind: Literal["shoe_lost"] = "shoe_lost"


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """A card left the shoe and was read, with a confidence of 0 to 100."""

    record: int
    card: Card
    confidence: int
    kind: Literal["card_drawn"] = "card_drawn"


@dataclass(frozen=True, slots=True)
class CardUnread:
    """A card left the shoe and could not be read."""

    record: int
    kind: Literal["card_unread"] = "card_unread"


@dataclass(frozen=True, slots=True)
class CardOverdrawn:
    """A card left the shoe though the shoe knew that none was called for; `card` is None if it was not read."""

    record: int
    card: Card | None
    confidence: int
    kind: Literal["card_overdrawn"] = "card_overdrawn"


@dataclass(frozen=True, slots=True)
class CutCardSeen:
    """The cut card reached the mouth of the shoe."""

    record: int
    kind: Literal["cut_card_seen"] = "cut_card_seen"


@dataclass(frozen=True, slots=True)
class LidMoved:
    """The lid was opened or closed."""

    record: int
    open: bool
    kind: Literal["lid_moved"] = "lid_moved"


@dataclass(frozen=True, slots=True)
class ReverseMovement:
    """A card was pushed back into the shoe."""

    record: int
    kind: Literal["reverse_movement"] = "reverse_movement"


@dataclass(frozen=True, slots=True)
class ShoeFault:
    """The shoe reports an error of its own."""

    record: int
    code: int
    text: str
    kind: Literal["shoe_fault"] = "shoe_fault"


@dataclass(frozen=True, slots=True)
class RecordsLost:
    """The shoe no longer keeps records `first` to `last`, and they never arrived."""

    first: int
    last: int
    kind: Literal["records_lost"] = "records_lost"


@dataclass(frozen=True, slots=True)
class LinkNoise:
    """Broken frames came faster than a sound line gives them: `frames` within `seconds`."""

    frames: int
    seconds: int
    kind: Literal["link_noise"] = "link_noise"


# A record of the shoe: numbered, kept until acknowledged, never skipped.
ShoeRecord = CardDrawn | CardUnread | CardOverdrawn | CutCardSeen | LidMoved | ReverseMovement | ShoeFault
ShoeEvent = ShoeHello | ShoeLost | RecordsLost | LinkNoise | ShoeRecord


_MISDEALS = ("Misdeal", "Card exposed", "Wrong hand dealt", "Cards disturbed")
_MISREADS = ("Misread by the shoe", "Keyed wrongly", "Seen on surveillance")


# --- what people order. `who` is the operator's name, `reason` theirs, and `approved_by` a second person's, where one is
# needed (`approval`).


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
    sentence="lock the table: nothing can be played until an operator signs on again",
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
    sentence="take no more wagers for this coup; the first card may be drawn",
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
    sentence="show both hands and settle every wager (midi baccarat)",
    roles=DEALERS,
    group="play",
    twice=True,
    of_this_hand=True,
    key=True,
)
@dataclass(frozen=True, slots=True)
class Reveal:
    """The cards are face up: what the shoe knew may be shown (sheet 004, midi baccarat)."""

    who: str
    kind: Literal["reveal"] = "reveal"


@order(
    label="Key a card",
    sentence="enter a card by hand that the shoe did not read",
    roles=DEALERS,
    group="play",
    of_this_hand=True,
)
@dataclass(frozen=True, slots=True)
class KeyCard:
    """A card entered by hand, for one that the shoe could not read or where no shoe reads.

    `position` says which card it is, so that the same order twice is not two cards: its number in the coup as dealt,
    from 1, or 0 for the first card of the shoe, which is turned for the burn. None leaves it to be the next.
    """

    who: str
    card: Card
    position: int | None = None
    kind: Literal["key_card"] = "key_card"


@order(
    label="Close the table",
    sentence="stop play between coups; wagers that stand go back",
    roles=SUPERVISORS,
    group="play",
)
@dataclass(frozen=True, slots=True)
class CloseTable:
    """Play stops between coups; wagers that stand go back."""

    who: str
    kind: Literal["close_table"] = "close_table"


@order(
    label="Change the shoe",
    sentence="begin a shoe change: load the cards, turn the first one, burn",
    roles=SUPERVISORS,
    group="shoe",
    of_this_hand=True,
)
@dataclass(frozen=True, slots=True)
class ChangeShoe:
    """A new shoe of cards is to be loaded; the shoe before is over."""

    who: str
    kind: Literal["change_shoe"] = "change_shoe"


@order(
    label="Accept the shoe",
    sentence="accept another shoe in place of the one before",
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
    label="Resume play",
    sentence="resume play after what stopped it was seen to",
    roles=OF_DEVICES,
    group="shoe",
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
    """A supervisor has seen to what stopped the table."""

    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["resume_play"] = "resume_play"


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
    sentence="declare a misdeal: wagers go back",
    roles=SUPERVISORS,
    group="mistakes",
    of_this_hand=True,
    usual=_MISDEALS,
)
@dataclass(frozen=True, slots=True)
class VoidCoup:
    """A misdeal: wagers go back, the coup is kept on the record and on no road.

    `approved_by`, here and in other orders, is a second person, where the table's settings ask for one.
    """

    who: str
    reason: str
    approved_by: str | None = None
    kind: Literal["void_coup"] = "void_coup"


@order(
    label="Correct the last round",
    sentence="settle the last round again by the cards that it really had",
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
    label="Void the last round",
    sentence="take the last round back after it was settled",
    roles=SUPERVISORS,
    group="mistakes",
    of_this_hand=True,
    usual=_MISDEALS,
)
@dataclass(frozen=True, slots=True)
class VoidRound:
    """A misdeal, found after settlement: the last round, `round`, is taken back and its wagers with it."""

    who: str
    round: int
    reason: str
    approved_by: str | None = None
    kind: Literal["void_round"] = "void_round"


@order(
    label="Change game or limits",
    sentence="play another game, or with other limits, from the next shoe on",
    roles=SUPERVISORS,
    group="games",
    takes={"game": FIELDS["game"], "limits": FIELDS["limits"]},
)
@dataclass(frozen=True, slots=True)
class ChangeGame:
    """The table plays this game from the next shoe on, limits included, whatever its configuration names."""

    who: str
    game: Game
    approved_by: str | None = None
    kind: Literal["change_game"] = "change_game"


@order(
    label="Call supervisor",
    sentence="ask for a supervisor at the table: an alarm stands until one has seen to it",
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
    """A supervisor is wanted at the table."""

    who: str
    reason: str
    kind: Literal["call_supervisor"] = "call_supervisor"


@order(
    label="Hold play",
    sentence="stop play where it is: no card is dealt and no betting opens until a supervisor resumes it",
    roles=DEALERS,
    group="help",
    key=True,
    report="held play: {reason}",
    anywhere=True,
    usual=("The last hand is disputed", "A mistake was made", "A break", "Help at the table"),
)
@dataclass(frozen=True, slots=True)
class HoldPlay:
    """Play is held where it is, so that there is time to look at the last hand and to correct it."""

    who: str
    reason: str
    kind: Literal["hold_play"] = "hold_play"


@order(
    label="Acknowledge",
    sentence="acknowledge an alarm that has been seen to",
    roles=OF_DEVICES,
    group="alarms",
    report="acknowledged alarm {number}",
    anywhere=True,
)
@dataclass(frozen=True, slots=True)
class AcknowledgeAlarm:
    """Somebody has seen to the alarm that was raised as the public event `number`."""

    who: str
    number: int
    kind: Literal["acknowledge_alarm"] = "acknowledge_alarm"


@dataclass(frozen=True, slots=True)
class SetWager:
    """A seat asks to have `amount` minor units on `wager` in round `round`; 0 takes the wager back.

    `id` is the asker's own: the same request twice has the same effect as once.
    """

    id: str
    seat: int
    wager: str
    amount: int
    round: int
    kind: Literal["set_wager"] = "set_wager"


Order = (
    SignOn
    | SignOff
    | ChangeShoe
    | OpenBetting
    | CloseBetting
    | CloseTable
    | Reveal
    | VoidCoup
    | CorrectCard
    | CorrectRound
    | VoidRound
    | KeyCard
    | ResumePlay
    | AcceptShoe
    | ChangeGame
    | CallSupervisor
    | HoldPlay
    | AcknowledgeAlarm
)


# --- who came in. It changes nothing at the table and belongs on its record.


@dataclass(frozen=True, slots=True)
class SessionBegun:
    """An operator signed on at `where`, such as a console's address."""

    who: str
    roles: tuple[str, ...]
    where: str
    kind: Literal["session_begun"] = "session_begun"


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """An operator's session is over; `why` says whether they signed off or were inactive too long."""

    who: str
    why: str
    kind: Literal["session_ended"] = "session_ended"


@dataclass(frozen=True, slots=True)
class AccessRefused:
    """Somebody was refused `what`: to sign on, to approve, or an order that is not of their role.

    `who` is an account's name, None where there is none of the name given: what was typed may have been a password.
    """

    who: str | None
    what: str
    code: str
    where: str
    kind: Literal["access_refused"] = "access_refused"


Access = SessionBegun | SessionEnded | AccessRefused


@dataclass(frozen=True, slots=True)
class ServiceStarted:
    """The service came up, with this version and these settings; nothing of the link is known yet."""

    version: str
    settings: Settings
    kind: Literal["service_started"] = "service_started"


# --- the record itself


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """A snapshot of the table was taken before this input; `digest` is the SHA-256 of its JSON, in hex."""

    digest: str
    kind: Literal["snapshot_taken"] = "snapshot_taken"


@dataclass(frozen=True, slots=True)
class RecordDiffers:
    """The record is not what its inputs give; `found` says where, without values that the public must not see."""

    found: str
    kind: Literal["record_differs"] = "record_differs"


OfTheRecord = SnapshotTaken | RecordDiffers


# --- what else is plugged in


@dataclass(frozen=True, slots=True)
class ConfigurationKeypad:
    """The score display's configuration keypad was plugged in at `path`, or is gone (approval letter, 5)."""

    attached: bool
    path: str
    kind: Literal["configuration_keypad"] = "configuration_keypad"


@dataclass(frozen=True, slots=True)
class SensorsLink:
    """The progressive's wager sensors came, or went, and why."""

    online: bool
    reason: str
    kind: Literal["sensors_link"] = "sensors_link"


@dataclass(frozen=True, slots=True)
class SensorFault:
    """The wager sensor at a `position` of the chain has this fault, or has it no more.

    `seat` is the one that it lies before, None where none is set.
    """

    position: int
    seat: int | None
    fault: Literal["missing", "doubled", "stuck", "unassigned"]
    stands: bool
    kind: Literal["sensor_fault"] = "sensor_fault"


# --- the progressive

Sensed = procedure.WagerPlaced | procedure.WagerLifted | procedure.WagerVoided | aquarius.TurnKey
"""What a wager sensor or the key switch saw."""
GameOrder = (
    procedure.StartGame
    | procedure.HandButton
    | procedure.NobodyWon
    | procedure.ReopenGame
    | aquarius.Jpot
    | aquarius.GameOver
    | nexus.Confirm
    | nexus.SwipeCard
    | nexus.SignAward
    | nexus.EndGame
)
"""What a dealer or a supervisor does at the table in a game of the progressive."""
BooksOrder = OpenMeter | Adjust | BackOut | ChangeSettings | Retire | CountCoins
"""What is ordered of the meter, at the Game Manager."""

Event = (
    ServiceStarted
    | ShoeEvent
    | Order
    | SetWager
    | Access
    | OfTheRecord
    | ConfigurationKeypad
    | SensorsLink
    | SensorFault
    | Sensed
    | GameOrder
    | BooksOrder
    | PrintWinPage
)
