"""What becomes of a card's track, from whatever reader it came."""

from typing import Final

from punto.drivers.base import CardAnswer, CardReaderUser
from punto.drivers.card_reader.number import card_number

UNREADABLE: Final = CardAnswer("refused", "the card could not be read: swipe it again")


async def answer_to(track: str, user: CardReaderUser) -> CardAnswer:
    """Give the user the number on a track, or tell that there is none; what the user raises escapes."""
    try:
        number = card_number(track)
    except ValueError:
        await user.unreadable()
        return UNREADABLE
    return await user.swipe(number)
