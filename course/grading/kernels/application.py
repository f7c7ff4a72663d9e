"""Run ipykernel's application without the work that grading does not need.

A fork copies a page of the zygote's memory for every object that it touches. Two steps of ipykernel touch thousands of
objects, more than half of what a kernel copies before its first cell. One lists the files of all modules, for a
debugger. The other lists all settings of all classes, for the command line's short names. At each cell, ipykernel also
flushes empty streams four times, and both it and IPython translate the cell into Python. One message in five only
reports the status "busy".
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ipykernel import iostream, ipkernel
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.session import utcnow
from traitlets.config import Config
from traitlets.config.loader import DeferredConfigString

from course.grading.kernels.protocol import BUSY_SINCE

USUAL = re.compile(r"--HistoryManager\.(enabled|hist_file)=(.*)")
"""A pattern for the options that nbclient and this package give a kernel after its connection file."""


class OutStream(iostream.OutStream):
    """ipykernel's output stream, with a `flush` that returns at once if the stream is empty.

    ipykernel's `flush` sends two messages to another thread and waits for the answer.
    """

    _flushing = False

    def flush(self) -> None:
        """Flush the stream unless it is empty and no flush is under way."""
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


class IPythonKernel(ipkernel.IPythonKernel):
    """ipykernel's kernel, which sends the time of "busy" in a cell's `execute_input`, not in a separate message."""

    _busy_since = ""

    def _publish_status(self, status: str, channel: str, parent: Any = None) -> None:
        asked = self.get_parent(channel).get("header", {}).get("msg_type")
        if status == "busy" and asked == "execute_request" and parent is None:
            self._busy_since = utcnow().isoformat()
        else:
            super()._publish_status(status, channel, parent)

    def _publish_execute_input(self, code: str, parent: Any, execution_count: int) -> None:
        assert self.session is not None
        content = {"code": code, "execution_count": execution_count}
        topic, since = self._topic("execute_input"), {BUSY_SINCE: self._busy_since}
        self.session.send(self.iopub_socket, "execute_input", content, parent=parent, ident=topic, metadata=since)


class Application(IPKernelApp):
    """ipykernel's application, with a fast parser for the usual command lines."""

    def parse_command_line(self, argv: Any = None) -> None:
        """Read the connection file and the history options from `argv`; ipykernel parses anything else."""
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
        """Redirect standard output and error, as ipykernel does, into `OutStream`."""
        self.outstream_class = f"{OutStream.__module__}.{OutStream.__name__}"
        super().init_io()

    def init_kernel(self) -> None:
        """Make the kernel, an instance of this module's `IPythonKernel`."""
        self.kernel_class = IPythonKernel
        super().init_kernel()

    def init_shell(self) -> None:
        """Make the shell, and cache two methods that ipykernel and IPython both call with the same cell."""
        super().init_shell()
        for question in ("transform_cell", "should_run_async"):
            setattr(self.shell, question, _asked_twice(self.shell, getattr(self.shell, question)))


def _asked_twice(shell: Any, ask: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function `ask` with a cache that is cleared when a cell begins."""
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
    """Hide `sys.modules` from ipykernel during the block, so that a new kernel does not list all modules' files."""
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
