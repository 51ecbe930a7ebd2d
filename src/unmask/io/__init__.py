"""Reading and writing tables, matrices, pair lists and results."""

from ._atomic import atomic_path, not_written
from ._cells import escape, unescape
from ._dissimilarities import DissimilarityFile, read_dissimilarities
from ._files import FileProblem, memory_limit
from ._tables import TableFile, read_data, read_known, read_table
from ._write import plain_data, write_json, write_table

__all__ = [
    "DissimilarityFile",
    "FileProblem",
    "TableFile",
    "atomic_path",
    "escape",
    "memory_limit",
    "not_written",
    "plain_data",
    "read_data",
    "read_dissimilarities",
    "read_known",
    "read_table",
    "unescape",
    "write_json",
    "write_table",
]
