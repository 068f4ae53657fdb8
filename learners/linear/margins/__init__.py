"""Perceptrons with a margin, and what they predict with."""
