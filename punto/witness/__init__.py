"""The witness: keeps the signed heads of many tables on another machine, and reports what contradicts them."""
