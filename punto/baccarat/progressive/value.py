"""The base of states: immutable values; the next state is a copy with some fields set."""

from typing import Any, Self


class Value:
    """A base for frozen dataclasses without slots that are copied at every event."""

    def replace(self, **fields: Any) -> Self:
        """A copy with these fields set.

        Faster than `dataclasses.replace`, which calls the constructor for all the fields: with several
        changes of the table's state, or with nested states, that was most of the cost of a card or a game's
        START.

        Raises:
            TypeError: there is no such field.
        """
        if not fields.keys() <= self.__dict__.keys():
            raise TypeError(
                f"{type(self).__qualname__} has no {', '.join(fields.keys() - self.__dict__.keys())}"
            )
        changed = object.__new__(type(self))
        changed.__dict__.update(self.__dict__, **fields)
        return changed
