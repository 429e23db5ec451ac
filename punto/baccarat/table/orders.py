"""Orders of people and wagers of seats. Those that are not allowed now are refused with a reason."""

from dataclasses import replace
from typing import Final

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup, SurplusCardError
from punto.baccarat.progressive.game_events import StartGame
from punto.baccarat.table import commission, dealing, events, progressive
from punto.baccarat.table import order_kinds as kinds
from punto.baccarat.table.after_settlement import correct_keyed, correct_round, replace_last, void_round
from punto.baccarat.table.devices import accept_device
from punto.baccarat.table.effects import AlarmAcknowledged, CardCorrected, CardHeld, GameChanged, PlayResumed
from punto.baccarat.table.meter_link import of
from punto.baccarat.table.meters import together
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.shoe_events import NOT_RESUMED, OTHER_DECKS, accept, compare_decks, put_aside
from punto.baccarat.table.state import (
    AwaitedCard,
    Correction,
    GamingDay,
    KeyedAway,
    Phase,
    Shoe,
    Stop,
    TableState,
)
from punto.baccarat.table.turn import RefusedError, Turn, refuse_behind_the_cards
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.settlement import PlacedWager, WagerRefusedError, check_wagers, find_wager

JUST_STARTED: Final = "the service has just started"
"""Why a table does not know if its shoe, or the authority of its meter, is there."""


def on_order(turn: Turn, order: kinds.Order) -> None:  # noqa: C901, PLR0912 - flat: one case an order
    """Carry out an order that the table's phase allows; raises RefusedError if it is not allowed for another reason."""
    match order:
        case kinds.SignOn(who=who):
            turn.change(operator=who)
            if turn.state.phase is Phase.LOCKED:
                turn.enter(Phase.CLOSED)
        case kinds.SignOff():
            turn.change(operator=None)
            turn.enter(Phase.LOCKED)
        case kinds.ChangeShoe():
            _change_shoe(turn)
        case kinds.OpenBetting():
            _open_betting(turn)
        case kinds.CloseBetting():
            _close_betting(turn)
        case kinds.CloseTable():
            dealing.return_wagers(turn)
            dealing.discard_waiting(turn, "outside_play")
            turn.enter(Phase.CLOSED)
        case kinds.Reveal():
            _refuse_while_stopped(turn)
            dealing.reveal(turn)
        case kinds.VoidCoup():
            dealing.void_coup(turn, order)
        case kinds.CorrectCard():
            _correct(turn, order)
        case kinds.CorrectRound():
            correct_round(turn, order)
        case kinds.VoidRound():
            void_round(turn, order)
        case kinds.KeyCard():
            _key(turn, order)
        case kinds.AcceptDevice(serial=serial):
            accept_device(turn, serial)
        case kinds.ResumePlay(reason=reason):
            _resume(turn, reason)
        case kinds.ChangeGame(game=game):
            _change_game(turn, game)
        case kinds.CallSupervisor(reason=reason):
            _call(turn, reason)
        case kinds.HoldPlay(reason=reason):
            _hold(turn, reason)
        case kinds.AcknowledgeAlarm(number=number):
            _acknowledge(turn, number)
        case kinds.CollectCommission() | kinds.WaiveCommission():
            commission.settle_account(turn, order)
        case _:
            accept(turn, order.serial)


def _refuse_while_stopped(turn: Turn) -> None:
    if turn.state.waiting.stops:
        reasons = "; ".join(stop.text for stop in turn.state.waiting.stops)
        raise RefusedError("needs_supervisor", f"play is stopped: {reasons}")


def on_start(turn: Turn, start: StartGame) -> None:
    """Start the game of the progressive; where the house wants it, this also closes betting."""
    progressive.play(turn, start)
    if of(turn).books.settings.start_closes_betting and turn.state.phase is Phase.BETTING:
        _close_betting(turn)


def _close_betting(turn: Turn) -> None:
    _refuse_while_stopped(turn)
    progressive.refuse_before_award(turn.state)
    dealing.begin_coup(turn)


def _call(turn: Turn, reason: str) -> None:
    """Call a supervisor; a reason takes the place of the call before it that did not give one."""
    if reason != kinds.CALLED:
        for alarm in turn.state.alarms:
            if (alarm.code, alarm.text) == ("supervisor_called", kinds.CALLED):
                turn.change(alarms=tuple(each for each in turn.state.alarms if each is not alarm))
                turn.announce(AlarmAcknowledged(alarm.number, alarm.code))
    turn.alarm("supervisor_called", reason)


