"""What a program tells monitoring: families of metrics, and their present values."""

from typing import Any, Literal, NamedTuple


class Family(NamedTuple):
    """The metrics of one name: what they are, and the names of their labels."""

    kind: Literal["gauge", "counter", "histogram"]
    about: str
    labels: tuple[str, ...] = ("table",)


class Sample(NamedTuple):
    """A value of the family `name`: a number, or the buckets and the sum of a histogram."""

    name: str
    labels: tuple[str, ...]
    value: tuple[Any, ...]


def reading(name: str, *labels: str, value: float) -> Sample:
    """A number of the family `name`."""
    return Sample(name, labels, (value,))
