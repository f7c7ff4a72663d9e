"""The editions of students and of kernels: answer keys, and not a line of an answer."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from pathlib import Path

import pytest

import course
from course.course import course_in
from course.edition import STUDENTS, is_held
from course.grading.course_files.course_folder import release_path, source_path
from course.grading.execution import kernel_edition
from course.grading.execution.kernel_edition import assemble
from course.grading.release.source import build
from course.grading.release.wheel import build_wheel
from course.problem import Problem
from course.syllabus import OURS, Topic
from hatch_build import demand_keys, released
from tests.clone import clone
from tests.original import ORIGINAL, find_topic

ROOT = Path(course.__file__).parents[1]
PACKAGE = ROOT / "course"
TOPIC = find_topic("self_attention")
PRIVATE = [
    *(ROOT / "course" / "reference" / f"{topic.name}.py" for topic in OURS),
    *(ROOT / "course" / "hidden").glob("*/*.py"),
]


@pytest.fixture(scope="module")
def edition() -> Path:
    return assemble("", OURS)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The student wheel, built from a copy of the repository so that no keys are left in this one."""
    copy = clone(tmp_path_factory.mktemp("clone") / "course")
    return build_wheel(course_in(copy), copy / "dist")


SHORTEST = 24
"""Characters of a statement that is found elsewhere by no accident."""

SEEDED = "generator=torch.Generator().manual_seed(seed)"
"""How everybody draws, and no part of an answer."""


def squeezed(code: str) -> str:
    return "".join(code.split())


def _telling(tree: ast.AST) -> Iterator[str]:
    """Statements long enough that finding one elsewhere is no accident, without spaces; nothing of signatures."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return)):
            text = squeezed(ast.unparse(node))
            if len(text) >= SHORTEST and text != SEEDED:
                yield text


@cache
def lines_of_answers() -> dict[str, str]:
    """Telling statements of references, hidden tests and notebooks' solutions, with where each stands."""
    found: dict[str, str] = {}
    for path in PRIVATE:
        found.update(dict.fromkeys(_telling(ast.parse(path.read_text("utf-8"))), path.name))
    for topic in OURS:
        for cell in build(ORIGINAL, source_path(ROOT, topic), topic).cells:
            marks = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code" and marks.get("solution"):
                found.update(dict.fromkeys(_telling(ast.parse(cell.source)), topic.folder))
    return found


_READ: dict[tuple[str, bytes], list[str]] = {}
"""By name and hash, what was found in a file: edition and wheel hold much the same, and keys are large."""


def _leaks(name: str, content: bytes) -> list[str]:
    seen = name, hashlib.sha256(content).digest()
    if seen not in _READ:
        _READ[seen] = [] if name.endswith(".pyc") else _lines_in(name, content)
    return _READ[seen]


def _lines_in(name: str, content: bytes) -> list[str]:
    text = squeezed(ast.unparse(ast.parse(content)) if name.endswith(".py") else _texts_in(content))
    return [f"{name} holds {line} of {where}" for line, where in lines_of_answers().items() if line in text]


def _texts_in(content: bytes) -> str:
    """What could be a line in a file of numbers, of which answer keys are mostly made."""
    return b"\0".join(re.findall(rb"[\t\n\r -~]{%d,}" % SHORTEST, content)).decode()


def test_there_is_something_to_look_for() -> None:
    assert len(lines_of_answers()) > 50


def test_the_edition_holds_no_line_of_an_answer(edition: Path) -> None:
    names = {path.relative_to(edition).as_posix() for path in edition.rglob("*") if path.is_file()}
    assert not [name for name in names if name.startswith(("course/hidden/", "course/reference/"))]
    assert {f"course/keys/{topic.name}.key" for topic in OURS} <= names
    leaks = [leak for name in sorted(names) for leak in _leaks(name, (edition / name).read_bytes())]
    assert leaks == []


