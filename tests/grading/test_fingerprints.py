"""What decides a result is part of its name, and what does not decide it is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import course
from course.grading import fingerprints
from course.grading.fingerprints import fingerprint, state_of
from course.syllabus import Item, Topic
from tests.original import find_item, find_topic

NAMES = ("softmax", "attention_cost", "rnn_cell")


@pytest.fixture
def package(tmp_path: Path, monkeypatch) -> Iterator[Path]:
    """The course in a folder where it can be changed, with nothing kept of what was asked before."""
    copy = shutil.copytree(Path(course.__file__).parent, tmp_path / "course", ignore=shutil.ignore_patterns("keys"))
    monkeypatch.setattr("course.__file__", str(copy / "__init__.py"))
    yield copy
    fingerprint.cache_clear()
    state_of.cache_clear()


def states(topic: str = "rnn") -> dict[str, str]:
    """The state of the execution of a topic's notebooks, and of the tests of each exercise."""
    fingerprint.cache_clear()
    state_of.cache_clear()
    tests = {name: state_of(*find_item(name)) for name in NAMES}
    return {"execution": fingerprint(frozenset({find_topic(topic)})), **tests}


EVERYTHING = {"execution", *NAMES}
EDITED = {
    "hidden/rnn/rnn_cell.py": {"execution", "rnn_cell"},
    "hidden/self_attention/softmax.py": {"softmax", "attention_cost"},
    "hidden/lora/scaffold.py": EVERYTHING,
    "hidden/reading.py": EVERYTHING,
    "reference/rnn.py": EVERYTHING,
    "exercise/runner.py": EVERYTHING,
    "judge/compare.py": EVERYTHING,
    "data/order.py": EVERYTHING,
    "data/pretrained.safetensors": EVERYTHING,
    "syllabus.py": EVERYTHING,
    "grading/cells.py": {"execution"},
    "grading/execution/notebook_run.py": {"execution"},
    "grading/intake/untrusted.py": {"execution"},
    "grading/kernels/zygote.py": {"execution"},
    "grading/sandbox/seccomp.py": {"execution"},
    "grading/machine/faults.py": {"execution"},
    "notebook/training.py": {"execution"},
    "blocks/transformer.py": {"execution"},
    "show/rnn.py": {"execution"},
    "cli.py": set(),
    "data/README.md": set(),
    "grading/authoring/source.py": set(),
    "grading/classroom/summary.py": set(),
    "grading/export/canvas.py": set(),
    "grading/gradebook/scores.py": set(),
    "grading/nbgrader_bridge/feedback_page.py": set(),
    "grading/report/page.py": set(),
    "grading/workers/worker_pool.py": set(),
}
"""A file in each folder, and what an edit of it has executed or judged again."""


@pytest.mark.parametrize("file", EDITED)
def test_an_edit_changes_the_state_of_what_it_can_decide(package, file):
    before = states()
    content = (package / file).read_bytes()
    (package / file).write_bytes(content + b"\n")
    after = states()
    assert {name for name in before if before[name] != after[name]} == EDITED[file]
    (package / file).write_bytes(content)
    assert states() == before


def test_what_a_machine_leaves_in_the_package_changes_nothing(package):
    before = states()
    for name in ("data/.DS_Store", "data/__pycache__/dates.cpython-311.pyc", "judge/.~lock.compare.py"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_bytes(b"left behind")
    assert states() == before


def test_an_instructors_own_tests_are_read_where_they_are(package, tmp_path):
    """`exercises/20_smoothing/hidden.py` in their course's folder."""
    path = tmp_path / "exercises" / "20_smoothing" / "hidden.py"
    path.parent.mkdir(parents=True)
    topic = Topic(20, "smoothing", "Smoothing", "", (Item("smooth", 2, 10),), home=path.parent)
    seen = []
    for source in ("def smooth():\n    return 3\n", "def smooth():\n    return 4\n", "def smooth(:"):
        path.write_text(source)
        fingerprint.cache_clear()
        state_of.cache_clear()
        key = fingerprints.key_fingerprint(topic, package)
        seen.append((fingerprint(frozenset({topic})), state_of(topic, topic.items[0]), key))
    assert all(len(set(state)) == len(seen) for state in zip(*seen, strict=True))
