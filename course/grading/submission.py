"""`course submit`: a notebook and its checkpoints in one zip, with a manifest, and a list of what is missing.

The zip's name says topic, student and time. Unpacked into `submitted/<student>/<topic>/` it is graded as it is, and
`nbgrader zip_collect` unpacks a folder of such zips by their names.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import platform
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any
from unicodedata import normalize

from course.grading.catalogue import topic_called
from course.grading.lint import STUBS
from course.grading.notebooks import SOLUTION_SUFFIX
from course.grading.own_cells import unanswered
from course.grading.preflight import read_document, topic_of
from course.grading.problem import Problem
from course.grading.untrusted import LARGEST
from course.notebook.folder import read_progress, write_atomically
from course.notebook.provenance import defined, outdated
from course.syllabus import Item, Topic

MANIFEST = "submission.json"
"""The manifest's name in the zip: what was handed in, when, and by which versions it was made."""
ARCHIVE = (
    r".*[/\\][^/\\]*?\d\d_[a-z][a-z0-9_]*-(?P<student_id>[^/\\]+)-(?P<timestamp>\d{8}T\d{6}Z)(?:-\d+| ?\(\d+\))?"
    r"[/\\](?P<file_id>.+\.(ipynb|safetensors|json))"
)
"""How `nbgrader zip_collect` reads the path of an unpacked file: the zip's name, then the file's.

A platform may have put words before the name, and a browser a number behind it.
"""

STUDENT = r"\w[\w.@-]*"
"""A name that can stand in the zip's."""

LIBRARIES = ("sequence-course", "torch", "numpy", "ipykernel", "jupyterlab")
CELL = dict[str, Any]


def hand_in(what: str, student: str | None = None, folder: Path | None = None) -> int:
    """Pack the notebook or topic `what`, print what went in and what is missing; the status is 1 if anything is.

    Raises:
        Problem: there is no such notebook, it cannot be read, or the student's name cannot stand in a path.
    """
    path = find_notebook(what)
    cells = [cell for cell in read_document(path)["cells"] if isinstance(cell, dict)]
    topic = topic_of(cells, path)
    name = _student(student)
    missing = list(gaps(cells, topic, path.parent))
    files = {f"{topic.folder}.ipynb": path.read_bytes(), **_checkpoints(path.parent, topic)}
    archive = pack(files, topic, name, missing, folder or path.resolve().parent.parent)
    print(f"{archive}\n")
    for file, content in files.items():
        print(f"  {file}  {_size(len(content))}")
    whose = "" if student else f", by the name of {name}: --student says another"
    print(f"\n{topic.folder} {topic.title}{whose}")
    print("\n".join(["Still missing:", *(f"  - {gap}" for gap in missing)] if missing else ["Nothing is missing."]))
    return int(bool(missing))


def find_notebook(what: str) -> Path:
    """The notebook at the path `what`, or of the topic of that name, in or below this folder.

    Raises:
        Problem: there is none.
    """
    path = Path(what)
    if path.suffix == ".ipynb":
        if not path.is_file():
            raise Problem(f"there is no {path}")
        return path
    topic = topic_called(what)
    name = f"{topic.folder}.ipynb"
    places = [
        Path(name),
        Path(topic.folder, name),
        Path("assignments", topic.folder, name),
        Path("..", topic.folder, name),
    ]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise Problem(f"there is no {name} here: name the notebook's own path")
    return found


# -- what is missing ---------------------------------------------------------------------------------------------------


def gaps(cells: Sequence[CELL], topic: Topic, folder: Path) -> Iterator[str]:
    """What would cost points, in the order of the notebook: a sentence each."""
    named: dict[str, list[CELL]] = {}
    for cell in cells:
        marks = cell.get("metadata", {}).get("nbgrader")
        if isinstance(marks, dict) and marks.get("grade_id"):
            named.setdefault(str(marks["grade_id"]), []).append(cell)
    code = defined(_source(cell) for cell in cells if cell.get("cell_type") == "code")
    known = read_progress(folder)
    for item in topic.items:
        said = list(_of_cells(item, named))
        if not said and item.kind != "question" and known:
            said += _of_checks(known.get(item.name, {}))
        if item.budget is not None:
            said += _of_checkpoint(folder / "checkpoints" / f"{item.name}.safetensors", item.name, code)
        yield from (f"{item.name}: {sentence}" for sentence in said)
    yield from (f"{name}: not answered yet" for name in unanswered(cells, topic))
    for name in sorted(_imported(cells)):
        if (folder / f"{name}.py").is_file() or (folder / name / "__init__.py").is_file():
            yield f"{name} is imported from this folder and not handed in: put its code into the notebook"


def _imported(cells: Sequence[CELL]) -> set[str]:
    """The modules a notebook imports, by the first part of their names."""
    found: set[str] = set()
    for cell in cells:
        if cell.get("cell_type") == "code":
            lines = re.findall(r"^\s*(?:from|import)\s+([A-Za-z_]\w*)", _source(cell), re.M)
            found.update(lines)
    return found


