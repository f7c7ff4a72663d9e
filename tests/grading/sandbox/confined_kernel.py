"""A kernel in every confinement there is: `python confined_kernel.py CONNECTION_FILE WRITABLE READABLE...`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from course.grading.kernels.no_network_sockets import without_tcp, without_terminals
from course.grading.sandbox import capabilities, landlock, rlimits, seccomp

GIGABYTE = 2**30


def main(connection: str, writable: str, *readable: str) -> None:
    """Import what a zygote imports, be confined, become the kernel."""
    import torch
    from ipykernel.kernelapp import IPKernelApp

    torch.set_num_threads(1)
    without_tcp()
    without_terminals()
    os.setsid()
    rlimits.apply(3 * GIGABYTE, 120, GIGABYTE // 4, None)
    landlock.restrict(map(Path, readable), [Path(writable)])
    capabilities.drop()
    seccomp.refuse(landlock=landlock.abi())
    IPKernelApp.launch_instance(["-f", connection, "--HistoryManager.enabled=False"])


if __name__ == "__main__":
    main(*sys.argv[1:])
