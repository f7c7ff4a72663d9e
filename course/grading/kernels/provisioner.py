"""How Jupyter's client gets a confined kernel: the provisioner `course-confined`, warm where it can be."""

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
"""A kernel as a program: nothing it imports comes from the notebook's folder, which its cells may import from."""


class ConfinedProvisioner(LocalProvisioner):
    """Starts kernels in a sandbox: forked from a zygote, or, where that fails, as programs of their own.

    What confines them is in `order`; without one this is Jupyter's own local provisioner.
    """

    order: Any = AnyTrait(None, allow_none=True)
    warm = Bool(True, config=True, help="Whether to fork kernels from a zygote.")
    why_cold = Unicode("", help="Why the kernel was not forked.")

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Start a kernel, or the order's substitute for it.

        Raises:
            NoKernel: neither way works.
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
        """Take the kernel down with everything it started."""
        if isinstance(self.process, Handle):
            self.process.kill()
        else:
            await super().kill(restart)
