"""Text corpora: messages, news and reviews, read into bags of words."""
