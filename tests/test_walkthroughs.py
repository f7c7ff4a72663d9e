"""The three walk-throughs are followed literally, on a fresh clone: every command that stands in them is run.

A block marked `fast` is run by `make test`, in an environment that is already there; `slow` ones make the environment
themselves; what `serve` blocks start is waited for until it answers, and ended.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("student", "self-learner", "instructor")


def blocks(page: str) -> list[tuple[str, str]]:
    """The page's commands in order: how each is to be run, and what it says."""
    return re.findall(r"```sh (fast|slow|serve)\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text("utf-8"), re.S)


def clone(place: Path) -> Path:
    """The repository as it stands, as somebody else gets it."""
    target = place / "sequence-course"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(target)], check=True)
    listed = subprocess.run(["git", "ls-files", "-m"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, target / name)
    return target


def follow(folder: Path, commands: list[str], **environment: str) -> str:
    """What the commands said, typed one after the other into one shell."""
    here = {**os.environ, "USER": os.environ.get("USER", "grader"), **environment}
    line = ["bash", "-euo", "pipefail", "-c", "\n".join(commands)]
    done = subprocess.run(line, cwd=folder, env=here, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def fast(page: str) -> list[str]:
    return [command for kind, command in blocks(page) if kind == "fast"]


def handing_in() -> str:
    """The command that packs a student's work. With an empty notebook it takes `--blank`, and ends with status 1."""
    text = (ROOT / "docs" / "student.md").read_text("utf-8")
    (command,) = re.findall(r"```text submit\n(.*)\n```", text)
    return command


@pytest.fixture(scope="module")
def cloned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with this environment as its `.venv`."""
    target = clone(tmp_path_factory.mktemp("walk"))
    (target / ".venv").symlink_to(sys.prefix)
    return target


@pytest.fixture(scope="module")
def taught(cloned: Path) -> Path:
    """The instructor's course, after the page's last step."""
    said = follow(cloned, fast("instructor"), PYTHONPATH=str(cloned))
    assert "ada" in said and "bob" in said
    return cloned.parent / "mine"


@pytest.mark.parametrize("page", PAGES)
def test_every_command_says_how_it_is_tested(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    assert len(re.findall(r"^```(?:sh|bash|console)", text, re.M)) == len(blocks(page)) >= 4
    assert not re.findall(r"^    \S", text, re.M)


def test_the_instructors_monday(taught: Path) -> None:
    grades = (taught / "grades.csv").read_text("utf-8").splitlines()
    assert len(grades) == 3  # a head, Ada and Bob
    assert (taught / "reports" / "06_self_attention.html").is_file()
    for student in ("ada", "bob"):
        assert (taught / "feedback" / student / "06_self_attention" / "06_self_attention.html").is_file()


def test_the_late_policy_of_the_page_is_one(taught: Path, tmp_path: Path) -> None:
    from course.outline import Late, read_outline

    text = (ROOT / "docs" / "instructor.md").read_text("utf-8")
    (late,) = re.findall(r"```toml late\n(.*?)```", text, re.S)
    outline = (taught / "course.toml").read_text("utf-8")
    head, table = outline.split("[late]", 1)
    (tmp_path / "course.toml").write_text(head + late + table[table.index("# A topic") :], "utf-8")
    assert read_outline(tmp_path / "course.toml").late == Late(10, 2, 50)


def test_the_students_evening_begins(taught: Path, tmp_path: Path) -> None:
    shutil.copy(taught / "dist" / "mine.zip", tmp_path)
    said = follow(tmp_path, [*fast("student"), "ls assignments"])
    assert "06_self_attention" in said.splitlines()


def test_the_students_commands_on_the_students_edition(taught: Path, tmp_path: Path) -> None:
    """An empty notebook is packed as well, but not without a word: status 1."""
    line = f"{handing_in()} --blank".removeprefix(".venv/bin/")
    with zipfile.ZipFile(taught / "dist" / "mine.zip") as archive:
        archive.extractall(tmp_path)
    (wheel,) = (tmp_path / "mine").glob("*.whl")
    here = {**os.environ, "PYTHONPATH": str(wheel)}  # Python imports from a wheel as from any zip
    for command, says in ((line, "Still missing"), ("course doctor", "Python"), ("course list", "06_self_attention")):
        run = [sys.executable, "-m", *command.split()]
        done = subprocess.run(run, cwd=tmp_path / "mine", env=here, capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, 1) and says in done.stdout, done.stdout + done.stderr


def test_the_self_learners_weekend(cloned: Path) -> None:
    said = follow(cloned, fast("self-learner"), PYTHONPATH=str(cloned))
    assert "scaled_dot_product_attention" in said and "0 of 20 points" in said


def serve(command: str, folder: Path) -> None:
    """Start what serves, without a browser of its own, wait until it says where it answers, and end it."""
    log = folder / "served.log"
    fake = folder / "jupyter_config.json"
    fake.write_text('{"ServerApp": {"open_browser": false, "port": 0, "allow_root": true}}')
    here = {**os.environ, "JUPYTER_CONFIG_DIR": str(folder), "JUPYTER_CONFIG_PATH": str(folder)}
    with log.open("w") as said:
        line = ["bash", "-euc", command]
        server = subprocess.Popen(line, cwd=folder, env=here, stdout=said, stderr=said, start_new_session=True)
        try:
            for _ in range(1200):
                if re.search(r"http://(127\.0\.0\.1|localhost):\d+/lab", log.read_text()):
                    return
                assert server.poll() is None, log.read_text()
                time.sleep(0.5)
            raise AssertionError(log.read_text())
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(timeout=60)


@pytest.mark.slow
def test_the_whole_of_every_page(tmp_path: Path) -> None:
    """From nothing: environments are made, servers started. `git clone` clones what stands here."""
    address = clone(tmp_path / "remote")
    places = {"instructor": tmp_path, "self-learner": tmp_path / "alone", "student": tmp_path / "evening"}
    for page in ("instructor", "student", "self-learner"):
        folder = places[page]
        folder.mkdir(exist_ok=True)
        if page == "student":
            shutil.copy(tmp_path / "mine" / "dist" / "mine.zip", folder)
        done: list[str] = []
        for kind, command in blocks(page):
            command = re.sub(r"https://github\.com/\S+", str(address), command)
            moves = [line for c in done for line in c.splitlines() if line.startswith(("cd ", "source "))]
            if kind == "serve":
                serve(command, Path(follow(folder, [*moves, "pwd"]).split()[-1]))
            else:
                follow(folder, [*moves, command])
            done.append(command)
    said = follow(places["student"] / "mine", [f"{handing_in()} --blank || test $? = 1"])
    assert "Still missing" in said
