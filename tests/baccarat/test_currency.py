"""What a currency is, and how its amounts are written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.baccarat.currency import DECIMALS, decimals_of, written


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (0, "USD", "0.00"),
        (5, "USD", "0.05"),
        (123_456, "USD", "1,234.56"),
        (-123_456, "USD", "-1,234.56"),
        (100_000_000, "HKD", "1,000,000.00"),
        (0, "JPY", "0"),
        (123_456, "JPY", "123,456"),
        (-1_000, "KRW", "-1,000"),
        (5, "KWD", "0.005"),
        (1_234_567, "BHD", "1,234.567"),
        (150_000_000, "IDR", "1,500,000.00"),
    ],
)
def test_an_amount_is_written_as_people_read_it(amount, currency, text):
    assert written(amount, currency) == text


@given(st.integers(-(10**18), 10**18), st.sampled_from(sorted(DECIMALS)), st.sampled_from([0, 6]))
def test_what_is_written_is_the_amount(amount, currency, finer):
    text = written(amount, currency, finer=finer)

    assert Decimal(text.replace(",", "")).scaleb(DECIMALS[currency] + finer) == amount
    assert written(amount, currency, group="", finer=finer) == text.replace(",", "")


@pytest.mark.parametrize("code", ["XXX", "XTS", "XAU", "XDR", "CLF", "DEM", "usd", "US", ""])
def test_a_code_that_is_not_a_currency_is_refused(code):
    with pytest.raises(ValueError, match=f"'{code}' is not a currency of ISO 4217: write the code"):
        decimals_of(code)


def test_currencies_of_each_number_of_decimals_are_known():
    assert {decimals_of(code) for code in ("JPY", "KRW", "VND", "CLP", "ISK", "XOF")} == {0}
    assert {decimals_of(code) for code in ("USD", "EUR", "HKD", "MOP", "PHP", "IDR")} == {2}
    assert {decimals_of(code) for code in ("KWD", "BHD", "OMR", "TND", "JOD", "IQD")} == {3}
