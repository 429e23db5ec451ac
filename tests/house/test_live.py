"""The floor as it is now: what is counted of the tables' messages."""

from datetime import datetime, timedelta

from punto.house.live import Floor
from punto.messages.building import timestamp
from tests.house.told import AT, Told


def test_the_pace_of_a_table_is_that_of_its_shift_report_and_none_in_the_first_ten_minutes():
    floor, told = Floor(), Told()
    hand = next(at for at, each in enumerate(AT.rounds) if each.status == "played")
    began = datetime.fromisoformat("2026-11-25T14:00:00+00:00")
    for number in range(1, 11):
        told.rounds.append((timestamp(began + timedelta(minutes=number - 1)), hand))
        floor.take("t", told.tell(number), retained=False)

    def pace(minutes: float) -> float | None:
        (view,) = floor.view(began + timedelta(minutes=minutes), {})
        return view.hands_an_hour

    assert pace(9.9) is None
    assert pace(10) == 60.0
    assert pace(15) == 40.0
    assert pace(68.5) is None  # only the last hand is of this hour
