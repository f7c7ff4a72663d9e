"""Run the cells of one notebook in a confined kernel, within its time limits.

nbclient does the work with nbgrader's settings, so cells that are no exercise of the course get the outputs, and
therefore the scores, that nbgrader would give them. Four things differ. A kernel that dies or hangs ends the notebook
but keeps the outputs of earlier cells. Tags cannot skip graded cells. A cell's output is limited. Cells that need not
run are skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from jupyter_client.kernelspec import KernelSpec
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.client import timestamp
from nbclient.exceptions import DeadKernelError
from nbclient.util import ensure_async
from nbformat import NotebookNode

from course.grading.execution.cell_end import (
    UNREADABLE,
    CellEnd,
    KernelFault,
    cut,
    cut_by,
    printed_too_much,
    skipped,
    unreadable,
)
from course.grading.execution.kernel_connection import (
    complaint,
    demand_accelerator,
    keep_connected,
    kernel_info,
    open_channels,
)
from course.grading.execution.limits import MOST_CELLS_FULL, can_be_saved, is_whole, output_size
from course.grading.execution.task import Limits
from course.grading.kernels.protocol import BUSY_SINCE, Order
from course.grading.kernels.provisioner import NAME as CONFINED
from course.grading.kernels.resource_watch import Excess, data_of
from course.grading.kernels.zygote_client import Handle
from course.grading.machine.faults import advice_for, out_of_memory
from course.notebook.while_graded import asking


def _tell_error(cell: NotebookNode, execute_reply: dict[str, Any], **_: Any) -> None:
    """Add the error of a cell's reply to its outputs if they lack it, as they do after a timeout."""
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
"""The traits that nbgrader sets on nbclient's client by default."""


AFTER_INTERRUPT = 4
"""Seconds an interrupted cell has to end before its kernel is killed: nbclient's default `iopub_timeout`."""

LAST_WORDS = 1.0
"""Seconds until a cell that printed too much is interrupted. It may end by itself before, because an interrupt just as
a cell ends can lose the kernel's reply, and then the reply is waited for in vain."""

GIVEN = "from course import check, fit, hint, predict, rubric"
"""Names that a student's cells may call without importing them."""

BEGIN, LEND = asking("begin"), asking("lend")
"""Code run before the first cell, so that a cell that changes its kernel does not break later cells."""


