"""The Game Manager: a progressive's intake, holdings and payments, read from the record without changing it."""
