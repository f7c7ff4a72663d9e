"""Preloaded by the fork server: everything a worker imports, on one thread.

Imported by the fork server of `start_early`, or, where there is none, by each worker.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from course.grading.machine.lasting_imports import exempt_from_gc

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

with exempt_from_gc():
    import nbformat

    import course
    from course.grading.freshness.engine_fingerprint import content_hash, decisive_files
    from course.grading.freshness.exercise_fingerprint import shared_by_all

    for name in ("course.grading.execution.execute", "course.judge.session", "matplotlib", "IPython.paths"):
        import_module(name)
    for minor in (4, 5):  # the first of its kind to be validated has the schema translated
        nbformat.validate(nbformat.from_dict({"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": []}))
    shared_by_all(Path(course.__file__).parent)
    for path in decisive_files(Path(course.__file__).parent, frozenset()):
        content_hash(path)
