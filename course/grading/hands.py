"""What worker processes are forked from: one thread, and all imported that executing a notebook takes.

Imported by the fork server of `executor`, or, where there is none, by each worker.
"""

from __future__ import annotations

import gc
import os

gc.disable()
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import course.grading.execution  # noqa: E402
import course.judge.session  # noqa: E402, F401

gc.freeze()  # workers need not look through it again, nor copy what they would have touched
gc.enable()