def _of_cells(item: Item, named: Mapping[str, list[CELL]]) -> Iterator[str]:
    if item.kind == "question":
        found = named.get(item.name, [])
        if not found:
            yield "the cell for your answer is gone; copy it from a fresh notebook"
        elif _source(found[-1]).replace(STUBS[2], "").strip() == "":
            yield "nothing is written yet"
        return
    found = named.get(item.name + SOLUTION_SUFFIX, [])
    if not found:
        yield "the cell for your answer is gone; copy it from a fresh notebook"
        return
    lines = [line.strip() for line in _source(found[-1]).splitlines()]
    if STUBS[1] in lines:
        yield (
            "not answered yet" if lines.count(STUBS[1]) == 1 else f"{lines.count(STUBS[1])} parts are not answered yet"
        )
    elif not any(line and not line.startswith("#") for line in lines):
        yield "the cell is empty"
    if len(found) > 1:
        yield f"there are {len(found)} cells for it, and only the last one counts"
    if item.name not in named:
        yield "its check is gone: grading puts it back, but you do not see what it says"


def _of_checks(facts: Mapping[str, Any]) -> Iterator[str]:
    if "kind" not in facts:
        yield "its check was never run here"
    elif facts["kind"] != "passed":
        yield f"{facts.get('passed', 0)} of {facts.get('of', '?')} public checks passed when it was last checked"


def _of_checkpoint(path: Path, name: str, code: Mapping[str, set[str]]) -> Iterator[str]:
    """What is wrong with a task's checkpoint: without a good one grading trains anew, on a CPU."""
    then = f"run the cell with fit({name!r}, …), or grading trains it anew, on a CPU"
    if not path.is_file() or path.is_symlink():
        yield f"there is no checkpoint; {then}"
        return
    record = _record(path)
    if record is None:
        yield f"{path.name} is no checkpoint; {then}"
        return
    changed, gone = outdated(record.get("code"), code)
    if changed or gone:
        told = [f"{', '.join(names)} {verb}" for names, verb in ((changed, "changed"), (gone, "went")) if names]
        yield f"the checkpoint is older than your code: since then {' and '.join(told)}; {then}"


def _record(path: Path) -> dict[str, Any] | None:
    """What `fit` noted in a checkpoint; nothing of a file that is none."""
    import safetensors

    try:
        with safetensors.safe_open(path, framework="np") as file:
            record = json.loads((file.metadata() or {}).get("record", "{}"))
    except (safetensors.SafetensorError, OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else {}


def _source(cell: CELL) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(map(str, source))


# -- the zip -----------------------------------------------------------------------------------------------------------


def _checkpoints(folder: Path, topic: Topic) -> dict[str, bytes]:
    """The checkpoints of the topic's tasks and of their variants, by their path from the notebook."""
    tasks = tuple(f"{item.name}." for item in topic.items if item.budget)
    found = sorted((folder / "checkpoints").glob("*.safetensors"))
    plain = (path for path in found if path.name.startswith(tasks) and path.is_file() and not path.is_symlink())
    return {f"checkpoints/{path.name}": path.read_bytes() for path in plain} if tasks else {}


def pack(files: Mapping[str, bytes], topic: Topic, student: str, missing: Sequence[str], folder: Path) -> Path:
    """Write the zip of `files` with its manifest into `folder`, whole or not at all; returns its path.

    Raises:
        Problem: the files are more than is graded, or `folder` is not there or cannot be written.
    """
    import io

    if not folder.exists():
        raise Problem(f"there is no folder {folder}: --folder names one that is there")
    size = sum(map(len, files.values()))
    if size > LARGEST:
        raise Problem(f"this is {_size(size)}, and {_size(LARGEST)} are graded: clear the notebook's outputs")
    now = datetime.now(UTC)
    about = manifest(files, topic, student, missing, now)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(MANIFEST, json.dumps(about, indent=1, ensure_ascii=False))
    path = folder / f"{archive_name(topic.folder, student, now)}.zip"
    try:
        write_atomically(path, made.getvalue())
    except OSError as error:
        raise Problem(f"{path} cannot be written ({error.strerror}): --folder names another place") from error
    return path


def archive_name(topic: str, student: str, when: datetime) -> str:
    """What the zip is called, but for its ending: `when` is in UTC, and `ARCHIVE` reads it back."""
    return f"{topic}-{student}-{when:%Y%m%dT%H%M%SZ}"


def manifest(
    files: Mapping[str, bytes], topic: Topic, student: str, missing: Sequence[str], now: datetime
) -> dict[str, Any]:
    """What stands in the manifest: names, sizes and digests of the files, versions, time, and what was missing."""
    listed = [
        {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in files.items()
    ]
    versions = {"python": platform.python_version(), "platform": platform.platform(terse=True)}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "topic": topic.folder,
        "student": student,
        "time": now.isoformat(timespec="seconds"),
        "files": listed,
        "versions": versions,
        "missing": list(missing),
    }


def _student(name: str | None) -> str:
    try:
        student = normalize("NFC", name) if name is not None else re.sub(r"[^\w.@-]", "-", getpass.getuser())
    except (KeyError, OSError):  # a container's user without a name
        raise Problem("this machine does not know your name: --student says it") from None
    if not re.fullmatch(STUDENT, student):
        raise Problem(f"{student!r} cannot name a folder: use letters, digits and any of . @ _ -")
    return student


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MB" if count >= 2**19 else f"{max(count / 2**10, 0.1):.1f} KB"
