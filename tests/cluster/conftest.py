"""Two workers on this machine, and a table in a file that both can read."""

import numpy as np
import pytest

from tests.helpers import noisy_distances

zarr = pytest.importorskip("zarr")
distributed = pytest.importorskip("distributed")
N = 1100  # blocks of several sizes, the last of them not full


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """Return a table, the path of the same in chunks that fit neither blocks nor tiles, and what is known."""
    rng = np.random.default_rng(5)
    D = noisy_distances(rng, N)
    path = str(tmp_path_factory.mktemp("table") / "table.zarr")
    zarr.open(path, mode="w", shape=D.shape, chunks=(300, 350), dtype=D.dtype)[:] = D
    return D, path, rng.standard_normal((N, 1))


@pytest.fixture(scope="module")
def client():
    """Return the ambient client of two workers that are processes of their own, on the loopback device only."""
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "memory_limit": "2GB"}
    with (
        distributed.LocalCluster(
            host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50, **workers
        ) as cluster,
        distributed.Client(cluster, timeout=60) as client,
    ):
        yield client
