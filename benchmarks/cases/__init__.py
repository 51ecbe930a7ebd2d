"""One module per case; each has a function ``run(results, plan)``."""
