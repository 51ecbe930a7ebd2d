"""Accuracy of maps adjusted for what is known: ``python -m benchmarks.adjusted`` or ``make adjusted``."""
