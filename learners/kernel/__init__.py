"""Kernel learners, each in its own file."""
