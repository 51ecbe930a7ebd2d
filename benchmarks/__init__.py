"""Speed of unmask against what a user would pick instead (``run.py``), and accuracy of adjusted maps (``adjusted``)."""
