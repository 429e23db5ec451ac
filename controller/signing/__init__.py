"""Signatures over what must not be forged: keys in files, and the heads of records that a signer of another user signs."""
