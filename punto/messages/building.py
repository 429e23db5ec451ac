"""Makes messages from the table's state, with only what the public may see."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup, Side, total
from punto.baccarat.progressive.state import AwardState
from punto.baccarat.roads.derived_roads import DerivedRoad
from punto.baccarat.roads.scoreboard import draw
from punto.baccarat.table.after_settlement import as_dealt
from punto.baccarat.table.effects import Announced
from punto.baccarat.table.progressive import what_waits
from punto.baccarat.table.sensors import alarm_code, fault_text
from punto.baccarat.table.settings import Settings
from punto.baccarat.table.shoe_orders import shoe_orders
from punto.baccarat.table.state import Phase, RoundRecord, TablesProgressive, TableState
from punto.baccarat.wagers.definition import Game
from punto.baccarat.wagers.words import words
from punto.messages.models import (
    AskMarks,
    Bead,
    ComponentDigest,
    DerivedCell,
    Device,
    Event,
    Hands,
    Hit,
    MeterAward,
    MeterShare,
    MeterTier,
    Notice,
    Overlay,
    Progressive,
    Result,
    RoadCell,
    Round,
    Scoreboard,
    ScoreCounts,
    ScoreStreak,
    ShoeStatus,
    StandingCall,
    State,
    WagerLimits,
)
from punto.messages.restricted import RestrictedHead

_title = cache(words)  # there are few conditions, and each change of a meter needs the words of all of them

STATE_HOLDS = timedelta(seconds=2.5)
"""How long a state message is valid. It is sent every second, and a display must show NOT LIVE within 3 s."""


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with offset and microseconds."""
    return moment.isoformat(timespec="microseconds")


def state_message(state: TableState, seq: int, now: datetime, zone: str = "UTC") -> State:
    """The whole public table after the input `seq`; `zone` is the house's time zone."""
    settings = state.settings
    following = shoe_orders(state).lamps.next
    return State(
        id=f"{settings.table}/state/{seq}",
        seq=seq,
        ts=timestamp(now),
        simulation=settings.simulation,
        valid_until=timestamp(now + STATE_HOLDS),
        table=settings.table,
        name=settings.title,
        game=settings.game.title,
        currency=settings.currency,
        zone=zone,
        phase=state.phase,
        overlays=_overlays(state),
        notices=_notices(state),
        shoe=ShoeStatus(
            number=state.shoe.number,
            coup=state.shoe.coups,
            cards_left=state.cards_left,
            cut_card=state.shoe.last_coup is not None,
            online=state.link.online,
            reason=state.link.reason,
        ),
        round=state.round.number,
        hands=None if state.round.coup is None else _hands(state, state.round.coup),
        next=following if following in {"player", "banker"} else None,
        # A correction is never the last coup.
        result=None
        if state.history.last is None or state.history.last.shoe != state.shoe.number
        else _result(settings.game, public_round(state.history.last)),
        seats=settings.seats,
        limits=wager_limits(settings.game),
        maximum_wagers=settings.game.maximum_wagers,
        game_titles=settings.game.titles,
        wager_titles=wager_titles(settings.game),
        revealing_seat=state.revealing_seat,
        calls=tuple(
            StandingCall(number=each.number, text=each.text)
            for each in state.alarms
            if each.code == "supervisor_called"
        ),
    )


def _result(game: Game, last: RoundRecord) -> Result:
    result = Result.model_validate(last, from_attributes=True)
    hits = tuple(_hits(game, last))
    return result.model_copy(update={"hits": hits}) if hits else result


def _hits(game: Game, last: RoundRecord) -> Iterator[Hit]:
    """The wagers with a badge that a played coup wins."""
    badges = {each.name: each for each in game.wagers if each.badge is not None}
    if not badges or last.status != "played" or last.winner is None:
        return
    for name, decided in game.deciding_rules(Coup(as_dealt(last.player, last.banker))):
        if name in badges:
            wager = badges[name]
            rule = next(each for each in wager.rules if each.name == decided)
            if rule.wins:
                yield Hit(wager=name, title=wager.title, pays=rule.pays, badge=str(wager.badge))


def wager_titles(game: Game) -> dict[str, dict[str, str]]:
    """The titles in other languages that the game file has, by wager and language."""
    return {wager.name: wager.titles for wager in game.wagers if wager.titles}


