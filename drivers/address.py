"""Where a serial line is: at a path of this PC, or at `socket://HOST:PORT` or `rfc2217://HOST:PORT` in the network."""

from typing import Final
from urllib.parse import SplitResult, urlsplit

SCHEMES: Final = ("socket", "rfc2217")


def is_network(address: str) -> bool:
    """Whether this is an address in the network, and not a path."""
    return "://" in address


def parsed(address: str) -> SplitResult:
    """The parts of an address in the network; `hostname` and `port` are there.

    Raises:
        ValueError: it is not one. The message says how it is written.
    """
    parts = urlsplit(address)
    try:
        complete = parts.scheme in SCHEMES and parts.hostname and parts.port
    except ValueError:  # a port that is no number, or too large
        complete = False
    if not complete or parts.path or parts.query or parts.fragment or parts.username is not None:
        raise ValueError(
            f'"{address}" is no address of a serial line: write socket://HOST:PORT, rfc2217://HOST:PORT, or a path'
        )
    return parts
