"""A notebook alone needs no thread, no process, no socket and none of the modules that Python in a browser lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BROWSER = """
import _thread, sys, threading

import IPython, ipywidgets, matplotlib.pyplot, torch  # which have builds of their own there
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
shell.kernel = object()

NEEDS = {"subprocess.Popen", "socket.__new__", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"}


def refuse(event, details):
    if event in NEEDS:
        raise OSError(f"a browser has no {event}")


def refuse_thread(*_):
    raise OSError("a browser has no thread")


for name in ("fcntl", "grp", "pwd", "resource", "syslog", "termios", "_multiprocessing", "_posixsubprocess"):
    sys.modules[name] = None
sys.addaudithook(refuse)
threading.Thread.start = _thread.start_new_thread = refuse_thread  # of which no hook is told
"""
"""Makes this Python like Pyodide's, as far as another Python can be."""

NOTEBOOK = """
import course
from course import check, hint, predict, progress, show

def rnn_cell(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)

check("rnn_cell", rnn_cell)

def rnn_cell(x, h, W_x, W_h, b):
    return x @ W_x.T + h @ W_h.T + b

check("rnn_cell", rnn_cell)
hint("rnn_cell")
predict("scores_without_scaling")
progress()
course.seed(0)
show.positional_encoding.turning_pairs(lambda x, positions: x)._ipython_display_()
print(course.device())
"""


def _run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-c", BROWSER + code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_notebook_alone(tmp_path: Path) -> None:
    done = _run(NOTEBOOK, tmp_path)
    assert done.returncode == 0, done.stderr
    for shown in ("✓ rnn_cell", "✗ rnn_cell", "Hint 1 of 3", "Predict first.", "Recurrent networks", "Query at 15"):
        assert shown in done.stdout, shown


@pytest.mark.parametrize(
    "code",
    [
        "import threading; threading.Thread(target=print).start()",
        "import _thread; _thread.start_new_thread(print, ())",
        "import socket; socket.socket()",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.system('true')",
        "import pwd",
    ],
)
def test_what_a_browser_lacks_is_refused(code: str, tmp_path: Path) -> None:
    done = _run(code, tmp_path)
    assert done.returncode == 1 and ("a browser has no" in done.stderr or "import of" in done.stderr), done.stderr
