"""The unit of a setting, as a part of its type: `Annotated[int, Unit("minor units")]`."""


class Unit(str):
    """A unit such as seconds; minor units are those of the table's currency. The reference of all keys has it."""

    __slots__ = ()
