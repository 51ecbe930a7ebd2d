"""Where other packages keep their data: a module for each, which reads from there and writes the map back."""
