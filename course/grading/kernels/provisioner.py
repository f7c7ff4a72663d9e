"""Start confined kernels for Jupyter's client: the provisioner `course-confined`, which forks them if it can."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Any as AnyTrait
from traitlets import Bool, Unicode

from course.grading.kernels.protocol import Order
from course.grading.kernels.zygote_client import Handle, NoKernel, cold_kernel, zygote_for

NAME = "course-confined"
LAUNCHER = "ipykernel_launcher"

COLD = "import sys; sys.path.remove(''); from course.grading.kernels.become_kernel import launch; launch(sys.argv[1:])"
"""The program of a kernel that is not forked. It imports nothing from the notebook's folder, although cells may."""


class ConfinedProvisioner(LocalProvisioner):
    """A provisioner of kernels in a sandbox, forked from a zygote or, if that fails, started as a new program.

    `order` describes the sandbox. Without one, this is Jupyter's local provisioner.
    """

    order: Any = AnyTrait(None, allow_none=True)
    warm = Bool(True, config=True, help="Whether to fork kernels from a zygote.")
    why_cold = Unicode("", help="Why the kernel was not forked.")

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel as `order` says, or as Jupyter does without an order or on systems other than Linux.

        Raises:
            NoKernel: the kernel can neither be forked nor started as a program.
        """
        if self.order is None or not sys.platform.startswith("linux"):
            self.why_cold = "kernels are forked on Linux only"
            return await super().launch_kernel(cmd, **kwargs)
        handle = self._start(replace(self.order, environment=kwargs["env"]), cmd)
        self.process, self.pid = handle, handle.pid  # type: ignore[assignment]
        return self.connection_info

    def _start(self, order: Order, cmd: list[str]) -> Handle:
        ours = cmd[0] == sys.executable and LAUNCHER in cmd
        arguments = tuple(cmd[cmd.index(LAUNCHER) + 1 :]) if ours else ()
        if self.warm and ours:
            try:
                return zygote_for(order.environment).kernel(replace(order, arguments=arguments))
            except NoKernel as reason:
                self.why_cold = str(reason)
        if ours:
            cmd = [sys.executable, "-c", COLD, *arguments]
        return cold_kernel(replace(order, command=tuple(cmd)))

    async def kill(self, restart: bool = False) -> None:
        """Kill the kernel and all processes that it started."""
        if isinstance(self.process, Handle):
            self.process.kill()
        else:
            await super().kill(restart)
