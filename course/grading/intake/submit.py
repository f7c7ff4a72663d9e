"""Pack a notebook, its checkpoints and the files it needs into a zip, and list what is missing (`course submit`).

The zip's name says topic, student and time. Unpacked into `submitted/<student>/<topic>/`, the work can be graded.
`nbgrader zip_collect` unpacks a folder of such zips by their names.
"""

from __future__ import annotations

import getpass
import hashlib
import json
import platform
import re
import shlex
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any
from unicodedata import normalize

from course.course import Course
from course.files import write_atomically
from course.grading.catalogue import topic_called
from course.grading.cells import SOLUTION_SUFFIX, STUBS, grade_id
from course.grading.intake.check_submission import read_document, topic_of
from course.grading.intake.copied_cells import choose_by_marks
from course.grading.intake.locked_cells import written_in_locked
from course.grading.intake.moved_cells import describe, find_late
from course.grading.intake.needed_files import MANIFEST as MANIFEST
from course.grading.intake.needed_files import gather
from course.grading.intake.other_notebooks import look_around, name_all
from course.grading.intake.untouched import marks_of, source_of
from course.grading.intake.untrusted import LARGEST
from course.grading.own_cells import unanswered
from course.grading.problem import Problem
from course.notebook.colab import DRIVE, FILES, keep
from course.notebook.folder import read_progress
from course.notebook.provenance import defined, outdated
from course.surroundings import on_colab
from course.syllabus import Item, Topic

STAMP = "%Y%m%dT%H%M%SZ"
"""The format of the packing time in the zip's name, in UTC."""


def archive_head(topics: Iterable[str]) -> str:
    """Return the regular expression for the name of a zip of one of `topics`, without its ending.

    A platform may have put a prefix with digits and dates before the name, and a browser a number after it.
    """
    names = "|".join(re.escape(topic) for topic in sorted(set(topics)))
    return (
        rf"[^/\\]*(?P<topic>{names})-(?P<student_id>[^/\\]+)-(?P<timestamp>\d{{8}}T\d{{6}}Z)"
        r"(?:-\d+| ?\(\d+\))?"
    )


def archive_pattern(topics: Iterable[str]) -> str:
    """Return the expression for an unpacked file's path in `nbgrader zip_collect`: the zip's name, then the file's."""
    return rf".*[/\\]{archive_head(topics)}" r"[/\\](?P<file_id>.+)"


MACHINE_LOGINS = frozenset(
    {
        *("admin", "administrator", "azureuser", "binder", "centos", "codespace", "coder", "colab", "debian"),
        *("default", "docker", "ec2-user", "fedora", "gitpod", "guest", "jovyan", "jupyter", "kaggle", "nobody"),
        *("notebook", "opc", "owner", "pi", "root", "rstudio", "runner", "sagemaker-user", "student"),
        *("studio-lab-user", "ubuntu", "user", "username", "vagrant", "vscode"),
    }
)
"""Logins that machines give to everybody: on hubs, cloud notebooks, containers, and lab computers."""

SAY_WHO = "Add --student and the name your class knows you by, as in --student ada"
"""What to do if the login does not identify the student."""

STUDENT = r"\w[\w.@-]*"
"""The form of a name that may stand in the zip's name."""

LIBRARIES = ("sequence-course", "torch", "numpy", "ipykernel", "jupyterlab")
CELL = dict[str, Any]


