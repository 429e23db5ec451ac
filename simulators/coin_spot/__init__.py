"""Virtual wager sensors: the device's end of docs/coin-spot.md on a pseudo-terminal, with somebody at the coins."""

from punto.simulators.coin_spot.virtual_coin_spot import VirtualCoinSpot

__all__ = ["VirtualCoinSpot"]
