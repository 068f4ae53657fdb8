"""Kernel learners: a weighted set of the rows that they keep, on a memory budget or not."""
