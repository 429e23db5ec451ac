"""The table's progressive as a console shows it: its game, the seats, the next step, and the possible orders.

The reserve is hidden and never included.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from pydantic import computed_field

from punto.baccarat.progressive.aquarius import Jpot, Key, TurnKey
from punto.baccarat.progressive.events import CardLevel
from punto.baccarat.progressive.game_events import HandButton, NobodyWon, StartGame, WagerLifted, WagerPlaced
from punto.baccarat.progressive.nexus import Confirm, SwipeCard
from punto.baccarat.progressive.procedure import Step
from punto.baccarat.progressive.settings import Payer, Procedure
from punto.baccarat.progressive.settings import Settings as ProgressiveSettings
from punto.baccarat.progressive.shares import DealersSide, Share
from punto.baccarat.progressive.state import Award, AwardState
from punto.baccarat.table.catalogue import CATALOGUE
from punto.baccarat.table.events import Event
from punto.baccarat.table.possible import ANYBODY, Trials
from punto.baccarat.table.progressive import named, unstarted
from punto.baccarat.table.state import Phase, TablesProgressive
from punto.baccarat.table.table import leads_to
from punto.baccarat.table.turn import RefusedError
from punto.baccarat.wagers.words import words
from punto.controller.orders.doors import Equipment
from punto.messages.models import GameStep, Part

_ANOTHER: Final = "another"
_TO_CONFIRM: Final = frozenset({Step.SETTLING, Step.CONFIRMED})
_END: Final = {"aquarius": "GAME OVER", "nexus": "END GAME"}
_CONFIRM: Final = {"aquarius": "J-POT", "nexus": "CONFIRM"}
_NONE_DID: Final = {
    "aquarius": "call a supervisor, who turns the key to JPH and confirms NOBODY WON",
    "nexus": "call a supervisor, who confirms NOBODY WON and swipes a card or signs",
}


class SeatInGame(Part):
    """A seat in the progressive's game.

    - `lit`: its sensor's light is on: a wager is recognised there, or is in the game. `wagered`: it is in the game.
    - `late`: its wager came after the start, and is in no game.
    - `spent`: its wager is in no game, because it was in an earlier game or was voided; it must be placed again.
    - `won`: its hand won an award, or may have won one; `selected`: its hand button is on.
    - `share`: its share of the award in minor units, null if that is not known.
    - `refused`: why its hand button, or before the start its wager, cannot be pressed now; null if it can.
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


class AwardInGame(Part):
    """The award of the hand: its tier, its payer and its amount.

    - `number`: null until the award is logged; `state`: whether it is logged, and whether the meter is adjusted for it.
    - `amount`, `shares`: fixed when the award is logged. Before that they follow from the seats that are selected now, and
      are null and empty if they are not known. Shares are in the order of payment.
    - `card`: the level of the card or signature that completes the award, null with Aquarius or if the dealer confirms alone.
    - `dealer`: whether the dealer confirms it alone.
    """

    number: int | None
    state: Literal["to_confirm", "locked", "booked"]
    rule: str
    title: str
    pays: str
    amount: int | None
    shares: tuple[Share, ...]
    card: CardLevel | None
    payer: Payer
    dealer: bool


class Todo(Part):
    """The next step for the progressive, as a code and as text; `order` is the order that does it, null if there is none."""

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


class GameView(Part):
    """The progressive at this table; amounts in minor units.

    - `settings`: a mark that changes with the settings.
    - `meter`: the amount on displays; `stale`: whether it may be old, because this linked table does not hear its authority.
    - `wager`: the amount of one wager, which `stays` on its sensor or is taken at the start.
    - `round`: the game's round, 0 before the first.
    - `seat_one`: the side of the dealer on which seat 1 is.
    - `sensors`: the state of the wager sensors; "none" if the seats with a wager are keyed.
    - `orders`: every order of the game for all roles, and why it cannot be given now; null if it can.
    - `start_label`: this table's label for START GAME; `start_closes`: whether it also closes betting.
    - `unstarted`: the seats with a wager on their sensor that is in no game before START GAME is given.
    - `by_device`: the orders that a device of this table gives now.
    - `password_of`: the owner of a swiped card that waits for a password, or null.
    - `served`: a number that changes with each request of a linked table that this service, their authority, carries out.
    """

    id: str
    title: str
    phase: Literal["new", "open", "retired"]
    settings: str
    meter: int
    stale: bool
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
    start_closes: bool
    unstarted: tuple[int, ...]
    by_device: tuple[str, ...]
    password_of: str | None
    served: int


