"""Compute averages, ranks, tests and learning curves from stored results, which have one row per cell."""
