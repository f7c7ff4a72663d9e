"""The set-up cell in JupyterLite, where Python runs in the browser and PyTorch has no official build."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from course.grading.course_files.setup_cell import setup_source

DRIVER = """
import sys
sys.platform = "emscripten"
try:
    exec(sys.argv[1])
except RuntimeError as error:
    print(*error._render_traceback_(), sep="\\n")
"""


def test_jupyterlite_is_told_where_else_to_go(tmp_path: Path) -> None:
    line = [sys.executable, "-I", "-S", "-c", DRIVER, setup_source(is_ours=True)]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    why, where = ran.stdout.split(". ")
    assert why == "JupyterLite has no official PyTorch, and the course is not tried there", ran.stderr
    assert where == "Open this notebook on Colab or Binder, or install the course on a computer.\n"
