"""Import on one thread what a worker needs; the fork server does so once for all workers."""

from __future__ import annotations

import gc
import os
from importlib import import_module

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

for name in ("course.grading.execution.execute", "course.judge.session", "IPython.paths"):
    import_module(name)
gc.freeze()  # otherwise each fork copies the pages of all objects that its collector visits
