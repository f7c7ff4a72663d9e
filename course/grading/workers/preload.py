"""Preloaded by the fork server: everything a worker imports, on one thread.

Imported by the fork server of `start_early`, or, where there is none, by each worker.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module

from course.grading.machine.lasting_imports import exempt_from_gc

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

with exempt_from_gc():
    import nbformat

    from course.grading.problem import Problem
    from course.grading.sandbox.probe import strongest

    for name in ("course.grading.execution.execute", "course.judge.session", "IPython.paths"):
        import_module(name)
    for minor in (4, 5):  # the first of its kind to be validated has the schema translated
        nbformat.validate(nbformat.from_dict({"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": []}))
    with suppress(Problem, OSError):  # a worker says so of each task; a grader that ended has taken the folder away
        strongest()
