"""Keypad, wager sensors and card reader are pinned as the shoe is: another one waits for a supervisor, on the record."""

import pytest

from punto.baccarat.table.effects import DeviceAccepted
from punto.baccarat.table.turn import RefusedError
from tests.baccarat.table.croupier import Croupier

DEVICES = ["keypad", "coin_spot", "card_reader"]


def accepted(croupier: Croupier, device: str) -> tuple[str | None, str | None]:
    known = croupier.state.devices.of_name(device)
    return known.accepted, known.offered


@pytest.mark.parametrize("device", DEVICES)
def test_the_first_device_is_accepted(device):
    croupier = Croupier().do(f"heard {device} D-1")

    assert accepted(croupier, device) == ("D-1", None)
    assert croupier.said == [DeviceAccepted(device, "D-1")]


@pytest.mark.parametrize("device", DEVICES)
def test_another_one_waits_for_a_supervisor(device):
    croupier = Croupier().do("sign on", f"heard {device} D-1", f"heard {device} D-2")
    assert accepted(croupier, device) == ("D-1", "D-2")
    assert croupier.alarms == [(f"other_{device}", False)]

    croupier.do("accept device D-2")

    assert accepted(croupier, device) == ("D-2", None)
    assert croupier.kinds == ["alarm_acknowledged", "device_accepted"]


def test_the_accepted_one_comes_back_by_itself():
    croupier = Croupier().do("heard keypad D-1", "heard keypad D-2", "heard keypad D-1")

    assert accepted(croupier, "keypad") == ("D-1", None)
    assert croupier.state.alarms == ()


def test_a_device_of_one_kind_cannot_serve_as_another():
    croupier = Croupier().do("heard keypad D-1", "heard card_reader D-2", "heard card_reader D-1")

    assert accepted(croupier, "keypad") == ("D-1", None)
    assert accepted(croupier, "card_reader") == ("D-2", "D-1")


def test_only_a_device_that_waits_can_be_accepted():
    croupier = Croupier().do("sign on", "heard keypad D-1", "heard keypad D-2")

    with pytest.raises(
        RefusedError, match="no device D-3 waits to be accepted; devices that wait: D-2"
    ) as refused:
        croupier.do("accept device D-3")
    assert refused.value.code == "no_device_offered"


@pytest.mark.parametrize("device", DEVICES)
def test_the_configuration_names_the_only_one_that_is_accepted_by_itself(device):
    croupier = Croupier(**{f"{device}_serial": "D-1"}).do(f"heard {device} D-2")
    assert accepted(croupier, device) == (None, "D-2")

    croupier.do(f"heard {device} D-1")
    assert accepted(croupier, device) == ("D-1", None)


def test_what_cannot_prove_the_enrolled_key_raises_an_alarm_and_changes_nothing():
    croupier = Croupier().do("heard keypad D-1")
    before = croupier.state.devices.known

    croupier.do("heard keypad")

    assert croupier.alarms == [("other_keypad", False)]
    assert "does not have the configured key" in croupier.state.alarms[-1].text
    assert croupier.state.devices.known == before


def test_the_accepted_device_is_known_after_a_start():
    croupier = Croupier().do("heard keypad D-1", "start")

    assert accepted(croupier, "keypad") == ("D-1", None)
