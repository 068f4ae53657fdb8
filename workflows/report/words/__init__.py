"""The words of a report, in HTML, Markdown and LaTeX."""
