"""Write reports of results: HTML, Markdown, CSV and LaTeX from a results folder."""

from .render import render_report, write_report

__all__ = ["render_report", "write_report"]
