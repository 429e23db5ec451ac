"""Reports of one record: a progressive's intake, holdings and payments, read from the record without changing it."""
