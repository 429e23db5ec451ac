"""The ids of tables: what an id may be, wherever it is a topic, a name in a file or in a signature."""

from typing import Final

HOUSE: Final = "house"
"""In the place of a table's id in the topics of the house: so no table may have this id."""
LONGEST_ID: Final = 64
"""The most characters of a table's id, in its topics and in the heads of its record."""
