"""A study run: its stages, what of it the store lacks, and what it is made with."""