def hand_in(
    course: Course,
    what: str,
    student: str | None = None,
    folder: Path | None = None,
    *,
    blank: bool = False,
    variants: bool = False,
) -> int:
    """Pack the notebook or topic `what`, print what was packed and what is missing; return 1 if anything is missing.

    Args:
        what: a notebook's path, or the name of a topic.
        student: the student's id in the class, by default the login.
        folder: where the zip is put.
        blank: pack a notebook without an answer, without asking.
        variants: pack the checkpoints of models to compare with, too.

    Raises:
        Problem: the notebook does not exist, cannot be read, or is blank and nobody is there to ask; or the student's
            name cannot stand in a path.
    """
    path, beside = _choose(find_notebook(course, what), blank)
    cells = read_document(path)["cells"]
    topic = topic_of(course, cells, path)
    name = name_in_zip(student)
    work = Path() if on_colab() else path.parent  # on Colab the notebook may come from Google Drive
    weights, rivals = _checkpoints(work, topic, variants or _answers_use_variants(cells))
    files = {f"{topic.folder}.ipynb": path.read_bytes(), **weights}
    needed = gather(cells, work, LARGEST - sum(map(len, files.values())))
    files |= needed.files
    missing = [*gaps(cells, topic, work), *needed.left]
    archive = pack(files, topic, name, missing, folder or (Path.cwd() if on_colab() else path.resolve().parent.parent))
    print(f"{archive}\n")
    for file, content in files.items():
        print(f"  {file}  {_size(len(content))}")
    if rivals:
        told = "weights of models to compare with, which --variants packs, too"
        print(f"  Not packed: {', '.join(rivals)} ({told})")
    if needed.files:
        print(f"  These include the files that the notebook refers to. A submission may have {_size(LARGEST)}.")
    whose = "" if student else f", packed for {name} (change this with --student)"
    print(f"\n{topic.folder} {topic.title}{whose}")
    if beside:
        print(f"Not packed, although they hold other answers: {name_all(beside, path.parent)}")
    print("\n".join(["Still missing:", *(f"  - {gap}" for gap in missing)] if missing else ["Nothing is missing."]))
    if on_colab():
        print(f"\n{keep(archive)}")
    return int(bool(missing))


def find_notebook(course: Course, what: str) -> Path:
    """Return the notebook at the path `what`, or of the topic of that name, in or below this folder.

    Raises:
        Problem: no such notebook exists.
    """
    path = Path(what)
    if path.suffix == ".ipynb":
        if not path.is_file():
            raise Problem(f"there is no {path}")
        return path
    topic = topic_called(course, what)
    name = f"{topic.folder}.ipynb"
    places = [
        Path(name),
        Path(topic.folder, name),
        Path("assignments", topic.folder, name),
        Path("..", topic.folder, name),
        *([DRIVE / name] if on_colab() else []),
    ]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise Problem(_not_here(name, topic))
    return found


def _not_here(name: str, topic: Topic) -> str:
    """Return what to do if no notebook has the topic's name."""
    folders = (Path(), DRIVE) if on_colab() else (Path(),)
    alike = sorted(path for folder in folders for path in folder.glob("*.ipynb") if topic.folder in path.name)
    if alike:
        return f"there is no {name} here. Did you mean `course submit {shlex.quote(str(alike[0]))}`?"
    if on_colab():
        return (
            f"there is no {name} here, because Colab does not keep your notebook on this machine. "
            f"Download it (File > Download), drop it into {FILES}, and run this again"
        )
    return f"there is no {name} here. Give the path of your notebook"


def _choose(path: Path, blank: bool) -> tuple[Path, list[Path]]:
    """Return the notebook to pack, the one at `path` or another beside it, and the others with different answers.

    Raises:
        Problem: the notebook at `path` is blank without `blank`, and nobody is there to ask, or declines.
    """
    others = look_around(path, read_document(path)["cells"], path.parent)
    if blank or not others.is_blank:
        return path, list(others.answered)
    if not others.answered:
        _ask_for_blank(path)
        return path, []
    other = next(iter(others.answered))
    told = f"{path.name} holds no answer, but {name_all(others.answered, path.parent)} beside it does"
    refusal = Problem(f"{told}. Name the one to pack, as in `course submit {shlex.quote(str(other))}`")
    instead = _agreed(told, f"Pack {other.relative_to(path.parent)} instead?", refusal)
    chosen = other if instead else path
    return chosen, [one for one in others.answered if one != chosen]


