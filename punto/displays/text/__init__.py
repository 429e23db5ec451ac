"""The score display in a terminal."""
