"""Maps as ordinations of scikit-bio, and its matrices, tables and ordinations as data."""

import numpy as np
import pandas as pd
import pytest

from unmask import ConditionalClassicalMDS, ConditionalMDS, SpectralMap
from unmask.datasets import load_kinship
from unmask.dissimilarities import Metric
from unmask.inspection import dbrda_test, name_axes, partial_dbrda, procrustes
from unmask.interop.skbio import ordination
from unmask.plotting import plot_map

skbio = pytest.importorskip("skbio", reason="needs scikit-bio: pip install 'unmask[bio]'")


@pytest.fixture(scope="module")
def kinship():
    return load_kinship()


@pytest.fixture(scope="module")
def fitted(kinship):
    mds = ConditionalMDS(3, metric="precomputed", n_init=2, random_state=0)
    return mds.fit(kinship.dissimilarities, known=kinship.known[["gender"]])


def test_an_ordination_holds_the_map(fitted, kinship):
    found = ordination(fitted)
    assert list(found.samples.index) == list(kinship.dissimilarities.index)
    np.testing.assert_array_equal(found.samples, fitted.embedding_)
    np.testing.assert_allclose(found.eigvals, np.sum(fitted.embedding_**2, axis=0), rtol=1e-9)
    assert found.proportion_explained is None
    assert found.long_method_name == "ConditionalMDS given gender"


@pytest.mark.filterwarnings("ignore:The result contains negative eigenvalues")
def test_eigenvalues_of_classical_scaling_are_those_of_pcoa(kinship):
    D = kinship.dissimilarities.to_numpy(dtype=float)
    theirs = skbio.stats.ordination.pcoa(skbio.DistanceMatrix(D, list(kinship.dissimilarities.index)), dimensions=14)
    found = ordination(ConditionalClassicalMDS(metric="precomputed").fit(kinship.dissimilarities))
    np.testing.assert_allclose(found.eigvals, theirs.eigvals[:2], rtol=1e-9)


def test_an_ordination_draws_itself(fitted, kinship):
    from matplotlib import pyplot

    figure = ordination(fitted).plot(kinship.known[["gender"]], "gender")
    assert len(figure.axes[0].collections) >= 1
    pyplot.close("all")


def test_a_file_gives_back_the_coordinates(fitted, tmp_path):
    path = tmp_path / "map.txt"
    ordination(fitted).write(str(path))
    read = skbio.OrdinationResults.read(str(path))
    np.testing.assert_allclose(read.samples, fitted.embedding_, rtol=1e-12)
    assert list(read.samples.index) == list(fitted.object_names_)
    assert read.proportion_explained is None or len(read.proportion_explained) == 0


def test_objects_without_labels_are_numbered():
    X = np.random.default_rng(0).normal(size=(10, 3))
    assert list(ordination(SpectralMap().fit(X)).samples.index) == [str(i) for i in range(10)]


def test_an_ordination_goes_where_maps_go(fitted, kinship):
    from matplotlib.figure import Figure

    found = ordination(fitted)
    shuffled = ordination(fitted)
    shuffled.samples = shuffled.samples.iloc[::-1]
    assert procrustes(fitted, shuffled).statistic == pytest.approx(0, abs=1e-12)
    pd.testing.assert_frame_equal(
        name_axes(found, kinship.known[["degree"]]), name_axes(fitted, kinship.known[["degree"]])
    )
    ax = plot_map(found, ax=Figure().add_subplot())
    assert "Aunt" in " ".join(text.get_text() for text in ax.texts)


def test_a_matrix_that_is_not_symmetric_is_refused(kinship):
    labels = list(kinship.dissimilarities.index)
    D = kinship.dissimilarities.to_numpy(dtype=float)
    skew = np.triu(np.full(D.shape, 2.0), 1)
    matrix = skbio.stats.distance.DissimilarityMatrix(D + skew - skew.T, labels)
    with pytest.raises(ValueError, match=r"not symmetric.*pass \(D \+ D\.T\) / 2"):
        ConditionalMDS(metric="precomputed").fit(matrix)


def test_samples_of_a_biom_table_are_objects():
    biom = pytest.importorskip("biom")
    rng = np.random.default_rng(0)
    counts = rng.poisson(3.0, size=(8, 5)).astype(float)
    samples = [f"s{i}" for i in range(5)]
    table = biom.Table(counts, [f"taxon{i}" for i in range(8)], samples)
    metric = Metric("braycurtis").fit(table)
    theirs = skbio.diversity.beta_diversity("braycurtis", counts.T.astype(int), samples)
    np.testing.assert_allclose(metric.dissimilarities_, theirs.redundant_form(), rtol=1e-12)
    assert list(metric.object_names_) == samples
    assert {type(name) for name in metric.object_names_} == {str}  # biom's own are np.str_
    mds = ConditionalMDS(metric="braycurtis", n_init=1, random_state=0)
    assert list(mds.fit(table).object_names_) == samples
    np.testing.assert_allclose(mds.transform(table), mds.embedding_, atol=1e-6)


@pytest.mark.parametrize("use", [ConditionalMDS(metric="precomputed").fit, dbrda_test])
def test_metadata_of_more_samples_is_an_error_that_says_how_to_select(kinship, use):
    labels = list(kinship.dissimilarities.index)
    matrix = skbio.DistanceMatrix(kinship.dissimilarities.to_numpy(dtype=float), labels).filter(labels[:9])
    with pytest.raises(ValueError, match=r"known\.loc\[ids\]"):
        use(matrix, known=kinship.known[["gender"]])


@pytest.mark.filterwarnings("ignore:The result contains negative eigenvalues")
def test_eigenvalues_are_divided_by_the_number_of_objects_less_one():
    """Those of vegan are so only from a largest dissimilarity of 4 on; those of pcoa never are."""
    counts = np.random.default_rng(0).poisson(3.0, size=(12, 6))
    matrix = skbio.diversity.beta_diversity("braycurtis", counts)
    found = partial_dbrda(matrix)
    theirs = skbio.stats.ordination.pcoa(matrix, dimensions=12).eigvals
    positive = found.eigenvalues[found.eigenvalues > 0]
    np.testing.assert_allclose(positive * 11, theirs[: len(positive)], rtol=1e-9)


def test_r_squared_is_the_share_of_the_total(kinship):
    table = dbrda_test(kinship.dissimilarities, kinship.known[["gender"]], n_permutations=0)
    assert table["r_squared"].sum() == pytest.approx(1.0)
    matrix = skbio.DistanceMatrix(np.ascontiguousarray(kinship.dissimilarities, dtype=float))
    theirs = skbio.stats.distance.permanova(matrix, kinship.known["gender"].to_numpy(), permutations=0)
    f = theirs["test statistic"]
    assert table["F"].iloc[0] == pytest.approx(f)
    assert table["r_squared"].iloc[0] == pytest.approx(f / (f + 12))  # of two groups and 14 objects
