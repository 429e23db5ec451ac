"""Finds out what is wrong with the PC of a table. Each check gathers facts and judges them by pure functions (`punto doctor`)."""