def test_it_is_made_once_and_appears_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    monkeypatch.setattr(
        kernel_edition, "copy_package", lambda package, place, outline: made.append(place) or place.mkdir()
    )
    edition = assemble("", OURS, editions=tmp_path)
    assert assemble("", OURS, editions=tmp_path) == edition and len(made) == 1
    assert made[0].name == "course" and made[0].parent != edition, "it was filled in place"
    assert list(tmp_path.iterdir()) == [edition]
    assert {path.stem for path in (edition / "course" / "keys").iterdir()} == {topic.name for topic in OURS}


def test_a_key_is_made_once_for_each_state_of_its_topics_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another edition, after an edit elsewhere, has the same keys; a key is made anew where its tests are others."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    made: list[str] = []

    def write(folder: Path, topic: Topic) -> None:
        made.append(topic.name)
        (folder / f"{topic.name}.key").write_bytes(b"")

    monkeypatch.setattr("course.hidden.write_key", write)
    package = shutil.copytree(PACKAGE, tmp_path / "course", ignore=shutil.ignore_patterns("keys", "__pycache__"))
    keys = {topic.name: kernel_edition.answer_key(topic, package) for topic in OURS}
    assert sorted(made) == sorted(keys)

    def made_after(edited: str) -> set[str]:
        with (package / edited).open("a", encoding="utf-8") as module:
            module.write("\nCORRECTED = True\n")
        made.clear()
        for topic in OURS:
            kernel_edition.answer_key(topic, package)
        return set(made)

    assert made_after("grading/export/canvas.py") == made_after("judge/report.py") == made_after("cli.py") == set()
    assert made_after("hidden/lora/merge.py") == {"lora"}
    assert made_after("exercise/runner.py") == set(keys)


def test_a_key_that_another_process_removes_meanwhile_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    monkeypatch.setattr(
        "course.hidden.write_key", lambda folder, topic: (folder / f"{topic.name}.key").write_bytes(b"")
    )
    topic, keys = OURS[0], tmp_path / kernel_edition.ANSWER_KEYS
    keys.mkdir()
    (keys / f"{topic.folder}-gone.key").symlink_to(keys / "nowhere")  # seen when the folder was listed
    assert kernel_edition.answer_key(topic, PACKAGE).is_file()


def test_it_can_be_read_by_a_sandboxed_user(edition: Path) -> None:
    assert edition.stat().st_mode & 0o055 == 0o055


def _run(code: str, edition: Path, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(edition)}
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_every_module_of_it_can_be_imported(edition: Path, tmp_path: Path) -> None:
    code = """
import importlib, importlib.util, pkgutil, course
for module in pkgutil.walk_packages(course.__path__, "course."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
assert not importlib.util.find_spec("course.hidden") and not importlib.util.find_spec("course.reference")
print(course.__file__)
"""
    assert _run(code, edition, tmp_path).strip() == str(edition / "course" / "__init__.py")


HEAVY = {
    *("IPython", "babel", "datasets", "einops", "ipykernel", "ipywidgets", "matplotlib", "pandas", "pyarrow"),
    *("scipy", "sklearn"),
}
"""What some cell may need, and takes its time."""

GRADERS = {"jupytext", "latex2mathml", "msgspec", "nbgrader", "nh3", "rapidfuzz", "rich", "sqlalchemy"}
"""What grading alone needs, and no student has."""

SERVERS = {"jupyter_client", "nbclient", "nbformat"}
"""What comes with a notebook server, and its kernel need not have."""

