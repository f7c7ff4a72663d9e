"""The class at a glance."""

from __future__ import annotations

import builtins
import dataclasses
import sys

import pytest

from course.grading.classroom import summary
from course.grading.classroom.graded import Graded
from course.grading.gradebook.scores import Scores
from course.judge.verdict import Verdict
from tests.original import find_topic

TOPIC = find_topic("rnn")
MAXIMA = {"rnn_cell": 2.0, "bptt": 5.0, "rnn_question": 2.0}


def graded(student: str, *verdicts: Verdict, **changes) -> Graded:
    cells: dict[str, float | None] = {verdict.exercise: verdict.score for verdict in verdicts}
    cells["rnn_question"] = None
    return Graded(student, Scores(3.0, 9.0, cells, MAXIMA), {v.exercise: v for v in verdicts}, 2.25, **changes)


CLASS = [
    graded("ada", Verdict("rnn_cell", "partial", 1.5, 2, misconception="no_bias"), Verdict("bptt", "time", 0, 5)),
    graded("bea", Verdict("rnn_cell", "wrong", 0, 2, misconception="no_bias"), Verdict("bptt", "passed", 5, 5)),
    graded("cy", Verdict("rnn_cell", "passed", 2, 2), notes=("copies of bptt: the last one is graded",)),
    Graded("dan", reason="03_rnn.ipynb is not valid JSON (line 1)"),
]


def test_a_row_for_each_graded_student():
    header, rows = summary.table(TOPIC, CLASS)
    assert header == ["student", "points", "rnn_cell", "bptt", "rnn_question", "seconds"]
    assert rows[0] == ["ada", "3 / 9", "1.5", "0 ⧖", "–", "2.2"]
    assert [row[0] for row in rows] == ["ada", "bea", "cy"]


def test_what_fails_with_an_earlier_answer_is_marked():
    rests = [Verdict("bptt", kind, 0, 5, rests_on="rnn_cell") for kind in ("wrong", "time")]
    _, rows = summary.table(TOPIC, [graded("ada", verdict) for verdict in rests])
    assert [row[3] for row in rows] == ["0 ↑", "0 ⧖"]


def test_misunderstandings_are_counted_and_named():
    assert summary.misunderstandings(CLASS) == ["  2  rnn_cell: no bias   (ada, bea)"]


def test_what_the_machine_could_not_judge_is_said():
    fault = graded("eve", Verdict("bptt", "not-graded", 0, 5, "the judge failed"))
    assert not fault.complete
    assert summary.not_graded([*CLASS, fault]) == [
        "dan (not graded): 03_rnn.ipynb is not valid JSON (line 1)",
        "eve (bptt not graded): the judge failed",
    ]


def test_names_with_brackets_are_names(capsys):
    title = dataclasses.replace(TOPIC, title="Smoothing [/optional]")
    summary.show(title, [graded("ada [late]", Verdict("rnn_cell", "passed", 2, 2))])
    said = capsys.readouterr().out
    assert "Smoothing [/optional]" in said and "ada [late]" in said


@pytest.mark.parametrize("columns", [200, 60])
@pytest.mark.parametrize("rich", [True, False])
def test_it_prints_within_the_terminal(monkeypatch, capsys, columns, rich):
    real = builtins.__import__

    def importing(name, *rest):
        if name.startswith("rich") and not rich:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(builtins, "__import__", importing)
    summary.show(TOPIC, CLASS)
    said = capsys.readouterr().out.replace("\u00a0", " ")
    for word in (
        "ada",
        "1.5",
        "rnn_cell",
        "no bias",
        "copies of bptt",
        "3 of 4 submissions graded",
        "dan (not graded)",
    ):
        assert word in said
    table = said.partition("Misunderstandings")[0]
    assert max(map(len, table.splitlines())) <= 200
    if columns == 60:
        assert max(len(line) for line in table.splitlines() if "ada" in line) <= 60


@pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux only")
def test_kernels_that_started_cold_are_told_once():
    cold = [dataclasses.replace(work, why_cold="the zygote ended") for work in CLASS[:2]]
    assert "2 kernels started slowly, which changes no grade: the zygote ended" in summary.notes([*cold, *CLASS[2:]])
    assert "1 kernel started slowly, which changes no grade: the zygote ended" in summary.notes(cold[:1])
    assert not any("cold" in note for note in summary.notes(CLASS))


def test_the_legend_explains_every_mark():
    explained = dict(entry.split(" ", 1) for entry in summary.LEGEND.split("   "))
    assert {*summary.MARKS.values(), summary.RESTS, "–"} == explained.keys()
    assert explained["!"] == "raised an error or ran out of memory"
