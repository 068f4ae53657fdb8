"""Hold tables in memory: streams, tasks derived from them, options, features, the cache of parsed tables."""
