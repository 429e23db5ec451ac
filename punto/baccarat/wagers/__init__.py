"""Wagers as data, what they pay, and their settlement. Pure."""
