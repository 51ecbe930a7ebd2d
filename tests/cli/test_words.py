"""Examples in the help, options named as parameters, and no types of flags."""

import inspect
import shlex

import pytest
import typer.main
from typer.testing import CliRunner

from unmask import ConditionalIsomap, io
from unmask.cli import app
from unmask.discovery import study_from_files

COMMANDS = typer.main.get_command(app).commands


def examples(command):
    return [line.strip() for line in COMMANDS[command].epilog.split("\n\n")[1:]]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_has_examples_and_no_type_of_a_flag(command):
    text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "250"}).output
    assert "<bool>" not in text
    assert "For example:" in text
    assert examples(command)
    for example in examples(command):
        assert example in text
        program, name, *words = shlex.split(example)
        assert (program, name) == ("unmask", command)
        with COMMANDS[name].make_context(name, words):  # which raises on an option that there is not
            pass


def test_the_help_of_the_program_names_no_type_of_a_flag():
    text = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "250"}).output
    assert "--version" in text
    assert "<bool>" not in text
    assert "BOOLEAN" not in text


def test_options_are_named_as_the_parameters_they_set():
    own = {"checkpoint", "color", "estimator", "out", "format", "force", "quiet", "json", "debug", "help"}
    functions = (ConditionalIsomap, study_from_files, io.read_dissimilarities, io.read_table)
    parameters = {name for function in functions for name in inspect.signature(function).parameters}
    options = {
        max(option.opts, key=len)[2:].replace("-", "_") for option in COMMANDS["fit"].params if option.opts[0] != "data"
    }
    assert options - own <= parameters


def test_did_you_mean(shell):
    assert "did you mean 'kinship'?" in shell.refusal("datasets", "Kinsip")