@lru_cache(maxsize=2)
def _mark(settings: ProgressiveSettings) -> str:
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:16]


def game_view(
    trials: Trials, equipment: Equipment, refused: Mapping[str, RefusedError | None]
) -> GameView | None:
    """The progressive's game at this table, None if it has no progressive.

    `equipment` is what its devices do, `refused` the refusal of each order.
    """
    progressive = trials.state.progressive
    return None if progressive is None else _Game(trials, progressive, equipment).view(refused)


class _Game:
    """The present game and its award.

    `logged` is the award on the books. `expected` is the award that would be logged if everything were confirmed now, or
    why it would be refused; None if there is no award to confirm, or if the authority of the meter fixes the award.
    """

    def __init__(self, trials: Trials, progressive: TablesProgressive, equipment: Equipment) -> None:
        self.trials = trials
        self.state = trials.state
        self.equipment = equipment
        self.link = progressive.link
        self.served = sum(each.number for each in progressive.served)
        self.books = progressive.books
        self.settings = progressive.books.settings
        self.procedure = progressive.procedure
        self.hand = progressive.procedure.hand
        self.end = _END[self.procedure.kind]
        self.logged = self._logged()
        self.expected = self._expected()
        self.award = self._award()

    def view(self, refused: Mapping[str, RefusedError | None]) -> GameView:
        """The game as a console shows it."""
        settings, procedure, state = self.settings, self.procedure, self.state
        orders = {
            kind: None if why is None else str(why)
            for kind, why in refused.items()
            if CATALOGUE[kind].group in {"game", "award"} and (why is None or why.code != "other_procedure")
        }
        code, text = self._todo(orders)
        live = self.equipment.meter()
        sensors = state.devices.sensors
        return GameView(
            id=settings.progressive,
            title=settings.wager.title,
            phase=self.books.phase.value,
            settings=_mark(settings),
            meter=self.books.shown if live is None else live,
            stale=self.link is not None and not self.link.online,
            wager=self.hand.stake,
            stays=settings.wager_stays,
            procedure=procedure.kind,
            step=procedure.step.value,
            round=self.hand.round,
            key=procedure.key.value if procedure.kind == "aquarius" else None,
            seat_one=settings.seat_one,
            sensors="none" if sensors is None else "online" if sensors.online else "offline",
            seats=tuple(self._seats()),
            award=self.award,
            todo=Todo(code=code, text=text),
            orders=orders,
            start_label=self.equipment.start_label,
            start_closes=settings.start_closes_betting and state.phase is Phase.BETTING,
            unstarted=unstarted(state),
            by_device=tuple(sorted(self.equipment.gives())),
            password_of=self.equipment.password_of(),
            served=self.served,
        )

    @property
    def _denied(self) -> bool:
        """Whether NOBODY WON is confirmed, and needs a card or a signature to complete it."""
        return self.procedure.kind == "nexus" and isinstance(self.procedure.confirmed, NobodyWon)

    # --- the award

    def _expected(self) -> Award | RefusedError | None:
        hand, procedure = self.hand, self.procedure
        if procedure.step not in _TO_CONFIRM or self._denied:
            return None
        if hand.won is None or not (hand.won.certain or hand.selected):
            return None
        missing = [seat for seat in hand.won.seats if hand.won.certain and seat not in hand.selected]
        steps: list[Event] = [HandButton(seat, ANYBODY) for seat in missing]
        if procedure.kind == "aquarius":
            steps += [Jpot(ANYBODY)] if hand.dealer_confirms else [TurnKey(Key.JPH, ANYBODY), Jpot(ANYBODY)]
        else:
            steps += [] if procedure.step is Step.CONFIRMED else [Confirm(ANYBODY)]
            steps += [] if hand.dealer_confirms else [SwipeCard(_ANOTHER, "executive")]
        found = self.trials.verdict(*steps)
        after = found.state.progressive
        if found.refusal is not None or after is None or after.books.awards == self.books.awards:
            return found.refusal  # or the authority of a linked table fixes the award, once it is asked
        return after.books.awards[-1]

    def _award(self) -> AwardInGame | None:
        """The award of the game: the logged one, or the one that the hand won."""
        hand, logged = self.hand, self.logged
        if logged is not None:
            name = logged.rule
        elif self.procedure.step in _TO_CONFIRM and hand.won is not None:
            name = hand.won.rule
        else:
            return None
        rule = self.settings.tier(name)
        if rule is None:
            return None
        found = logged or (self.expected if isinstance(self.expected, Award) else None)
        dealer = hand.dealer_confirms if found is None else found.by == "dealer"
        shares = () if found is None else found.shares
        booked = logged is not None and logged.state is AwardState.BOOKED
        return AwardInGame(
            number=None if logged is None else logged.id,
            state="to_confirm" if logged is None else "booked" if booked else "locked",
            rule=name,
            title=words(rule.when),
            pays=rule.pays,
            amount=None if found is None else found.amount,
            shares=shares,
            card=None if found is None or dealer else _card(self.settings, found),
            payer=self.settings.payer(rule),
            dealer=dealer,
        )

    def _logged(self) -> Award | None:
        """The logged award of the game in play, unless it was backed out."""
        if self.procedure.step not in {Step.LOGGED, Step.ADJUSTED}:
            return None
        awards = self.books.awards_of(self.state.settings.table, self.hand.round)
        return next((each for each in awards if each.state is not AwardState.BACKED_OUT), None)

    # --- the seats

    def _seats(self) -> Iterator[SeatInGame]:
        hand = self.hand
        started = self.procedure.step is not Step.BETTING
        won = () if hand.won is None or not started else hand.won.seats
        shares = {} if self.award is None else {each.seat: each.amount for each in self.award.shares}
        late = self.equipment.late()
        for seat in range(1, self.state.settings.seats + 1):
            wager = WagerLifted(seat) if seat in hand.sensors else WagerPlaced(seat)
            refused = self.trials.verdict(HandButton(seat, ANYBODY) if started else wager).refusal
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
                refused=None if refused is None else str(refused),
            )

    # --- the next step, as a code and as text

    def _todo(self, orders: Mapping[str, str | None]) -> tuple[str, str]:
        match self.procedure.step.value:
            case "betting":
                return self._before_the_start(orders["start_game"])
            case "playing":
                return "deal", self._deal()
            case "settling":
                return self._settle()
            case "confirmed":
                refused = self.trials.verdict(SwipeCard(_ANOTHER, "supervisor")).refusal
                executive = refused is not None and refused.code == "executive_needed"
                card = "an Executive" if executive else "a Supervisor"
                what = "NOBODY WON" if self._denied else "The award"
                return "swipe_card", f"{what} is confirmed: swipe {card} card to complete it, or sign"
            case "logged":
                return "key_to_run", self._logged_words()
            case _:
                return self._pay()

    def _logged_words(self) -> str:
        if self.hand.denied:
            return "NOBODY WON is logged: turn the key to RUN"
        meter = self.award is not None and self.award.payer == "meter"
        return f"The award is logged: turn the key to RUN{', which takes the award off the meter' if meter else ''}"

    def _before_the_start(self, refused: str | None) -> tuple[str, str]:
        if not leads_to(self.state.phase, StartGame):
            return "wait", "The next game can be started once betting is open"
        if refused is not None:
            return "wait", refused
        label, seats = self.equipment.start_label, self.hand.sensors
        if self.state.devices.sensors is None:
            return "start_game", f"Touch each seat that has a progressive wager, then press {label}"
        if seats and self.settings.base_wagers == "unseen":
            return "start_game", f"Check {self._base_wagers_at(seats)}, then press {label}"
        return "start_game", f"Press {label} once the progressive wagers lie on their sensors"

    def _base_wagers_at(self, seats: Sequence[int]) -> str:
        """The dealer's check of the base wagers at these seats, which are not recorded (sheet 000, dealing procedure 1)."""
        has = "has" if len(seats) == 1 else "each have"
        only = ", not on both" if self.settings.one_side_only else ""
        return f"that {named(seats)} {has} a wager on Player or Banker{only}"

    def _deal(self) -> str:
        hand, settings = self.hand, self.settings
        lying = [seat for seat in hand.spent if seat not in hand.wagers]
        back = f"Return the wagers at {named(lying)}: they are not in a game. " if lying else ""
        if not hand.wagers:
            return f"{back}No progressive wager is in this game: deal the hand"
        before = [
            *([f"check {self._base_wagers_at(hand.wagers)}"] if settings.base_wagers == "unseen" else []),
            *([] if settings.wager_stays else ["take them"]),
        ]
        stay = " and stay on their sensors" if settings.wager_stays else ""
        return f"{back}The wagers are counted{stay}: {', '.join([*before, 'and deal' if before else 'deal'])} the hand"

    def _settle(self) -> tuple[str, str]:
        hand, won, kind = self.hand, self.hand.won, self.procedure.kind
        if won is None:
            return "end", f"The hand won no award: press {self.end}"
        if isinstance(self.expected, RefusedError):
            return self.expected.code, str(self.expected)
        seats = named(won.seats)
        rule = self.settings.tier(won.rule)
        pays = won.rule if rule is None else rule.pays
        if not won.certain and not hand.selected:
            who = f"of {seats}, if its" if len(won.seats) == 1 else f"of each of {seats} whose"
            none = f"If no such wager won, {_NONE_DID[kind]}"
            return "hand_buttons", f"{pays}: press the hand button {who} Player or Banker wager won. {none}"
        if won.certain and hand.selected != won.seats:
            return "hand_buttons", f"{pays}: press the hand button of {seats}"
        if hand.dealer_confirms:
            return (
                "jpot" if kind == "aquarius" else "confirm",
                f"{pays} from the tray: press {_CONFIRM[kind]}",
            )
        return self._call_supervisor()

    def _call_supervisor(self) -> tuple[str, str]:
        call = "Call a supervisor, who verifies the hand"
        if self.procedure.kind == "nexus":
            return "confirm", f"{call} and presses CONFIRM, then swipes a card or signs"
        if self.procedure.key is Key.RUN:
            return "key_to_jph", f"{call}, turns the key to JPH and presses J-POT"
        return "jpot", "The key is at JPH: the supervisor presses J-POT"

    def _pay(self) -> tuple[str, str]:
        if self.procedure.kind == "aquarius" and self.procedure.key is Key.JPH:
            return "key_to_run", "The key is at JPH: turn the key to RUN"
        if self.award is None:
            return "end", f"Nothing is left to pay: press {self.end}"
        order = ", in this order" if len(self.award.shares) > 1 else ""
        tray = " from the tray" if self.award.payer == "tray" else ""
        # The text has no amounts: the pages show them from the award, with their currency.
        seats = named([each.seat for each in self.award.shares])
        return "pay", f"Pay {seats}{tray}{order}; then press {self.end}"


def _card(settings: ProgressiveSettings, award: Award) -> CardLevel | None:
    if settings.procedure == "aquarius":
        return None
    above = settings.executive_from is not None and award.amount >= settings.executive_from
    return "executive" if above else "supervisor"
