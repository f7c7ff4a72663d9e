"""What worker processes are forked from: one thread, and all imported that executing a notebook takes.

Imported by the fork server of `executor`, or, where there is none, by each worker.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import course.grading.execution
import course.judge.session  # noqa: F401
