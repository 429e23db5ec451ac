"""What is printed of an award: on paper, as PDF and on a slip."""

import io
import os
import pty
import socket
import threading
import tty
from dataclasses import replace
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pypdf
import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Side
from punto.reports.awards import Award, AwardsBackOut, Print, Share
from punto.reports.pdf import pdf
from punto.reports.slip import WIDTH, PrinterError, send, slip
from punto.reports.win_page import WinPage, in_words, win_page

AWARD = Award(
    progressive="dragon",
    number=3,
    tier="two_three_four_suited",
    title="Player wins 2-3-4 over 0, suited",
    table="table-1",
    round=17,
    meter=1_000_020,
    amount=250_010,
    shares=(Share(seat=2, amount=125_005), Share(seat=5, amount=125_005)),
    whole_meter=False,
    who="陳大文",
    payer="meter",
    by="card",
    card="executive",
    level="executive",
    confirmed_by="bob",
    side=Side.PLAYER,
    player=(Card.TWO_H, Card.THREE_H, Card.FOUR_H),
    banker=(Card.KC, Card.JC, Card.KD),
    state="booked",  # type: ignore[arg-type]  # pydantic reads it
    locked="2026-11-20T12:00:01.000000+00:00",
    booked="2026-11-20T12:00:02.000000+00:00",
    backed_out=None,
    prints=(),
    input=4711,
)
ORIGINAL = Print(ts="2026-11-20T12:10:00.000000+00:00", who="eve", original=True, input=4720)
A_COPY = Print(ts="2026-11-21T12:10:00.000000+00:00", who="ike", original=False, input=4730)
MACAU, UTC = ZoneInfo("Asia/Macau"), ZoneInfo("UTC")
PAGE = win_page(AWARD, ORIGINAL, "百家樂 Baccarat 8", "HKD", MACAU)


@pytest.mark.parametrize(
    ("minor_units", "currency", "words"),
    [
        (0, "USD", "Zero and 00/100"),
        (5, "USD", "Zero and 05/100"),
        (1_900, "USD", "Nineteen and 00/100"),
        (2_000, "USD", "Twenty and 00/100"),
        (250_010, "USD", "Two thousand five hundred and 10/100"),
        (9_999_99, "USD", "Nine thousand nine hundred ninety-nine and 99/100"),
        (100_000_000, "USD", "One million and 00/100"),
        (
            120_034_567_89,
            "USD",
            "One hundred twenty million thirty-four thousand five hundred sixty-seven and 89/100",
        ),
        (250_010, "JPY", "Two hundred fifty thousand ten"),
        (250_010, "KWD", "Two hundred fifty and 010/1000"),
    ],
)
def test_an_amount_in_words_is_as_on_a_cheque(minor_units, currency, words):
    assert in_words(minor_units, currency) == words


@cache  # a Chinese font takes its time
def made(page: WinPage) -> bytes:
    return pdf(page)


def words_of(page: WinPage) -> str:
    (sheet,) = pypdf.PdfReader(io.BytesIO(made(page))).pages
    return " ".join(sheet.extract_text().split())


def test_the_pdf_says_all_there_is_to_pay_and_to_sign_chinese_names_too():
    said = words_of(PAGE)

    for words in (
        "Progressive award",
        "HKD 2,500.10",
        "Two thousand five hundred and 10/100",
        "Player wins 2-3-4 over 0, suited",
        "百家樂 Baccarat 8 (table-1)",
        "Paid from the meter, at 10,000.20",
        "Player 2H 3H 4H = 9, wins Banker KC JC KD = 0",
        "Confirmed by bob Completed by 陳大文, executive card",
        "1. Seat 2 1,250.05 2. Seat 5 1,250.05",
        "Paid by",
        "Verified by",
        "Received by",
        "Record 4711",
        "2026-11-20 20:00:01+08:00",
        "Time zone Asia/Macau",
    ):
        assert words in said


def test_every_font_of_the_pdf_is_in_it():
    reader = pypdf.PdfReader(io.BytesIO(made(PAGE)))
    resources: Any = reader.pages[0]["/Resources"]
    fonts = [font.get_object() for font in resources["/Font"].values()]

    assert len(fonts) == 3  # Latin, plain and bold; Chinese
    for font in fonts:
        (descendant,) = font["/DescendantFonts"]
        assert "/FontFile2" in descendant.get_object()["/FontDescriptor"]


@pytest.mark.parametrize(
    ("state", "warning"),
    [("locked", "CONFIRMED, NOT YET BOOKED"), ("backed_out", "BACKED OUT: DO NOT PAY")],
)
def test_a_page_of_an_award_that_is_not_to_be_paid_says_so(state, warning):
    page = win_page(
        AWARD.model_copy(update={"state": state, "who": "eve"}), ORIGINAL, "Baccarat 8", "HKD", UTC
    )

    assert warning in words_of(page)
    assert warning.encode() in slip(page)
    assert "DO NOT PAY" not in words_of(PAGE)


def test_a_page_has_room_for_every_seat():
    shares = tuple(Share(seat=seat, amount=1) for seat in range(1, 16))

    backed_out = AWARD.model_copy(
        update={
            "shares": shares,
            "state": "backed_out",
            "who": "eve",
            "prints": (ORIGINAL, A_COPY),
            "backed_out": AwardsBackOut(ts=A_COPY.ts, who="eve", approved_by="omar", reason="misread"),
        }
    )
    said = words_of(win_page(backed_out, A_COPY, "t", "HKD", UTC))

    assert "15. Seat 15 0.01" in said
    assert said.endswith("Record 4711")


