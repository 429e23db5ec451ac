"""What a console shows of the table's progressive: its game, seat by seat, what to do now, and which orders are possible.

The reserve is hidden, and in none of it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, computed_field

from controller.messages.models import GameStep
from controller.operators.desk import Fitted
from controller.progressive import aquarius, nexus
from controller.progressive.aquarius import Jpot, Key, TurnKey
from controller.progressive.events import CardLevel
from controller.progressive.nexus import Confirm, SwipeCard
from controller.progressive.procedure import (
    Hand,
    HandButton,
    NobodyWon,
    StartGame,
    Step,
    WagerLifted,
    WagerPlaced,
)
from controller.progressive.settings import Payer, Procedure
from controller.progressive.settings import Settings as ProgressiveSettings
from controller.progressive.shares import DealersSide
from controller.progressive.state import Award, AwardState
from controller.table.catalogue import CATALOGUE
from controller.table.events import Event
from controller.table.possible import ANYBODY, refusal
from controller.table.state import TablesProgressive, TableState
from controller.table.table import Table, leads_to
from controller.table.turn import RefusedError
from controller.wagers.words import words

_ANOTHER: Final = "another"
_TO_CONFIRM: Final = frozenset({Step.SETTLING, Step.CONFIRMED})
_END: Final = {"aquarius": "GAME OVER", "nexus": "END GAME"}
_CONFIRM: Final = {"aquarius": "J-POT", "nexus": "CONFIRM"}
_NONE_DID: Final = {
    "aquarius": "call a supervisor, who turns the key to JPH and confirms NOBODY WON",
    "nexus": "call a supervisor, who confirms NOBODY WON and swipes a card or signs",
}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class SeatInGame(_Part):
    """A seat in the progressive's game.

    - `lit`: its sensor's light is on: a wager is recognised there, or is in the game. `wagered`: it is in the game.
    - `late`: a wager lies there that came after the start, and is in no game.
    - `spent`: one lies there that is in no game, for it has had another or was voided: it must be laid anew to be one.
    - `won`: its hand won an award, or may have; `selected`: its hand button is on.
    - `share`: what it gets of the award, in minor units, as far as that is known.
    - `refused`: why its hand button, or before the start its wager, cannot be pressed now; null where it can.
    """

    seat: int
    lit: bool
    wagered: bool
    late: bool
    spent: bool
    won: bool
    selected: bool
    share: int | None
    refused: str | None


class ShareOfAward(_Part):
    """What a seat gets of an award, in minor units."""

    seat: int
    amount: int


class AwardInGame(_Part):
    """What the hand won: the tier, who pays it, and what it comes to.

    - `number`, `state`: once it is logged, and whether the meter is adjusted for it.
    - `amount`, `shares`: fixed then; before, as they would be by the hands that are selected now, null and none where
      nobody knows yet. Shares are in the order of paying.
    - `card`: the level of the card or signature that completes it, null with Aquarius and where the dealer confirms it alone.
    - `dealer`: whether the dealer confirms it alone.
    """

    number: int | None
    state: Literal["to_confirm", "locked", "booked"]
    rule: str
    title: str
    pays: str
    amount: int | None
    shares: tuple[ShareOfAward, ...]
    card: CardLevel | None
    payer: Payer
    dealer: bool


class Todo(_Part):
    """What to do now for the progressive, by a code and in words; `order` is the one that does it, null where none does."""

    code: str
    text: str

    @computed_field  # type: ignore[prop-decorator]  # as pydantic's documents have it
    @property
    def order(self) -> str | None:
        """The order of the catalogue."""
        order = {"key_to_jph": "jpot", "key_to_run": "turn_key", "swipe_card": "sign_award"}.get(
            self.code, self.code
        )
        return order if order in CATALOGUE else None


class GameView(_Part):
    """The progressive at this table; amounts in minor units.

    - `settings`: a mark that is another one whenever the settings are.
    - `meter`: what displays show; `wager`: what one wager is, which `stays` on its sensor or is taken at the start.
    - `round`: the game's, 0 before the first.
    - `seat_one`: the side of the dealer that seat 1 is on.
    - `sensors`: whether they are heard; "none" where the seats with a wager are keyed.
    - `orders`: every order of the game, whoever may give it, and why it cannot be given now; null where it can.
    - `start_label`: what this table calls START GAME.
    - `by_device`: those that a device of this table gives now.
    - `password_of`: whose card was swiped and waits for its owner's password, null where none does.
    """

    id: str
    title: str
    phase: Literal["new", "open", "retired"]
    settings: str
    meter: int
    wager: int
    stays: bool
    procedure: Procedure
    step: GameStep
    round: int
    key: Literal["run", "jph"] | None
    seat_one: DealersSide
    sensors: Literal["none", "online", "offline"]
    seats: tuple[SeatInGame, ...]
    award: AwardInGame | None
    todo: Todo
    orders: dict[str, str | None]
    start_label: str
    by_device: tuple[str, ...]
    password_of: str | None


@lru_cache(maxsize=2)
def _mark(settings: ProgressiveSettings) -> str:
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:16]


def game_view(state: TableState, fitted: Fitted, tried: Mapping[str, RefusedError | None]) -> GameView | None:
    """The progressive's game at this table, None where there is no progressive.

    `fitted` is what its devices do, `tried` what `possible.refusals` found.
    """
    progressive = state.progressive
    if progressive is None:
        return None
    books, procedure = progressive.books, progressive.procedure
    expected = _expected(state, progressive)
    award = _award(state, progressive, expected)
    orders = {
        kind: None if refused is None else str(refused)
        for kind, refused in tried.items()
        if CATALOGUE[kind].group in {"game", "award"}
        and (refused is None or refused.code != "other_procedure")
    }
    return GameView(
        id=books.settings.progressive,
        title=books.settings.wager.title,
        phase=books.phase.value,
        settings=_mark(books.settings),
        meter=books.shown,
        wager=procedure.hand.stake,
        stays=books.settings.wager_stays,
        procedure=procedure.kind,
        step=procedure.step.value,
        round=procedure.hand.round,
        key=procedure.key.value if procedure.kind == "aquarius" else None,
        seat_one=books.settings.seat_one,
        sensors=_sensors(state),
        seats=tuple(_seats(state, progressive, award, fitted)),
        award=award,
        todo=_todo(state, progressive, award, expected, orders, fitted.start_label),
        orders=orders,
        start_label=fitted.start_label,
        by_device=tuple(sorted(fitted.gives())),
        password_of=fitted.password_of(),
    )


def _why_not(state: TableState, event: Event) -> str | None:
    refused = refusal(state, event)
    return None if refused is None else str(refused)


def _wager(hand: Hand, seat: int) -> WagerPlaced | WagerLifted:
    return WagerLifted(seat) if seat in hand.sensors else WagerPlaced(seat)


# --- the award


def _expected(state: TableState, progressive: TablesProgressive) -> Award | RefusedError | None:
    """The award that would be logged if all were confirmed now, or why none would be; None where nothing is to be."""
    procedure = progressive.procedure
    hand = procedure.hand
    if procedure.step not in _TO_CONFIRM or _nobody(procedure):
        return None
    if hand.won is None or not (hand.won.certain or hand.selected):
        return None
    table = Table(state)
    missing = [seat for seat in hand.won.seats if hand.won.certain and seat not in hand.selected]
    steps: list[Event] = [HandButton(seat, ANYBODY) for seat in missing]
    if procedure.kind == "aquarius":
        steps += [Jpot(ANYBODY)] if hand.dealer_confirms else [TurnKey(Key.JPH, ANYBODY), Jpot(ANYBODY)]
    else:
        confirmed = procedure.step is Step.CONFIRMED
        steps += [] if confirmed else [Confirm(ANYBODY)]
        steps += [] if hand.dealer_confirms else [SwipeCard(_ANOTHER, "executive")]
    try:
        for step in steps:
            table.handle(step)
    except RefusedError as refusal:
        return refusal
    after = table.state.progressive
    return None if after is None else after.books.awards[-1]


def _nobody(procedure: aquarius.State | nexus.State) -> bool:
    """Whether it is confirmed that nobody won, and a card or a signature is to complete it."""
    return procedure.kind == "nexus" and isinstance(procedure.confirmed, NobodyWon)


def _award(
    state: TableState, progressive: TablesProgressive, expected: Award | RefusedError | None
) -> AwardInGame | None:
    """The award of the game: the one that is logged, or the one that its hand won."""
    settings, hand = progressive.books.settings, progressive.procedure.hand
    logged = _logged(state, progressive)
    if logged is not None:
        name = logged.rule
    elif progressive.procedure.step in _TO_CONFIRM and hand.won is not None:
        name = hand.won.rule
    else:
        return None
    rule = settings.tier(name)
    if rule is None:
        return None
    found = logged or (expected if isinstance(expected, Award) else None)
    dealer = hand.dealer_confirms if found is None else found.by == "dealer"
    shares = () if found is None else found.shares
    return AwardInGame(
        number=None if logged is None else logged.id,
        state="to_confirm" if logged is None else _STATES[logged.state],
        rule=name,
        title=words(rule.when),
        pays=rule.pays,
        amount=None if found is None else found.amount,
        shares=tuple(ShareOfAward(seat=each.seat, amount=each.amount) for each in shares),
        card=None if found is None or dealer else _card(settings, found),
        payer=settings.payer(rule),
        dealer=dealer,
    )


_STATES: Final[dict[AwardState, Literal["locked", "booked"]]] = {
    AwardState.LOCKED: "locked",
    AwardState.BOOKED: "booked",
}


def _logged(state: TableState, progressive: TablesProgressive) -> Award | None:
    """The award of the game in play that is logged and stands."""
    procedure = progressive.procedure
    if procedure.step not in {Step.LOGGED, Step.ADJUSTED}:
        return None
    here = (state.settings.table, procedure.hand.round)
    stand = (each for each in progressive.books.awards if each.state in _STATES)
    return next((each for each in stand if (each.table, each.round) == here), None)


def _card(settings: ProgressiveSettings, award: Award) -> CardLevel | None:
    if settings.procedure == "aquarius":
        return None
    above = settings.executive_from is not None and award.amount >= settings.executive_from
    return "executive" if above else "supervisor"


# --- the seats


def _sensors(state: TableState) -> Literal["none", "online", "offline"]:
    if state.sensors is None:
        return "none"
    return "online" if state.sensors.online else "offline"


def _seats(
    state: TableState, progressive: TablesProgressive, award: AwardInGame | None, fitted: Fitted
) -> Iterator[SeatInGame]:
    procedure = progressive.procedure
    hand = procedure.hand
    started = procedure.step is not Step.BETTING
    won = () if hand.won is None or not started else hand.won.seats
    shares = {} if award is None else {each.seat: each.amount for each in award.shares}
    late = fitted.late()
    for seat in range(1, state.settings.seats + 1):
        pressed: Event = HandButton(seat, ANYBODY) if started else _wager(hand, seat)
        wagered = started and seat in hand.wagers
        yield SeatInGame(
            seat=seat,
            lit=wagered or seat in hand.sensors,
            wagered=wagered,
            late=seat in late,
            spent=seat in hand.spent and not wagered,
            won=seat in won,
            selected=seat in hand.selected,
            share=shares.get(seat),
            refused=_why_not(state, pressed),
        )


# --- what to do now


def _todo(
    state: TableState,
    progressive: TablesProgressive,
    award: AwardInGame | None,
    expected: Award | RefusedError | None,
    orders: Mapping[str, str | None],
    start_label: str,
) -> Todo:
    procedure = progressive.procedure
    end = _END[procedure.kind]
    match procedure.step.value:
        case "betting":
            return _before_the_start(state, progressive, orders["start_game"], start_label)
        case "playing":
            return Todo(code="deal", text=_deal(progressive))
        case "settling":
            return _settle(progressive, expected, end)
        case "confirmed":
            card = "an Executive" if _needs_executive(state) else "a Supervisor"
            what = "That nobody won" if _nobody(procedure) else "The award"
            text = f"{what} is confirmed: swipe {card} card to complete it, or sign"
            return Todo(code="swipe_card", text=text)
        case "logged":
            return Todo(code="key_to_run", text=_logged_words(procedure, award))
        case _:
            return _pay(procedure, award, end)


def _needs_executive(state: TableState) -> bool:
    """Whether what is confirmed is not completed by a Supervisor card."""
    refused = refusal(state, SwipeCard(_ANOTHER, "supervisor"))
    return refused is not None and refused.code == "executive_needed"


def _logged_words(procedure: aquarius.State | nexus.State, award: AwardInGame | None) -> str:
    if procedure.hand.denied:
        return "That nobody won is logged: turn the key to RUN"
    off = ", which takes it off the meter" if award is not None and award.payer == "meter" else ""
    return f"The award is logged: turn the key to RUN{off}"


def _before_the_start(
    state: TableState, progressive: TablesProgressive, refused: str | None, label: str
) -> Todo:
    if not leads_to(state.phase, StartGame):
        return Todo(code="wait", text="The next game can be started once betting is open")
    if refused is not None:
        return Todo(code="wait", text=refused)
    if state.sensors is None:
        return Todo(
            code="start_game", text=f"Touch each seat that has a progressive wager, then press {label}"
        )
    seats = progressive.procedure.hand.sensors
    if seats and progressive.books.settings.base_wagers == "unseen":
        return Todo(
            code="start_game", text=f"Check {_base_wagers_at(progressive, seats)}, then press {label}"
        )
    return Todo(code="start_game", text=f"Press {label} once the progressive wagers lie on their sensors")


def _base_wagers_at(progressive: TablesProgressive, seats: Sequence[int]) -> str:
    """What the dealer is to see at these seats, whose base wagers nobody records (sheet 000, dealing procedure 1)."""
    has = "has" if len(seats) == 1 else "each have"
    only = ", not on both" if progressive.books.settings.one_side_only else ""
    return f"that {_named(seats)} {has} a wager on Player or Banker{only}"


def _deal(progressive: TablesProgressive) -> str:
    hand = progressive.procedure.hand
    lying = [seat for seat in hand.spent if seat not in hand.wagers]
    back = f"Give back what lies at {_named(lying)}: it is in no game. " if lying else ""
    if not hand.wagers:
        return f"{back}No progressive wager is in this game: deal the hand"
    settings = progressive.books.settings
    before = [
        *([f"check {_base_wagers_at(progressive, hand.wagers)}"] if settings.base_wagers == "unseen" else []),
        *([] if settings.wager_stays else ["take them"]),
    ]
    stay = " and stay on their sensors" if settings.wager_stays else ""
    return f"{back}The wagers are counted{stay}: {', '.join([*before, 'and deal' if before else 'deal'])} the hand"


def _settle(progressive: TablesProgressive, expected: Award | RefusedError | None, end: str) -> Todo:
    procedure = progressive.procedure
    hand, won = procedure.hand, procedure.hand.won
    if won is None:
        return Todo(code="end", text=f"The hand won no award: press {end}")
    if isinstance(expected, RefusedError):
        return Todo(code=expected.code, text=str(expected))
    seats = _named(won.seats)
    rule = progressive.books.settings.tier(won.rule)
    pays = won.rule if rule is None else rule.pays
    if not won.certain and not hand.selected:
        who = f"of {seats}, if its" if len(won.seats) == 1 else f"of each of {seats} whose"
        return Todo(
            code="hand_buttons",
            text=f"{pays}: press the hand button {who} Player or Banker wager won; if none did, {_NONE_DID[procedure.kind]}",
        )
    if won.certain and hand.selected != won.seats:
        return Todo(code="hand_buttons", text=f"{pays}: press the hand button of {seats}")
    if hand.dealer_confirms:
        return Todo(code="confirm", text=f"{pays} from the tray: press {_CONFIRM[procedure.kind]}")
    return _call_supervisor(procedure)


def _call_supervisor(procedure: aquarius.State | nexus.State) -> Todo:
    if procedure.kind == "nexus":
        return Todo(
            code="confirm",
            text="Call a supervisor, who verifies the hand and presses CONFIRM, then swipes a card or signs",
        )
    if procedure.key is Key.RUN:
        return Todo(
            code="key_to_jph",
            text="Call a supervisor, who verifies the hand, turns the key to JPH and presses J-POT",
        )
    return Todo(code="jpot", text="The key is in JPH: the supervisor presses J-POT")


def _pay(procedure: aquarius.State | nexus.State, award: AwardInGame | None, end: str) -> Todo:
    if procedure.kind == "aquarius" and procedure.key is Key.JPH:
        return Todo(code="key_to_run", text="The key is in JPH: turn it to RUN")
    if award is None:
        return Todo(code="end", text=f"Nothing is left to pay: press {end}")
    order = ", in this order" if len(award.shares) > 1 else ""
    tray = " from the tray" if award.payer == "tray" else ""
    # What each gets is in the award: amounts are written with their currency by the pages alone.
    seats = _named([each.seat for each in award.shares])
    return Todo(code="pay", text=f"Pay {seats}{tray}{order}; then press {end}")


def _named(seats: Sequence[int]) -> str:
    return f"seat{'s' * (len(seats) > 1)} {_listed([str(seat) for seat in seats])}"


def _listed(things: Sequence[str]) -> str:
    *most, last = things
    return f"{', '.join(most)} and {last}" if most else last
