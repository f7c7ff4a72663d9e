"""The report on a term: who falls behind, what returns, which items to look at, and that it names nobody unasked."""

from __future__ import annotations

import datetime
import re
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course.course import Course, course_in
from course.grading.classroom.graded import Graded
from course.grading.gradebook.scores import Scores, enrol
from course.grading.report import write_term_report
from course.grading.report.item_statistics import ADVICE, statistics_of, worst
from course.grading.report.over_the_term import falling_behind, idea_of, returning
from course.grading.report.term import Taught, collect_term, share_of
from course.grading.report.term_page import render
from course.judge.verdict import Verdict
from course.problem import Problem
from tests.grading.lesson import TOPIC, make_course
from tests.original import find_topic

RNN = find_topic("rnn")
EVERYBODY = [f"student{number:02}" for number in range(10)]
NOW = datetime.datetime(2027, 1, 31, 12, 0)
DUE = datetime.datetime(2027, 1, 20, 12, 0)


def work(student: str, cells: dict[str, float | None], wrong: dict[str, str] | None = None) -> Graded:
    """Graded work with these shares of ten points, and these misconceptions by exercise."""
    scores = {name: None if share is None else 10 * share for name, share in cells.items()}
    verdicts = {name: Verdict(name, "wrong", 0, 10, misconception=idea) for name, idea in (wrong or {}).items()}
    return Graded(student, Scores(0.0, 0.0, scores, dict.fromkeys(cells, 10.0)), verdicts)


def taught(name: str, *works: Graded, absent: tuple[str, ...] = ()) -> Taught:
    graded = {one.student: one for one in works}
    return Taught(find_topic(name), graded, frozenset(graded), frozenset(absent))


def term_of(**shares: list[float | None]) -> list[Taught]:
    """Topics 1 to 4, in each of which `shares` says what a student reached, or None for nothing handed in."""
    return [
        taught(
            str(number),
            *(work(who, {"a": share}) for who, given in shares.items() if (share := given[number - 1]) is not None),
            absent=tuple(who for who, given in shares.items() if given[number - 1] is None),
        )
        for number in range(1, 5)
    ]


def test_who_falls_behind() -> None:
    term = term_of(
        steady=[0.8, 0.8, 0.8, 0.8],
        same=[0.8, 0.8, 0.8, 0.8],
        third=[0.8, 0.8, 0.8, 0.8],
        sinks=[0.9, 0.9, 0.8, 0.7],
        wavers=[0.9, 0.6, 0.8, 0.5],
        once=[0.8, None, 0.8, 0.8],
        twice=[0.8, None, 0.8, None],
    )
    missed, fell = falling_behind(term)
    assert (missed.student, missed.missed, missed.fell) == ("twice", (term[1].topic.folder, term[3].topic.folder), ())
    assert (fell.student, [share for _, share in fell.fell]) == ("sinks", [0.9, 0.8, 0.7])


def test_a_hard_topic_makes_nobody_fall_behind() -> None:
    assert falling_behind(term_of(**{name: [0.9, 0.8, 0.6, 0.4] for name in EVERYBODY})) == []


def test_an_ungraded_answer_is_left_out_of_a_share() -> None:
    scores = work("ada", {"a": 0.5, "b": None, "c": 1.0}).scores
    assert share_of(scores) == 0.75 and share_of(scores, without="c") == 0.5


def test_an_idea_returns_under_other_names() -> None:
    term = [
        taught(
            "self_attention",
            work("ada", {}, {"softmax": "overflows"}),
            work("bob", {}, {"softmax": "overflows", "attention_cost": "forgets_values"}),
        ),
        taught("rnn", work("ada", {}, {"rnn_cell": "exponentials_overflow"})),
    ]
    (one,) = returning(term)
    assert one.idea == "numbers that overflow, or a logarithm of zero" and one.again == ("ada",)
    assert one.by_topic == {"06_self_attention": 2, "03_rnn": 1}
    assert one.names == ("exponentials overflow", "overflows")
    assert idea_of("NoNormAtTheEnd") == "no norm at the end"


def items_of(**columns: list[float]) -> list[Taught]:
    rows = zip(*columns.values(), strict=True)
    return [taught("rnn", *(work(who, dict(zip(columns, row))) for who, row in zip(EVERYBODY, rows, strict=True)))]


