"""A spot check says whose weights their own loop does not give again."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course import cli
from course.course import course_in
from course.grading.authoring.source import refresh
from course.grading.classroom.graded import Graded
from course.grading.classroom.spot_check import sample, worse_tasks
from course.grading.course_folder import notebook_path, source_path
from course.grading.demo.run_demo import train
from course.grading.execution.task import Outcome
from course.grading.release.make_release import register
from course.judge.verdict import Verdict
from tests.original import ORIGINAL, find_topic

TOPIC, TASK = find_topic("self_attention"), "self_attention_task"
ROOT = Path(__file__).parents[3]


@given(st.sets(st.text(min_size=1, max_size=4), max_size=40), st.floats(0.01, 1.0))
def test_a_sample_is_the_same_every_time_whatever_the_order(students, share):
    chosen = sample(sorted(students), share, "secret", "03_rnn")
    assert chosen == sample(sorted(students, reverse=True), share, "secret", "03_rnn")
    assert set(chosen) <= students and len(chosen) == -(-len(students) * share // 1)


def test_another_class_has_another_sample():
    students = [f"s{number}" for number in range(100)]
    assert sample(students, 0.1, "one", "03_rnn") != sample(students, 0.1, "another", "03_rnn")


def test_only_tasks_that_earn_less_are_named():
    handed_in = {"rnn_task": Verdict("rnn_task", "passed", 5, 5), "rnn_cell": Verdict("rnn_cell", "passed", 2, 2)}
    anew = (Verdict("rnn_task", "partial", 3, 5), Verdict("rnn_cell", "wrong", 0, 2))
    lines = worse_tasks(Graded("bo", verdicts=handed_in), Outcome(b"", anew), {"rnn_task"})
    assert len(lines) == 1 and lines[0].startswith("rnn_task earns 3 of 5 when it is trained again, and 5 with")
    same = Outcome(b"", (Verdict("rnn_task", "passed", 5, 5),))
    assert worse_tasks(Graded("bo", verdicts=handed_in), same, {"rnn_task"}) == []


@pytest.mark.parametrize("share", ["0", "-5%", "120%", "some", "nan"])
def test_a_share_that_is_none_gets_one_sentence(share, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["grade", "03_rnn", f"--spot-check={share}"])
    assert stop.value.code == 2 and "is not a share of a class" in capsys.readouterr().err


@pytest.mark.slow
def test_weights_from_elsewhere_are_noticed(tmp_path, monkeypatch, capsys):
    (tmp_path / "solutions").mkdir()
    shutil.copy(source_path(ROOT, TOPIC), tmp_path / "solutions")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    refresh(course_in(tmp_path), (TOPIC,))
    register(course_in(tmp_path), TOPIC)
    nb = nbformat.read(notebook_path(tmp_path, TOPIC), as_version=4)
    weights = train(ORIGINAL, nb, TOPIC)
    assert set(weights) >= {f"checkpoints/{TASK}.safetensors"}
    for student in ("honest", "bought"):
        if student == "bought":
            loop = next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == f"{TASK}-solution")
            assert "optimizer.step()" in loop.source
            loop.source = loop.source.replace("optimizer.step()", "pass  # the weights came from elsewhere")
        folder = tmp_path / "submitted" / student / TOPIC.folder
        folder.mkdir(parents=True)
        nbformat.write(nb, folder / f"{TOPIC.folder}.ipynb")
        for path, content in weights.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["grade", TOPIC.folder, "--spot-check", "100%"]) == 0
    said = capsys.readouterr().out.partition("Spot check")[2]
    assert "bought: self_attention_task earns 0" in said and "honest: " not in said
    assert "trained again: bought, honest" in said
