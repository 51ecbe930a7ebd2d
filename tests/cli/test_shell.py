"""The command line as a user runs it: processes of their own, real files, signals, a terminal."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from unmask.cli import app
from unmask.datasets import load_kinship
from unmask.discovery import Discovery

RUN = "from unmask.cli import app; app(prog_name='unmask')"
UNMASK = [sys.executable, "-c", RUN]
# A process that was started in the background inherits that Ctrl-C is not for it.
HEARING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
LIMIT = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shell")
    kin = load_kinship()
    kin.dissimilarities.to_csv(folder / "dissimilarities.csv")
    kin.known.to_csv(folder / "known.csv")
    return folder


def run(folder, *words, **environment):
    return subprocess.run(
        [*UNMASK, *words],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT,
        env={**os.environ, **environment},
    )


def test_json_is_all_there_is_on_standard_output(folder):
    done = run(
        folder, "fit", "dissimilarities.csv", "--known", "known.csv", "-c", "gender", "--json", "--out", "result"
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["stress"] == pytest.approx(0.026086954836, abs=1e-9)
    # No terminal, so no progress: three remarks, in plain text.
    assert len(done.stderr.splitlines()) == 3
    assert "\x1b" not in done.stderr
    assert "%" not in done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["fit", "nothere.csv"], "Error: nothere.csv: "),
        (["rise"], "No such command"),
    ],
)
def test_bad_input_ends_with_two_and_a_sentence(folder, words, why):
    done = run(folder, *words, COLUMNS="200")
    assert done.returncode == 2
    assert done.stdout == ""
    assert why in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["fit", "known.csv", "--known", "dissimilarities.csv", "--columns", "Cousin"], "has no column 'Cousin'"),
        (["fit", "dissimilarities.csv", "--level", "deep"], "Invalid value for '--level'"),
        (["fit"], "Missing argument"),
    ],
)
def test_other_bad_input_does_so_too(folder, words, why, monkeypatch):
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert (done.exit_code, done.stdout) == (2, "")
    assert why in done.stderr
    assert isinstance(done.exception, SystemExit)


def test_ctrl_c_stops_a_fit_and_writes_what_it_has(folder):
    D = np.random.default_rng(0).uniform(1, 2, (150, 150))
    np.save(folder / "noise.npy", np.triu(D, 1) + np.triu(D, 1).T)
    words = ["fit", "noise.npy", "--n-init", "4000", "--out", "stopped", "--json"]
    with subprocess.Popen(
        [sys.executable, "-c", f"{HEARING}; {RUN}", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            remarks = iter(process.stderr.readline, "")
            assert any(line.startswith("Fitting") for line in remarks)
            time.sleep(2)
            assert process.poll() is None  # it would take minutes
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err == "Stopped: the map is unfinished; it was saved in stopped.\n"
    assert json.loads(out)["finished"] is False
    assert Discovery.load(folder / "stopped").step.finished is False


def test_on_a_terminal_progress_and_the_time_left_are_shown(folder):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    words = ["fit", "dissimilarities.csv", "--n-init", "4000"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(
        [*UNMASK, *words], cwd=folder, stdout=subprocess.PIPE, stderr=theirs, encoding="utf-8", env=environment
    )
    os.close(theirs)
    seen = b""
    with process, os.fdopen(ours, "rb", buffering=0) as terminal:
        while True:
            try:
                piece = terminal.read(4096)
            except OSError:  # how Linux says that the other end was closed
                break
            if not piece:
                break
            seen += piece
        out = process.stdout.read()
    assert process.returncode == 0
    shown = seen.decode(errors="replace")
    assert "Fitting, nothing known" in shown
    assert "of 4000, iteration" in shown
    assert "left" in shown
    assert "Fitting" not in out


def test_the_shell_completes_commands_and_choices(folder):
    def completed(line):
        words = {"_UNMASK_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        return run(folder, **words).stdout.split()

    assert completed("unmask fi") == ["fit"]
    assert completed("unmask fit --level o") == ["ordinal"]


def test_the_room_imports_nothing_heavy_for_help():
    code = """
import sys
from typer.testing import CliRunner
from unmask.cli import app
for words in (["--help"], ["fit", "--help"], ["--version"]):
    assert CliRunner().invoke(app, words).exit_code == 0
heavy = {"matplotlib", "numba", "numpy", "pandas", "scipy", "sklearn"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LIMIT)


def test_a_fit_that_draws_nothing_loads_nothing_that_draws(folder):
    code = """
import sys
from typer.testing import CliRunner
from unmask.cli import app
assert CliRunner().invoke(app, ["fit", "dissimilarities.csv", "--n-init", "1"]).exit_code == 0
heavy = {"matplotlib", "PIL", "jinja2", "fastapi", "networkx", "dask"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LIMIT, cwd=folder)


def test_whoever_reads_the_output_may_stop_reading(folder):
    words = ["fit", "dissimilarities.csv", "--n-init", "1", "--out", "piped"]
    process = subprocess.Popen(
        [*UNMASK, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    process.stdout.close()
    with process:
        err = process.stderr.read()
    assert "Traceback" not in err
    assert "Error" not in err
    assert (folder / "piped" / "map.png").exists()
