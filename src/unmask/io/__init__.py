"""Reading and writing tables, matrices, pair lists and results. Still empty."""
