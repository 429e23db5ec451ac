"""The people of a table: their accounts, roles, sessions and security keys."""
