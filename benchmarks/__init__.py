"""Speed of unmask against what a user would pick instead, measured side by side; see ``run.py``."""