def wager_limits(game: Game) -> tuple[WagerLimits, ...]:
    """The limits of each wager of a game."""
    return tuple(
        WagerLimits(
            wager=wager.name,
            title=wager.title,
            minimum=wager.limits.minimum,
            maximum=wager.limits.maximum,
            step=wager.limits.step,
            maximum_of_base=wager.limits.maximum_of_base,
        )
        for wager in game.wagers
    )


def _overlays(state: TableState) -> tuple[Overlay, ...]:
    shown: dict[Overlay, bool] = {
        "shoe_offline": state.settings.cards == "shoe" and not state.link.online,
        "shoe_error": any(stop.of_the_shoe for stop in state.waiting.stops),
        "needs_supervisor": bool(state.waiting.stops)
        or (state.waiting.card is not None and state.waiting.card.code == "surplus_copy"),
        "card_awaited": state.waiting.card is not None,
        "last_hand": state.on_last_coup and state.phase in {Phase.BETTING, Phase.DEALING, Phase.REVEAL},
        "dummy": state.round.dummy,
        "configuration_keypad": state.keypad_in_play,
    }
    return tuple(name for name, is_so in shown.items() if is_so)


def _notices(state: TableState) -> tuple[Notice, ...]:
    notices = [Notice(code=stop.code, text=stop.text) for stop in state.waiting.stops]
    if state.waiting.card is not None:
        notices.append(Notice(code=state.waiting.card.code, text=state.waiting.card.text))
    if state.award_waits:
        notices.append(Notice(code="award_open", text=what_waits(state)))
    sensors = state.devices.sensors
    if sensors is not None and not sensors.online:
        notices.append(Notice(code="sensors_lost", text=f"the wager sensors do not answer: {sensors.reason}"))
    if sensors is not None:
        notices += [Notice(code=alarm_code(each), text=fault_text(each)) for each in sensors.faults]
    return tuple(notices)


def _hands(state: TableState, coup: Coup) -> Hands:
    seen: dict[Side, list[Card | None]] = {side: [] for side in Side}
    for position, card in enumerate(coup.cards, start=1):
        seen[coup.side_of(position - 1)].append(None if state.hides(position) else card)
    totals = [
        total(tuple(shown)) if (shown := [each for each in cards if each]) else None
        for cards in seen.values()
    ]
    player_total, banker_total = totals
    return Hands(
        player=tuple(seen[Side.PLAYER]),
        banker=tuple(seen[Side.BANKER]),
        player_total=player_total,
        banker_total=banker_total,
    )


def public_round(record: RoundRecord) -> RoundRecord:
    """The record without the cards of a hand that was voided before the reveal, which the public may not see."""
    if not record.hidden:
        return record
    return replace(
        record,
        player=(),
        banker=(),
        player_total=0,
        banker_total=0,
        natural=False,
        player_pair=False,
        banker_pair=False,
        corrections=(),
    )


def scoreboard_message(state: TableState, now: datetime) -> Scoreboard:
    """The roads of this shoe so far."""
    board = draw(state.shoe.rounds)
    last_round = state.round.number - 1
    return Scoreboard(
        id=f"{state.settings.table}/scoreboard/{state.shoe.number}/{last_round}",
        seq=last_round,
        ts=timestamp(now),
        simulation=state.settings.simulation,
        shoe=state.shoe.number,
        bead_plate=tuple(
            Bead(
                row=cell.row,
                col=cell.col,
                winner=cell.round.winner,
                player_pair=cell.round.player_pair,
                banker_pair=cell.round.banker_pair,
                natural=cell.round.natural,
                player_total=cell.round.player_total,
                banker_total=cell.round.banker_total,
            )
            for cell in board.bead_plate.cells
        ),
        big_road=tuple(
            RoadCell(
                row=cell.row,
                col=cell.col,
                winner=cell.winner,
                ties=cell.ties,
                player_pair=cell.round is not None and cell.round.player_pair,
                banker_pair=cell.round is not None and cell.round.banker_pair,
                natural=cell.round is not None and cell.round.natural,
            )
            for cell in board.big_road.cells
        ),
        big_eye_boy=_derived(board.big_eye_boy),
        small_road=_derived(board.small_road),
        cockroach_pig=_derived(board.cockroach_pig),
        ask_banker=AskMarks.model_validate(board.ask.banker, from_attributes=True),
        ask_player=AskMarks.model_validate(board.ask.player, from_attributes=True),
        counts=ScoreCounts.model_validate(board.counts, from_attributes=True),
        streak=None
        if board.streak is None
        else ScoreStreak.model_validate(board.streak, from_attributes=True),
    )


