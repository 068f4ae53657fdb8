"""Learners of somebody else's behind one contract: an adapter a kind, and checks of what they return."""
