"""Represent tables: streams, tasks derived from them, options, features, and the cache of parsed tables."""
