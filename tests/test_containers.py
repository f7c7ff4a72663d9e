"""What sets up Docker, Codespaces and JupyterHub names files and commands that are there."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from course.grading.release.wheel import BUILT_FROM
from tests.commands import output_of
from tests.original import find_topic

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
DEVCONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
PAGE = (ROOT / "docs" / "servers.md").read_text("utf-8")


def test_both_have_the_python_that_the_packages_are_pinned_for() -> None:
    pinned = (ROOT / "binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    assert re.findall(r"^FROM python:([\d.]+)", DOCKERFILE, re.M) == [pinned]
    assert DEVCONTAINER["image"].endswith(f"python:{pinned}")


def test_the_files_that_they_need_are_there() -> None:
    copied = [name for line in re.findall(r"^COPY (.+) \S+$", DOCKERFILE, re.M) for name in line.split()]
    assert copied == ["binder/requirements.txt", *BUILT_FROM, "course", "assignments"], "and nothing of a class"
    called = re.findall(r"binder/\S+", DEVCONTAINER["onCreateCommand"])
    assert called == ["binder/requirements.txt", "binder/postBuild"]
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)


def test_docker_starts_the_notebooks_in_the_folder_that_it_keeps(tmp_path: Path) -> None:
    (line,) = re.findall(r"^CMD (.+)$", DOCKERFILE, re.M)
    output_of(tmp_path, *json.loads(line), "--copy-only")
    (kept,) = {path.name for path in tmp_path.iterdir()}
    assert f"--owner student /home/student/{kept}\n" in DOCKERFILE
    (told,) = re.findall(r"```text docker\n(.*?)```", PAGE, re.S)
    assert f":/home/student/{kept} " in told
    assert all(command in DOCKERFILE for command in told.splitlines())


def test_codespaces_opens_a_notebook_that_it_has_copied(tmp_path: Path) -> None:
    output_of(tmp_path, *shlex.split(DEVCONTAINER["postCreateCommand"]))
    (opened,) = DEVCONTAINER["customizations"]["codespaces"]["openFiles"]
    assert (tmp_path / opened).is_file()
    assert f"{opened.split('/')[0]}/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_the_link_for_a_hub_opens_the_map_or_a_notebook() -> None:
    (link,) = re.findall(r"```text link\n\s*(\S+)\n", PAGE)
    asked = {name: value for name, (value,) in parse_qs(urlsplit(link).query).items()}
    folder = asked["repo"].rpartition("/")[2]
    assert asked["urlpath"] == f"lab/tree/{folder}/assignments/index.ipynb" and asked["branch"] == "main"
    rnn = find_topic("03").folder
    assert f"`{rnn}%2F{rnn}.ipynb`" in PAGE and (ROOT / "assignments" / rnn / f"{rnn}.ipynb").is_file()
