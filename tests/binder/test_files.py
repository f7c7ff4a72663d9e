"""What Binder reads: in step with the rest of the repository, and of the form that repo2docker understands."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BINDER = ROOT / "binder"


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    return runpy.run_path(str(BINDER / "requirements.py"))


@pytest.mark.skipif(
    sys.platform != "linux" or (BINDER / "runtime.txt").read_text("utf-8") != f"python-3.{sys.version_info.minor}\n",
    reason="Binder runs Linux, and one Python: elsewhere packages bring others along",
)
def test_the_requirements_are_what_the_constraints_give(maker: dict[str, Any]) -> None:
    assert (BINDER / "requirements.txt").read_text("utf-8") == maker["text"](), "run python binder/requirements.py"


def test_they_hold_the_course_and_nothing_of_its_developers(maker: dict[str, Any]) -> None:
    lines = (BINDER / "requirements.txt").read_text("utf-8").splitlines()
    names = {line.split("==")[0].lower() for line in lines if "==" in line}
    assert {"torch", "datasets", "ipywidgets", "jupyterlab", "nbgrader"} <= names
    assert not names & {"pytest", "playwright", "mypy", "ruff", "hypothesis", "distributed"}
    assert [line for line in lines if line.startswith("-")] == [f"--extra-index-url {maker['CPU_INDEX']}"]


def test_nothing_is_local_so_that_the_layer_is_kept_between_builds() -> None:
    text = (BINDER / "requirements.txt").read_text("utf-8")
    assert not re.search(r"^(-e|-r|-c|\.|/|file:)", text, re.MULTILINE)


def test_the_runtime_is_a_python_that_the_course_declares() -> None:
    found = re.fullmatch(r"python-3\.(\d+)\n", (BINDER / "runtime.txt").read_text("utf-8"))
    assert found and 11 <= int(found[1]) <= 13


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_scripts_can_be_run(name: str) -> None:
    script = BINDER / name
    assert os.access(script, os.X_OK) and script.read_text("utf-8").startswith("#!/bin/bash\n")
    subprocess.run(["bash", "-n", script], check=True)


def test_a_failing_build_stops() -> None:
    assert "set -euo pipefail" in (BINDER / "postBuild").read_text("utf-8")


def test_start_runs_what_it_is_given_and_keeps_its_status(tmp_path: Path) -> None:
    code = "import os, sys; print(os.environ['JUPYTER_CONFIG_PATH'], os.environ['OMP_NUM_THREADS']); sys.exit(7)"
    environment = {**os.environ, "JUPYTER_CONFIG_PATH": "/elsewhere"}
    command = [BINDER / "start", sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (7, f"{BINDER}:/elsewhere 1\n")


def test_it_opens_the_home_that_the_readmes_badge_opens() -> None:
    config = json.loads((BINDER / "jupyter_server_config.json").read_text("utf-8"))
    assert {section["default_url"] for section in config.values()} == {"/lab/tree/assignments/index.ipynb"}
    assert "?labpath=assignments%2Findex.ipynb" in (ROOT / "README.md").read_text("utf-8")
