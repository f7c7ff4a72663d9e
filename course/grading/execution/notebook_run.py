"""Runs the cells of one notebook in a confined kernel of its own, and never longer than allowed.

It is nbclient underneath, told what nbgrader tells it, so cells that are no exercise of ours get the outputs, and so
the scores, that nbgrader would give them. Four things differ: a kernel that dies or does not answer ends the notebook
without losing the cells before, graded cells cannot be skipped by a tag, a cell cannot fill the disk by printing, and
cells that need not run are left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from subprocess import DEVNULL
from typing import Any, Literal

import zmq
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.session import Session
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbclient.util import ensure_async
from nbformat import NotebookNode, ValidationError, from_dict, validate
from nbformat.v4 import new_output
from traitlets import Int
from zmq.utils.monitor import parse_monitor_message

from course.grading.cells import notebook_bytes
from course.grading.execution.task import Limits
from course.grading.intake.untrusted import MOST_NESTED, depth
from course.grading.kernels.environment import ACCELERATOR
from course.grading.kernels.protocol import Order
from course.grading.kernels.provisioner import NAME as CONFINED
from course.grading.kernels.resource_watch import Excess
from course.grading.kernels.supervisor import LOG
from course.grading.kernels.zygote_client import Handle
from course.grading.machine.faults import told
from course.notebook.while_graded import asking

AFTER_INTERRUPT = 4
"""Seconds an interrupted cell gets to come to an end before its kernel is killed: nbclient's own `iopub_timeout`."""

LAST_WORDS = 1.0
"""Seconds a cell that printed too much gets to end by itself: an interrupt that meets a kernel on its way out of a cell
can take the reply with it, which is then waited for."""

LIMIT = "LimitExceeded"
"""The name of the error in a cell during which the notebook used too much."""


GIVEN = "from course import check"
"""What a student's own cells may call though their imports lack it; cells that are judged are lent it."""

LEND, TAKE_BACK = asking("lend_check", "globals()"), asking("take_check_back", "globals()")
"""Said before and after a cell that is judged, whose `check` is the course's whatever the name was given to."""

OUTLIVE_EXIT = asking("outlive_exit")
"""Said at the beginning: what ends a kernel of one's own ends no grading."""


class KernelFault(Exception):
    """The kernel could not be started, or its keeper ended: nothing the student did."""


@dataclass(frozen=True)
class CellEnd:
    """How a cell came to its end.

    `time` when it was interrupted or never answered, `memory` and `died` with its kernel, `skipped` when not run.
    """

    kind: Literal["done", "error", "time", "memory", "died", "skipped"] = "done"
    ename: str = ""
    evalue: str = ""

    @property
    def over(self) -> bool:
        """Whether the notebook ended with the cell."""
        return self.kind in ("died", "memory") or self.ename == "Unresponsive"


