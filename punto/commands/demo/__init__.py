"""`punto demo`: a whole table on one machine."""
