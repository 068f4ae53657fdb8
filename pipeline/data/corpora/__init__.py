"""Read text corpora (mail, news and reviews) as bags of words.

Each reader takes the paths of a set's files, in the order of its declaration, and returns a table.
"""
