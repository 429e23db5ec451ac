"""The table machine: events in, effects out. Pure."""
