"""Virtual wager sensors: the device's end of docs/reference/coin-spot.md on a pseudo-terminal, and the person with the coins."""

from punto.simulators.coin_spot.virtual_coin_spot import VirtualCoinSpot

__all__ = ["VirtualCoinSpot"]