def _change_shoe(turn: Turn) -> None:
    commission.refuse_while_owed(turn.state)
    dealing.return_wagers(turn)
    dealing.leave_the_shoe(turn)
    settings = turn.state.settings
    burn_left = {"none": 0, "first_card": None, "fixed": settings.burn_cards}[settings.burn]
    turn.change(shoe=Shoe(number=turn.state.shoe.number + 1, burn_left=burn_left))
    turn.enter(Phase.SHOE_CHANGE)
    compare_decks(turn)


def _open_betting(turn: Turn) -> None:
    state = turn.state
    _refuse_while_stopped(turn)
    progressive.refuse_before_award(state)
    if state.shoe.number == 0:
        raise RefusedError("no_shoe", "no shoe has been loaded yet: order a shoe change first")
    if (
        state.shoe.burn_left and state.settings.cards == "keyed"
    ):  # the dealer burns by hand, and the cards stay unseen
        turn.change_shoe(burn_left=0, unknown=state.shoe.unknown + state.shoe.burn_left)
    elif state.shoe.burn_left != 0:
        keying = ", key it," if state.settings.cards == "keyed" else ""
        turn_first = f"turn the first card{keying} and burn as many cards as its value"
        what = f"burn {_next_cards(state.shoe.burn_left)}" if state.shoe.burn_left else turn_first
        raise RefusedError("burn_not_finished", f"the burn is not finished: {what}")
    if state.shoe_over:
        raise RefusedError("shoe_over", "the shoe's last coup has been dealt: order a shoe change first")
    dealing.open_betting(turn)


# --- cards by hand


def _key(turn: Turn, order: kinds.KeyCard) -> None:
    state, card = turn.state, order.card
    _refuse_while_stopped(turn)
    if state.waiting.card is None and state.settings.cards != "keyed" and not state.keyed_for_shoe:
        raise RefusedError(
            "no_card_awaited",
            "the table needs no keyed card now, because the shoe reads the cards. Key a card only in two cases: the shoe could not "
            "read the card, or the shoe is offline during a hand",
        )
    _refuse_another_place(state, order)
    if dealing.surplus(turn, card):
        raise RefusedError(
            "surplus_copy",
            f"all copies of {card} ({state.settings.game.decks}) have already left the shoe: key the card that is on the table, "
            "correct an earlier misread, or void the coup",
        )
    turn.change_waiting(card=None)
    if state.waiting.card is not None and state.waiting.card.read not in {None, card}:
        _tell_other_card(turn, state.waiting.card, card)
    if state.keyed_for_shoe and state.waiting.card is None:
        keyed = KeyedAway(state.round.number, len(turn.coup.cards) + 1, card)
        turn.change_link(keyed_away=(*state.link.keyed_away, keyed))
    match state.phase:
        case Phase.SHOE_CHANGE if state.shoe.burn_left is None:
            dealing.turn_first_card(turn, card)
        case Phase.DEALING:
            dealing.place(turn, card, keyed=True)
        case Phase.BETTING if state.settings.betting_closes == "first_card":
            progressive.refuse_before_award(state)
            dealing.begin_coup(turn)
            dealing.place(turn, card, keyed=True)
        case _:
            raise RefusedError("no_card_awaited", f"no card is awaited now: {_before_cards(state)}")
    dealing.take_backlog(turn)


def _tell_other_card(turn: Turn, awaited: AwaitedCard, card: Card) -> None:
    """Raise an alarm: another card was keyed than the shoe has read, though not for certain."""
    hidden = turn.state.settings.game.hides_cards
    cards = (
        "" if hidden else f": keyed {card}, read {awaited.read} with a confidence of {awaited.confidence}%"
    )
    turn.alarm(
        "keyed_otherwise",
        f"{_place(turn.state.next_position)} of round {turn.state.round.number} was keyed, but the shoe has read another card"
        f"{cards}. Check the cards on the table",
    )


def _before_cards(state: TableState) -> str:
    """What to do before a card can be keyed, if the dealer keys all cards."""
    if state.phase is not Phase.SHOE_CHANGE:
        return "close betting first"
    if not state.shoe.burn_left:
        return "open betting first"
    return f"burn {_next_cards(state.shoe.burn_left)} without keying, then open betting"


def _next_cards(number: int) -> str:
    return "the next card" if number == 1 else f"the next {number} cards"


