"""One event being handled: the state so far and the effects so far.

The table keeps a turn's state only if its handler completes, so an event that is refused half-way changes
nothing.
"""

from dataclasses import replace
from typing import Any, Final, cast

from punto.baccarat.coup import Coup
from punto.baccarat.progressive.refusal import RefusedError
from punto.baccarat.table import effects
from punto.baccarat.table.state import Alarm, Phase, Stop, TableState

MOST_ALIKE: Final = 20
"""So many stops or alarms of one code say all that a supervisor can use: a device or person that repeats itself makes no more of them."""

__all__ = ["RefusedError", "Turn"]


class Turn:
    """The state and the effects while one event is handled."""

    def __init__(self, state: TableState) -> None:
        self.state = state
        self.effects: list[effects.Effect] = []

    @property
    def coup(self) -> Coup:
        """The coup on the table; used while dealing and at the reveal, when there always is one."""
        return cast(Coup, self.state.round.coup)

    def change(self, **fields: Any) -> None:
        """Set these fields of the state."""
        self.state = self.state.replace(**fields)

    def change_link(self, **fields: Any) -> None:
        """Set these fields of the shoe's link."""
        self.change(link=replace(self.state.link, **fields))

    def change_shoe(self, **fields: Any) -> None:
        """Set these fields of the shoe."""
        self.change(shoe=self.state.shoe.replace(**fields))

    def change_round(self, **fields: Any) -> None:
        """Set these fields of the current round."""
        self.change(round=self.state.round.replace(**fields))

    def change_waiting(self, **fields: Any) -> None:
        """Set these fields of what waits for a person."""
        self.change(waiting=self.state.waiting.replace(**fields))

    def change_devices(self, **fields: Any) -> None:
        """Set these fields of the devices besides the shoe."""
        self.change(devices=self.state.devices.replace(**fields))

    def change_history(self, **fields: Any) -> None:
        """Set these fields of what is kept of the rounds that have ended."""
        self.change(history=self.state.history.replace(**fields))

    def announce(self, happening: effects.Happening) -> None:
        """Publish an event."""
        number = self.state.happenings + 1
        self.change(happenings=number)
        self.effects.append(effects.Announced(number, happening))

    def emit(
        self, effect: effects.CardHeld | effects.RoundEnded | effects.MeterMoved | effects.CommissionMoved
    ) -> None:
        """Report a hidden card to surveillance, put a round on the record, or an entry in the books or a seat's account."""
        self.effects.append(effect)

    def enter(self, phase: Phase) -> None:
        """Enter a phase, and publish it."""
        before = self.state
        self.change(phase=phase)
        self.announce(effects.PhaseEntered(phase, self.state.round.number, self.state.shoe.number))
        self.watch_keypad(before)

    def watch_keypad(self, before: TableState) -> None:
        """Raise an alarm if the configuration keypad is now in play and was not in the state `before`."""
        if self.state.keypad_in_play and not before.keypad_in_play:
            self.alarm(
                "configuration_keypad",
                f"the score display's configuration keypad is plugged in at {self.state.devices.configuration_keypad} "
                "while a shoe is in use: remove this keypad; its key presses are ignored",
            )

    def alarm(self, code: str, text: str) -> None:
        """Raise an alarm that does not stop play and stands until it is acknowledged.

        If many of one code stand already, it takes the place of the last of them: the first ones and the latest stay.
        """
        self.announce(effects.AlarmRaised(code, text, stops=False))
        alike = [each for each in self.state.alarms if each.code == code]
        before = next((each for each in alike if _the_same(each, code, text)), None)
        if before is None and len(alike) >= MOST_ALIKE:
            before = alike[-1]
        others = tuple(each for each in self.state.alarms if each is not before)
        raised = Alarm(self.state.happenings, code, text, 1 if before is None else before.times + 1)
        self.change(alarms=(*others, raised))

    def stop(self, stop: Stop) -> None:
        """Stop play until a supervisor resumes it. If many stops alike stand already, one more changes nothing."""
        alike = sum(each.code == stop.code for each in self.state.waiting.stops)
        if alike >= MOST_ALIKE and stop.overdrawn is None:
            return
        self.change_waiting(stops=(*self.state.waiting.stops, stop))
        self.announce(effects.AlarmRaised(stop.code, stop.text, stops=True))


def _the_same(alarm: Alarm, code: str, text: str) -> bool:
    """Whether it is the same alarm again. Calls and floods are identified by their texts; for others the latest text is enough."""
    return alarm.code == code and (alarm.text == text or code not in {"supervisor_called", "flood"})


def refuse_behind_the_cards(state: TableState) -> None:
    """Refuse a wager or a game (cards_unseen) while cards may lie on the table that the table does not know."""
    if state.cards_unseen:
        raise RefusedError(
            "cards_unseen",
            "the shoe is not connected, or cards that it has drawn are not taken yet: wait until it is connected, and until a "
            "supervisor has seen to what play waits for",
        )
