"""The record: every input in SQLite, in a chain of hashes; recovery and replay from it."""
