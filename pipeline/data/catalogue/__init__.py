"""Declare the named data sets: where they come from and how they are read."""
