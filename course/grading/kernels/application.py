"""ipykernel's application, without the work that leads to nothing where notebooks are graded.

Every object that a fork looks at is a page of the zygote's memory copied. Two steps of ipykernel's look at thousands,
more than half of what a kernel copies before its first cell: one lists the files of all modules, for a debugger, the
other all the settings of all classes, to know a command line's short names. Then, at each cell, ipykernel flushes
streams that hold nothing, four times, and it and IPython both translate the cell into Python. One message in five says
only that it is busy.
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


class IPythonKernel(ipkernel.IPythonKernel):
    """ipykernel's kernel, which tells with a cell's code since when it is busy, and not in a message of its own."""

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

    def init_kernel(self) -> None:
        """Make the kernel, an `IPythonKernel` of this module."""
        self.kernel_class = IPythonKernel
        super().init_kernel()

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
