"""The subcommands of `punto`, with one module for each."""
