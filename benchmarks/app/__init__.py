"""Measurements of the workbench: ``make bench-app``."""
