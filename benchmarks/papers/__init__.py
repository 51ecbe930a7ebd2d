"""Causes of what differs between a paper and this package, where a page of the documentation shows their numbers."""
