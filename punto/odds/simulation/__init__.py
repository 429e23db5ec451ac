"""Monte Carlo over the definitions used for settlement: rounds dealt by the hundred million, beside the exact odds."""
