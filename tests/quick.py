"""Run the tests of what changed since the last commit, or in it where nothing did since, by folder: `make quick`.

A change in `course/judge` runs `tests/judge`, one in `course/grading/export` runs `tests/grading/export`, and one in
the hidden tests or the reference of a topic runs what `tests/hidden` asks of that topic's exercises. A notebook whose
source has changed is executed whole. `make test` has the last word.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from course.syllabus import OURS

ROOT = Path(__file__).parents[1]
HIDDEN = [f"tests/hidden/test_{name}.py" for name in ("matrix", "edges", "forbidden", "names", "standing_alone")]
"""What is asked of each exercise, and takes seconds."""

SCORE = "tests/grading/test_notebooks_score.py::test_the_solved_notebook_earns_everything"
"""What executes a solved notebook; for most topics it is a slow test."""


def changed_files(base: str) -> list[str]:
    """Return the files that differ from the commit `base`, as seen from the repository, new ones included."""
    told = [("diff", "--name-only", base), ("ls-files", "--others", "--exclude-standard")]
    runs = (subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True) for words in told)
    return sorted({line for run in runs for line in run.stdout.splitlines()})


def tests_of(file: str) -> Iterator[str]:
    """Yield what pytest is to run for a changed file, folders or modules; nothing where only `make test` looks."""
    path = PurePosixPath(file)
    if path.parts[0] == "tests":
        yield from [file] if path.name.startswith("test_") and (ROOT / path).is_file() else []
    elif path.parts[:2] == ("course", "reference"):
        yield f"tests/reference/test_{path.stem}.py"
    elif path.parts[0] == "course" and path.parts[1] != "hidden":
        depth = 3 if path.parts[1] == "grading" else 2
        inside = len(path.parts) > depth
        yield "/".join(["tests", *(path.parts[1:depth] if inside else [*path.parts[1:-1], f"test_{path.name}"])])


def exercises_of(file: str) -> list[str]:
    """Return the names of the exercises whose hidden tests a changed file holds, or whose answers."""
    parts = PurePosixPath(file).parts
    for topic in OURS:
        names = [item.name for item in topic.judged]
        if topic.name in parts[:-1] and "hidden" in parts:
            return [PurePosixPath(file).stem] if PurePosixPath(file).stem in names else names
        if parts[:2] == ("course", "reference") and parts[-1] == f"{topic.name}.py":
            return names
    return []


def main() -> int:
    """Run ruff on all files, and pytest on what changed."""
    files = changed_files("HEAD") or changed_files("HEAD~1")
    paths = sorted({path for file in files for path in tests_of(file) if (ROOT / path).exists()})
    names = sorted({name for file in files for name in exercises_of(file)})
    notebooks = [f"{SCORE}[{path.stem}]" for path in map(PurePosixPath, files) if path.parts[0] == "solutions"]
    runs = [["ruff", "check", "--quiet", "."]]
    pytest = ["pytest", "-q", "-n", "auto", "--dist", "loadscope"]
    runs += [[*pytest, *paths]] if paths else []
    runs += [[*pytest, *HIDDEN, "-k", " or ".join(f"[{name}" for name in names)]] if names else []
    runs += [[*pytest, "-m", "", *notebooks]] if notebooks else []
    if len(runs) == 1:
        print("Nothing changed that has tests of its own. `make test` runs all of them.")
    return max(subprocess.run([sys.executable, "-m", *words], cwd=ROOT).returncode for words in runs)


if __name__ == "__main__":
    raise SystemExit(main())
