"""What a state is made of: values that never change, of which the next one is a copy with some fields put."""

from typing import Any, Self


class Value:
    """A base for frozen dataclasses without slots that are copied at every event."""

    def but(self, **fields: Any) -> Self:
        """The same value with these fields put.

        As `dataclasses.replace`, which calls the constructor for all the fields: with several changes of the table's state,
        or several states one in the other, that was most of what a card or a game's START cost.

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