def _refuse_another_place(state: TableState, order: kinds.KeyCard) -> None:
    following = state.next_position
    if following is not None and order.position not in {None, following}:
        raise RefusedError(
            "wrong_position",
            f"the order enters {_place(order.position)}, but the table needs {_place(following)} next: check which "
            "cards the table has before you key another",
        )


def _place(position: int | None) -> str:
    return f"card {position} of the coup" if position else "the first card of the shoe"


def _correct(turn: Turn, order: kinds.CorrectCard) -> None:
    coup = turn.coup
    _refuse_no_card(coup, order)
    before = coup.cards[order.position - 1]
    hidden = turn.state.hides(order.position)
    if order.card == before:
        if hidden:
            return  # a refusal would disclose the card
        raise RefusedError(
            "same_card",
            f"the card at position {order.position} is already {before}: there is nothing to correct",
        )
    if dealing.surplus(turn, order.card):
        raise RefusedError(
            "surplus_copy", f"all copies of {order.card} have already left the shoe: check the card again"
        )
    corrected = corrected_coup(turn.state, order)
    side = coup.side_of(order.position - 1)
    number = turn.state.round.number
    correct_keyed(turn, number, corrected.cards)
    turn.change_shoe(drawn=replace_last(turn.state.shoe.drawn, before, order.card))
    turn.change_round(
        coup=corrected,
        corrections=(
            *turn.state.round.corrections,
            Correction(order.position, side, before, order.card, order.who, order.reason),
        ),
    )
    if hidden:
        turn.emit(CardHeld(order.card, "corrected", number, order.position))
    else:
        turn.announce(CardCorrected(number, order.position, side, before, order.card, order.reason))
    if turn.state.phase is Phase.DEALING:
        dealing.finish_if_over(turn)


def _refuse_no_card(coup: Coup, order: kinds.CorrectCard) -> None:
    if not 1 <= order.position <= len(coup.cards):
        raise RefusedError(
            "no_such_position",
            f"there is no card at position {order.position}: {len(coup.cards)} cards have been dealt",
        )


def corrected_coup(state: TableState, order: kinds.CorrectCard) -> Coup:
    """The coup on the table with its card corrected.

    Raises:
        RefusedError: there is no such card, or the hands could not have been dealt like this with it.
    """
    coup = state.round.coup or Coup()
    _refuse_no_card(coup, order)
    cards = (*coup.cards[: order.position - 1], order.card, *coup.cards[order.position :])
    try:
        corrected = Coup(cards)
    except SurplusCardError as error:
        # The error names the other cards, which may be hidden.
        why = "the coup would then have fewer cards than were dealt" if state.face_down else str(error)
        raise RefusedError(
            "cards_disagree",
            f"card {order.position} cannot be corrected to {order.card}, because {why}. Void the coup instead",
        ) from error
    if corrected.over and state.waiting.card is not None:
        raise RefusedError(
            "cards_disagree",
            f"card {order.position} cannot be corrected to {order.card}, because the coup would then be over before the last card "
            "that has left the shoe. Void the coup instead",
        )
    return corrected


# --- the supervisor


def _hold(turn: Turn, reason: str) -> None:
    if any(stop.code == "held" for stop in turn.state.waiting.stops):
        raise RefusedError("held", "play is already held: a supervisor must resume it")
    turn.stop(Stop(code="held", text=f"play is held: {reason}", of_the_shoe=False))


def _resume(turn: Turn, reason: str) -> None:
    stops = tuple(stop for stop in turn.state.waiting.stops if stop.code not in NOT_RESUMED)
    if not stops and turn.state.award_waits:
        progressive.play_on(turn)
        turn.announce(PlayResumed(reason))
        return
    if not stops:
        raise RefusedError("not_stopped", "there is no stop that this order can end")
    turn.change_waiting(stops=tuple(stop for stop in turn.state.waiting.stops if stop.code in NOT_RESUMED))
    turn.announce(PlayResumed(reason))
    for stop in stops:
        if stop.code == OTHER_DECKS:
            turn.change_shoe(other_decks=turn.state.link.decks)
        if stop.overdrawn is not None:
            dealing.settle_overdraw(turn, stop.overdrawn)
    dealing.take_backlog(turn)


def _acknowledge(turn: Turn, number: int) -> None:
    found = next((each for each in turn.state.alarms if each.number == number), None)
    if found is None:
        raise RefusedError(
            "no_such_alarm",
            f"there is no alarm {number} now: the alarm was acknowledged, or was raised again under another number",
        )
    turn.change(alarms=tuple(each for each in turn.state.alarms if each is not found))
    turn.announce(AlarmAcknowledged(number, found.code))