def _ask_for_blank(path: Path) -> None:
    """Ask whether to pack a notebook without an answer.

    Raises:
        Problem: the user declines, or nobody is there to ask.
    """
    told = f"{path.name} holds no answer"
    refusal = Problem(f"{told}, so nothing was packed. Save your work in Jupyter first, or add --blank to hand it in")
    if not _agreed(told, "Pack it anyway?", refusal):
        raise refusal


def _agreed(told: str, question: str, refusal: Problem) -> bool:
    """Return whether the user at the terminal says yes; raise `refusal` without a terminal."""
    if not sys.stdin.isatty():
        raise refusal
    print(f"{told}.")
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        print()
        raise refusal from None


# -- what is missing ---------------------------------------------------------------------------------------------------


def gaps(cells: Sequence[CELL], topic: Topic, folder: Path) -> Iterator[str]:
    """Yield a sentence for each thing that would cost points, in the order of the notebook."""
    graded = {name: cells[index] for name, index in choose_by_marks(cells).graded.items()}
    copies = Counter(map(grade_id, cells))
    code = defined(source_of(cell) for cell in cells if cell.get("cell_type") == "code")
    known = read_progress(folder)
    for item in topic.items:
        said = list(_of_cells(item, graded, copies))
        if not said and item.kind != "question" and known:
            said += _of_checks(known.get(item.name, {}))
        if item.budget is not None:
            said += _of_checkpoint(folder / "checkpoints" / f"{item.name}.safetensors", item.name, code)
        yield from (f"{item.name}: {sentence}" for sentence in said)
    yield from (f"{name}: not answered yet" for name in unanswered(cells, topic))
    yield from written_in_locked(cells)
    yield from (f"{describe(cells, late)}. Move that cell up" for late in find_late(cells))


def _of_cells(item: Item, graded: Mapping[str, CELL], copies: Mapping[str, int]) -> Iterator[str]:
    """Yield what is missing in an item's cells: `graded` has the cell that counts, `copies` the number of copies."""
    name = item.name if item.kind == "question" else item.name + SOLUTION_SUFFIX
    if name not in graded:
        yield "the cell for your answer is gone. Copy it from a fresh notebook"
        return
    text = source_of(graded[name])
    if item.kind == "question":
        if text.replace(STUBS[2], "").strip() == "":
            yield "nothing is written yet"
        return
    lines = [line.strip() for line in text.splitlines()]
    if STUBS[1] in lines:
        yield (
            "not answered yet" if lines.count(STUBS[1]) == 1 else f"{lines.count(STUBS[1])} parts are not answered yet"
        )
    elif not any(line and not line.startswith("#") for line in lines):
        yield "the cell is empty"
    if copies[name] > 1:
        yield f"there are {copies[name]} cells for it, and only the last one that you changed counts"
    if item.name not in graded:
        yield "its check cell is gone. Grading restores it, but you cannot see its result"


def _of_checks(facts: Mapping[str, Any]) -> Iterator[str]:
    if "kind" not in facts:
        yield "its check was never run here"
    elif facts["kind"] != "passed":
        yield f"{facts.get('passed', 0)} of {facts.get('of', '?')} public checks passed when it was last checked"