FIRST_CELLS = {
    "course",
    *("course.clock", "course.course", "course.files", "course.outline", "course.source", "course.study_paths"),
    "course.syllabus",
    *("course.surroundings", "course.notebook.this_course"),
    *("course.data", "course.data.words", "course.show"),
    "course.blocks",
    *("course.blocks.attention", "course.blocks.positions", "course.blocks.recall", "course.blocks.recurrent"),
    *("course.blocks.relations", "course.blocks.seq2seq", "course.blocks.threads", "course.blocks.transformer"),
    *("course.blocks.gpt", "course.blocks.hidden_words", "course.blocks.low_rank", "course.blocks.policy"),
    *("course.blocks.open_gpt", "course.blocks.vit"),
    *("course.exercise", "course.exercise.compared_by", "course.exercise.compiled", "course.exercise.held"),
    *("course.exercise.declaration", "course.exercise.key", "course.exercise.modules", "course.exercise.nested"),
    *("course.exercise.prediction", "course.exercise.randomness", "course.exercise.recording"),
    *("course.exercise.rng", "course.exercise.runner", "course.exercise.script", "course.exercise.settings"),
    *("course.exercise.stand_ins", "course.exercise.translation", "course.exercise.values", "course.exercise.watch"),
    *("course.exercise.weights", "course.exercise.wire"),
    "course.exercise.laws",
    *("course.exercise.laws.agreement", "course.exercise.laws.bounds", "course.exercise.laws.chance"),
    *("course.exercise.laws.directions", "course.exercise.laws.gradients", "course.exercise.laws.masked_words"),
    *("course.exercise.laws.masks", "course.exercise.laws.measure", "course.exercise.laws.plain"),
    *("course.exercise.laws.policies", "course.exercise.laws.quantised", "course.exercise.laws.sentence_pairs"),
    *("course.exercise.laws.rollouts", "course.exercise.laws.word_types", "course.exercise.memory"),
    *("course.exercise.laws.registry", "course.exercise.laws.trained", "course.exercise.laws.written"),
    "course.judge",
    *("course.judge.compare", "course.judge.compare_values", "course.judge.diagnose", "course.judge.difference"),
    *("course.judge.describe", "course.judge.points"),
    *(
        "course.judge.explain_error",
        "course.judge.explain_values",
        "course.judge.relation",
        "course.judge.prerequisite",
        "course.judge.judging",
        "course.judge.report",
    ),
    "course.judge.verdict",
    *("course.notebook", "course.notebook.choices", "course.notebook.colab", "course.notebook.predictions"),
    *("course.notebook.checking", "course.notebook.checkpoint", "course.notebook.course_map", "course.notebook.curve"),
    *("course.notebook.display", "course.notebook.folder", "course.notebook.hints", "course.notebook.find_key"),
    *("course.notebook.ingredients", "course.notebook.machine", "course.notebook.missing_names"),
    *("course.notebook.overwritten", "course.notebook.progress", "course.notebook.time_limit"),
    *(
        "course.notebook.provenance",
        "course.notebook.rubrics",
        "course.notebook.hide_traceback",
        "course.notebook.standing",
    ),
    *("course.notebook.stopwatch", "course.notebook.training"),
    *("course.notebook.unfinished", "course.notebook.unwritten", "course.notebook.vscode"),
}
"""What of the course a notebook's first two cells load: nothing of the grading machine, no data, no plots."""


def _loaded(code: str, edition: Path, folder: Path) -> tuple[set[str], set[str]]:
    """What running `code` loads of the course, and the packages that it loads beside it."""
    names = set(_run(f"{code}\nimport sys\nprint(*sys.modules)", edition, folder).split())
    ours = {name for name in names if name.partition(".")[0] == "course"}
    return ours, {name.partition(".")[0] for name in names - ours}


def test_importing_the_course_loads_nothing_else(edition: Path, tmp_path: Path) -> None:
    ours, others = _loaded("import course", edition, tmp_path)
    assert ours == {"course"}
    assert not others & (HEAVY | GRADERS | SERVERS | {"numpy", "safetensors", "torch"})


def test_the_first_cells_of_a_notebook_load_what_every_cell_needs(edition: Path, tmp_path: Path) -> None:
    """A student waits for them each time. What one cell needs is loaded when that cell runs."""
    cells = build(ORIGINAL, source_path(ROOT, TOPIC), TOPIC).cells
    set_up, imports, *_ = [cell.source for cell in cells if cell.cell_type == "code"]
    assert "from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show" in imports
    ours, others = _loaded(f"{set_up}\n{imports}", edition, tmp_path)
    assert ours == FIRST_CELLS
    assert not others & (HEAVY | GRADERS | SERVERS)


