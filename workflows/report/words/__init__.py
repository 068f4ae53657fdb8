"""Phrase the sentences of a report, and escape text for Markdown and LaTeX."""
