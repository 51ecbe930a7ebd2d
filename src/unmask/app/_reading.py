"""Requests that read a map: background jobs, whose results are kept for each step."""
