"""The handling of a card's track, the same for all readers."""

from typing import Final

from punto.drivers.base import CardAnswer, CardReaderUser
from punto.drivers.card_reader.number import card_number

UNREADABLE: Final = CardAnswer("refused", "the card could not be read: swipe it again")


async def answer_to(track: str, user: CardReaderUser) -> CardAnswer:
    """Report the number on a track to the user, or that it could not be read. Exceptions of the user propagate."""
    try:
        number = card_number(track)
    except ValueError:
        await user.unreadable()
        return UNREADABLE
    return await user.swipe(number)
