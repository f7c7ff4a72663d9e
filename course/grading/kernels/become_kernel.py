"""Turn a fork of the zygote into the kernel of one notebook, or into another program in the same sandbox."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from course.grading.kernels.no_network_sockets import without_tcp, without_terminals
from course.grading.kernels.protocol import Order
from course.grading.sandbox.apply import confine


def become_kernel(order: Order) -> None:
    """Take the order's environment, enter its sandbox, and run its module or an IPython kernel until it ends."""
    os.environ.clear()
    os.environ.update(order.environment)
    _forget()
    confine(order.tier, order.confines)
    if order.module:
        import_module(order.module).main()
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    launch(order.arguments, order.seed)


def launch(arguments: Sequence[str], seed: int | None = None) -> None:
    """Run IPython's kernel, without its history, its TCP socket for forked processes and its terminals.

    Random numbers are seeded when the first cell begins, because how many are drawn before varies.
    """
    from course.grading.kernels.application import Application, without_modules

    without_tcp()
    without_terminals()
    sys.argv = ["ipykernel_launcher", *arguments]
    app = Application.instance()
    with without_modules():
        app.initialize([*arguments, "--HistoryManager.enabled=False"])
    app.log.setLevel(app.log_level)  # otherwise each message makes log records without a handler
    if seed is not None:
        _at_the_first_cell(app.shell, partial(_reseed, seed))
    app.start()


def _at_the_first_cell(shell: Any, what: Callable[[], None]) -> None:
    def begin() -> None:
        shell.events.unregister("pre_execute", begin)
        what()

    shell.events.register("pre_execute", begin)


def _forget() -> None:
    """Reset what libraries stored when the zygote imported them: folders, and the shell that matplotlib draws in."""
    tempfile.tempdir = None
    sys.modules.pop("matplotlib_inline.backend_inline", None)
    datasets = sys.modules.get("datasets")
    if datasets is not None:
        home = Path(os.environ.get("HF_HOME", "~/.cache/huggingface")).expanduser()
        datasets.config.HF_CACHE_HOME = home
        datasets.config.HF_DATASETS_CACHE = home / "datasets"


def _reseed(seed: int) -> None:
    """Seed Python, NumPy and torch, so that kernels differ from each other and a notebook repeats at every grading.

    Without an accelerator only torch's CPU generator is seeded, because `manual_seed` stores a traceback for each kind.
    """
    random.seed(seed)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    if torch is not None:
        (torch.manual_seed if "COURSE_DEVICE" in os.environ else torch.default_generator.manual_seed)(seed)
