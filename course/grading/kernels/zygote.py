"""A fork server for kernels: a process that has imported everything a notebook needs and forks kernels on request.

It is never a fork of a grader, and it imports only what students may see: the student edition, no hidden tests. Before
it forks it has one thread, no event loop and no tensor operation on several threads, and it does not ask for
accelerators, because none of these survives a fork.

Started as `python -m course.grading.kernels.zygote FOLDER`, it listens on the socket `zygote` in the folder as soon as
it is ready. It ends when the last process closes the pipe `lifeline` there. It then removes the folder, because the
process that made it may have been killed.
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
"""Files in a zygote's folder: its socket, the pipe whose closing ends it, and the log of its errors."""

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
"""Modules that notebooks and their kernels import; those that are not installed are skipped."""

TRAINING = ("datasets",)
"""Modules that only training needs, skipped if checkpoints are loaded: they take a quarter of a zygote's start, and the
few cells that train import them themselves."""

CREDENTIALS = struct.Struct("3i")
"""The layout of `SO_PEERCRED`, with which Linux identifies the other end of a Unix socket: process, user, group."""


def warm_up() -> None:
    """Import the libraries and the student edition's modules, and freeze them for the garbage collector."""
    import course

    sys.modules["debugpy"] = None  # type: ignore[assignment]  # no debugger is needed, and each kernel would import it
    training = () if os.environ.get("COURSE_FIT_POLICY") == "checkpoint" else TRAINING
    gc.disable()  # collections take a tenth of the time of importing
    for name in (*LIBRARIES, *training, *_public_modules(course.__path__[0])):
        with contextlib.suppress(ImportError):
            import_module(name)
    _ready_to_draw()
    if threading.active_count() > 1:
        raise RuntimeError(f"an import started a thread: {', '.join(t.name for t in threading.enumerate())}")
    gc.freeze()  # otherwise each fork copies the pages of all objects that its collector visits
    gc.enable()


def _ready_to_draw() -> None:
    """Cache matplotlib's font list, and choose the inline backend, as a kernel does that imports matplotlib itself.

    The backend is set here, because finding it searches every installed package.
    """
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is None:
        return
    keep_fonts(Path(matplotlib.get_cachedir()))
    if "matplotlib_inline.backend_inline" in sys.modules:
        matplotlib.rcParams["backend"] = "module://matplotlib_inline.backend_inline"


def serve(address: str, lifeline: int) -> None:
    """Fork a supervisor for each connection until the pipe `lifeline` is closed."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{address}-unready")
        server.listen(64)
        Path(f"{address}-unready").rename(address)  # it listens first: a refusal means that it ended
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # supervisors leave no zombies
        while True:
            waiting, _, _ = select.select([server.fileno(), lifeline], [], [])
            if lifeline in waiting:
                return
            connection, _ = server.accept()
            if _is_stranger(connection) and os.fork() == 0:
                _become_supervisor(connection)
            connection.close()


def _is_stranger(connection: socket.socket) -> bool:
    """Whether the caller is no descendant of this process, because no kernel may order another one without a sandbox.

    Below Landlock's ABI 9 a confined kernel can connect to every socket its user may write to, and a fork knows this
    socket's address. The caller cannot forge its process id, which comes from Linux.
    """
    pid, _, _ = CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size))
    line = ancestors(pid)
    return bool(line) and os.getpid() not in line


def _become_supervisor(connection: socket.socket) -> None:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _close_others(connection.fileno())  # also the lock that shows that the zygote lives
        Supervisor(Line(connection), become_kernel).serve()
        status = 0
    finally:
        os._exit(status)


def _close_others(kept: int) -> None:
    """Close all descriptors but the three standard ones and `kept`."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _public_modules(package: str) -> list[str]:
    """Return the course's modules that notebooks import: those of `data`, `show`, `blocks` and `notebook`."""
    names = ["course.data", "course.show", "course.blocks", "course.notebook", "course.exercise.runner"]
    for part in ("data", "show", "blocks", "notebook"):
        names += [module.name for module in pkgutil.iter_modules([f"{package}/{part}"], f"course.{part}.")]
    return names


def main(folder: Path) -> None:
    """Import everything, serve until the lifeline closes, and remove the folder."""
    lifeline = os.open(folder / LIFELINE, os.O_RDONLY | os.O_NONBLOCK)
    if _is_held(lifeline):
        warm_up()
        serve(str(folder / SOCKET), lifeline)
    shutil.rmtree(folder, ignore_errors=True)


def _is_held(lifeline: int) -> bool:
    """Whether a process holds the other end of the pipe. If none does, `select` may never report that it closed."""
    try:
        return bool(os.read(lifeline, 1))
    except BlockingIOError:
        return True


if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]  # noqa: PTH109, as Python wrote it
    main(Path(sys.argv[1]))
