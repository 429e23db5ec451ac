"""The program's version, in its own module so that rooms can import it."""

__version__ = "0.1.0"