class NotebookRun(NotebookClient):
    """One execution of `nb`: `run()` fills in its cells' outputs.

    Args:
        nb: the notebook; changed in place.
        limits: how long things may take.
        order: the kernel's sandbox, working folder and environment.
        sockets: a private folder with a short path, for the kernel's connection.
        skip: the indices of cells that are not run.
        judged: the indices of cells that are lent `check`.
        enter, leave: called around every code cell with its index; `leave` also gets how the cell ended.
        traits: of nbclient's `NotebookClient`, over those that nbgrader sets.
    """

    def __init__(
        self,
        nb: NotebookNode,
        *,
        limits: Limits,
        order: Order,
        sockets: Path,
        skip: Collection[int] = (),
        judged: Collection[int] = (),
        enter: Callable[[int], None],
        leave: Callable[[int, CellEnd], None],
        **traits: Any,
    ) -> None:
        super().__init__(nb, **{**AS_NBGRADER, "store_widget_state": False, **traits})
        self.limits, self.order, self.sockets, self.skip = limits, order, sockets, skip
        self.judged, self.enter, self.leave = judged, enter, leave
        self.patience = self.iopub_timeout
        self.why_cold = ""
        self.handle: Handle | None = None
        self._group: int | None = None
        self._printed = 0
        self._beside: list[asyncio.Task[None]] = []  # what goes on while cells run
        self._clock: asyncio.Timeout | None = None
        self._brake: asyncio.TimerHandle | None = None

    def run(self) -> None:
        """Execute the cells in order until the last, or until the kernel is gone or the notebook's time is up.

        Raises:
            KernelFault: the kernel did not start, or was lost.
        """
        run_sync(self._run)()

    def interrupt(self) -> None:
        """Interrupt what the kernel is doing; callable from any thread."""
        if self.km is not None:
            asyncio.run_coroutine_threadsafe(ensure_async(self.km.interrupt_kernel()), self._loop)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadline = None if self.limits.notebook is None else time.monotonic() + self.limits.notebook
        self._out_of_memory = out_of_memory()
        self.reset_execution_trackers()
        try:
            await self._start()
            await self._cells()
            self.set_widgets_metadata()
            self._mend()
        finally:
            await self._stop()

    async def _cells(self) -> None:
        """Execute the cells; those after the notebook's end are worth nothing, where nbgrader would give full marks."""
        over = False
        for index, cell in enumerate(self.nb.cells):
            if cell.cell_type != "code":
                continue
            if over:
                cell.outputs, cell.execution_count = [], None
                self._cut(cell, "NotReached", "the notebook ended before this cell")
            else:
                over = (await self._cell(index, cell)).over

    async def _cell(self, index: int, cell: NotebookNode) -> CellEnd:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.pop("tags", None)
        cell.outputs, cell.execution_count = [], None
        if index in self.skip:
            cell.outputs = [deepcopy(NOT_RUN)]
            return CellEnd("skipped")
        if index in self.judged:
            self._tell(LEND)
        self.enter(index)
        self._index, self._timed_out, self._kept, self._flooded = index, False, 0, False
        self._cut_off = False
        if self.handle is not None:
            self.handle.cell(self.limits.of(index))
        self.iopub_timeout = self.patience
        end = CellEnd("died")
        try:
            end = await self._execute(index, cell)
        finally:
            self._clock = None
            if self._brake is not None:
                self._brake.cancel()
            self.leave(index, end)
        if index in self.judged:
            self._tell(TAKE_BACK)
        return end

    def _tell(self, code: str) -> None:
        """Have the kernel run code of ours between cells; nobody waits for its reply."""
        assert self.kc is not None
        self.kc.execute(code, silent=True, stop_on_error=False)

    async def _execute(self, index: int, cell: NotebookNode) -> CellEnd:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return self._cut(cell, "Unresponsive", f"the notebook's {self.limits.notebook:g} seconds were used up")
        limit = self._get_timeout(cell)
        self._clock = clock = asyncio.timeout(None if limit is None else limit + self.patience + 2 * AFTER_INTERRUPT)
        try:
            async with clock:
                await self.async_execute_cell(cell, index, store_history=True)
        except DeadKernelError as error:
            if clock.expired():  # messages without end kept nbclient from looking at its own, or one was lost
                return await self._silent(cell)
            excess = self._excess()
            if self.handle is not None and self.handle.lost:
                raise KernelFault("the process that keeps the kernel ended") from error
            if excess is None and self._was_killed() and out_of_memory() > self._out_of_memory:
                raise KernelFault("the machine ran out of memory while the kernel was killed") from error
            return self._cut_by(cell, excess)
        except TimeoutError:
            return await self._silent(cell)
        except Exception as error:  # a kernel can send anything: an output that cannot be read is the cell's fault
            if not self._flooded:
                return self._cut(cell, type(error).__name__, "an output of this cell could not be read", kind="error")
        if self._timed_out:
            return CellEnd("time", "CellTimeoutError", f"no end after {self._get_timeout(cell):g} seconds")
        excess = self._excess()
        if excess is not None and excess.what == "cpu":
            return self._cut(cell, "CellTimeoutError", f"the cell {excess.sentence()}")
        if self._flooded:
            return self._too_much(cell)
        if cell.outputs and not _can_be_saved(cell):
            cell.outputs, cell.execution_count = [], None
            return self._cut(cell, "OutputLimit", "an output of this cell could not be read", "error")
        told = next((output for output in cell.outputs if output.output_type == "error"), None)
        return CellEnd() if told is None else CellEnd("error", told.ename, told.evalue)

    def _mend(self) -> None:
        """Drop what no file can hold: a kernel can change outputs of earlier cells, and say anything of widgets."""
        if _is_whole(self.nb):
            return
        self.nb.metadata.pop("widgets", None)
        for cell in self.nb.cells:
            if cell.cell_type == "code" and not _can_be_saved(cell):
                cell.outputs, cell.execution_count = [], None
                self._cut(cell, "OutputLimit", "an output of this cell could not be read", "error")

    def _was_killed(self) -> bool:
        return self.handle is not None and self.handle.returncode == -signal.SIGKILL

    def _excess(self) -> Excess | None:
        if self.handle is None:
            return None
        self.handle.poll()
        return self.handle.excess

    def _cut_by(self, cell: NotebookNode, excess: Excess | None) -> CellEnd:
        """The kernel is gone: because it used too much, or by its own doing."""
        if excess is None:
            return self._cut(cell, "DeadKernelError", "the notebook's process ended", "died")
        kind = {"cpu": "time", "memory": "memory"}.get(excess.what, "died")
        ename = "Unresponsive" if kind == "time" else LIMIT
        return self._cut(cell, ename, f"the notebook {excess.sentence()}", kind)

    async def _silent(self, cell: NotebookNode) -> CellEnd:
        """No end of the cell was heard: it was lost with a message that is too large, or the kernel does not answer."""
        if self._cut_off:
            with contextlib.suppress(RuntimeError):
                await self._acquaint(AFTER_INTERRUPT)
                return self._too_much(cell)
        return self._not_answering(cell)

    def _too_much(self, cell: NotebookNode) -> CellEnd:
        return self._cut(cell, "OutputLimit", f"the cell printed more than {_millions(self.limits.output)}", "error")

    def _not_answering(self, cell: NotebookNode) -> CellEnd:
        return self._cut(cell, "Unresponsive", "the kernel did not answer, and could not be interrupted")

    def _cut(self, cell: NotebookNode, ename: str, evalue: str, kind: Any = "time") -> CellEnd:
        """End a cell with an error output, which is worth nothing to nbgrader."""
        red = f"\x1b[0;31m{ename}\x1b[0m: {evalue}"
        cell.outputs.append(NotebookNode(output_type="error", ename=ename, evalue=evalue, traceback=[red]))
        return CellEnd(kind, ename, evalue)

    def _get_timeout(self, cell: NotebookNode | None) -> Any:
        if cell is None:
            return self.startup_timeout
        limits = [self.limits.of(self._index)]
        if self._deadline is not None:
            limits.append(max(0.1, self._deadline - time.monotonic()))
        return min((limit for limit in limits if limit), default=None)

    async def _async_poll_kernel_alive(self) -> None:
        """Look whether the kernel lives; nbclient forgets to end this where an output of the cell cannot be read."""
        if (looking := asyncio.current_task()) is not None:
            self._beside.append(looking)
        await super()._async_poll_kernel_alive()

    async def _async_handle_timeout(self, timeout: Any, cell: NotebookNode | None = None) -> Any:
        self._timed_out = True
        self.iopub_timeout = min(self.patience, AFTER_INTERRUPT)
        return await super()._async_handle_timeout(timeout, cell)

    def process_message(self, msg: dict, cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """Keep what a kernel sends as long as it is not too much: outputs, changes to earlier ones, widgets."""
        if msg["msg_type"] not in ("status", "execute_input") or isinstance(msg["content"], bytes):
            size = _size(msg["content"]) + sum(map(len, msg.get("buffers", ())))
            if self._kept + size > self.limits.output or self._printed + size > MOST_CELLS_FULL * self.limits.output:
                self._stop_flood()
                return None
            self._kept, self._printed = self._kept + size, self._printed + size
        return super().process_message(msg, cell, cell_index)

    def _stop_flood(self) -> None:
        """The cell sends too much: it may end by itself, and is interrupted soon."""
        if not self._flooded:
            self._flooded = True
            self._brake = self._loop.call_later(LAST_WORDS, self.interrupt)

    async def _listen(self, socket: Any) -> None:
        """Notice when a message above `LARGEST_MESSAGE` ends a connection, and make it again.

        Lost is also what the kernel says meanwhile, perhaps that its cell came to an end: it is not waited for long.
        """
        monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        try:
            while True:
                address = parse_monitor_message(await monitor.recv_multipart())["endpoint"].decode()
                await renew(socket, address)
                if self._clock is None or self._cut_off:
                    continue
                self._stop_flood()
                self._cut_off, self.iopub_timeout = True, min(self.patience, AFTER_INTERRUPT)
                last = self._loop.time() + LAST_WORDS + AFTER_INTERRUPT
                with contextlib.suppress(RuntimeError):  # the cell came to its end just now
                    self._clock.reschedule(min(last, self._clock.when() or last))
        finally:
            socket.disable_monitor()
            monitor.close(linger=0)

    async def _start(self) -> None:
        try:
            self.km = self.create_kernel_manager()
            if os.name == "posix":
                self.km.transport, self.km.ip = "ipc", str(self.sockets / "k")
            self.km.connection_file = str(self.sockets / "kernel.json")
            assert self.km.kernel_spec is not None
            self._confine(self.km.kernel_spec)
            await self.async_start_new_kernel(
                env=self.order.environment, cwd=self.order.folder, stdout=DEVNULL, stderr=DEVNULL
            )
            provisioner: Any = self.km.provisioner
            self.why_cold, self._group = provisioner.why_cold, getattr(provisioner, "pgid", None)
            self.handle = provisioner.process if isinstance(provisioner.process, Handle) else None
            await self._meet()
            if self.order.confines.gpu:
                await self._demand_accelerator()
            if self.nb.metadata["language_info"].get("name") == "python":
                self._tell(OUTLIVE_EXIT)
            if "COURSE_JUDGE" in self.order.environment:
                self._tell(GIVEN)
        except Exception as error:
            raise KernelFault(f"the kernel did not start: {told(error) or f'{error}{self._complaint()}'}") from error

    def _complaint(self) -> str:
        """The last thing the kernel wrote down, if anything."""
        with contextlib.suppress(OSError):
            lines = (self.sockets / LOG).read_text(errors="replace").strip().splitlines()
            return f" ({lines[-1][:200]})" if lines else ""
        return ""

    def _confine(self, spec: KernelSpec) -> None:
        spec.metadata["kernel_provisioner"] = {"provisioner_name": CONFINED, "config": {"order": self.order}}

    async def _meet(self) -> None:
        """Ask the kernel who it is until both of its channels answer: nothing it prints later can be missed.

        What it says of its first questions to all listeners is often lost, as listening takes a moment to begin: it is
        asked again soon.
        """
        assert self.km is not None
        self.kc = self.km.client()
        self.kc.session = _Session(key=self.kc.session.key, most=self.limits.output)
        self.kc.context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        self.kc.context.setsockopt(zmq.RCVHWM, MOST_WAITING)
        self.kc.context.setsockopt(zmq.RECONNECT_IVL, SOON)
        self.kc.start_channels()
        self.kc.allow_stdin = False
        language = await self._acquaint(self.startup_timeout)
        self.nb.metadata["language_info"] = language["content"]["language_info"]
        channels: list[Any] = [self.kc.shell_channel, self.kc.iopub_channel]
        self._beside += [asyncio.create_task(self._listen(channel.socket)) for channel in channels]

    async def _acquaint(self, seconds: float) -> dict[str, Any]:
        """What the kernel says of itself, when both of its channels have answered.

        Raises:
            RuntimeError: it ended, or does not answer within so many seconds.
        """
        assert self.km is not None and self.kc is not None
        deadline = time.monotonic() + seconds
        language = heard = None
        while language is None or heard is None:
            if time.monotonic() > deadline or not await ensure_async(self.km.is_alive()):
                raise RuntimeError("it ended" if time.monotonic() < deadline else "it does not answer")
            asked = self.kc.kernel_info()
            language = await self._answer(self.kc.shell_channel, asked, "kernel_info_reply", 1.0) or language
            heard = await self._answer(self.kc.iopub_channel, asked, "status", 0.05)
        return language

    async def _demand_accelerator(self) -> None:
        """Never a silent run on the processor where an accelerator was asked for."""
        assert self.kc is not None
        asked = self.kc.execute("", silent=True, user_expressions={"found": ACCELERATOR})
        reply = await self.async_wait_for_reply(asked)
        found = reply["content"].get("user_expressions", {}).get("found", {}) if reply else {}
        if found.get("data", {}).get("text/plain") != "True":
            raise RuntimeError("an accelerator is asked for, and the notebook sees none")

    @staticmethod
    async def _answer(channel: Any, asked: str, kind: str, seconds: float) -> dict[str, Any] | None:
        """The message of that kind that answers `asked`, if it comes within so many seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            try:
                message = await ensure_async(channel.get_msg(timeout=left))
            except Empty:
                return None
            if message["msg_type"] == kind and message["parent_header"].get("msg_id") == asked:
                return message
        return None

    async def _stop(self) -> None:
        """Kill the kernel with all it started."""
        if self.km is None:
            return
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)
        self.shutdown_kernel = "immediate"
        with contextlib.suppress(Exception):
            await self._async_cleanup_kernel()
        if self._group:
            with contextlib.suppress(OSError):
                os.killpg(self._group, signal.SIGKILL)


async def renew(socket: Any, address: str) -> None:
    """Make a connection again, once all that came over the last one is read.

    What is not read is lost with the old connection, and libzmq ends the whole process where it has begun to look at a
    message of which the rest is lost.
    """
    while socket.get(zmq.EVENTS) & zmq.POLLIN:
        await asyncio.sleep(READING)
    with contextlib.suppress(zmq.ZMQError):
        socket.disconnect(address)
    socket.connect(address)


NOT_RUN = new_output(
    "display_data",
    {
        "text/plain": "(not run for grading: no check depends on this cell)",
        "text/markdown": "*Not run for grading: no check depends on this cell.*",
    },
)
"""What stands below a cell that was left out."""

MOST_CELLS_FULL = 4
"""A notebook may print as much as that many cells."""

LARGEST_MESSAGE = 64 * 2**20
"""Bytes of a kernel's message: a larger one ends the connection, which is made again, and so its cell. A kernel sends
five times a second what was printed meanwhile; messages of some megabytes arrive, and are not read."""

MOST_WAITING = 32
"""Messages of a kernel that wait to be read: with their size, this bounds what a flood takes of the grader's memory."""

SOON = 5
"""Milliseconds until a channel that finds nobody is tried again: by default it is a tenth of a second, twice what a
kernel takes to be there."""

READING = 0.01
"""Seconds until it is asked again whether all that came is read."""

BOX = 100
"""Characters that a list or a dict counts for, as empty ones take most: two kilobytes while a notebook is written."""


class _Session(Session):
    """Leaves a message's content of more than `most` bytes as bytes: reading it takes thirty times its size."""

    most = Int()

    def deserialize(self, msg_list: Any, content: bool = True, copy: bool = True) -> dict[str, Any]:
        """A message from its parts: a signature, three headers, the content, and what else there is.

        Raises:
            ValueError: its headers are larger than any content may be.
        """
        if sum(map(len, msg_list[1:4])) > self.most:
            raise ValueError("the headers of a message are too large")
        return super().deserialize(msg_list, content and sum(map(len, msg_list[4:5])) <= self.most, copy)


def out_of_memory() -> int:
    """How many processes this machine has killed since it was started because its memory ran out; 0 if it cannot say.

    Whose they were is not told. A notebook that kills itself just then is executed again, which does it no good.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _tell_error(cell: NotebookNode, execute_reply: dict[str, Any], **_: Any) -> None:
    """Give a cell the error of its reply, where none of its outputs tells it: one after a timeout does not."""
    reply = execute_reply["content"]
    if reply["status"] != "error" or reply["ename"] in {output.get("ename") for output in cell.outputs}:
        return
    traceback = reply["traceback"] or [f"{reply['ename']}: the notebook has turned tracebacks off"]
    cell.outputs.append(
        NotebookNode(output_type="error", ename=reply["ename"], evalue=reply["evalue"], traceback=traceback)
    )


AS_NBGRADER: dict[str, Any] = {
    "allow_errors": True,
    "interrupt_on_timeout": True,
    "raise_on_iopub_timeout": True,
    "error_on_timeout": {
        "ename": "CellTimeoutError",
        "evalue": "",
        "traceback": ["\x1b[0;31mCellTimeoutError\x1b[0m: the cell did not come to an end in time"],
    },
    "on_cell_executed": _tell_error,
}
"""How nbgrader has notebooks executed, where nobody says otherwise."""


def _can_be_saved(cell: NotebookNode) -> bool:
    """Whether what the kernel sent makes a notebook that others can read: a kernel can send anything."""
    nb = from_dict({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [{**cell}]})
    nb.cells[0].pop("id", None)
    return _is_whole(nb)


def _is_whole(nb: NotebookNode) -> bool:
    try:
        validate(nb)
        return depth(nb) <= MOST_NESTED and bool(notebook_bytes(nb))
    except (ValidationError, ValueError, TypeError, RecursionError):
        return False


def _millions(count: int) -> str:
    return f"{count / 1e6:.1f} million characters"


def _size(value: Any) -> int:
    """About how many characters an output holds."""
    if isinstance(value, dict):
        return BOX + sum(_size(key) + _size(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return BOX + sum(map(_size, value))
    return 8 + len(value) if isinstance(value, str | bytes) else 8
