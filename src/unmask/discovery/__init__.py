"""The loop: fit, look, name, condition, again. Still empty."""
