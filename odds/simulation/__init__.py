"""Monte Carlo over the definitions that settle: rounds dealt by the hundred million, beside the exact odds."""