def _derived(road: DerivedRoad) -> tuple[DerivedCell, ...]:
    return tuple(DerivedCell(row=cell.row, col=cell.col, color=cell.color) for cell in road.cells)


def progressive_message(
    state: TableState, seq: int, won: str | None, now: datetime, kept_by: str = ""
) -> Progressive | None:
    """The meter and its tiers, None without a progressive. `won` is when the last award was logged."""
    if state.progressive is None:
        return None
    books, hand = state.progressive.books, state.progressive.procedure.hand
    settings = books.settings
    started = state.progressive.procedure.step.value != "betting"
    return Progressive(
        id=f"{state.settings.table}/progressive/{settings.progressive}/{seq}",
        seq=seq,
        ts=timestamp(now),
        simulation=state.settings.simulation,
        valid_until=timestamp(now + STATE_HOLDS),
        progressive=settings.progressive,
        title=settings.wager.title,
        titles=settings.wager.titles,
        currency=state.settings.currency,
        phase=books.phase.value,
        meter=books.shown,
        wager=hand.stake,
        tables=tuple(each.table for each in settings.tables),
        step=state.progressive.procedure.step.value,
        seats=hand.wagers if started else hand.sensors,
        tiers=tuple(
            MeterTier(
                rule=rule.name,
                title=_title(rule.when),
                pays=rule.pays,
                amount=int(books.shown * rule.pay.meter)
                if rule.pay.meter
                else settings.fixed_award(rule, hand.stake),
                of_meter=bool(rule.pay.meter),
            )
            for rule in settings.wager.rules
            if rule.wins
        ),
        award=_last_award(state.progressive, won),
        kept_by=kept_by,
    )


def _last_award(progressive: TablesProgressive, won: str | None) -> MeterAward | None:
    awards = [each for each in progressive.books.awards if each.payer == "meter"]
    if not awards or awards[-1].state is AwardState.BACKED_OUT or won is None:
        return None
    award = awards[-1]
    rule = progressive.books.settings.tier(award.rule)
    return MeterAward(
        award=award.id,
        rule=award.rule,
        title=award.rule if rule is None else _title(rule.when),
        amount=award.amount,
        table=award.table,
        round=award.round,
        seats=award.seats,
        shares=tuple(MeterShare(seat=share.seat, amount=share.amount) for share in award.shares),
        whole_meter=award.whole_meter,
        state="locked" if award.state is AwardState.LOCKED else "booked",
        won=won,
    )


def event_message(settings: Settings, announced: Announced, moment: str) -> Event:
    """A public event as it is published; `moment` is its input's time."""
    return Event(
        id=f"{settings.table}/event/{announced.number}",
        seq=announced.number,
        ts=moment,
        simulation=settings.simulation,
        happening=announced.happening,
    )


def round_message(
    settings: Settings, round_: RoundRecord, ts: str, game: str, rules: str, record: str
) -> Round:
    """A round as it is published: it ended at `ts`, with the rules of a game, on the record with this name."""
    return Round(
        id=f"{settings.table}/round/{round_.round}",
        seq=round_.round,
        ts=ts,
        simulation=settings.simulation,
        game=game,
        rules=rules,
        record=record,
        currency=settings.currency,
        round=public_round(round_),
    )


def head_message(
    settings: Settings, head: str, now: datetime, signed: Mapping[str, Any] | None = None
) -> RestrictedHead:
    """The record's head, to be stored elsewhere: with the fields of the signed one, or as of now."""
    told: Mapping[str, Any] = {"head": head, "ts": timestamp(now)} if signed is None else signed
    seq = int(told["head"].partition(":")[0])
    return RestrictedHead(
        id=f"{settings.table}/restricted/head/{seq}", seq=seq, simulation=settings.simulation, **told
    )


def shoe_message(state: TableState, seq: int, since: datetime, now: datetime) -> Device:
    """The shoe as a device."""
    link = state.link
    return Device(
        id=f"{state.settings.table}/devices/shoe/{seq}",
        seq=seq,
        ts=timestamp(now),
        simulation=state.settings.simulation,
        device="shoe",
        state="offline" if not link.online else "online" if link.offered is None else "not_accepted",
        reason=link.reason,
        since=timestamp(since),
        serial=link.serial if link.offered is None else link.offered.serial,
        components=tuple(
            ComponentDigest.model_validate(part, from_attributes=True) for part in link.components
        ),
    )
