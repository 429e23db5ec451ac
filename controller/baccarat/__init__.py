"""Cards, the tableau, the coup. Pure."""
