"""nbgrader's own autograding tests, which ship in its wheel, under our steps: ordinary courses keep their scores."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

CONFIG = "from course.grading.nbgrader_bridge.configure import configure\n\nconfigure(get_config())\n"
ROOT = Path(__file__).parents[2]
PLUGIN = "tests.grading.alembic_once"
AUTOGRADING, COLLECTING, EXPORT = (
    f"apps/test_nbgrader_{command}.py" for command in ("autograde", "zip_collect", "export")
)
REPRESENTATIVE = (
    f"{AUTOGRADING}::TestNbGraderAutograde::test_grade",
    f"{AUTOGRADING}::TestNbGraderAutograde::test_showtraceback_exploit",
    f"{COLLECTING}::TestNbGraderZipCollect::test_collect_timestamp_none",
    f"{EXPORT}::TestNbGraderExport::test_export",
)


def nbgraders_tests(folder: Path, *arguments: str) -> str:
    """Run some of nbgrader's tests with our configuration and return what pytest says."""
    (folder / "nbgrader_config.py").write_text(CONFIG)
    tests = Path(next(iter(find_spec("nbgrader").submodule_search_locations))) / "tests"
    environment = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(folder),
        "USER": os.environ.get("USER", "grader"),
        "PYTHONPATH": str(ROOT),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    environment.pop("PYTEST_ADDOPTS", None)
    paths = [
        str(tests / argument) if argument.startswith(("apps/", "preprocessors")) else argument for argument in arguments
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", PLUGIN, "-W", "ignore", *paths],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    return done.stdout


def test_some_of_nbgraders_own_tests_pass(tmp_path):
    said = nbgraders_tests(tmp_path, *REPRESENTATIVE)
    assert f"{len(REPRESENTATIVE)} passed" in said


@pytest.mark.slow
def test_nbgraders_collecting_and_export_tests_pass(tmp_path):
    said = nbgraders_tests(tmp_path, COLLECTING, EXPORT)
    assert "28 passed" in said


@pytest.mark.slow
def test_all_of_nbgraders_autograding_tests_pass(tmp_path):
    said = nbgraders_tests(tmp_path, AUTOGRADING)
    assert "40 passed" in said


@pytest.mark.slow
def test_nbgraders_feedback_and_preprocessor_tests_pass(tmp_path):
    elsewhere = ["-k", "not InstantiateTests"]  # those look for a file of nbgrader's repository, which its wheel lacks
    said = nbgraders_tests(tmp_path, "apps/test_nbgrader_generate_feedback.py", "preprocessors", *elsewhere)
    assert " passed" in said
