"""Reading and writing tables, matrices and lists of pairs."""

from ._dissimilarities import DissimilarityFile, read_dissimilarities
from ._files import FileProblem, memory_limit
from ._tables import TableFile, read_data, read_known, read_table
from ._write import atomic_path, not_written, plain_data, write_table

__all__ = [
    "DissimilarityFile",
    "FileProblem",
    "TableFile",
    "atomic_path",
    "memory_limit",
    "not_written",
    "plain_data",
    "read_data",
    "read_dissimilarities",
    "read_known",
    "read_table",
    "write_table",
]
