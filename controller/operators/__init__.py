"""People's orders: one desk that takes them, and the doors that lead to it."""
