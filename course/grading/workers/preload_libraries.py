"""Preloaded first by the fork server: the libraries that workers and kernels share, before anything of the judge."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from importlib import import_module

from course.grading.kernels.zygote_fork import fork_where_ordered

LIBRARIES = ("torch", "safetensors.torch", "IPython.paths", "jupyter_client.asynchronous")

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the grader (`begin_server`)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
atexit.register(os._exit, 0)  # to tidy up what was imported takes time, and nobody needs it
gc.disable()  # until what is preloaded next has imported the rest
for name in LIBRARIES:
    import_module(name)
fork_where_ordered()