class NotebookRun(NotebookClient):
    """One execution of `nb`: `run()` fills in its cells' outputs.

    Args:
        nb: the notebook; changed in place.
        limits: of time, output and resources.
        order: the kernel's sandbox, working folder and environment.
        sockets: a private folder with a short path, for the kernel's connection.
        skip: the indices of cells that are not run.
        enter, leave: called around every code cell with its index; `leave` also gets how the cell ended.
        traits: of nbclient's `NotebookClient`, which override those that nbgrader sets.
    """

    def __init__(
        self,
        nb: NotebookNode,
        *,
        limits: Limits,
        order: Order,
        sockets: Path,
        skip: Collection[int] = (),
        enter: Callable[[int], None],
        leave: Callable[[int, CellEnd], None],
        **traits: Any,
    ) -> None:
        super().__init__(nb, **{**AS_NBGRADER, "store_widget_state": False, **traits})
        self.limits, self.order, self.sockets, self.skip = limits, order, sockets, skip
        self.enter, self.leave = enter, leave
        self.patience = self.iopub_timeout
        self.why_cold = ""
        self.handle: Handle | None = None
        self._group: int | None = None
        self._printed = 0
        self._beside: list[asyncio.Task[None]] = []  # background tasks while cells run
        self._clock: asyncio.Timeout | None = None
        self._brake: asyncio.TimerHandle | None = None

    def run(self) -> None:
        """Execute the cells in order until the last, or until the kernel is gone or the notebook's time is up.

        Raises:
            KernelFault: the kernel did not start, or was lost.
        """
        run_sync(self._run)()

    def interrupt(self) -> None:
        """Interrupt the kernel. This may be called from any thread."""
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
                await demand_accelerator(self)
            self._begin()
        except Exception as error:
            raise KernelFault(
                f"the kernel did not start: {advice_for(error) or f'{error}{complaint(self.sockets)}'}"
            ) from error

    def _begin(self) -> None:
        """Send the kernel the code that prepares it for grading, without waiting for the reply."""
        assert self.kc is not None
        said = [BEGIN] if self.nb.metadata["language_info"].get("name") == "python" else []
        if "COURSE_JUDGE" in self.order.environment:
            said += [GIVEN, LEND]
        if said:
            self.kc.execute("\n".join(said), silent=True, stop_on_error=False)

    def _confine(self, spec: KernelSpec) -> None:
        spec.metadata["kernel_provisioner"] = {"provisioner_name": CONFINED, "config": {"order": self.order}}

    async def _meet(self) -> None:
        """Ask the kernel for its language, then watch both channels for lost connections."""
        assert self.km is not None
        self.kc = self.km.client()
        open_channels(self.kc, self.limits.output)
        language = await kernel_info(self.km, self.kc, self.startup_timeout)
        self.nb.metadata["language_info"] = language["content"]["language_info"]
        channels: list[Any] = [self.kc.shell_channel, self.kc.iopub_channel]
        watches = [keep_connected(channel.socket, self._lost_connection) for channel in channels]
        self._beside += [asyncio.create_task(watch) for watch in watches]

    async def _cells(self) -> None:
        """Execute the cells. Those not reached get an error, because nbgrader would give them full marks."""
        over = False
        for index, cell in enumerate(self.nb.cells):
            if cell.cell_type != "code":
                continue
            if over:
                cell.outputs, cell.execution_count = [], None
                cut(cell, "NotReached", "the notebook ended before this cell")
            else:
                over = (await self._cell(index, cell)).over

    async def _cell(self, index: int, cell: NotebookNode) -> CellEnd:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.pop("tags", None)
        cell.outputs, cell.execution_count = [], None
        if index in self.skip:
            return skipped(cell)
        self.enter(index)
        self._index, self._timed_out, self._kept, self._flooded = index, False, 0, False
        self._cut_off = False
        if self.handle is not None:
            self.handle.cell(self.limits.of(index))
        self.iopub_timeout = self.patience
        end, before = CellEnd("died"), self._data()
        try:
            end = await self._execute(index, cell)
        finally:
            self._clock = None
            if self._brake is not None:
                self._brake.cancel()
            self.leave(index, replace(end, kept=self._data() - before))
        return end

    def _data(self) -> int:
        """Return the bytes of the kernel's data segment and shared memory, or 0 if the process is unknown."""
        return 0 if self.handle is None else data_of(self.handle.pid)

    async def _execute(self, index: int, cell: NotebookNode) -> CellEnd:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            return cut(cell, "Unresponsive", f"the notebook's {self.limits.notebook:g} seconds are used up")
        limit = self._get_timeout(cell)
        self._clock = clock = asyncio.timeout(None if limit is None else limit + self.patience + 2 * AFTER_INTERRUPT)
        try:
            async with clock:
                await self.async_execute_cell(cell, index, store_history=True)
        except DeadKernelError as error:
            if clock.expired():  # a flood of messages blocked nbclient's own timeout, or one was lost
                return await self._silent(cell)
            return self._on_kernel_death(cell, error)
        except TimeoutError:
            return await self._silent(cell)
        except Exception as error:  # noqa: BLE001 - a kernel can send unreadable outputs
            if not self._flooded:
                return cut(cell, type(error).__name__, UNREADABLE, kind="error")
        return self._classify_reply(cell)

    async def _silent(self, cell: NotebookNode) -> CellEnd:
        """End a cell without a reply: the reply was lost with a message that is too large, or the kernel hangs."""
        if self._cut_off:
            with contextlib.suppress(RuntimeError):
                await kernel_info(self.km, self.kc, AFTER_INTERRUPT)
                return printed_too_much(cell, self.limits.output)
        return cut(cell, "Unresponsive", "the kernel did not answer, and could not be interrupted")

    def _on_kernel_death(self, cell: NotebookNode, error: DeadKernelError) -> CellEnd:
        """End a cell whose kernel ended.

        Raises:
            KernelFault: the supervisor ended, or the machine ran out of memory.
        """
        excess = self._excess()
        if self.handle is not None and self.handle.lost:
            raise KernelFault("the kernel's supervisor ended") from error
        if excess is None and self._was_killed() and out_of_memory() > self._out_of_memory:
            raise KernelFault("the machine ran out of memory while the kernel was killed") from error
        return cut_by(cell, excess)

    def _was_killed(self) -> bool:
        return self.handle is not None and self.handle.returncode == -signal.SIGKILL

    def _excess(self) -> Excess | None:
        if self.handle is None:
            return None
        self.handle.poll()
        return self.handle.excess

    def _classify_reply(self, cell: NotebookNode) -> CellEnd:
        """Return how a cell ended that has a reply or that sent too much, by its timeout, limits and outputs."""
        if self._timed_out:
            return CellEnd("time", "CellTimeoutError", f"no end after {self._get_timeout(cell):g} seconds")
        excess = self._excess()
        if excess is not None and excess.what == "cpu":
            return cut(cell, "CellTimeoutError", f"the cell {excess.sentence()}")
        if self._flooded:
            return printed_too_much(cell, self.limits.output)
        if cell.outputs and not can_be_saved(cell):
            return unreadable(cell)
        error = next((output for output in cell.outputs if output.output_type == "error"), None)
        return CellEnd() if error is None else CellEnd("error", error.ename, error.evalue)

    def _mend(self) -> None:
        """Drop what cannot be saved: a kernel can change outputs of earlier cells and send any widget state."""
        if is_whole(self.nb):
            return
        self.nb.metadata.pop("widgets", None)
        for cell in self.nb.cells:
            if cell.cell_type == "code" and not can_be_saved(cell):
                unreadable(cell)

    async def _stop(self) -> None:
        """Kill the kernel and all processes that it started."""
        if self.km is None:
            return
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)
        self.shutdown_kernel = "immediate"
        with contextlib.suppress(Exception):
            if self.handle is not None:
                self.handle.kill()  # jupyter's own kill sleeps afterwards
            await self._async_cleanup_kernel()
        if self._group:
            with contextlib.suppress(OSError):
                os.killpg(self._group, signal.SIGKILL)

    def _get_timeout(self, cell: NotebookNode | None) -> Any:
        if cell is None:
            return self.startup_timeout
        limits = [self.limits.of(self._index)]
        if self._deadline is not None:
            limits.append(max(0.1, self._deadline - time.monotonic()))
        return min((limit for limit in limits if limit), default=None)

    async def _async_poll_kernel_alive(self) -> None:
        """Poll whether the kernel lives, in a task for `_stop` to cancel: nbclient forgets it after some errors."""
        if (looking := asyncio.current_task()) is not None:
            self._beside.append(looking)
        await super()._async_poll_kernel_alive()

    async def _async_handle_timeout(self, timeout: Any, cell: NotebookNode | None = None) -> Any:
        self._timed_out = True
        self.iopub_timeout = min(self.patience, AFTER_INTERRUPT)
        return await super()._async_handle_timeout(timeout, cell)

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> NotebookNode | None:
        """Process outputs, changes to earlier outputs and widgets, up to the limits of the cell and the notebook."""
        if msg["msg_type"] not in ("status", "execute_input") or isinstance(msg["content"], bytes):
            size = output_size(msg["content"]) + sum(map(len, msg.get("buffers", ())))
            if self._kept + size > self.limits.output or self._printed + size > MOST_CELLS_FULL * self.limits.output:
                self._stop_flood()
                return None
            self._kept, self._printed = self._kept + size, self._printed + size
        if msg["msg_type"] == "execute_input" and self.record_timing:
            self._note_begin(cell, msg["metadata"].get(BUSY_SINCE))
        return super().process_message(msg, cell, cell_index)

    def _note_begin(self, cell: NotebookNode, since: object) -> None:
        """Record when a cell began, which our kernel sends in the metadata of the cell's `execute_input`."""
        with contextlib.suppress(ValueError):
            if isinstance(since, str):
                began = {"header": {"date": datetime.fromisoformat(since)}}
                cell.metadata.execution["iopub.status.busy"] = timestamp(began)

    def _stop_flood(self) -> None:
        """Mark the cell as one that sent too much, and interrupt it after `LAST_WORDS` seconds."""
        if not self._flooded:
            self._flooded = True
            self._brake = self._loop.call_later(LAST_WORDS, self.interrupt)

    def _lost_connection(self) -> None:
        """Shorten the wait for a cell after a message that was too large closed a connection, which is open again.

        Messages sent meanwhile are lost, perhaps the cell's reply among them.
        """
        if self._clock is None or self._cut_off:
            return
        self._stop_flood()
        self._cut_off, self.iopub_timeout = True, min(self.patience, AFTER_INTERRUPT)
        last = self._loop.time() + LAST_WORDS + AFTER_INTERRUPT
        with contextlib.suppress(RuntimeError):  # the cell has just ended
            self._clock.reschedule(min(last, self._clock.when() or last))
