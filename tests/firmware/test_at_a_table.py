"""The firmware at a table: the real service with its driver and its record, which must be what the rules make of the cards."""

from pathlib import Path

import pytest

from tests.drivers.benches import KEY
from tests.firmware.build import built
from tests.firmware.mechanism import Mechanism
from tests.stranger.test_with_the_real_driver import (
    CUT_FROM_END,
    Service,
    before_hand,
    check,
    serving,
    shoes_of,
)

pytestmark = [pytest.mark.disk, pytest.mark.soak]


class SealedService(Service):
    """A service with the key of its shoe."""

    def keys(self, folder: Path) -> str:
        (folder / "shoe.key").write_text(KEY.hex(), encoding="ascii")
        return 'key_file = "shoe.key"\n'


@pytest.mark.parametrize("sealed", [False, True])
def test_whole_shoes_are_on_the_record_as_the_virtual_shoe_would_deal_them(tmp_path: Path, sealed: bool):
    shoes = shoes_of(8, 8)
    service = (SealedService if sealed else Service)(tmp_path)
    key = ["--key-file", str(tmp_path / "shoe.key")] if sealed else []
    with Mechanism(built("shoe"), tmp_path / "shoe", shoes, *key, cut=CUT_FROM_END) as shoe, serving(service):
        for _ in shoes:
            service.order("change_shoe")
            service.until_the_phase_is("settled")
        service.stop()

    assert shoe.loaded == 2
    check(service.record, shoes)


def test_kills_of_the_firmware_and_of_the_service_change_nothing_on_the_record(tmp_path: Path):
    shoes = shoes_of(8)
    held = [3, *(before_hand(number, shoes) + 2 for number in range(5, 60, 5))]
    service = SealedService(tmp_path)
    key = ["--key-file", str(tmp_path / "shoe.key")]
    with Mechanism(built("shoe"), tmp_path / "shoe", shoes, *key, cut=CUT_FROM_END) as shoe, serving(service):
        shoe.holds = set(held)
        service.order("change_shoe")
        for number, out in enumerate(held):
            shoe.until(lambda out=out: shoe.out == out)  # type: ignore[misc]
            if number % 3 == 0:
                service.kill()
                service.start()
            if number % 3 != 1:
                shoe.kill()
                shoe.start()
            service.until(lambda state: state["shoe"]["online"])
            shoe.release(out)
        service.until_the_phase_is("settled")
        service.stop()

    assert shoe.starts > 8
    check(service.record, shoes)
