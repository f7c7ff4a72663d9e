"""A process that has imported everything a notebook needs, and forks kernels from itself on request.

It is never a fork of a grader, and what it has imported is what students may see: the student edition, no hidden
tests. Until it forks it has one thread and runs no tensor operation that uses several, no event loop, and asks no
accelerator whether it is there: none of these survives a fork.

Started as `python -m course.grading.kernels.zygote FOLDER`, it listens on the socket `zygote` in the folder as soon as
it is ready, and ends when nobody holds the lifeline there any more. The folder is removed then, because the process
that made it may have been killed.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pkgutil
import select
import shutil
import signal
import socket
import struct
import sys
import threading
from importlib import import_module
from pathlib import Path

from course.grading.kernels.become_kernel import become_kernel
from course.grading.kernels.environment import keep_fonts
from course.grading.kernels.protocol import Line
from course.grading.kernels.resource_watch import ancestors
from course.grading.kernels.supervisor import Supervisor

SOCKET, LIFELINE, LOG = "zygote", "lifeline", "log"
"""Where in its folder a zygote listens, a pipe that falls silent when it is to end, and a file with its last words."""

LIBRARIES = (
    "faulthandler",
    "numpy",
    "numpy.ctypeslib",
    "torch",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "einops",
    "safetensors.torch",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.debugger",
    "IPython",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.logger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "tornado.platform.asyncio",
    "tornado.queues",
    "ipywidgets",
    "course.grading.kernels.application",
)
"""What notebooks import, and what their kernel is made of; what is not installed is left out."""

TRAINING = ("datasets",)
"""What notebooks take examples to train on from. Where weights are loaded, what little trains imports it for itself:
to import it is a quarter of a zygote's beginning."""

CREDENTIALS = struct.Struct("3i")
"""What Linux says of who is at the other end of a Unix socket: process, user, group."""


def warm_up() -> None:
    """Import the libraries and the public side of the course, and have the collector never look at them again."""
    import course

    sys.modules["debugpy"] = None  # type: ignore[assignment]  # nobody debugs here, and each kernel would import it
    training = () if os.environ.get("COURSE_FIT_POLICY") == "checkpoint" else TRAINING
    gc.disable()  # to look through all that comes again and again takes a tenth of the time of importing
    for name in (*LIBRARIES, *training, *_public_modules(course.__path__[0])):
        with contextlib.suppress(ImportError):
            import_module(name)
    _ready_to_draw()
    if threading.active_count() > 1:
        raise RuntimeError(f"an import started a thread: {', '.join(t.name for t in threading.enumerate())}")
    gc.freeze()  # each fork would copy the pages of all objects that its collector looks at
    gc.enable()


def _ready_to_draw() -> None:
    """Keep matplotlib's list of fonts, and have figures become pictures, as where a kernel imports matplotlib itself.

    Said here as the answer is looked up in every installed package.
    """
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is None:
        return
    keep_fonts(Path(matplotlib.get_cachedir()))
    if "matplotlib_inline.backend_inline" in sys.modules:
        matplotlib.rcParams["backend"] = "module://matplotlib_inline.backend_inline"


def serve(address: str, lifeline: int) -> None:
    """Fork a supervisor for whoever connects, until `lifeline` falls silent."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{address}-unready")
        server.listen(64)
        Path(f"{address}-unready").rename(address)  # what is there listens: who is refused knows that it has ended
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors leave no trace
        while True:
            waiting, _, _ = select.select([server.fileno(), lifeline], [], [])
            if lifeline in waiting:
                return
            connection, _ = server.accept()
            if _is_stranger(connection) and os.fork() == 0:
                _become_supervisor(connection)
            connection.close()


def _is_stranger(connection: socket.socket) -> bool:
    """Whether the caller is no descendant of this process: no kernel may order another one, outside its sandbox.

    Below Landlock's ABI 9 a confined kernel can connect to every socket its user may write to, and a fork knows all
    that this process knows, this socket's address as well. The caller's process number is the Linux kernel's word.
    """
    pid, _, _ = CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size))
    line = ancestors(pid)
    return bool(line) and os.getpid() not in line


def _become_supervisor(connection: socket.socket) -> None:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _close_others(connection.fileno())  # the lock that tells that the zygote lives is none of the supervisor's
        Supervisor(Line(connection), become_kernel).serve()
        status = 0
    finally:
        os._exit(status)


def _close_others(kept: int) -> None:
    """Close all descriptors but the three standard ones and `kept`."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _public_modules(package: str) -> list[str]:
    """What a notebook can reach of the course: `data`, `show`, `blocks` and `notebook` with their modules."""
    names = ["course.data", "course.show", "course.blocks", "course.notebook", "course.exercise.runner"]
    for part in ("data", "show", "blocks", "notebook"):
        names += [module.name for module in pkgutil.iter_modules([f"{package}/{part}"], f"course.{part}.")]
    return names


def main(folder: Path) -> None:
    """Import everything, serve, and remove the folder in the end."""
    lifeline = os.open(folder / LIFELINE, os.O_RDONLY | os.O_NONBLOCK)
    if _is_held(lifeline):
        warm_up()
        serve(str(folder / SOCKET), lifeline)
    shutil.rmtree(folder, ignore_errors=True)


def _is_held(lifeline: int) -> bool:
    """Whether somebody holds the other end. Where nobody has since this one was opened, to wait would never tell."""
    try:
        return bool(os.read(lifeline, 1))
    except BlockingIOError:
        return True


if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]  # noqa: PTH109, as Python wrote it
    main(Path(sys.argv[1]))
