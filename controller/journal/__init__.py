"""The record: every input in SQLite, chained by hashes; recovery and replay from it."""
