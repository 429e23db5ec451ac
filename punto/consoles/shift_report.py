"""The report of a shift in words, which the supervisor's page shows, and which is printed and downloaded."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from punto.baccarat.currency import written
from punto.baccarat.table.state import TableState
from punto.consoles.words import Words
from punto.messages.meters import WagerReading
from punto.reports.printed import Column, Fact, Report, Section
from punto.reports.shift import Correction, GameMeters, KeyedCard, Raised, Shift
from punto.runtime.gaming_days import by_the_clock

_A_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?\+00:00")
_SAID_ALREADY: Final = frozenset({"lose", "player_wins", "banker_wins", "tie"})
"""Rules whose hits follow from other rows: those of the hands' results, and the number of hands less a wager's other rules."""
_NOTHING: Final = "–"  # noqa: RUF001 - as the pages write it


class _Ordered(Protocol):
    """What a person did, and who approved it."""

    @property
    def who(self) -> str | None: ...
    @property
    def approved_by(self) -> str | None: ...


def shift_report(shift: Shift, state: TableState, t: Words, zone: ZoneInfo) -> Report:
    """The report in the language of `t`, with times by the clock of the house's zone."""
    return _Written(shift, state, t, zone).report()


class _Written:
    def __init__(self, shift: Shift, state: TableState, t: Words, zone: ZoneInfo) -> None:
        self._shift = shift
        self._state = state
        self._t = t
        self._zone = zone
        self._money = partial(written, currency=state.settings.currency)
        self._titles = {each.wager: each.title for each in shift.wagers}
        for meters in shift.meters:
            self._titles |= meters.titles

    def report(self) -> Report:
        t, shift = self._t, self._shift
        period = t("shift.period", since=self._moment(shift.since), until=self._moment(shift.until))
        return Report(
            title=t("shift.report"),
            table=shift.name,
            language=t.language,
            about=(
                Fact(name=t("table"), value=shift.name),
                Fact(name=t("shift.about.period"), value=period),
                Fact(name=t("shift.about.clock"), value=self._zone.key),
                Fact(name=t("shift.about.amounts"), value=self._state.settings.currency),
            ),
            figures=self._figures(),
            sections=(
                self._wagers(),
                *self._commission(),
                self._alarms(),
                self._voids(),
                self._corrections(),
                self._keyed(),
                self._refused(),
                self._devices(),
                self._access(),
                *(section for each in shift.meters for section in self._meters(each)),
            ),
            page=t("shift.page", page="{page}", pages="{pages}"),
        )

    # --- how things are written

    def _moment(self, ts: str, form: str = "%H:%M") -> str:
        then = by_the_clock(ts, self._zone)
        return self._t("shift.moment", day=self._t.day(then), time=then.strftime(form))

    def _clock(self, ts: str) -> str:
        """The time of day; with the day, if it is not the day on which the report ends."""
        then, ends = (by_the_clock(each, self._zone) for each in (ts, self._shift.until))
        return f"{then:%H:%M}" if then.date() == ends.date() else self._moment(ts)

    def _length(self, seconds: float) -> str:
        minutes, rest = divmod(round(seconds), 60)
        return self._t("shift.length", minutes=minutes, seconds=rest)

    def _lasted(self, alarm: Raised) -> str:
        if alarm.until is None:
            return ""
        since, until = (datetime.fromisoformat(each) for each in (alarm.ts, alarm.until))
        return self._length((until - since).total_seconds())

    def _hold(self, handle: int, win: int) -> str:
        return f"{100 * win / handle:.1f}%" if handle else _NOTHING

    def _signed(self, amount: int) -> str:
        return f"{'+' * (amount > 0)}{self._money(amount)}"

    def _wager(self, name: str) -> str:
        return self._t.wager(name, self._titles[name])

    def _by(self, entry: _Ordered) -> str:
        who = entry.who or _NOTHING
        return (
            who
            if entry.approved_by is None
            else self._t("shift.approved", who=who, approved_by=entry.approved_by)
        )

    def _said(self, text: str) -> str:
        """A sentence of the service in the report's language. The catalogue may have it as a sentence begins."""
        text = _A_TIME.sub(lambda found: self._moment(found[0], "%H:%M:%S"), text)
        said = self._t.said(text)
        if said == text:
            said = self._t.said(text[:1].upper() + text[1:])
        return said[:1].upper() + said[1:]

    def _rule(self, rule: str) -> str:
        said = self._t("outcome.push") if rule == "push" else self._t.named(rule)
        return said[:1].upper() + said[1:]

    def _listed(
        self,
        title: str,
        columns: str,
        rows: Iterable[Sequence[str]],
        name: str = "",
        *,
        of_rounds: bool = False,
        has_sum: bool = False,
    ) -> Section:
        """A table; a column named ">…" has numbers, and `name` is the list's in `more`."""
        t = self._t
        return Section(
            title=title,
            columns=tuple(
                Column(heading=t(each.removeprefix(">")), number=each.startswith(">"))
                for each in columns.split()
            ),
            rows=tuple(map(tuple, rows)),
            note=t("shift.more") if name in self._shift.more else "",
            nothing=t("shift.none", list=title),
            of_rounds=of_rounds,
            has_sum=has_sum,
        )

    # --- the parts

    def _figures(self) -> tuple[Fact, ...]:
        shift, rounds, pace = self._shift, self._shift.rounds, self._shift.hands_an_hour
        figures = {
            "shift.played": str(rounds.get("played", 0)),
            "shift.hands_an_hour": _NOTHING if pace is None else f"{pace:.0f}",
            "shift.shoes": str(shift.shoes),
            "shift.house": self._signed(-sum(each.net for each in shift.wagers)),
            "shift.stopped": self._length(shift.stopped_seconds) if shift.stopped_seconds else _NOTHING,
            "shift.alarms_and_calls": str(shift.raised),
            "shift.void": str(rounds.get("void", 0)),
            "shift.corrections": str(rounds.get("correction", 0)),
            "shift.keyed": str(len(shift.keyed)),
            "shift.dummy": str(rounds.get("dummy", 0)),
        }
        return tuple(Fact(name=self._t(key), value=value) for key, value in figures.items())

    def _wagers(self) -> Section:
        wagers = self._shift.wagers
        made, staked, returned = (
            sum(getattr(each, name) for each in wagers) for name in ("wagers", "staked", "returned")
        )
        rows = [(self._wager(each.wager), each.wagers, each.staked, each.returned) for each in wagers]
        whole = [(self._t("shift.all"), made, staked, returned)] if rows else []
        return self._listed(
            self._t("wagers"),
            "wager >shift.made >staked >returned >shift.house >meters.hold",
            [
                (
                    name,
                    str(count),
                    self._money(handle),
                    self._money(back),
                    self._signed(handle - back),
                    self._hold(handle, handle - back),
                )
                for name, count, handle, back in (*rows, *whole)
            ],
            has_sum=bool(rows),
        )

    def _commission(self) -> Iterable[Section]:
        found, t, money = self._shift.commission, self._t, self._money
        if found is None:
            return
        columns = "when >commission.earned >commission.collected >commission.waived"
        yield self._listed(
            self._t("commission"),
            columns,
            [
                (t(when), money(each.earned), money(each.collected), money(each.waived))
                for when, each in (("shift", found.shift), ("gaming_day", found.day))
            ],
        )
        owed = [(str(each.seat), money(each.amount)) for each in found.owed]
        yield self._listed(self._t("commission.owed_now"), "heading.seat >due", owed)
        cleared = [
            (
                self._clock(each.ts),
                str(each.seat),
                t("commission.collected" if each.cause == "collected" else "commission.waived"),
                money(each.amount),
                self._by(each),
                each.reason or "",
            )
            for each in found.cleared
        ]
        yield self._listed(
            self._t("shift.cleared"), "when heading.seat what >due who why", cleared, "cleared"
        )

    def _alarms(self) -> Section:
        sorts = {"alarm": "shift.alarm", "stop": "shift.stop", "call": "shift.call", "order": "shift.seen_to"}
        rows = [
            (
                self._clock(each.ts),
                self._t(sorts[each.what]),
                self._said(each.text),
                each.who or _NOTHING,
                self._lasted(each),
            )
            for each in self._shift.alarms
        ]
        return self._listed(self._t("shift.alarms"), "when what text who >shift.lasted", rows, "alarms")

    def _voids(self) -> Section:
        t = self._t
        rows = [
            (
                str(each.round),
                self._clock(each.ts),
                t("shift.before") if each.entry is None else t("shift.after", entry=each.entry),
                self._by(each),
                each.reason or "",
            )
            for each in self._shift.voids
        ]
        return self._listed(
            self._t("shift.voids"), "record_number when shift.voided who why", rows, "voids", of_rounds=True
        )

    def _corrections(self) -> Section:
        rows = [
            (
                str(each.round),
                self._clock(each.ts),
                self._corrected(each),
                self._by(each),
                each.reason or "",
                self._signed(each.net),
            )
            for each in self._shift.corrections
        ]
        columns = "record_number when what who why >shift.difference"
        return self._listed(self._t("shift.corrections"), columns, rows, "corrections", of_rounds=True)

    def _corrected(self, correction: Correction) -> str:
        if correction.corrects is None:
            return self._t("shift.card_before")
        key = "shift.round_voided" if correction.voided else "shift.round_resettled"
        return self._t(key, hand=correction.coup, shoe=correction.shoe)

    def _keyed(self) -> Section:
        rows = [
            (
                "" if each.round is None else str(each.round),
                self._clock(each.ts),
                self._place(each),
                self._said(each.why),
                each.who or self._t("shift.not_keyed"),
            )
            for each in self._shift.keyed
        ]
        return self._listed(
            self._t("shift.keyed"), "record_number when shift.card why who", rows, "keyed", of_rounds=True
        )

    def _place(self, card: KeyedCard) -> str:
        if card.position is None:
            return _NOTHING
        return str(card.position) if card.position else self._t("shift.first_card")

    def _refused(self) -> Section:
        rows = [
            (
                self._clock(each.ts),
                self._t.order(each.kind),
                self._said(each.text),
                each.who or self._t.named(each.source),
            )
            for each in self._shift.refused
        ]
        return self._listed(self._t("shift.refused"), "when what text who", rows, "refused")

    def _devices(self) -> Section:
        rows = [
            (self._clock(each.ts), self._said(each.text), self._t.named(each.source))
            for each in self._shift.devices
        ]
        return self._listed(self._t("shift.devices"), "when text from", rows, "devices")

    def _access(self) -> Section:
        rows = [
            (
                self._clock(each.ts),
                each.who or self._t("shift.nobody"),
                self._said(each.text),
                each.where or _NOTHING,
            )
            for each in self._shift.access
        ]
        return self._listed(self._t("shift.access"), "when who text where", rows, "access")

    # --- the meters

    def _meters(self, meters: GameMeters) -> Iterable[Section]:
        t, shift, lifetime = self._t, meters.shift, meters.lifetime
        title = meters.game_titles.get(t.language, meters.title)
        beside = ">meters.expected >meters.errors"
        yield self._listed(
            t("meters.title", game=title, hands=shift.hands, lifetime=lifetime.hands),
            f"wager meters.what >meters.hits {beside} >meters.lifetime_hits {beside}",
            [
                (
                    t("meters.hand") if each.wager is None else self._wager(each.wager),
                    t(f"meters.{each.rule}") if each.wager is None else self._rule(each.rule),
                    *(
                        cell
                        for part in (each, lifetime.counts[at])
                        for cell in (str(part.hits), _decimal(part.expected), _decimal(part.errors))
                    ),
                )
                for at, each in enumerate(shift.counts)
                if each.wager is None or each.rule not in _SAID_ALREADY
            ],
        )
        if not lifetime.wagers:
            return
        of_shift = {each.wager: each for each in shift.wagers}
        parts = [(each.wager, (of_shift.get(each.wager), each)) for each in lifetime.wagers]
        rows = [
            (self._wager(wager), *(cell for part in both for cell in self._held(part)))
            for wager, both in parts
        ]
        if has_sum := len(rows) > 1:
            sums = (self._all(shift.wagers), self._all(lifetime.wagers))
            rows.append((t("shift.all"), *(cell for each in sums for cell in each)))
        yield self._listed(
            t("meters.win_title", game=title),
            f"wager >meters.handle >meters.win >meters.hold {beside} "
            f">meters.lifetime_handle >meters.lifetime_win >meters.hold {beside}",
            rows,
            has_sum=has_sum,
        )

    def _held(self, part: WagerReading | None) -> tuple[str, ...]:
        """Handle, win, hold, and the win's expectation with its standard errors."""
        if part is None:
            return (self._money(0), self._money(0), _NOTHING, self._money(0), _NOTHING)
        return (
            self._money(part.handle),
            self._signed(part.win),
            self._hold(part.handle, part.win),
            _NOTHING if part.expected is None else self._signed(round(part.expected)),
            _decimal(part.errors),
        )

    def _all(self, parts: Sequence[WagerReading]) -> tuple[str, ...]:
        """The same of all wagers; their standard errors have no sum, because the wagers of a hand depend on each other."""
        handle, win = (sum(getattr(each, name) for each in parts) for name in ("handle", "win"))
        known = [each.expected for each in parts if each.expected is not None]
        expected = self._signed(round(sum(known))) if len(known) == len(parts) else _NOTHING
        return (self._money(handle), self._signed(win), self._hold(handle, win), expected, _NOTHING)


def _decimal(figure: float | None) -> str:
    return _NOTHING if figure is None else f"{figure:.2f}"