def test_a_copy_says_so_first_and_who_printed_it_and_the_original():
    award = AWARD.model_copy(update={"who": "eve", "prints": (ORIGINAL, A_COPY)})
    first, again = (win_page(award, printed, "Baccarat 8", "HKD", MACAU) for printed in award.prints)

    assert "COPY" not in words_of(first)
    assert b"COPY" not in slip(first)
    assert "Printed by eve Printed 2026-11-20 20:10:00+08:00 Time zone" in words_of(first)
    assert "Progressive award COPY HKD 2,500.10" in words_of(again)
    assert (
        "Printed by ike Printed 2026-11-21 20:10:00+08:00 Original by eve Original printed 2026-11-20 20:10:00+08:00"
        in words_of(again)
    )
    assert b"Progressive award\n\x1d!\x11COPY\n\x1d!\x00" in slip(again)


BY_KEY = {"by": "key", "who": "key switch", "card": None, "level": None, "confirmed_by": None}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({**BY_KEY, "prints": (ORIGINAL,)}, "Confirmed by eve (key switch) Confirmed 2026"),
        ({**BY_KEY, "prints": (A_COPY,)}, "Confirmed by nobody yet (key switch) Confirmed 2026"),
        ({**BY_KEY, "who": "omar"}, "Confirmed by omar (key switch) Confirmed 2026"),
        ({**BY_KEY, "who": "ann", "by": "dealer"}, "Confirmed by ann (dealer) Confirmed 2026"),
        (
            {"who": "eve", "by": "signature", "card": None},
            "Confirmed by bob Completed by eve, executive signature Confirmed 2026",
        ),
        ({"who": "eve", "confirmed_by": None}, "Confirmed by eve, executive card Confirmed 2026"),
        ({"who": "eve", "payer": "tray"}, "Paid from the tray Player 2H"),
        (
            {
                "who": "eve",
                "backed_out": AwardsBackOut(ts=A_COPY.ts, who="eve", approved_by="omar", reason="misread"),
            },
            "executive card Backed out by eve, approved by omar Confirmed 2026",
        ),
        (
            {
                "who": "eve",
                "backed_out": AwardsBackOut(ts=A_COPY.ts, who="eve", approved_by=None, reason="misread"),
            },
            "executive card Backed out by eve Confirmed 2026",
        ),
    ],
)
def test_a_page_says_who_stands_for_the_award_and_by_what(changes, says):
    award = AWARD.model_copy(update={"prints": (ORIGINAL,), **changes})

    assert says in words_of(win_page(award, ORIGINAL, "Baccarat 8", "HKD", UTC))


# --- the slip


def test_a_slip_is_made_of_the_few_commands_that_every_printer_has():
    printed = slip(win_page(AWARD.model_copy(update={"who": "eve"}), ORIGINAL, "Baccarat 8", "HKD", UTC))

    assert printed.startswith(
        b"\x1b@\x1ba\x01\x1bE\x01Progressive award\n\x1d!\x11HKD 2,500.10\n\x1d!\x00\x1bE\x00"
    )
    assert b"Seat 2" + b" " * 28 + b"1,250.05\nSeat 5" + b" " * 28 + b"1,250.05\n" in printed
    assert printed.endswith(b"Record 4711\n\x1bd\x04\x1dV\x42\x00")


def test_amounts_stand_in_one_column_beside_names_of_double_width():
    page = replace(
        PAGE, facts=(("Hand", "7"), ("貴賓廳", "甲"), ("Table", "1"), ("貴" * 15, "賓" * 10)), shares=()
    )
    lines = slip(page, "gb18030").split(b"\n")

    assert [each for each in lines if each.startswith(("貴".encode("gb18030"), b"Table"))] == [
        "貴賓廳".encode("gb18030") + b" " * (WIDTH - 8) + "甲".encode("gb18030"),
        b"Table" + b" " * (WIDTH - 6) + b"1",
        ("貴" * 15).encode("gb18030"),
    ]
    assert b" " * (WIDTH - 20) + ("賓" * 10).encode("gb18030") in lines


def test_names_are_printed_in_the_printers_own_characters_and_are_not_commands():
    assert "陳大文".encode("gb18030") in slip(PAGE, "gb18030")
    assert b"??? Baccarat 8" in slip(PAGE)
    sly = slip(
        win_page(AWARD.model_copy(update={"who": "eve\x1bp\x00"}), ORIGINAL, "t", "HKD", UTC)
    )  # which would open a cash drawer
    assert b"\x1bp" not in sly


def test_a_slip_goes_to_a_printer_on_the_network_whole():
    with socket.create_server(("127.0.0.1", 0)) as printer:
        taken = bytearray()

        def take() -> None:
            connection, _ = printer.accept()
            with connection:
                while part := connection.recv(7):
                    taken.extend(part)

        taking = threading.Thread(target=take)
        taking.start()
        send(f"127.0.0.1:{printer.getsockname()[1]}", slip(PAGE))
        taking.join(5)

    assert bytes(taken) == slip(PAGE)


def test_a_slip_goes_to_a_device_whole():
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    try:
        send(os.ttyname(theirs), slip(PAGE))
        assert os.read(ours, 4096) == slip(PAGE)
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_printer_that_is_not_there_is_reported(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"127.0.0.1:{closed.getsockname()[1]}"
    file = tmp_path / "file"
    file.write_bytes(b"")
    for printer in (address, str(tmp_path / "lp0"), str(file), "nowhere"):
        with pytest.raises(PrinterError, match="cannot be reached"):
            send(printer, b"slip")


def test_a_printer_without_paper_is_reported_in_time():
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    try:
        with pytest.raises(PrinterError, match="accepts no data"):
            send(os.ttyname(theirs), bytes(1_000_000), seconds=0.3)
    finally:
        os.close(ours)
        os.close(theirs)
