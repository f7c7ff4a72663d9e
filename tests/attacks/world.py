"""What attacks aim at, all of it the tests' own: planted files, listeners, a process; and what became of them."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from pathlib import Path
from types import TracebackType

import psutil

from course.grading.sandbox.syscalls import machine, numbers

FILES = {
    "gradebook": "gradebook.db",
    "submission": "submitted/eve/06_self_attention/06_self_attention.ipynb",
    "solution": "solutions/06_self_attention.py",
    "hidden": "course/hidden/self_attention/softmax.py",
}


class World:
    """Canaries in `root`; within a `with` block they listen and live."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.secret = f"canary-{secrets.token_hex(8)}"
        self.mark = f"outlives-{secrets.token_hex(8)}"
        for name in FILES.values():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.secret)
        self.ordered = root / "ordered"
        self.abstract = f"canary-{secrets.token_hex(8)}"

    def __enter__(self) -> World:
        os.environ["CANARY"] = self.secret
        self.listeners = {
            "IPv4": self._listen(socket.AF_INET, ("127.0.0.1", 0)),
            "IPv6": self._listen(socket.AF_INET6, ("::1", 0)),
            "abstract": self._listen(socket.AF_UNIX, "\0" + self.abstract),
            "named": self._listen(socket.AF_UNIX, str(self.root / "socket")),
        }
        sleep = "import sys, time; held = sys.argv[1]; time.sleep(600)"
        self.victim = subprocess.Popen([sys.executable, "-c", sleep, self.secret], env={"CANARY": self.secret})
        self.descriptor = os.open(self.root / FILES["gradebook"], os.O_RDONLY)
        os.set_inheritable(self.descriptor, True)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        del os.environ["CANARY"]
        os.close(self.descriptor)
        self.victim.kill()
        self.victim.wait()
        for listener in self.listeners.values():
            if listener is not None:
                listener.close()

    def names(self) -> dict[str, object]:
        """What a probe is told of the world: where its aims are."""
        ports = {name: line.getsockname()[1] for name, line in self.listeners.items() if line and "IP" in name}
        return {
            **{name.upper(): str(self.root / path) for name, path in FILES.items()},
            "CALLS": dict(numbers(machine())),
            "ROOT": str(self.root),
            "ORDERED": str(self.ordered),
            "ABSTRACT": self.abstract,
            "MARK": self.mark,
            "GRADER": os.getpid(),
            "VICTIM": self.victim.pid,
            "PORT4": ports.get("IPv4", 9),
            "PORT6": ports.get("IPv6", 9),
        }

    def harm(self, left: bytes = b"") -> str:
        """What was done: a canary touched, a line taken up, a process left, a secret in what the notebook left."""
        files = {str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()}
        done = [f"{name} changed" for name in FILES.values() if (self.root / name).read_text() != self.secret]
        done += [f"{name} made" for name in files - set(FILES.values())]
        done += [f"{name} reached" for name, line in self.listeners.items() if line is not None and _called(line)]
        done += ["the secret was read"] * (self.secret.encode() in left)
        done += ["a process was ended"] * (self.victim.poll() is not None)
        done += ["a process is left"] * any(self.mark in _words(process) for process in psutil.process_iter())
        return ", ".join(done)

    @staticmethod
    def _listen(family: int, address: object) -> socket.socket | None:
        line = socket.socket(family)
        try:
            line.bind(address)
        except OSError:  # a machine without IPv6 has nothing there to be reached
            line.close()
            return None
        line.listen()
        line.settimeout(0)
        return line


def _called(line: socket.socket) -> bool:
    try:
        line.accept()[0].close()
    except OSError:
        return False
    return True


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
