"""Transformers from features to dissimilarities. Still empty."""