def _change_game(turn: Turn, game: Game) -> None:
    try:
        settings = replace(turn.state.settings, game=game)
    except ValueError as error:
        raise RefusedError("game_not_allowed", str(error)) from error
    commission.refuse_while_owed(turn.state)
    dealing.leave_the_shoe(turn)
    turn.change(settings=settings)
    compare_decks(turn)
    turn.change_history(last=None)
    turn.announce(GameChanged(game.name, game.title))


# --- access


def on_access(turn: Turn, event: events.Access) -> None:
    """Handle a sign-on, a sign-off or a refused access.

    A locked account raises an alarm. Alarms are public, so the alarm does not name the account: the record
    does. After an operator signs off, no action at the table has their name; play continues.
    """
    if isinstance(event, events.SessionEnded) and event.who == turn.state.operator:
        turn.change(operator=None)
    if isinstance(event, events.AccessRefused) and event.code == "locked_out":
        turn.alarm(
            "locked_out", "an account is locked out after too many wrong passwords: find out who tried"
        )
    if isinstance(event, events.AccessRefused) and event.what == events.HOUSE_ACCOUNTS:
        turn.alarm(
            "house_accounts",
            "a copy of the house's accounts was refused, and the table keeps the accounts that it has: call a technician",
        )
    if isinstance(event, events.AccessRefused) and event.code == events.CARD_GUESSING:
        turn.alarm(
            "card_guessing",
            "the card reader is locked, because it refused too many cards: find out who swiped them",
        )


_NAMELESS: Final = {
    "account": "an account",
    "client": "a client of the broker",
    "user": "a user of the operators' socket",
}


def on_record(turn: Turn, event: events.OfTheRecord) -> None:
    """Begin a gaming day; or raise an alarm if the record differs or its log grows, for a flood or for another table with this id.

    A set clock changes nothing.
    """
    if isinstance(event, events.DayBegan):
        _begin_day(turn, event.began)
    if isinstance(event, events.RecordDiffers):
        turn.alarm(
            "record_differs",
            f"{event.found}: the record was damaged, or another program changed it. Keep a copy of the record, run "
            "`punto replay`, and compare the meter and the last rounds with the recordings of surveillance",
        )
    if isinstance(event, events.LogHeld):
        turn.alarm(
            "record_log",
            f"the log of the record grows, because {event.by} has read the record in one transaction for a long time: end that program, "
            "or the disk fills up",
        )
    if isinstance(event, events.SharedId) and event.other == event.own:
        turn.alarm(
            "shared_id",
            f"another program publishes as this table with this table's own record {event.own}: it is a second service with a copy of "
            "the record, or somebody has the table's password at the broker. Find the program and stop it, and give the table a new "
            "password at the broker",
        )
    elif isinstance(event, events.SharedId):
        turn.alarm(
            "shared_id",
            f"another service also publishes as this table: it has the record {event.other}, and this table has the record {event.own}. "
            "Displays show neither of the two: stop the service that is not this table, and give it an id of its own",
        )
    if isinstance(event, events.Flooded):
        turn.alarm(
            "flood",
            f"{_in_public(event.who)} sends too many requests: the table refuses these requests. The record has the client and the "
            "number of requests",
        )


def _begin_day(turn: Turn, began: str) -> None:
    """Count the meters of another gaming day, and what is moved without approval; a start goes on with the day of the record.

    A day that comes again, because the clock was set back over its beginning, goes on too, without the hands of the time between.
    """
    history = turn.state.history
    now, meters = history.day, history.meters
    if now is not None and now.began == began:
        return
    day, later = GamingDay(began, turn.state.round.number, meters), None
    if now is not None and began < now.began:
        later = now
    elif now is not None and history.later is not None and history.later.began == began:
        before = together(together(history.later.before, meters), now.before, -1)
        day = replace(history.later, before=before)
    turn.change_history(day=day, later=later)
    progressive.day_begins(turn, began)


def _in_public(client: str) -> str:
    """A client in an alarm. Alarms are public, so they do not have the names of accounts and of the broker's users."""
    return _NAMELESS.get(client.partition(" ")[0], client)


def on_configuration_keypad(turn: Turn, event: events.ConfigurationKeypad) -> None:
    """Note whether the configuration keypad is plugged in; its key presses do not arrive here."""
    before = turn.state
    turn.change_devices(configuration_keypad=event.path if event.attached else None)
    turn.watch_keypad(before)


