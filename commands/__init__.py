"""The subcommands of `punto`, one module each."""
