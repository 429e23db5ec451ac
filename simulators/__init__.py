"""The other end of each driver, on a pseudo-terminal."""
