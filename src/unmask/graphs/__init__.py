"""Neighbourhood graphs, joining components, shortest paths. Still empty."""
