"""ipykernel's application, without the work that leads to nothing where notebooks are graded.

Every object that a fork looks at is a page of the zygote's memory copied. Two steps of ipykernel's look at thousands,
more than half of what a kernel copies before its first cell: one lists the files of all modules, for a debugger, the
other all the settings of all classes, to know a command line's short names. Then, at each cell, ipykernel flushes
streams that hold nothing, four times, and it and IPython both translate the cell into Python.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ipykernel import iostream, ipkernel
from ipykernel.kernelapp import IPKernelApp
from traitlets.config import Config
from traitlets.config.loader import DeferredConfigString

USUAL = re.compile(r"--HistoryManager\.(enabled|hist_file)=(.*)")
"""What nbclient, and we, ask of a kernel beside the file of its connection."""


class OutStream(iostream.OutStream):
    """ipykernel's stream, which does nothing where it is flushed and holds nothing.

    A flush is two messages to another thread and a wait for its answer.
    """

    _flushing = False

    def flush(self) -> None:
        """Send what was written, unless all of it is on its way."""
        if self._holds_something() or self._flushing:  # in this order: `_flush` sets them in the other one
            super().flush()

    def _holds_something(self) -> bool:
        pending = ("_flush_pending", "_subprocess_flush_pending")
        return any(getattr(self, name, True) for name in pending)

    def _flush(self) -> None:
        self._flushing = True
        try:
            super()._flush()
        finally:
            self._flushing = False


class Application(IPKernelApp):
    """ipykernel's application, which reads the usual command lines without learning all others."""

    def parse_command_line(self, argv: Any = None) -> None:
        """Take settings from `argv`: a connection's file and what history is kept; anything else as ipykernel does."""
        usual = [USUAL.fullmatch(argument) for argument in (argv or ())[2:]]
        if not argv or argv[0] != "-f" or not all(usual):
            super().parse_command_line(argv)
            return
        config = Config()
        config.IPKernelApp.connection_file = DeferredConfigString(argv[1])
        for setting in usual:
            if setting:
                config.HistoryManager[setting[1]] = DeferredConfigString(setting[2])
        self.argv, self.cli_config, self.extra_args = list(argv), config, []
        self.update_config(config)

    def init_io(self) -> None:
        """Redirect the streams, as ipykernel does, into `OutStream`."""
        self.outstream_class = f"{OutStream.__module__}.{OutStream.__name__}"
        super().init_io()

    def init_shell(self) -> None:
        """Set the shell, which answers once what ipykernel and IPython both ask."""
        super().init_shell()
        for question in ("transform_cell", "should_run_async"):
            setattr(self.shell, question, _asked_twice(self.shell, getattr(self.shell, question)))


def _asked_twice(shell: Any, ask: Callable[..., Any]) -> Callable[..., Any]:
    """The function `ask`, which remembers its answers until a cell begins."""
    answers: dict[Any, Any] = {}
    shell.events.register("pre_execute", answers.clear)

    def answer(*about: Any, **more: Any) -> Any:
        asked = (*about, *more.items())
        if asked not in answers:
            answers[asked] = ask(*about, **more)
        return answers[asked]

    return answer


@contextmanager
def without_modules() -> Iterator[None]:
    """Where a kernel is made meanwhile, it believes that no modules are imported."""
    own: Any = ipkernel
    own.sys = _NoModules()
    try:
        yield
    finally:
        own.sys = sys


class _NoModules:
    def __init__(self) -> None:
        self.modules: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)
