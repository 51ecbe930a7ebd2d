"""The page that tells what a study asked and found."""

from ._report import render_report, write_report

__all__ = ["render_report", "write_report"]
