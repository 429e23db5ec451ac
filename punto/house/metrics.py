"""What monitoring sees of the Game Manager of a house."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from punto.baccarat.currency import decimals_of
from punto.house.live import FloorView
from punto.runtime.metrics import Family, Sample, reading
from punto.version import __version__

FAMILIES: Final[Mapping[str, Family]] = {
    "punto_build_info": Family("gauge", "The version of the program; always 1.", ("version",)),
    "punto_house_broker_connected": Family("gauge", "Whether the broker of the floor is connected.", ()),
    "punto_house_store_up": Family("gauge", "Whether rounds are taken into the store.", ()),
    "punto_house_people_signed_on": Family("gauge", "People who are signed on at the tables' consoles.", ()),
    "punto_house_table_live": Family("gauge", "Whether the table's state comes in time."),
    "punto_house_rounds_waiting": Family("gauge", "Rounds on the table's record that are not in the store."),
    "punto_house_devices_away": Family("gauge", "The table's devices that are not connected."),
    "punto_house_alarms": Family("gauge", "What is wrong at the table.", ("table", "kind")),
    "punto_house_meter_amount": Family(
        "gauge", "The meter as the table shows it now, in the currency.", ("table", "progressive", "currency")
    ),
}
"""Each metric. A label has few values, and never a person."""


class MonitoredFloor:
    """The Game Manager as monitoring sees it; `view` is what its pages show."""

    families = FAMILIES

    def __init__(self, view: Callable[[], FloorView]) -> None:
        self._view = view

    async def samples(self) -> Iterator[Sample]:
        """The present values."""
        return _samples(self._view())

    def stuck(self) -> Mapping[str, str]:
        """Nothing, if the program answers: a restart brings neither the store nor the broker back."""
        return {}

    def unready(self) -> Mapping[str, str]:
        """The store and the broker, if they are away."""
        view = self._view()
        return {name: why for name, why in (("store", view.taking_in), ("broker", view.broker)) if why}


def _samples(view: FloorView) -> Iterator[Sample]:
    yield reading("punto_build_info", __version__, value=1)
    yield reading("punto_house_broker_connected", value=not view.broker)
    yield reading("punto_house_store_up", value=not view.taking_in)
    people = {name for table in view.tables for name in table.signed_on}
    yield reading("punto_house_people_signed_on", value=len(people))
    for each in view.tables:
        yield reading("punto_house_table_live", each.table, value=each.live)
        yield reading("punto_house_rounds_waiting", each.table, value=each.waiting)
        yield reading("punto_house_devices_away", each.table, value=len(each.devices_away))
        for kind, count in sorted(Counter(alarm.kind for alarm in each.alarms).items()):
            yield reading("punto_house_alarms", each.table, kind, value=count)
        if each.meter is not None and each.meter.live:
            amount = each.meter.meter / 10 ** decimals_of(each.currency)
            yield reading(
                "punto_house_meter_amount", each.table, each.meter.progressive, each.currency, value=amount
            )
