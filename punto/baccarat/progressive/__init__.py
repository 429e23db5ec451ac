"""The Dragon Bonus Progressive: its meter's books, its awards, and the procedures that lead to them. Pure."""
