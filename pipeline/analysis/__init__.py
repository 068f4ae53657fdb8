"""Compute averages, ranks, tests and curves from stored cells."""
