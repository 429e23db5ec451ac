"""The accounts of a table's operators, with their roles, sessions and security keys."""
