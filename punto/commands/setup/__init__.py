"""Sets up the PC of a table: a pure plan of its files and commands, and the machine that carries it out (`punto setup`)."""
