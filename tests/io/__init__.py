"""Tests of reading and writing files."""  # noqa: A005
