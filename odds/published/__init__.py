"""The figures that regulators' sheets print, held against the exact ones."""
