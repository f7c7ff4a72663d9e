"""Runs the cells of one notebook in a kernel of its own, and never longer than allowed.

It is nbgrader's `Execute` underneath, so cells that are no exercise of ours get the outputs, and so the scores,
that nbgrader would give them. Three things differ: a kernel that dies or does not answer ends the notebook without
losing the cells before, graded cells cannot be skipped by a tag, and a cell cannot fill the disk by printing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from typing import Any, Literal

from jupyter_core.utils import run_sync
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbclient.util import ensure_async
from nbformat import NotebookNode
from nbformat.v4 import output_from_msg
from nbgrader.preprocessors import Execute

from course.grading.task import Limits

AFTER_INTERRUPT = 4.0
"""Seconds an interrupted cell gets to come to an end before its kernel is killed: nbclient's own `iopub_timeout`."""

PRINTED = 4 * 2**20
"""Characters of text and pictures kept of one cell; four times a large figure."""


class KernelFault(Exception):
    """The kernel could not be started: nothing the student did."""


@dataclass(frozen=True)
class CellEnd:
    """How a cell came to its end: `time` when it was interrupted or never answered, `died` with its kernel."""

    kind: Literal["done", "error", "time", "died"] = "done"
    ename: str = ""
    evalue: str = ""

    @property
    def over(self) -> bool:
        """Whether the notebook ended with the cell."""
        return self.kind == "died" or self.ename == "Unresponsive"


class NotebookRun(Execute):
    """One execution of `nb`: `run()` fills in its cells' outputs.

    Args:
        nb: the notebook; changed in place.
        limits: how long things may take.
        environment: of the kernel's process.
        folder: the kernel's working folder.
        sockets: a private folder with a short path, for the kernel's connection.
        enter, leave: called around every code cell with its index; `leave` also gets how the cell ended.
        traits: of nbgrader's `Execute`.
    """

    def __init__(
        self,
        nb: NotebookNode,
        *,
        limits: Limits,
        environment: dict[str, str],
        folder: Path,
        sockets: Path,
        enter: Callable[[int], None],
        leave: Callable[[int, CellEnd], None],
        **traits: Any,
    ) -> None:
        traits.setdefault("store_widget_state", False)
        super().__init__(**traits)
        self.nb = nb
        self.limits, self.environment, self.folder, self.sockets = limits, environment, folder, sockets
        self.enter, self.leave = enter, leave
        self.patience: float = self.iopub_timeout
        self._group: int | None = None

    def run(self) -> None:
        """Execute the cells in order until the last, or until the kernel is gone or the notebook's time is up.

        Raises:
            KernelFault: the kernel did not start.
        """
        run_sync(self._run)()

    def interrupt(self) -> None:
        """Interrupt what the kernel is doing; callable from any thread."""
        if self.km is not None:
            asyncio.run_coroutine_threadsafe(ensure_async(self.km.interrupt_kernel()), self._loop)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._deadline = None if self.limits.notebook is None else time.monotonic() + self.limits.notebook
        self.reset_execution_trackers()
        try:
            await self._start()
            await self._cells()
            self.set_widgets_metadata()
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
        self.enter(index)
        self._index, self._timed_out, self._kept = index, False, 0
        self.iopub_timeout = self.patience
        end = CellEnd("died")
        try:
            end = await self._execute(index, cell)
        finally:
            self.leave(index, end)
        return end

    async def _execute(self, index: int, cell: NotebookNode) -> CellEnd:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return self._cut(cell, "Unresponsive", f"the notebook's {self.limits.notebook:g} seconds were used up")
        try:
            await self.async_execute_cell(cell, index, store_history=True)
        except DeadKernelError:
            return self._cut(cell, "DeadKernelError", "the notebook's process ended", kind="died")
        except CellTimeoutError:
            return self._cut(cell, "Unresponsive", "the kernel did not answer, and could not be interrupted")
        except Exception as error:  # a kernel can send anything: an output that cannot be read is the cell's fault
            return self._cut(cell, type(error).__name__, "an output of this cell could not be read", kind="error")
        if self._timed_out:
            return CellEnd("time", "CellTimeoutError", f"no end after {self._get_timeout(cell):g} seconds")
        told = next((output for output in cell.outputs if output.output_type == "error"), None)
        return CellEnd() if told is None else CellEnd("error", told.ename, told.evalue)

    def _cut(self, cell: NotebookNode, ename: str, evalue: str, kind: Any = "time") -> CellEnd:
        """End a cell with an error output, which is worth nothing to nbgrader."""
        red = f"\x1b[0;31m{ename}\x1b[0m: {evalue}"
        cell.outputs.append(NotebookNode(output_type="error", ename=ename, evalue=evalue, traceback=[red]))
        return CellEnd(kind, ename, evalue)

    def _get_timeout(self, cell: NotebookNode | None) -> float | None:
        if cell is None:
            return self.startup_timeout
        limits = [self.limits.of(self._index)]
        if self._deadline is not None:
            limits.append(max(0.1, self._deadline - time.monotonic()))
        return min((limit for limit in limits if limit), default=None)

    async def _async_handle_timeout(self, timeout: float, cell: NotebookNode | None = None) -> Any:
        self._timed_out = True
        self.iopub_timeout = min(self.patience, AFTER_INTERRUPT)
        return await super()._async_handle_timeout(timeout, cell)

    def output(self, outs: list, msg: dict, display_id: str | None, cell_index: int) -> NotebookNode | None:
        if msg["msg_type"] in ("stream", "display_data"):
            self._kept += _size(output_from_msg(msg))
            if self._kept > PRINTED:
                return None
        return super().output(outs, msg, display_id, cell_index)

    async def _start(self) -> None:
        try:
            self.km = self.create_kernel_manager()
            if os.name == "posix":
                self.km.transport, self.km.ip = "ipc", str(self.sockets / "k")
            self.km.connection_file = str(self.sockets / "kernel.json")
            await self.async_start_new_kernel(
                env=self.environment, cwd=str(self.folder), stdout=DEVNULL, stderr=DEVNULL
            )
            self._group = getattr(self.km.provisioner, "pgid", None)
            await self.async_start_new_kernel_client()
            information = await self.async_wait_for_reply(await ensure_async(self.kc.kernel_info()))
            self.nb.metadata["language_info"] = information["content"]["language_info"]
        except Exception as error:
            raise KernelFault(f"the kernel did not start: {error}") from error

    async def _stop(self) -> None:
        """Kill the kernel with all it started in its process group."""
        if self.km is None:
            return
        self.shutdown_kernel = "immediate"
        with contextlib.suppress(Exception):
            await self._async_cleanup_kernel()
        if self._group:
            with contextlib.suppress(OSError):
                os.killpg(self._group, signal.SIGKILL)


def _size(value: Any) -> int:
    """About how many characters an output holds."""
    if isinstance(value, dict):
        return sum(_size(part) for part in value.values())
    if isinstance(value, list | tuple):
        return sum(_size(part) for part in value)
    return len(value) if isinstance(value, str | bytes) else 8