def _of_checkpoint(path: Path, name: str, code: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield what is wrong with a task's checkpoint; without a valid one, grading trains again, on a CPU."""
    then = f"Run the cell with fit({name!r}, …), or grading trains the model again, on a CPU"
    if not path.is_file() or path.is_symlink():
        yield f"there is no checkpoint. {then}"
        return
    record = _record(path)
    if record is None:
        yield f"{path.name} is not a checkpoint. {then}"
        return
    changed, gone = outdated(record.get("code"), code)
    if changed or gone:
        told = [f"{', '.join(names)} {verb}" for names, verb in ((changed, "changed"), (gone, "disappeared")) if names]
        yield f"the checkpoint is older than your code, because since then {' and '.join(told)}. {then}"


def _record(path: Path) -> dict[str, Any] | None:
    """Return the record that `fit` put into a checkpoint, or None if the file is no checkpoint."""
    import safetensors

    try:
        with safetensors.safe_open(path, framework="np") as file:
            record = json.loads((file.metadata() or {}).get("record", "{}"))
    except (safetensors.SafetensorError, OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else {}


# -- the zip -----------------------------------------------------------------------------------------------------------


def _checkpoints(folder: Path, topic: Topic, variants: bool) -> tuple[dict[str, bytes], list[str]]:
    """Return the checkpoints of the topic's tasks by their path from the notebook, and the names of omitted variants.

    A task without a checkpoint of its own keeps its variants, because they may be the work. An instructor's own topic
    has no tasks, so all checkpoints in its folder are the work.
    """
    packed: dict[str, bytes] = {}
    left_out: list[str] = []
    found = sorted((folder / "checkpoints").glob("*.safetensors"))
    if topic.own:
        return {f"checkpoints/{path.name}": path.read_bytes() for path in found if _is_plain(path)}, []
    for task in (item.name for item in topic.items if item.budget):
        plain = [path for path in found if path.name.startswith(f"{task}.") and _is_plain(path)]
        own = [path for path in plain if path.name == f"{task}.safetensors"]
        chosen = plain if variants or not own else own
        packed |= {f"checkpoints/{path.name}": path.read_bytes() for path in chosen}
        left_out += [path.name for path in plain if path not in chosen]
    return packed, left_out


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _answers_use_variants(cells: Sequence[CELL]) -> bool:
    """Return whether a student's own answer trains a variant, which may be the model that is graded."""
    answers = (source_of(cell) for cell in cells if marks_of(cell).get("solution"))
    return any(re.search(r"\bvariant\s*=", source) for source in answers)


def pack(files: Mapping[str, bytes], topic: Topic, student: str, missing: Sequence[str], folder: Path) -> Path:
    """Write the zip of `files` with its manifest into `folder` atomically, and return its path.

    Raises:
        Problem: the files exceed the limit, or `folder` is missing or cannot be written.
    """
    import io

    if not folder.exists():
        raise Problem(f"there is no folder {folder}. Give an existing one with --folder")
    size = sum(map(len, files.values()))
    if size > LARGEST:
        raise Problem(
            f"the submission has {_size(size)}, but at most {_size(LARGEST)} are graded. Clear the notebook's outputs"
        )
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
        raise Problem(f"{path} cannot be written ({error.strerror}). Give another folder with --folder") from error
    return path


def archive_name(topic: str, student: str, when: datetime) -> str:
    """Return the zip's name without its ending: `when` is in UTC, and `ARCHIVE` reads the name back."""
    return f"{topic}-{student}-{when:{STAMP}}"


def manifest(
    files: Mapping[str, bytes], topic: Topic, student: str, missing: Sequence[str], now: datetime
) -> dict[str, Any]:
    """Return the manifest: names, sizes and digests of the files, versions, time, and what was missing."""
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


def name_in_zip(name: str | None) -> str:
    """Return the name for the zip: the one given, else the login, unless it is a machine's."""
    try:
        student = normalize("NFC", name) if name is not None else re.sub(r"[^\w.@-]", "-", getpass.getuser())
    except (KeyError, OSError):  # a container's user may have no name
        raise Problem(f"this machine does not know your name. {SAY_WHO}") from None
    if name is None and student.casefold() in MACHINE_LOGINS:
        raise Problem(f"{student} is a login that machines give to everybody. {SAY_WHO}")
    if not re.fullmatch(STUDENT, student):
        raise Problem(f"{student!r} cannot name a folder. Use letters, digits and any of . @ _ -")
    return student


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MB" if count >= 2**19 else f"{max(count / 2**10, 0.1):.1f} KB"