def test_the_two_worst_items_get_a_sentence() -> None:
    strong = [1.0] * 5 + [0.2] * 5
    term = items_of(
        bptt=strong,
        rnn_forward=strong,
        rnn_question=[0.0] * 5 + [0.5] * 5,
        generate=[0.1] * 10,
        rnn_cell=[0.5, 1.0, 0.75, 1.0, 0.5] * 2,
        clip_grad_norm=[1.0] * 10,
    )
    found = {one.name: one for one in statistics_of(term)}
    assert list(found) == ["rnn_cell", "rnn_forward", "bptt", "clip_grad_norm", "generate", "rnn_question"]
    assert found["bptt"].difficulty == pytest.approx(0.6) and found["bptt"].discrimination > 0.3  # type: ignore[operator]
    assert found["generate"].discrimination is None
    first, second = worst(list(found.values()))
    assert (first.name, first.advice) == ("rnn_question", ADVICE["negative", True])
    assert (second.name, second.advice) == ("generate", ADVICE["hard", False])
    assert found["rnn_cell"].advice == ADVICE["weak", False]
    assert not found["clip_grad_norm"].advice and not found["bptt"].advice


def test_few_students_give_no_advice() -> None:
    (one,) = statistics_of([taught("rnn", *(work(who, {"bptt": 0.0}) for who in EVERYBODY[:5]))])
    assert one.advice == ""


def test_the_page_names_students_only_when_asked() -> None:
    term = [
        taught(
            name,
            *(work(who, {"a": 0.5, "b": 0.5}, {"a": "overflows"}) for who in EVERYBODY),
            absent=("hedwig", "<b>zyx</b>"),
        )
        for name in ("rnn", "self_attention")
    ]
    page = render(term, NOW)
    assert "2 students handed in nothing for at least 2 topics" in page and "numbers that overflow" in page
    assert "hedwig" not in page and "zyx" not in page and not [who for who in EVERYBODY if who in page]
    named = render(term, NOW, names=True)
    assert "hedwig" in named and "&lt;b&gt;zyx" in named and "<b>zyx" not in named and EVERYBODY[0] in named


def test_a_topic_that_nobody_has_graded_by_hand_has_no_median() -> None:
    page = render([taught("rnn", work("ada", {"rnn_question": None}))], NOW)
    assert "<figure>" not in page and "median</th>" in page and '<td class="n">–</td>' in page


def test_a_graded_class_gets_its_page(graded_class: Path, tmp_path: Path) -> None:
    path, _ = write_term_report(course_in(graded_class), tmp_path / "term.html")
    page = path.read_text("utf-8")
    assert TOPIC.folder in page.replace("<wbr>", "") and "softmax" in page and not re.search(r"\bbea\b", page)
    assert not re.search(r"https?:|<script", page)


def test_nothing_is_reported_of_a_term_without_grades(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="nothing is graded yet"):
        write_term_report(course_in(make_course(tmp_path / "course")))


@pytest.fixture
def extended(graded_class: Path, tmp_path: Path) -> Course:
    """A graded class with Yves and Zoe, who handed in nothing; Yves has three days more."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    for name in ("yves", "zoe"):
        enrol(f"sqlite:///{root / 'gradebook.db'}", name)
    dated = f"[topics.{TOPIC.folder}]\ndue = {DUE.astimezone().isoformat()}\n"
    (root / "course.toml").write_text(f'{dated}[extensions]\nyves = {{ "{TOPIC.folder}" = "3 days" }}\n', "utf-8")
    return course_in(root)


def test_who_has_time_left_has_missed_nothing(extended: Course) -> None:
    absent = {}
    for days in (-1, 1, 4):
        (one,) = collect_term(extended, (DUE + datetime.timedelta(days=days)).astimezone())
        absent[days] = one.absent & {"yves", "zoe"}
    assert absent == {-1: set(), 1: {"zoe"}, 4: {"yves", "zoe"}}


def test_the_gradebook_is_not_opened_for_each_student(extended: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    enter = Gradebook.__enter__
    monkeypatch.setattr(Gradebook, "__enter__", lambda book: opened.append("once") or enter(book))
    (one,) = collect_term(extended, NOW.astimezone())
    assert len(one.graded) > 2 and len(opened) == 2, "once for the whole term, and once by the topic's classroom"
