"""Learners outside of studies: saved to files, and as classifiers of River and CapyMOA."""
