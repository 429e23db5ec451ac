"""Finished coups by what matters of them, their cards in the order they left the shoe."""

from functools import cache

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup


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

# The tiers of the Dragon Bonus Progressive: 2-3-4 over 0 by its suits, in every order that the tableau lets it come.
OVER_ZERO = {
    ("player", "diamonds"): ["2D KS 3D QH 4D TC", "3D KD 2D QD 4D TD", "2D 7S 3D 3H 4D JC"],
    ("player", "suited"): ["2S KS 3S QH 4S TC", "3H KS 2H QH 4H TC", "2C KC 3C QC 4C TC"],
    ("player", "unsuited"): ["2D KS 3D QH 4S TC", "2S KS 3D QH 4D TC", "3H 4S 2D AH 4D 5C"],
    ("banker", "diamonds"): ["2S 3D 3H 2D 5C 4D", "KS 4D 4H 2D 6C 3D", "2D 2D 3D 3D 5D 4D"],
    ("banker", "suited"): ["2D 3S 3D 2S 5D 4S", "KS 4H 4H 2H 6C 3H", "QS 2C 3H 4C 7C 3C"],
    ("banker", "unsuited"): ["2D 3S 3D 2D 5D 4D", "KS 4D 4H 2H 6C 3D", "2S 3D 3H 2D 5C 4S"],
}
# The same hand, but not over 0: by 8 over 1, by less, and in a tie.
TWO_THREE_FOUR_OTHERWISE = [
    "3D AS 2D TH 4D TC",
    "2D AS 3D 4S 4D 2D",
    "KD 4D 2C 2D 6C 3D",
    "3D TS 2D 4D 4D 5C",
]
OTHER_NINE_OVER_ZERO = {
    "player": ["AC TC JD AC 8S 9D", "KD JS 2H 2S 7D 8D"],
    "banker": ["QS AD 4C TS 6C 8D", "QS 2C 4C 9S 6D 8H"],
}
NATURAL_NINE_OVER_ZERO = {"player": ["4S AD 5H 9H", "9S TD KS QD"], "banker": ["KC 9C TH JC", "2S 4D 8S 5D"]}
EIGHT_OVER_ZERO = {
    "player": ["TD TS 2D KD 6S TD", "KC JS 2D JC 6H KS"],
    "banker": ["2D JS QC KS 8C 8C", "5S JC QD TS 5D 8S"],
}
# Eight points apart too, but 9 over 1.
NINE_OVER_ONE = {
    "player": ["TS 4S 2C TD 7S 7C", "3D AS 2D TH 4D TC"],
    "banker": ["4D AH TS 3C 7C 5H", "6H KC 5D JC JD 9H"],
}
# Wins by 9 with all cards of the coup of one suit, and with all but one.
SUITED_BY_NINE = {
    ("player", 6): ["AC TC JC AC 8C 9C", "2D KD 3D QD 4D TD"],
    ("banker", 6): ["QS AS 4S TS 6S 8S", "2D 2D 3D 3D 5D 4D"],
    ("player", 4): ["4S AS 5S 9S", "9D TD KD QD"],
    ("banker", 4): ["KC 9C TC JC", "2H 4H 8H 5H"],
}
NEARLY_SUITED_BY_NINE = {
    "player": ["AC TC JC AC 8C 9D", "AC TC JC AC 8D 9C", "4S AS 5S 9H", "9D TS KD QD"],
    "banker": ["QS AD 4S TS 6S 8S", "KC 9C TC JD", "KC 9C TD JC"],
}
SUITED_BY_EIGHT = ["TH AH 2H 9H 6H KH", "AH AH 4H 5H 6H 3H", "9H AH KH TH"]