def test_what_the_wheel_holds_needs_nothing_that_grading_alone_needs(edition: Path, tmp_path: Path) -> None:
    held = [path.relative_to(edition / "course") for path in (edition / "course").rglob("*.py")]
    files = [path.with_suffix("") for path in held if is_held(path, STUDENTS) and path.stem != "__main__"]
    names = sorted(".".join(("course", *path.parts)).removesuffix(".__init__") for path in files)
    assert "course.grading.intake.submit" in names and "course.grading.kernels" not in names
    imports = "\n".join(f"import {name}" for name in names)
    _run(f"import sys\nsys.modules.update(dict.fromkeys({GRADERS!r}))\n{imports}", edition, tmp_path)


def test_a_student_sees_how_far_they_are_at_the_shell(edition: Path, tmp_path: Path) -> None:
    (tmp_path / "03_rnn").mkdir()
    (tmp_path / "03_rnn" / "03_rnn.ipynb").write_text("{}")
    environment = {**os.environ, "PYTHONPATH": str(edition)}

    def progress(*argv: str) -> subprocess.CompletedProcess[str]:
        asked = [sys.executable, "-m", "course", "progress", *argv]
        return subprocess.run(asked, cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert "Begin with 3 Recurrent networks." in progress().stdout
    refused = progress("--page", "mine.html")
    assert refused.returncode == 2 and "this is the student edition, which cannot do that" in refused.stderr


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("grade", "my.ipynb"), "holds no hidden tests. `check` runs the public ones"),
        (("solution", "softmax"), "holds no solutions. The whole course is at https://"),
        (("release", "3"), "cannot do that. The whole course is at https://"),
    ],
)
def test_what_it_cannot_do_it_says_in_a_sentence(
    edition: Path, tmp_path: Path, command: tuple[str, ...], told: str
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(edition)}
    (tmp_path / "my.ipynb").write_text("{}")
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "solutions").mkdir()
    asked = [sys.executable, "-m", "course", *command]
    done = subprocess.run(asked, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith(f"course {command[0]}: this is the student edition, which ")
    assert told in done.stderr and "Traceback" not in done.stderr


DICTIONARY = (
    *("data/wordnet/model_card.md", "data/wordnet/merges.safetensors", "data/wordnet/weights.safetensors"),
    *("data/chat/model_card.md", "data/chat/adapter.safetensors"),
    *("data/play_model/model_card.md", "data/calculator/model_card.md"),
    "data/language_model/model_card.md",
)
"""The published models: their cards, which hold WordNet's notice, go wherever the weights go."""

SEEN = "data/language_model/seen/"
"""What we saw of the real language model, as text for those who do not have its weights."""


def test_the_wheel_holds_what_students_use_and_no_more(wheel: Path) -> None:
    names = [name.removeprefix("course/") for name in zipfile.ZipFile(wheel).namelist() if name.startswith("course/")]
    grading = {name.split("/")[1] for name in names if name.startswith("grading/")}
    assert grading == STUDENTS
    tops = {name.split("/")[0] for name in names}
    assert tops == {
        *("__init__.py", "__main__.py", "cli.py", "course.py", "edition.py", "files.py", "outline.py", "source.py"),
        *("clock.py", "problem.py", "syllabus.py", "surroundings.py", "study_paths.py"),
        *("blocks", "data", "exercise", "grading", "judge", "keys", "notebook", "notebooks"),
        *("questions", "show", "py.typed"),
    }
    code = [name for name in names if not name.startswith(("keys/", "notebooks/"))]
    expected = (name.endswith((".py", ".safetensors", "py.typed")) or name in DICTIONARY for name in code)
    assert all(seen or name.startswith(SEEN) for name, seen in zip(code, expected, strict=True)), code
    assert {*DICTIONARY} < {*code}
    assert sum(zipfile.ZipFile(wheel).getinfo(f"course/{name}").file_size for name in code) < 6 * 2**20


def test_the_wheel_holds_the_released_notebooks_as_they_are_committed(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    held = {name: archive.read(name) for name in archive.namelist() if name.startswith("course/notebooks/")}
    committed = [*(ROOT / "assignments").glob("index.*"), *(ROOT / "assignments").glob("*.md")]
    committed += [release_path(ROOT, topic) for topic in OURS]
    places = {f"course/notebooks/{path.relative_to(ROOT / 'assignments').as_posix()}": path for path in committed}
    assert held == {name: path.read_bytes() for name, path in places.items()}


def test_a_notebook_that_was_run_goes_into_no_wheel(tmp_path: Path) -> None:
    topic = tmp_path / "assignments" / TOPIC.folder
    topic.mkdir(parents=True)
    (tmp_path / "course").mkdir()
    for name in (f"{TOPIC.folder}.ipynb", "solved.ipynb", "data.csv"):
        (topic / name).write_text('{"execution_count": null}')
    assert list(released(tmp_path).values()) == [f"course/notebooks/{TOPIC.folder}/{TOPIC.folder}.ipynb"]
    (topic / f"{TOPIC.folder}.ipynb").write_text('{"execution_count": 12}')
    with pytest.raises(SystemExit, match="has been run and may hold answers"):
        released(tmp_path)


def test_the_wheel_names_nothing_that_it_does_not_hold(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entries,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert archive.read(entries).decode().split() == ["[console_scripts]", "course", "=", "course.cli:main"]


def test_the_wheel_holds_no_line_of_an_answer(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    assert not [name for name in names if name.startswith(("course/hidden/", "course/reference/", "solutions"))]
    assert {f"course/keys/{topic.name}.key" for topic in OURS} <= set(names)
    assert "course/cli.py" in names
    code = [name for name in names if not name.startswith("course/notebooks/")]  # those give what others ask for
    assert [leak for name in code for leak in _leaks(name, archive.read(name))] == []


def test_the_instructors_wheel_holds_the_answers_and_no_keys(wheel: Path) -> None:
    names = _hatch(wheel.parents[1], edition="", folder=wheel.parent / "full")
    assert {"course/hidden/__init__.py", "course/reference/__init__.py", "course/notebooks/index.ipynb"} <= {*names}
    assert not [name for name in names if name.startswith("course/keys")]


def _hatch(root: Path, edition: str, folder: Path, target: str = "wheel") -> list[str]:
    environment = {**os.environ, "COURSE_EDITION": edition}
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    built = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if built.returncode:
        raise Problem(built.stderr)
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path).namelist()


def _refusal(root: Path, **options: str) -> str:
    with pytest.raises(Problem) as refused:
        _hatch(root, folder=root / "none", **options)
    assert not list((root / "none").glob("*"))
    return str(refused.value).strip()


def test_the_hook_refuses_in_one_sentence(wheel: Path) -> None:
    root = wheel.parents[1]
    assert "the only edition" in _refusal(root, edition="teacher")
    assert "is a wheel only" in _refusal(root, edition="student", target="sdist")
    os.utime(root / "course" / "hidden" / "__init__.py")
    assert "is older than the exercises" in _refusal(root, edition="student")
    name = OURS[-1].name
    (root / "course" / "keys" / f"{name}.key").unlink()
    refusal = _refusal(root, edition="student")
    assert f"no answer key for {name}: " in refusal and "\n" not in refusal


@pytest.mark.parametrize(
    ("changed", "refused"),
    [
        ("reference/rnn.py", True),
        ("hidden/rnn/rnn_cell.py", True),
        ("exercise/runner.py", True),
        ("data/recall.py", True),
        ("data/pretrained.safetensors", True),
        ("syllabus.py", True),
        ("grading/export/moodle.py", False),
        ("data/__pycache__/recall.cpython-313.pyc", False),
    ],
)
def test_keys_are_as_new_as_all_they_are_made_from(changed: str, refused: bool, tmp_path: Path) -> None:
    for name, seconds in {**{f"keys/{topic.name}.key": 2 for topic in OURS}, "__init__.py": 1, changed: 3}.items():
        path = tmp_path / "course" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (seconds, seconds))
    with pytest.raises(SystemExit, match="is older than the exercises") if refused else nullcontext():
        demand_keys(tmp_path)
