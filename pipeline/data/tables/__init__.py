"""Tables in memory: streams, tasks cut from them, options, features, the cache of converted ones."""
