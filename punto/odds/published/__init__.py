"""The figures that regulators' sheets print, compared with the exact ones."""
