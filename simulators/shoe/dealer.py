"""The person at the shoe: loads it, draws the cards, and handles them by the options and the scenario.

Without I/O and without a clock: `turn` does everything that can be done now and `wake_at` says when to call
it again.
"""

from collections.abc import Callable
from math import inf

from punto.simulators.shoe.device import CONFIDENCE, ShoeDevice
from punto.simulators.shoe.faults import UNSURE_CONFIDENCE, card_chances
from punto.simulators.shoe.options import ShoeOptions
from punto.simulators.shoe.scenario import ON_CARDS, Step


class Dealer:
    """A dealer who obeys the lock and the lamps, except for the requested faults.

    `say` gets a line about each loaded shoe and each card that must be keyed.
    """

    def __init__(self, device: ShoeDevice, options: ShoeOptions, say: Callable[[str], None]) -> None:
        self._device = device
        self._options = options
        self._say = say
        self._draw_at = -inf  # not before: the pace
        self._close_at = -inf  # not before: the lid is open
        self._result_shown = False
        self.wake_at = inf

    def turn(self, now: float) -> list[Step]:
        """Do everything possible at this time; return the steps about cable and power, which end the turn."""
        self.wake_at = inf
        self._look_at_result(now)
        while (steps := self._act(now)) is not None:
            outside = [step for step in steps if not self.do(step, now)]
            if outside:
                self.wake_at = now
                return outside
        return []

    # --- one act after another; None if there is nothing to do now

    def _act(self, now: float) -> list[Step] | None:
        device = self._device
        if device.inside.lid_open:
            return self._close_lid(now)
        if device.lamps.next == "burn" and not device.inside.loaded_for_burn:
            # While records are on their way the prompt may be outdated: then do not load and do not draw.
            return None if device.unacknowledged else self._load(now)
        overdraw = self._overdraw_now()
        if not overdraw and not self._may_draw():
            return None
        if not self._due(self._draw_at, now):
            return None
        return self._draw(now, overdraw=overdraw)

    def _load(self, now: float) -> list[Step]:
        number = self._device.inside.shoe_number + 1
        cards = self._options.cards(number)
        self._device.load(cards, self._options.decks, self._options.cut)
        self._close_at = now + self._options.between
        source = "exact cards" if number <= len(self._options.shoes) else f"seed {self._options.seed}"
        self._say(
            f"shoe {number} loaded: {len(cards)} cards ({source}), cut card {self._options.cut} from the end"
        )
        return []

    def _close_lid(self, now: float) -> list[Step] | None:
        if not self._due(self._close_at, now):
            return None
        self._device.move_lid(is_open=False)
        return []

    def _may_draw(self) -> bool:
        device = self._device
        inside = device.inside
        window = 1 if inside.cut_card_seen else self._options.window
        return (
            inside.left > 0
            and not device.locked
            and not device.full
            and device.lamps.next != "none"
            and device.unacknowledged < window
        )

    def _overdraw_now(self) -> bool:
        """Whether the next card is to be drawn although none is called for."""
        device = self._device
        inside = device.inside
        if inside.left == 0 or device.unacknowledged or device.full:
            return False
        number = inside.out + 1
        if any(step.do == "overdraw" for step in self._steps(inside.shoe_number, number)):
            return True
        chances = card_chances(self._options.faults, self._options.seed, inside.shoe_number, number)
        return chances.overdraw and _shows_result(device)

    def _draw(self, now: float, *, overdraw: bool) -> list[Step]:
        device, options = self._device, self._options
        shoe, number = device.inside.shoe_number, device.inside.out + 1
        steps = self._steps(shoe, number)
        chances = card_chances(options.faults, options.seed, shoe, number)
        confidence: int | None = UNSURE_CONFIDENCE if chances.unsure else CONFIDENCE
        for step in steps:
            if step.do == "unsure":
                confidence = step.confidence
        if chances.unread or any(step.do == "unread" for step in steps):
            confidence = None
        card = device.let_out(confidence, overdrawn=overdraw)
        if confidence != CONFIDENCE:
            how = "not read" if confidence is None else f"read with a confidence of {confidence}"
            self._say(f"card {number} of shoe {shoe} was {how}: it is {card}")
        self._draw_at = now + options.pace
        after = [step for step in steps if step.do not in ON_CARDS]
        return [*after, Step("reverse")] if chances.reverse else after

    def _steps(self, shoe: int, number: int) -> list[Step]:
        return [step for step in self._options.steps if (step.shoe, step.at) == (shoe, number)]

    def do(self, step: Step, now: float) -> bool:
        """Do a step that is due; False if it concerns cable or power, which are not the dealer's."""
        match step.do:
            case "reverse":
                self._device.push_back()
            case "error":
                self._device.report_fault(step.code, step.text)
            case "lid":
                self._device.move_lid(is_open=True)
                self._close_at = now + step.seconds
            case _:
                return False
        return True

    # --- time

    def _look_at_result(self, now: float) -> None:
        shown = _shows_result(self._device)
        if shown and not self._result_shown:
            self._draw_at = max(self._draw_at, now + self._options.between)
        self._result_shown = shown

    def _due(self, when: float, now: float) -> bool:
        if when > now:
            self.wake_at = min(self.wake_at, when)
        return when <= now


def _shows_result(device: ShoeDevice) -> bool:
    return device.lamps.player or device.lamps.banker or device.lamps.tie
