"""Saving a fit in a file and continuing it, from the command line."""

import pytest

from unmask.discovery import Discovery

GENDER = ("dissimilarities.csv", "--known", "known.csv", "--columns", "gender", "--n-init", "4")


@pytest.fixture
def stops_in_the_second_start(monkeypatch):
    """Let a fit be stopped as Ctrl-C stops it."""
    fit = Discovery.fit

    def stopped(self, *arguments, callback=(), **options):
        stop = [callback, lambda progress: progress.start == 2 and progress.iteration == 3]
        return fit(self, *arguments, callback=stop, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Discovery, "fit", stopped)
        yield patch


@pytest.mark.parametrize("options", [(), ("--estimator", "isomap", "-k", "6")])
def test_a_stopped_fit_continues(options, shell, stops_in_the_second_start):
    done = shell("fit", *GENDER, *options, "--quiet", "--checkpoint", "fit.npz", code=130)
    assert "unfinished; --init fit.npz continues it." in done.stderr
    stops_in_the_second_start.undo()
    resumed, whole = (shell.json("fit", *GENDER, *options, *more) for more in (("--init", "fit.npz"), ()))
    assert resumed["finished"] is True
    del resumed["seconds"], whole["seconds"]
    assert resumed == whole


def test_a_continued_fit_is_saved_in_the_same_file(shell):
    shell("fit", *GENDER, "--checkpoint", "fit.npz")
    (shell.folder / "fit.npz").replace(shell.folder / "other.npz")
    shell("fit", *GENDER, "--quiet", "--init", "other.npz", "--checkpoint", "fit.npz")
    assert (shell.folder / "fit.npz").is_file()


def test_the_checkpoint_of_another_fit_is_refused(shell):
    shell("fit", *GENDER, "--checkpoint", "fit.npz")
    line = shell.refusal("fit", *GENDER, "--init", "fit.npz", "--n-components", "1")
    assert line.startswith("init='fit.npz' is a checkpoint of another fit: n_components was 2 and is 1;")
    assert "init='none.npz'" in shell.refusal("fit", *GENDER, "--init", "none.npz")


@pytest.mark.parametrize("option", ["--checkpoint", "--init"])
def test_the_closed_form_has_nothing_to_keep(option, shell):
    line = shell.refusal("fit", *GENDER[:5], "--estimator", "classical", option, "fit.npz")
    assert line == "--checkpoint and --init are for a search, and --estimator classical makes none."
