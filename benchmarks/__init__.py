"""What the program costs, against a floor held in the same run; `python -m benchmarks`."""
