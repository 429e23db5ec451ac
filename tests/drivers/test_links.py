"""The link of every device, over both its ends: what happens arrives once, and a device that is lost is lost with a reason."""

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from punto.drivers.frame import HIGHEST
from punto.drivers.framing import encode
from punto.drivers.link import SILENCE_SECONDS
from tests.drivers.benches import KEY
from tests.drivers.devices import DEVICES, SHOE, Device, raw
from tests.drivers.ends import Ends

pytestmark = pytest.mark.parametrize("device", DEVICES, ids=str)


def connected(device: Device, key: bytes | None = None) -> Ends:
    ends = device.ends(key)
    ends.runs(0.6)
    assert ends.link.here is not None
    return ends


@pytest.fixture
def ends(device) -> Ends:
    return connected(device)


@pytest.fixture(params=[None, KEY], ids=["version 1", "version 2"])
def key(request) -> bytes | None:
    """Without the device's key, or with it."""
    return request.param  # type: ignore[no-any-return]


def test_the_host_reads_the_frames_of_the_device_and_no_others(device, ends):
    assert set(ends.link._types) == {kind.TYPE for kind in device.frames if kind.TYPE < 0x80}


def test_whichever_frames_are_lost_or_come_twice_what_happens_arrives_once(device, key):
    for fates in product((0, 1, 2), repeat=4):
        ends = connected(device, key)
        ends.does()
        for to_device, to_host in (fates[:2], fates[2:]):
            ends.device_hears(ends.host_says() * to_device)
            ends.host_hears(ends.device_says() * to_host)
            ends.now += 0.03
        ends.runs(0.6)

        assert ends.got == [1], fates


def test_over_a_bad_line_what_happens_arrives_at_most_once_and_again_when_it_is_mended(device, key):
    ends = connected(device, key)
    ends.spoil_lines(Random(1), lose=0.2, double=0.2, flip=0.1, shorten=0.1, noise=0.2)
    done = 0
    for _ in range(14):
        done += ends.does()
        ends.runs(2)
    assert done > 7
    assert ends.got == sorted(set(ends.got))

    ends.mend_lines()
    ends.runs(2)
    assert ends.does()
    ends.runs(1)
    assert ends.got[-1] == done + 1


@pytest.mark.parametrize("change", ["connect", "power", "new_host"])
def test_after_a_new_connection_power_on_or_host_the_next_thing_arrives(device, key, change):
    ends = connected(device, key)
    ends.does()
    ends.runs(0.5)
    getattr(ends, change)()
    ends.runs(1)
    before = len(ends.got)
    ends.does()
    ends.runs(1)

    assert ends.got[before:] == [2]
    assert set(ends.got) <= {1, 2}


def test_a_silent_device_is_lost_once_and_nothing_is_taken_until_it_introduces_itself_again(device, ends):
    ends.does()
    old = ends.device_says()
    link, heard = ends.link, ends.link._heard_at

    assert link.silence(heard + 0.79) is None
    assert link.silent_seconds(heard + 0.79) == 0.0
    assert (
        link.silence(heard + 0.81) == f"no sign of life for 0.8 s: check the {device}'s power and its cable"
    )
    assert link.silence(heard + 0.9) is None
    assert link.silent_seconds(heard + 2.0) == pytest.approx(2.0)
    ends.host_hears(old)
    assert (link.here, ends.got) == (None, [])

    ends.runs(0.5)
    assert link.here is not None
    assert link.silent_seconds(ends.now) == 0.0
    ends.does()
    ends.runs(0.5)
    assert ends.got[-1] == 2


def reasons(device: Device) -> dict[bytes, str]:
    """What a host hears that never hears its device, and what it then reports."""
    another = DEVICES[DEVICES.index(device) - 1]
    wrong_device = "another device is at this port, or the line returns what the host sends: check the plug"
    no_frames = f"bytes arrive but no frames: check the baud rate, and that this is the {device}'s port"
    no_sign_of_life = f"no sign of life for 0.8 s: check the {device}'s power and its cable"
    return {
        b"": f"the port is open but the {device} sends nothing: check its power and its cable",
        b"\x55\0" * 9: no_frames,
        b"A": no_frames,
        b"\0" * 9: no_frames,
        encode(another.examples[1]): wrong_device,
        encode(next(each for each in device.examples if each.TYPE >= 0x80)): wrong_device,
        raw(
            device.frames[0].TYPE, 0, b"new", version=3
        ): f"the {device} uses version 3 of the link, but this host "
        "uses version 1: update the older of the two",
        # of an earlier connection
        encode(
            device.examples[1]
        ): "the shoe does not say which shoe it is: check what is connected between the shoe and this host"
        if device is SHOE
        else no_sign_of_life,
    }


def test_silence_has_a_reason_that_a_technician_can_act_on(device):
    found = {}
    for heard in reasons(device):
        ends = device.ends()
        ends.now = 0.0
        ends.connect()
        ends.host_hears(heard)
        assert ends.link.silence(SILENCE_SECONDS - 0.01) is None
        found[heard] = ends.link.silence(SILENCE_SECONDS)

    assert found == reasons(device)


def test_a_line_that_returns_what_the_host_sends_is_not_a_device(device, ends):
    for _ in range(round(1.2 / ends.TURN)):
        ends.host_hears(ends.host_says())
        ends.check_silence()
        ends.now += ends.TURN

    assert len(ends.lost) == 1
    assert ends.link.counters.unknown_type > 0


def test_after_the_highest_token_the_lowest_is_used(device, ends):
    ends.link.connect(ends.now, HIGHEST)
    ends.link.silence(ends.now + 1)
    ends.runs(1)

    assert ends.link.here is not None
    assert ends.link._token < 100


@settings(max_examples=50)
@given(noise=st.lists(st.binary(max_size=100), max_size=20))
def test_noise_is_never_taken_for_something_that_happened(device, noise):
    ends = connected(device)
    for each in noise:
        ends.host_hears(each)
    assert ends.got == []

    ends.does()
    ends.runs(0.5)
    assert ends.got == [1]
