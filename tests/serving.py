"""Servers of a test's own, on a port that is free: Jupyter's, asked until it answers, and one of plain files."""

from __future__ import annotations

import functools
import http.server
import json
import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def jupyter(
    application: str, folder: Path, state: Path, *settings: str, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run `application`, such as `jupyterlab`, in `folder` until the block ends; yields its address, ending in `/`.

    `state` receives the runtime files and `server.log`.
    """
    runtime = state / "runtime"
    log = state / "server.log"
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", *settings]
    with log.open("w") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", application, *options],
            cwd=folder,
            env={**os.environ, **(environment or {}), "JUPYTER_RUNTIME_DIR": str(runtime)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield _address(server, runtime, log)
        finally:
            server.terminate()
            server.wait(timeout=30)


def _address(server: subprocess.Popen, runtime: Path, log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            try:
                address = str(json.loads(path.read_text())["url"])
            except (ValueError, KeyError):
                continue  # still being written
            if _listens(address):
                return address
        time.sleep(0.2)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")


def _listens(address: str) -> bool:
    """Whether the server answers: it writes the file with its address before it listens there."""
    try:
        urllib.request.urlopen(f"{address}api", timeout=60).close()
    except OSError:
        return False
    return True


class _Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def files(folder: Path) -> Iterator[str]:
    """Serve the files of `folder` until the block ends; yields the address, without a slash at its end."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Silent, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
