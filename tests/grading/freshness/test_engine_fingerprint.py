"""What decides a notebook's results is part of the engine's name: its topics' tests, and what topics share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import course
from course.grading.freshness import engine_fingerprint, kept_hashes
from course.outline import Outline
from course.syllabus import Item, Topic


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("hidden/rnn/rnn_cell.py", True),
        ("hidden/rnn/scaffold.py", True),
        ("hidden/reading.py", True),
        ("hidden/__init__.py", True),
        ("reference/rnn.py", True),
        ("judge/compare.py", True),
        ("data/pretrained.safetensors", True),
        ("hidden/lstm_gru/gru_cell.py", False),
        ("reference/lora.py", False),
        ("cli.py", False),
        ("data/README.md", False),
    ],
)
def test_what_decides_the_results_of_a_topic(file, decides):
    package = Path(course.__file__).parent
    assert (package / file in engine_fingerprint.decisive_files(package, frozenset({"rnn"}))) == decides


@pytest.fixture
def package(tmp_path: Path, monkeypatch) -> Iterator[Path]:
    """The course in a folder where it can be changed, with nothing kept of what was asked before."""
    copy = shutil.copytree(Path(course.__file__).parent, tmp_path / "course", ignore=shutil.ignore_patterns("keys"))
    monkeypatch.setattr("course.__file__", str(copy / "__init__.py"))
    yield copy
    engine_fingerprint.fingerprint.cache_clear()


def states(*topics: str) -> dict[str, str]:
    engine_fingerprint.fingerprint.cache_clear()
    kept_hashes.state_of.cache_clear()
    return {topic: engine_fingerprint.fingerprint(frozenset({topic})) for topic in topics}


@pytest.mark.parametrize(
    ("file", "changed", "same"),
    [
        ("reference/multi_head_attention.py", "encoder_decoder", "cbow"),
        ("reference/positional_encoding.py", "encoder_decoder", "masking"),
        ("hidden/reading.py", "lstm_gru", "encoder_decoder"),
    ],
)
def test_what_a_topic_imports_of_another_decides_its_results(package, file, changed, same):
    before = states(changed, same)
    with (package / file).open("a", encoding="utf-8") as module:
        module.write("\nCORRECTED = True\n")
    after = states(changed, same)
    assert before[changed] != after[changed] and before[same] == after[same]


EDITED = {
    "grading/cells.py": True,
    "grading/execution/notebook_run.py": True,
    "grading/execution/kernel_connection.py": True,
    "grading/intake/untrusted.py": True,
    "grading/kernels/zygote.py": True,
    "grading/sandbox/seccomp.py": True,
    "grading/machine/faults.py": True,
    "exercise/runner.py": True,
    "judge/judging.py": True,
    "notebook/training.py": True,
    "blocks/transformer.py": True,
    "data/order.py": True,
    "show/rnn.py": True,
    "syllabus.py": True,
    "grading/authoring/source.py": False,
    "grading/classroom/summary.py": False,
    "grading/demo/run_demo.py": False,
    "grading/export/canvas.py": False,
    "grading/gradebook/scores.py": False,
    "grading/intake/submit.py": False,
    "grading/machine/doctor.py": False,
    "grading/machine/check_packages.py": False,
    "grading/nbgrader_bridge/feedback_page.py": False,
    "grading/release/lint.py": False,
    "grading/report/page.py": False,
    "grading/self_study/grade_one.py": False,
    "grading/workers/worker_pool.py": False,
    "cli.py": False,
}
"""A module in each folder, and whether a class is executed again when it changes."""


def test_an_edit_has_a_class_executed_again_only_where_it_can_change_a_result(package):
    before, changed = states("rnn"), {}
    for file in EDITED:
        text = (package / file).read_text("utf-8")
        (package / file).write_text(f"{text}\nCORRECTED = True\n", "utf-8")
        changed[file] = states("rnn") != before
        (package / file).write_text(text, "utf-8")
    assert changed == EDITED
    assert states("rnn") == before


@pytest.mark.parametrize("file", [file for file, decides in EDITED.items() if decides])
def test_an_edit_of_a_docstring_or_a_comment_has_nothing_executed_again(package, file):
    before = states("rnn")
    text = (package / file).read_text("utf-8")
    (package / file).write_text(text.replace('"""', '"""In other words. ', 1) + "# a comment\n", "utf-8")
    assert states("rnn") == before


def test_an_instructors_own_tests_name_what_they_rest_on(package, tmp_path, monkeypatch):
    topic = Topic(20, "smoothing", "Smoothing", "", (Item("right", 1, 5),), own=True)
    folder = tmp_path / "exercises" / topic.folder
    folder.mkdir(parents=True)
    tests = folder / "hidden.py"
    tests.write_text("def right():\n    from course.reference import rnn\n    return rnn\n")
    monkeypatch.setattr(engine_fingerprint, "OUTLINE", Outline(tmp_path / "course.toml"))
    monkeypatch.setattr(engine_fingerprint, "TOPICS", (topic,))
    files = set(engine_fingerprint.decisive_files(package, frozenset({"smoothing"})))
    assert package / "reference" / "rnn.py" in files and package / "reference" / "lora.py" not in files

    tests.write_text("def right(:")
    assert package / "reference" / "rnn.py" not in engine_fingerprint.decisive_files(package, frozenset({"smoothing"}))
