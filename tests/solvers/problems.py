"""Objectives of small problems."""

from unmask.checking import check_dissimilarities
from unmask.engines import make_engine
from unmask.kernels import Workers
from unmask.problem import Problem, build_pairs, check_known
from unmask.solvers import make_objective


def objective_for(D, known=None, p=2, coef="full", scheme=None, weights=None, **options):
    workers = Workers(2)
    checked = check_dissimilarities(D, workers=workers)
    coded = check_known(known, checked.n, checked.labels, coef)
    problem = Problem(build_pairs(checked, scheme, weights, workers), coded, p, **options)
    return make_objective(problem, make_engine(problem.pairs, workers)), coded
