"""Currencies, and amounts of money as people and programs read them.

All amounts are whole minor units. How many decimals of the currency's unit these are is ISO 4217's to say, so no place
but this one knows it, and the scripts of the pages (`punto/web/shared/money.js`).
"""

from typing import Final

_BY_DECIMALS: Final = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP "
        "CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES "
        "KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK "
        "NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB "
        "TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
}
"""ISO 4217, list one, as of 2026, without funds, metals, units of account and the codes for tests and for no currency.

Babel and the browsers have the decimals of CLDR, which are other ones: none for IDR, LAK and MMK in cash, for example. So
a list of our own costs less than a dependency that would have to be corrected.
"""
DECIMALS: Final = {code: decimals for decimals, codes in _BY_DECIMALS.items() for code in codes.split()}
"""The decimals of each currency's unit: a minor unit is 1 at the last of them."""


def decimals_of(currency: str) -> int:
    """The decimals of a currency's unit: 2 for USD, 0 for JPY, 3 for KWD.

    Raises:
        ValueError: this is not a currency of ISO 4217.
    """
    try:
        return DECIMALS[currency]
    except KeyError:
        raise ValueError(
            f"{currency[:20]!r} is not a currency of ISO 4217: write the code of the money that is wagered, such as USD, EUR or JPY"
        ) from None


def written(amount: int, currency: str, *, group: str = ",", finer: int = 0) -> str:
    """An amount in minor units as decimals of the currency's unit: 123456 is "1,234.56" in USD, and "123,456" in JPY.

    `finer` counts the decimals that the amount has below the minor unit, such as the 6 of a meter's millionths.
    """
    decimals = decimals_of(currency) + finer
    whole, part = divmod(abs(amount), 10**decimals)
    units = f"{whole:,}".replace(",", group)
    return f"{'-' * (amount < 0)}{units}{f'.{part:0{decimals}}' if decimals else ''}"


def in_words(amount: int, currency: str | None) -> str:
    """An amount in minor units as a sentence has it: "1,234.56 USD", or "123456 minor units" if no currency is known."""
    return f"{amount} minor units" if currency is None else f"{written(amount, currency)} {currency}"
