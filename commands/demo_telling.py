"""What `punto demo` prints of a round, and of what a progressive does; from the messages that anybody gets."""

from typing import Any

import structlog

from punto.baccarat.progressive.money import written


def round_line(record: dict[str, Any], side: list[str]) -> str:
    """A round with what all its wagers came to, and what the seats won or lost by each side wager."""
    paid = record["settlements"]
    staked, returned = (sum(each[name] for each in paid) / 100 for name in ("stake", "returned"))
    hands = f"Player {' '.join(record['player'])} = {record['player_total']}, "
    hands += f"Banker {' '.join(record['banker'])} = {record['banker_total']}"
    result = record["status"] if record["winner"] is None else record["winner"].title()
    line = f"shoe {record['shoe']} round {record['round']:>3}  {hands:<48} {result:<7} {len(paid)} wagers, staked {staked:.2f}, returned {returned:.2f}"
    made = [(name, [each for each in paid if each["wager"] == name]) for name in side]
    each_side = ", ".join(_came_to(name, settled) for name, settled in made if settled)
    return f"{line}: {each_side}" if each_side else line


def _came_to(name: str, settled: list[dict[str, Any]]) -> str:
    # What an award comes to is not settled with the round.
    award = " and an award" if any(each["outcome"] == "award" for each in settled) else ""
    return f"{name} {sum(each['net'] for each in settled) / 100:+.2f}{award}"


class MeterTeller:
    """Tells in words what a progressive does, from what it publishes."""

    def __init__(self) -> None:
        self._step = ""
        self._award: tuple[int, str] | None = None

    def lines(self, message: dict[str, Any]) -> list[str]:
        """What is new in a message on `progressive/...`."""
        told = []
        step, award, meter = message["step"], message["award"], written(message["meter"])
        if self._step == "betting" and step != "betting":
            seats = " ".join(map(str, message["seats"]))
            wagers = f"wagers of {seats} counted" if seats else "no wagers"
            told.append(f"    START GAME: {wagers}, the meter shows {meter}")
        known = None if award is None else (award["award"], award["state"])
        if award is not None and known != self._award and self._step:
            what = f"award {award['award']}, {written(award['amount'])} for {_seats(award['seats'])}"
            if award["state"] == "locked":
                told.append(f"*** {what}: {award['title']}; logged")
            else:
                told.append(
                    f"*** {what}: {award['title']}; taken off the meter, which shows {meter}, and paid"
                )
        self._step, self._award = step, known
        return told


def _seats(seats: list[int]) -> str:
    return f"seat{'s' * (len(seats) > 1)} {' and '.join(map(str, seats))}"


def tell_late(_: object, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Tell of a coin that came too late as of all else: the players do it on purpose, so it is no warning here."""
    if event["event"] != "wager after the start":
        return event
    print(f"    seat {event['seat']}: its coin came after START GAME: not counted, it goes back", flush=True)
    raise structlog.DropEvent
