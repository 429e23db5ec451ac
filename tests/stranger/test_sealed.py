"""A shoe and a keypad of version 2, written from the pages alone, at a real service that has their keys."""

from pathlib import Path

from tests.stranger.sealed import SealedKeypad, SealedShoe
from tests.stranger.shoe import PtyShoe, Store
from tests.stranger.test_with_the_real_driver import (
    Service,
    TroubledShoe,
    before_hand,
    check,
    serving,
    shoes_of,
)

KEY, OTHER = bytes(range(32)), bytes(32)
DONE = 1


class TroubledSealedShoe(SealedShoe, TroubledShoe):
    """A shoe with a key whose power fails."""


class SealedService(Service):
    """A service with keys, and with a keypad."""

    def keys(self, folder: Path) -> str:
        for device in ("shoe", "keypad"):
            (folder / f"{device}.key").write_text(KEY.hex(), encoding="ascii")
        return f'key_file = "shoe.key"\n[keypad]\nport = "{folder / "keypad"}"\nkey_file = "keypad.key"\n'


def test_a_sealed_shoe_deals_and_a_sealed_keypad_calls_a_supervisor(tmp_path: Path):
    shoes = shoes_of(2)
    shoe = TroubledSealedShoe(Store(tmp_path / "store"), shoes, KEY)
    shoe.power_fails = {before_hand(3, shoes) + 2}
    with (
        SealedKeypad(tmp_path / "keypad", "KP-7", KEY) as keypad,
        PtyShoe(shoe, tmp_path / "shoe"),
        serving(SealedService(tmp_path)) as service,
    ):
        assert keypad.press("F12") == (DONE, "a supervisor is called")
        service.order("change_shoe")
        service.until_the_phase_is("settled")
        service.kill()
        service.start()
        assert keypad.press("F12") == (DONE, "a supervisor is called")
        service.stop()
    check(service.record, shoes)

    assert shoe.times_lost == 1


def test_a_keypad_with_another_key_is_not_heard(tmp_path: Path):
    shoe = SealedShoe(Store(tmp_path / "store"), shoes_of(2), KEY)
    with (
        SealedKeypad(tmp_path / "keypad", "KP-7", OTHER) as keypad,
        PtyShoe(shoe, tmp_path / "shoe"),
        serving(SealedService(tmp_path)),
    ):
        assert keypad.press("F12", seconds=2) is None
