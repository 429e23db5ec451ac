"""Configurations and game files that ship with the program, as package data."""
