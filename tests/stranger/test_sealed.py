"""A shoe and a keypad of version 2, written from the pages alone, at a real service that has their keys."""

from pathlib import Path

import pytest

from tests.stranger.sealed import SealedKeypad, SealedShoe
from tests.stranger.shoe import PtyShoe, Store
from tests.stranger.test_with_the_real_driver import (
    Service,
    TroubledShoe,
    check,
    in_the_middle_of_a_hand,
    serving,
    shuffled,
)

KEY, OTHER = bytes(range(32)), bytes(32)
DONE = 1


class TroubledSealedShoe(SealedShoe, TroubledShoe):
    """A shoe with a key whose power fails."""


class SealedService(Service):
    """A service with keys, and with a keypad."""

    def start(self) -> None:
        written = self.config.read_text(encoding="utf-8")
        for device in ("shoe", "keypad"):
            (self.record.parent / f"{device}.key").write_text(KEY.hex(), encoding="ascii")
        if "[keypad]" not in written:
            written = written.replace("link_version = 1", 'key_file = "shoe.key"')
            written += f'[keypad]\nport = "{self.record.parent / "keypad"}"\nkey_file = "keypad.key"\n'
            self.config.write_text(written, encoding="utf-8")
        super().start()


@pytest.fixture(autouse=True)
def _sealed(monkeypatch):
    monkeypatch.setattr("tests.stranger.test_with_the_real_driver.Service", SealedService)


def test_a_sealed_shoe_deals_and_a_sealed_keypad_calls_a_supervisor(tmp_path: Path):
    shoes = [shuffled(110, seed=5)]
    shoe = TroubledSealedShoe(Store(tmp_path / "store"), shoes, KEY)
    shoe.power_fails = {in_the_middle_of_a_hand(shoes[0], hand=3)}
    with (
        SealedKeypad(tmp_path / "keypad", "KP-7", KEY) as keypad,
        PtyShoe(shoe, tmp_path / "line"),
        serving(tmp_path, tmp_path / "line") as service,
    ):
        assert keypad.press("F12") == (DONE, "a supervisor is called")
        service.order("change_shoe")
        service.until_the_phase_is("settled")
        service.end(kill=True)
        service.start()
        assert keypad.press("F12") == (DONE, "a supervisor is called")
        service.end()
    check(service.record, shoes)

    assert shoe.times_lost == 1


def test_a_keypad_with_another_key_is_not_heard(tmp_path: Path):
    shoe = SealedShoe(Store(tmp_path / "store"), [shuffled(110, seed=5)], KEY)
    with (
        SealedKeypad(tmp_path / "keypad", "KP-7", OTHER) as keypad,
        PtyShoe(shoe, tmp_path / "line"),
        serving(tmp_path, tmp_path / "line"),
    ):
        assert keypad.press("F12", seconds=2) is None
