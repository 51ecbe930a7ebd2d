"""What the command line says: its own words, examples, no types of flags, and did-you-mean."""

import ast
import shlex
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

import unmask
from unmask.cli import app
from unmask.cli._examples import EXAMPLES
from unmask.cli._words import PHRASES, in_our_words

PYTHON = ("=", "_", "Discovery", "pass ")


@pytest.mark.parametrize("command", sorted(typer.main.get_command(app).commands))
def test_help_has_examples_and_no_type_of_a_flag(command):
    text = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "250"}).output
    assert "<bool>" not in text
    assert "For example:" in text
    for example in EXAMPLES[command]:
        assert example in text


@pytest.mark.parametrize("example", [example for examples in EXAMPLES.values() for example in examples])
def test_examples_are_commands_that_there_are(example):
    program, name, *words = shlex.split(example)
    command = typer.main.get_command(app).commands[name]
    assert program == "unmask"
    with command.make_context(name, words):  # which raises on an option that there is not
        pass


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (
            "correct one, or pass symmetrize='mean' to average them.",
            "correct one, or --symmetrize mean to average them.",
        ),
        ("n_components=7 is too many", "--dim 7 is too many"),
        ("save it as UTF-8, or pass its encoding, for example encoding='latin-1'.", None),
        ("is not there; give the folder or zip file that Discovery.save wrote.", None),
        ("Did you mean similarity='counts'?", "Did you mean --similarity counts?"),
        ("one similarity per pair, or symmetrize them", "one similarity per pair, or symmetrize them"),
        ("more than max_iter=300, or", "more than --max-iter 300, or"),
        ("adjust=True with orthogonal=True: both", "--adjust yes with --orthogonal: both"),
        ("at no cost; set orthogonal=False.", "at no cost; leave --orthogonal out."),
        (
            "or declare a feature Spline or another type if its effect is not linear.",
            "or say --types NAME=spline or another type if its effect is not linear.",
        ),
        ("more than 4 GB is not read unless max_expanded allows it.", "more than 4 GB is not read."),
    ],
)
def test_messages_in_the_words_of_the_command_line(theirs, ours):
    said = in_our_words(theirs)
    assert ours in (None, said)
    if ours is None:
        assert not any(word in said for word in PYTHON)


def test_the_help_of_the_program_names_no_type_of_a_flag():
    text = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "250"}).output
    assert "--version" in text
    assert "<bool>" not in text
    assert "BOOLEAN" not in text


def texts_of_the_library():
    """Return every text in the library outside of its command line; {} where something is put in."""
    rooms = Path(unmask.__file__).parent
    for path in rooms.rglob("*.py"):
        if "cli" in path.relative_to(rooms).parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)


def test_every_phrase_that_is_put_otherwise_is_said_somewhere():
    said = "\n".join(texts_of_the_library())
    assert [phrase for phrase in PHRASES if phrase not in said] == []


def test_no_python_in_what_a_user_meets(shell):
    (shell.folder / "latin.csv").write_bytes("a,b\nä,1\nö,2\n".encode("latin-1"))
    assert "say --encoding latin-1" in shell.refusal("fit", "latin.csv")
    assert "Discovery" not in shell.refusal("report", "nowhere")
    known = (shell.folder / "known.csv").read_text(encoding="utf-8").replace("Aunt,2", "Aunt,")
    (shell.folder / "gaps.csv").write_text(known, encoding="utf-8")


def test_no_python_about_counts(shell):
    (shell.folder / "counts.csv").write_text(",a,b,c\na,3,5,1\nb,5,6,2\nc,1,2,4\n", encoding="utf-8")
    why = shell.refusal("fit", "counts.csv", "--similarity", "counts")
    assert "one of them occurs less often than that" in why
    assert why.endswith("correct the diagonal.")


def test_columns_of_text_in_number_and_verb(shell):
    rows = "".join(f"o{i},{'xy'[i % 2]},{'uv'[i // 2 % 2]},{i}\n" for i in range(6))
    (shell.folder / "texts.csv").write_text(f"name,a,b,size\n{rows}", encoding="utf-8")
    assert "'a', 'b' hold text" in shell.refusal("fit", "texts.csv")


def test_did_you_mean(shell, features):
    why = shell.refusal("fit", "leaves.csv", "-c", "sight,site")
    assert "has no column 'sight'" in why
    assert "(did you mean 'height'?)" in why
    assert "(did you mean 'kinship'?)" in shell.refusal("datasets", "Kinsip")
    why = shell.refusal("fit", "dissimilarities.csv", "-c", "gender")
    assert "did you mean --known FILE --columns gender" in why
