import pytest

from punto.drivers.framing import Decoder, encode
from punto.drivers.ishoe.frames import TYPES, UnreadRecord
from punto.simulators.shoe.faults import Faults, Interval, Line, OptionError, card_chances, parse_faults

SENT = [UnreadRecord(number) for number in range(1, 2001)]
WIRE = [encode(frame) for frame in SENT]


def through(**faults):
    """Send two thousand frames through a line and give the pieces that arrive."""
    return Line(Faults(**faults), "1").outward(WIRE)


def heard(pieces):
    decoder = Decoder(TYPES)
    return [frame for piece in pieces for frame in decoder.feed(piece)], decoder.counters


@pytest.mark.parametrize(
    ("texts", "faults"),
    [
        ([], Faults()),
        (["noise=0.01", "flip=1e-3", "lose=0", "repeat=1"], Faults(noise=0.01, flip=0.001, repeat=1)),
        (["deaf=.5", "unread=0.1", "unsure=0.2"], Faults(deaf=0.5, unread=0.1, unsure=0.2)),
        (["overdraw=0.3", "reverse=0.4", "ninth_copy=60"], Faults(overdraw=0.3, reverse=0.4, ninth_copy=60)),
        (["split"], Faults(split=3)),
        (["split=9"], Faults(split=9)),
        (["unplug=30s/2s", "power=1.5s/0.5s"], Faults(unplug=Interval(30, 2), power=Interval(1.5, 0.5))),
        (["noise=0.5", "noise=0.1"], Faults(noise=0.1)),
    ],
)
def test_faults_are_read_as_the_option_writes_them(texts, faults):
    assert parse_faults(texts) == faults


def test_an_option_is_read_over_what_the_scenario_has():
    assert parse_faults(["lose=0.5"], Faults(noise=0.1, lose=0.1)) == Faults(noise=0.1, lose=0.5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nose=0.1", "fault 'nose' is unknown: write one of split, noise, flip,"),
        ("noise", "fault noise=: write a chance from 0 to 1, such as noise=0.01"),
        ("noise=2", "write a chance from 0 to 1"),
        ("noise=nan", "write a chance from 0 to 1"),
        ("lose=often", "write a chance from 0 to 1, such as lose=0.01"),
        ("split=0", "write a whole number from 1, such as split=3"),
        ("split=1.5", "write a whole number from 1"),
        ("ninth_copy", "write a whole number from 1, such as ninth_copy=3"),
        ("unplug=30/2", "write how often and for how long, such as unplug=30s/2s"),
        ("unplug=30s", "such as unplug=30s/2s"),
        ("power=0s/2s", "such as power=30s/2s"),
        ("power=nans/2s", "such as power=30s/2s"),
        ("power=xs/2s", "such as power=30s/2s"),
    ],
)
def test_a_wrong_fault_says_what_to_write(text, says):
    with pytest.raises(OptionError) as caught:
        parse_faults([text])

    assert says in str(caught.value)


def test_a_good_line_delivers_each_frame_in_one_piece_with_the_others():
    assert through() == [b"".join(WIRE)]
    assert Line(Faults(), "1").outward([]) == []


def test_a_split_line_delivers_everything_in_small_pieces():
    pieces = through(split=3)

    assert b"".join(pieces) == b"".join(WIRE)
    assert {len(piece) for piece in pieces} == {1, 2, 3}


def test_lost_frames_are_missing_and_nothing_else():
    frames, counters = heard(through(lose=0.1))

    assert 1700 < len(frames) < 1900
    assert [frame for frame in SENT if frame in frames] == frames
    assert counters.broken == 0


def test_repeated_frames_come_twice_one_after_the_other():
    frames, _ = heard(through(repeat=0.1))

    assert 2100 < len(frames) < 2300
    assert list(dict.fromkeys(frames)) == SENT
    assert all(frames.count(frame) <= 2 for frame in SENT)


def test_noise_stands_between_the_frames_and_spoils_none():
    frames, counters = heard(through(noise=0.1))

    assert frames == SENT
    assert counters.broken > 100


def test_a_flipped_bit_spoils_its_frame_and_invents_none():
    frames, counters = heard(through(flip=0.005))

    assert 1700 < len(frames) < 1950
    assert [frame for frame in SENT if frame in frames] == frames
    assert counters.broken > 50


def test_a_deaf_shoe_misses_whole_frames_of_the_host():
    frames, counters = heard([Line(Faults(deaf=0.1), "1").inward(b"".join(WIRE))])

    assert 1700 < len(frames) < 1900
    assert counters.broken == 0


def test_the_same_seed_spoils_the_same_bytes():
    faults = Faults(noise=0.1, flip=0.01, lose=0.1, repeat=0.1, split=5)

    assert Line(faults, "a").outward(WIRE) == Line(faults, "a").outward(WIRE)
    assert Line(faults, "a").outward(WIRE) != Line(faults, "b").outward(WIRE)


@pytest.mark.parametrize("name", ["unread", "unsure", "overdraw", "reverse"])
def test_chance_on_cards_is_as_likely_as_asked_and_of_its_kind(name):
    faults = parse_faults([f"{name}=0.1"])
    chances = [card_chances(faults, "1", 1, number) for number in range(1, 2001)]
    hit = sum(getattr(chance, name) for chance in chances)

    assert 150 < hit < 250
    assert sum(chance != card_chances(Faults(), "1", 1, 1) for chance in chances) == hit
