"""ipykernel's application, begun without what a fork of the zygote would pay for and never uses.

Every object that a fork looks at is a page of the zygote's memory copied. Two steps of ipykernel's look at thousands,
more than half of what a kernel copies before its first cell: one lists the files of all modules, for a debugger, the
other all the settings of all classes, to know a command line's short names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ipykernel import ipkernel
from ipykernel.kernelapp import IPKernelApp
from traitlets.config.loader import KVArgParseConfigLoader

USUAL = re.compile(r"--HistoryManager\.(enabled|hist_file)=")
"""What nbclient, and we, ask of a kernel beside the file of its connection."""


class Application(IPKernelApp):
    """ipykernel's application, which reads the usual command lines without learning all others."""

    def parse_command_line(self, argv: Any = None) -> None:
        """Take settings from `argv`: a connection's file and what history is kept; anything else as ipykernel does."""
        if not argv or argv[0] != "-f" or not all(map(USUAL.match, argv[2:])):
            super().parse_command_line(argv)
            return
        self.argv = list(argv)
        loader = KVArgParseConfigLoader(self.argv, aliases={"f": "IPKernelApp.connection_file"}, flags={})
        self.cli_config = loader.load_config()
        self.update_config(self.cli_config)
        self.extra_args = loader.extra_args


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
