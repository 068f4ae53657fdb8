"""Kernel learners, a file a learner."""
