"""What a state is made of: a copy with some fields put is what the constructor would have made."""

from dataclasses import FrozenInstanceError, replace

import pytest

from punto.baccarat.progressive.ledger import Ledger, Paid

LEDGER = Ledger(last=3, seed_money=500, primary=400, paid=(Paid("forty", 100),))


def test_a_copy_has_the_fields_that_were_put_and_the_others_as_they_were():
    after = LEDGER.replace(last=4, primary=300)
    assert after == replace(LEDGER, last=4, primary=300)
    assert (LEDGER.last, LEDGER.primary) == (3, 400)


def test_only_a_value_s_own_fields_can_be_replaced():
    with pytest.raises(TypeError, match="Ledger has no jackpot"):
        LEDGER.replace(jackpot=1)


def test_a_copy_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        LEDGER.replace(last=4).last = 5  # type: ignore[misc]
