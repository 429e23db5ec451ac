"""The exact odds of every wager of a game, from the definitions that settle it."""