def on_wager(turn: Turn, request: events.SetWager) -> None:
    """Set a seat's amount on a wager; the seat's wagers must then be allowed together.

    Raises:
        RefusedError: wrong_round, no_such_seat, bad_amount, or a refusal of `check_wagers`.
    """
    state = turn.state
    if request.round != state.round.number:
        raise RefusedError(
            "wrong_round",
            f"the wager is for round {request.round}, but the table is at round {state.round.number}",
        )
    if not 1 <= request.seat <= state.settings.seats:
        raise RefusedError(
            "no_such_seat", f"there is no seat {request.seat}: seats are 1 to {state.settings.seats}"
        )
    if request.amount < 0:
        raise RefusedError(
            "bad_amount", f"{request.amount} is not an amount: give minor units, or 0 to take a wager back"
        )
    refuse_behind_the_cards(state)
    progressive.refuse_wager(state, request.wager)
    game = state.settings.game
    wagers = {(each.seat, each.wager): each for each in state.round.wagers}
    try:
        wager = find_wager(game, request.wager)
        wagers[request.seat, wager.name] = PlacedWager(request.seat, wager.name, request.amount)
        if request.amount == 0:
            del wagers[request.seat, wager.name]
        of_seat = [each for each in wagers.values() if each.seat == request.seat]
        check_wagers(game, of_seat, state.settings.currency)
        progressive.refuse_change_of_base(state, request.seat, of_seat)
    except WagerRefusedError as error:
        raise RefusedError(error.code, str(error)) from error
    turn.change_round(wagers=tuple(wagers.values()))


def _refuse_another_record(state: TableState, configured: Settings) -> None:
    """Refuse a configuration of another table, or with what a record never changes; raises RefusedError."""
    if configured.table != state.settings.table:
        raise RefusedError(
            "other_table",
            f"this is the record of table {state.settings.table!r}, but the configuration is for table {configured.table!r}",
        )
    if state.configured is not None and configured.simulation != state.configured.simulation:
        record, configuration = ("a simulation", "a live table")[:: 1 if state.configured.simulation else -1]
        raise RefusedError(
            "simulation_differs",
            f"this is the record of {record}, but the configuration is for {configuration}: use a separate record for the simulation",
        )
    if state.configured is not None and configured.currency != state.configured.currency:
        record, configuration = state.configured.currency, configured.currency
        raise RefusedError(
            "currency_differs",
            f"all amounts on this record are in {record}, but the configuration is in {configuration}: use a separate record for "
            f"{configuration}",
        )


def on_started(turn: Turn, event: events.ServiceStarted) -> None:
    """Handle a start of the service; its settings may differ from the previous ones only if no shoe is in play.

    Raises:
        RefusedError: settings_in_play, commission_owed, other_table, simulation_differs, currency_differs, in_service.
    """
    state = turn.state
    _refuse_another_record(state, event.settings)
    if event.day is not None:
        _begin_day(turn, event.day)
    chosen = event.settings == state.configured and event.settings != state.settings
    outlawed = event.outlawed if chosen else ""
    if outlawed or event.settings not in (state.settings, state.configured):
        if state.phase not in {Phase.LOCKED, Phase.CLOSED}:
            text = (
                "the game, the limits and the policies can change only between shoes: start with the previous configuration, "
                "close the table, and then start with the new configuration"
            )
            if outlawed:
                text = (
                    f"{outlawed}. The limits can change only between shoes: start without [jurisdiction], close the table, "
                    "and then start with [jurisdiction]"
                )
            raise RefusedError("settings_in_play", text)
        commission.refuse_while_owed(state, "start with the previous configuration, ")
        dealing.leave_the_shoe(turn)
        turn.change(settings=event.settings, link=put_aside(state.link))
        turn.change_history(last=None)
        if event.settings.game != state.settings.game:
            turn.announce(GameChanged(event.settings.game.name, event.settings.game.title))
    if outlawed:
        turn.alarm(
            "outside_the_law",
            f"{outlawed}. So the table uses the game and the limits in the configuration, and not those that a supervisor chose. "
            "Check the limits. If the house wants other limits, choose limits within the law",
        )
    if state.configured is None or event.settings.progressive != state.configured.progressive:
        progressive.start(turn, event.settings)
    turn.change(configured=event.settings)
    turn.change_devices(configuration_keypad=None, sensors=None)
    turn.change_link(online=False, reason=JUST_STARTED)
    progressive.lose_authority(turn, JUST_STARTED)
