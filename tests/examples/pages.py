"""Running a page of the gallery, or what it defines."""

import ast
import runpy
from pathlib import Path

import matplotlib as mpl

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(script):
    """Return the variables of a page after it has run, and its figures."""
    from matplotlib import pyplot

    mpl.use("Agg")
    variables = runpy.run_path(str(EXAMPLES / script))
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return variables | {"figures": figures}


def define(script):
    """Return the imports, constants and functions of a page, without running the rest of it."""
    tree = ast.parse((EXAMPLES / script).read_text(encoding="utf-8"))
    kept = (ast.Import, ast.ImportFrom, ast.FunctionDef)
    tree.body = [node for node in tree.body if isinstance(node, kept) or _is_constant(node)]
    variables = {}
    exec(compile(tree, script, "exec"), variables)
    return variables


def _is_constant(node):
    names = [n.id for n in ast.walk(node.targets[0]) if isinstance(n, ast.Name)] if isinstance(node, ast.Assign) else []
    return bool(names) and all(name.isupper() for name in names)
