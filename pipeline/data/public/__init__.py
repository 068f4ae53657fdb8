"""Declare public data sets and find or download their files."""
