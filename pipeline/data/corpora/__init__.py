"""Read text corpora (messages, news and reviews) into bags of words."""
