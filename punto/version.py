"""The program's version, apart from the front door so that rooms can import it."""

__version__ = "0.1.0"
