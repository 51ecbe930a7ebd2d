"""The tests of this folder run twice: compiled and, because coverage cannot look into compiled code, interpreted."""

import numba
import pytest

INTERPRETED = bool(numba.config.DISABLE_JIT)
compiled_only = pytest.mark.skipif(INTERPRETED, reason="too many pairs for the interpreter")
