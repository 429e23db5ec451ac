"""The Game Manager: what a progressive took in, holds and has paid, told from the record; nothing here changes it."""
