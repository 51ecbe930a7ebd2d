"""The page that tells what a study asked and found."""

from ._report import write_report

__all__ = ["write_report"]
