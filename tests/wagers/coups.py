"""Finished coups by what matters of them, their cards in the order they left the shoe."""

from functools import cache

from controller.baccarat.cards import Card
from controller.baccarat.coup import Coup


@cache
def coup(codes: str) -> Coup:
    return Coup.complete(tuple(Card(code) for code in codes.split()))


# Winner and margin, without and with a natural. A margin of 0 is a tie.
NOT_NATURAL = {
    ("player", 9): "AC TC JD AC 8S 9D",
    ("player", 8): "TS 4S 2C TD 7S 7C",
    ("player", 7): "2C 4C 5H 6C QD",
    ("player", 6): "5S AD QS KC 2H QH",
    ("player", 5): "TS JH 5D KC JD KS",
    ("player", 4): "3H 5C 9S 7H 3D 9C",
    ("player", 3): "KS 4D 5H 2D 4S",
    ("player", 2): "2S AS QH TH TS 9C",
    ("player", 1): "9H 3H 8D 2D AD",
    ("banker", 9): "QS AD 4C TS 6C 8D",
    ("banker", 8): "2D JS QC KS 8C 8C",
    ("banker", 7): "8S 5H 7H 9C 6S 4C",
    ("banker", 6): "3D AD TS TC JS 8C",
    ("banker", 5): "KS 4H AD 2C KC",
    ("banker", 4): "TH 6S 2D KC JH",
    ("banker", 3): "TC JS KS 3C JH TD",
    ("banker", 2): "9H 7D 6H KH JS",
    ("banker", 1): "8C 2H 6H 3H 6C 6D",
}
NATURAL = {
    ("player", 9): "4S AD 5H 9H",
    ("player", 8): "JD AS 9C JD",
    ("player", 7): "KS 2S 8D 9C",
    ("player", 6): "5D JD 3C 2H",
    ("player", 5): "4D 4D 5C JC",
    ("player", 4): "2C 4H 6D JC",
    ("player", 3): "QC TH 8H 5D",
    ("player", 2): "7D QS AC 6H",
    ("player", 1): "8H AH JS 6H",
    ("banker", 9): "KC 9C TH JC",
    ("banker", 8): "QC AC TD 7H",
    ("banker", 7): "2D 9D KH QC",
    ("banker", 6): "4H JD 9C 9C",
    ("banker", 5): "KC 2H 4D 7S",
    ("banker", 4): "JS 3H 5H 6D",
    ("banker", 3): "TC 9D 6C QC",
    ("banker", 2): "TC 6S 7S 3C",
    ("banker", 1): "8C 6H 9H 2C",
}
NATURAL_OVER_NATURAL = {"player": "9S 8H TH KC", "banker": "8S 9H TH KC"}
NATURAL_TIES = {8: "TS 5H 8D 3D", 9: "9S 9H TH KC"}
OTHER_TIES = {
    0: "KD 4D 2S 7C 8D 9C",
    1: "KH QS AH JS QH AH",
    2: "2D 9D JD 3S TS TS",
    3: "6D 3D 9C KH 8C",
    4: "3H 3D QC AD AD",
    5: "9S 9H 6H 6C KD",
    6: "6S AH KH 5D",
    7: "7D 8D JD 9C",
    8: "6C TD 9D 2H 3D 6S",
    9: "9D 9C 4C 4H 6C 6C",
}
