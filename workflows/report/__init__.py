"""Comparison reports: HTML, Markdown, CSV and LaTeX from a folder of results."""

from .render import render_report, write_report

__all__ = ["render_report", "write_report"]
