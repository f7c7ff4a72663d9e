"""The report on a class: what it tells, that it tells it to anybody, and that nothing in it is a student's markup."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from copy import deepcopy
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from course import cli
from course.course import course_in
from course.grading.classroom.graded import Graded
from course.grading.classroom.handed_in import LOCKED
from course.grading.gradebook.scores import Scores
from course.grading.problem import Problem
from course.grading.report import findings, write_report, write_student_reports
from course.syllabus import Item
from tests.grading.classes import HOSTILE, grade
from tests.grading.lesson import NAME, TOPIC, answers, make_course, solved
from tests.grading.sandbox.child import become_nobody, in_child

SECTIONS = ["scores", "exercises", "misconceptions", "ungraded", "effort", "signs", "alike", "everybody"]


@pytest.fixture(scope="module")
def page(graded_class: Path, tmp_path_factory) -> str:
    return write_report(course_in(graded_class), TOPIC, tmp_path_factory.mktemp("report") / "page.html").read_text(
        "utf-8"
    )


def section(page: str, name: str) -> str:
    """The words of a section."""
    found = re.search(rf'<section id="{name}".*?</section>', page, re.S)
    assert found is not None
    text = re.sub(r"<(?!/t[dh]|/code|/summary|pre|/figure|/p|br)[^>]+>", "", found[0])
    text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))
    return re.sub(r" ([,.;])", r"\1", text)


class Outline(HTMLParser):
    """Headings, captions, anchors and elements of a page; complains about what is not closed."""

    VOID = frozenset({"meta", "wbr", "link", "br", "rect", "line", "circle"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tables = self.captions = 0
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.tables += tag == "table"
        self.captions += tag == "caption"
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_is_sound_and_needs_nothing_from_anywhere(page):
    outline = Outline()
    outline.feed(page)
    assert outline.open == []
    assert outline.headings[0] == 1 and outline.headings.count(1) == 1
    assert all(below <= above + 1 for above, below in zip(outline.headings, outline.headings[1:]))
    assert outline.tables == outline.captions >= 5
    assert len(outline.ids) == len(set(outline.ids)) and set(SECTIONS) <= set(outline.ids)
    assert set(outline.links) == {f"#{name}" for name in SECTIONS}
    assert not {"script", "img", "link", "iframe", "object"} & outline.tags
    assert not re.search(r"https?:|url\(|@import", page)


def test_a_page_for_the_projector_names_nobody(graded_class, tmp_path, page):
    root = shutil.copytree(graded_class, tmp_path / "course")
    for student in ("ada", "bea", "cy", "dan", "eve", "fay"):  # whose names are in no word of the page
        for path in root.glob(f"*/{student}"):
            path.rename(path.with_name(f"name-of-{student}"))
    with sqlite3.connect(root / "gradebook.db") as gradebook:
        gradebook.execute("UPDATE student SET id = 'name-of-' || id")
        gradebook.execute("UPDATE submitted_assignment SET student_id = 'name-of-' || student_id")
    whole = write_report(course_in(root), TOPIC)
    assert "name-of-eve" in whole.read_text("utf-8")
    path = write_report(course_in(root), TOPIC, names=False)
    assert path == root / "reports" / f"{NAME}-no-names.html"
    shown = path.read_text("utf-8")
    assert "name-of" not in shown and HOSTILE not in html.unescape(shown)
    assert section(shown, "scores").replace("are not graded yet", "wait for you") == section(page, "scores")
    assert re.search(r"2 softmax overflows What is exp\(1000\)", section(shown, "misconceptions"))
    told = "Of 6 submissions, 1 could not be graded completely. Of 6 students, 0 handed in nothing."
    assert told in section(shown, "ungraded")
    outline = Outline()
    outline.feed(shown)
    assert outline.open == [] and set(outline.links) == {f"#{name}" for name in SECTIONS[:5]}


def test_nothing_a_student_wrote_is_markup(page):
    assert HOSTILE not in page
    assert html.escape(HOSTILE) in page or html.escape(HOSTILE, quote=False) in page or "&lt;script&gt;" in page


def test_who_misunderstood_what(page):
    said = section(page, "misconceptions")
    assert re.search(r"2 softmax overflows bea, cy What is exp\(1000\)", said), said


def test_scores_and_exercises(page):
    assert "5 graded submissions" in section(page, "scores")
    said = section(page, "exercises")
    assert re.search(r" softmax 3 2 0 0 \d+ % 2 partial", said), said
    assert "Grade these in formgrader: 5 × self_attention_question : ada, bea, cy, dan, eve" in said
    assert re.search(r" usual 5 0 0 0 100 %", said), said
    everybody = section(page, "everybody")
    assert all(student in everybody for student in ("ada", "bea", "cy", "dan", "eve")) and "fay" not in everybody


def test_how_many_fail_with_the_answer_to_an_earlier_exercise(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    for student, right in (("bea", True), ("cy", False)):
        path = root / "autograded" / student / NAME / f"{NAME}.ipynb"
        graded = json.loads(path.read_text())
        graded["metadata"]["course"]["verdicts"]["attention_for_one"].update(
            kind="wrong", rests_on="softmax", correct_given_prerequisite=right
        )
        path.chmod(0o644)
        path.write_text(json.dumps(graded))
    assert "2 wrong 2 rest on softmax, 1 right but for that" in section(
        write_report(course_in(root), TOPIC).read_text("utf-8"), "exercises"
    )


def test_what_was_not_graded_and_why(page):
    assert f"fay {NAME}.ipynb is not valid JSON (line 1), perhaps because saving" in section(page, "ungraded")


def test_tampering_is_told_with_its_line(page):
    said = section(page, "signs")
    assert f"cy the notebook imports socket, which opens sockets import socket # {HOSTILE}" in said
    assert "dan the notebook edited 1 locked cell (attention_cost), which grading restored" in said
    assert "ada" not in said and "bea" not in said


def test_a_detour_stands_beside_what_it_earned(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    path = root / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    nb = nbformat.read(path, as_version=4)
    answers({"softmax": "def softmax(x, dim):\n    return torch.ops.aten._softmax(x, dim, False)"})(nb)
    nbformat.write(nb, path)
    said = section(write_report(course_in(root), TOPIC).read_text("utf-8"), "signs")
    beside = "ada softmax 2 of 2 points uses torch.ops.aten._softmax, which is private to torch"
    assert f"{beside} return torch.ops.aten._softmax(x, dim, False)" in said


def test_a_groups_own_work_is_no_copy(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    (root / "course.toml").write_text(f'[topics.{NAME}]\n[groups]\nowls = ["dan", "eve"]\n', "utf-8")
    said = section(write_report(course_in(root), TOPIC).read_text("utf-8"), "alike")
    assert "No two students handed in the same weights" in said and "eve" not in said


def test_equal_weights_whatever_their_record(page):
    assert "self_attention_task.safetensors, 2 times the same weights: dan, eve" in section(page, "alike")


def test_near_equal_code_is_shown_side_by_side(page):
    said = section(page, "alike")
    assert re.search(r"\d+ %: dan and eve \(\d+ tokens, \d answers\)", said)
    assert said.count(" %: ") == 1, "nobody else is shown"
    assert "# every line my own" in said and "shifted = torch.subtract(rows, largest)" in said
    assert "many students wrote exactly the same: attention_cost (5 students)" in said


def test_time_and_memory_are_told(page):
    said = section(page, "effort")
    assert re.search(r"ada \d+\.\d \d+\.\d \d+ ", said), said


def test_it_is_read_again_from_what_is_there_now(graded_class, tmp_path):
    """A score given by hand and a submission changed since: no grading lies between."""
    from nbgrader.api import Gradebook

    root = shutil.copytree(graded_class, tmp_path / "course")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        grade = gradebook.find_grade("self_attention_question", NAME, NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.0, False
        gradebook.add_student("gus")
        gradebook.db.commit()
    path = root / "submitted" / "bea" / NAME / f"{NAME}.ipynb"
    path.write_text(path.read_text().replace("exp()", "exp() "))
    page = write_report(course_in(root), TOPIC).read_text("utf-8")
    assert "4 × self_attention_question" in section(page, "exercises")
    said = section(page, "ungraded")
    assert "bea: changed since it was graded" in said and "handed in nothing: gus." in said
    assert re.search(r"handed in</dt><dd>6 of 7</dd>", page)


def test_work_that_was_taken_away_keeps_points_and_is_told(graded_class, tmp_path):
    """As when a folder is renamed: the gradebook then has one person twice."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    (root / "submitted" / "bea").rename(root / "submitted" / "bea.b")
    said = section(write_report(course_in(root), TOPIC).read_text("utf-8"), "ungraded")
    assert "no longer in submitted/" in said and "old points: bea." in said and "handed in nothing" not in said


def test_changed_is_what_was_handed_in_and_not_its_date(graded_class, tmp_path):
    """Weights that came later are a change, a notebook that was only touched is none."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    handed_in = root / "submitted"
    (handed_in / "bea" / NAME / f"{NAME}.ipynb").touch()
    weights = f"{NAME}/checkpoints/self_attention_task.safetensors"
    (handed_in / "dan" / weights).write_bytes((handed_in / "ada" / weights).read_bytes())
    said = section(write_report(course_in(root), TOPIC).read_text("utf-8"), "ungraded")
    assert "dan: changed since it was graded" in said and "bea" not in said


def test_what_is_refused_before_it_runs_is_told_with_its_reason(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    path = root / "submitted" / "bea" / NAME / f"{NAME}.ipynb"
    nb = json.loads(path.read_text())
    for cell in nb["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["grade_id"] += "-of-another"
    path.write_text(json.dumps(nb))
    shutil.rmtree(root / "autograded" / "bea")
    said = section(write_report(course_in(root), TOPIC).read_text("utf-8"), "ungraded")
    assert "bea its graded cells (" in said


def as_somebody_else(root: Path, act: Callable[[], object]) -> object:
    """What `act` returns to somebody who owns the folder `root` and has no other rights; in a child where one is root.

    What has mode 0 in it may be read by nobody then.
    """
    return act() if os.geteuid() else in_child(lambda: become_nobody(root) or act())


def test_what_may_not_be_read_is_told_and_the_class_is_in_the_report(graded_class, tmp_path):
    """One student's folders each: of all topics, of this one, its weights, and the graded work."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    locked = {
        root / "submitted" / "cy": 0,
        root / "submitted" / "bea" / NAME: 0,
        root / "submitted" / "dan" / NAME / "checkpoints": 0o400,
        root / "autograded" / "ada": 0,
    }

    def look() -> tuple[str, list[str]]:
        for path, mode in locked.items():
            path.chmod(mode)
        page = section(write_report(course_in(root), TOPIC).read_text("utf-8"), "ungraded")
        graded = [f"{work.student}: {work.reason}" for work in grade(root)]
        for path in locked:
            path.chmod(0o700)
        return page, graded

    page, graded = as_somebody_else(root, look)
    reasons = {
        "ada": f"{root}/autograded/ada/{NAME}/{NAME}.ipynb may not be read or written by you. Change its rights",
        "bea": "the submission may not be read by you. Change its rights",
        "dan": "checkpoints may not be read by you. Change its rights",
        "cy": f"{root}/submitted/cy may not be read by you, so work in it is not graded. Change its rights",
    }
    assert all(f"{student} {reason}" in page for student, reason in reasons.items()), page
    reasons |= {"ada": reasons["ada"].replace(f"/{NAME}.ipynb", ""), "eve": ""}
    assert {f"{student}: {reason}" for student, reason in reasons.items()} <= set(graded), graded


def test_a_class_that_may_not_be_read_is_not_told_to_be_empty(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    everybody = root / "submitted"

    def look() -> str:
        everybody.chmod(0)
        try:
            write_report(course_in(root), TOPIC)
        except Problem as problem:
            return str(problem)
        finally:
            everybody.chmod(0o700)
        return ""

    assert as_somebody_else(root, look) == LOCKED.format(everybody)


def test_without_anything_to_report_it_says_so(graded_class, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(make_course(tmp_path / "course"))
    assert cli.main(["report", "6"]) == 2
    assert "nothing was handed in for 06_self_attention" in capsys.readouterr().err
    shutil.copytree(graded_class / "submitted", "submitted")
    assert cli.main(["report", "6"]) == 2
    assert "Run `course grade 06_self_attention` first" in capsys.readouterr().err
    assert cli.main(["report", "nope"]) == 2
    assert "no topic is called 'nope'" in capsys.readouterr().err
    assert not Path("reports").exists()


def test_a_pipe_for_a_notebook_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.ipynb")
    assert findings.read_or_none(tmp_path / "pipe.ipynb") is None


@pytest.mark.parametrize("numbers", [(4, None), (4, "5"), (4.0, 5), (4, 5.0)])
def test_a_notebook_of_no_format_is_not_read(tmp_path, numbers):
    major, minor = numbers
    document = {"nbformat": major, "nbformat_minor": minor, "metadata": {}, "cells": [{"cell_type": "code"}]}
    (tmp_path / "odd.ipynb").write_text(json.dumps(document))
    assert findings.read_or_none(tmp_path / "odd.ipynb") is None


def test_an_answer_whose_cell_lost_its_marks_is_told_by_its_name(tmp_path):
    make_course(tmp_path)
    nb = solved(tmp_path)
    wanted = findings.answers_of(nb, None, frozenset())
    bare = deepcopy(nb)
    for cell in bare.cells:
        cell.metadata.pop("nbgrader", None)
    given = frozenset(cell.source for cell in nb.cells if "solution" not in cell.metadata.get("nbgrader", {}))
    found = findings.answers_of(bare, nb, given)
    functions = {name for name, source in wanted.items() if source.startswith("def ")}
    assert functions and {name: found[name] for name in functions} == {name: wanted[name] for name in functions}
    together = new_notebook(cells=[new_code_cell("\n".join(wanted[name] for name in sorted(functions)))])
    found = findings.answers_of(together, nb, given)
    assert found.keys() == functions and all(wanted[name].startswith(found[name].rstrip()) for name in functions)


def test_an_exercise_that_counts_for_nothing_has_no_mean():
    """An instructor gives 0 points to what the course is to leave out; a mean of 0 % looked as if all had failed."""
    item = TOPIC.items[0]
    scores = Scores(2.0, 3.0, {item.name: 0.0, "other": 2.0}, {item.name: 0.0, "other": 3.0})
    went = findings.success_of(item, [Graded("ada", scores), Graded("bob", scores)])
    assert went.mean is None and (went.full, went.some, went.none, went.counts) == (0, 0, 0, False)
    assert findings.success_of(Item("other", 3, 10), [Graded("ada", scores)]).counts


def test_an_exercise_without_points_has_no_bar_and_nobody_has_all_of_them(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        for name in ("softmax", "self_attention_question"):
            gradebook.find_grade_cell(name, NAME, NAME).max_score = 0
        gradebook.db.commit()
    page = section(write_report(course_in(root), TOPIC, tmp_path / "page.html").read_text("utf-8"), "exercises")
    assert re.search(r" softmax optional – – – 0 – 2 partial", page), page
    assert re.search(r" self_attention_question optional – – – 5 – ", page), page
    assert re.search(r" usual 5 0 0 0 100 %", page), page
    (of_ada,) = write_student_reports(course_in(root), [TOPIC], "ada", tmp_path / "ada.html")
    assert '<span class="points quiet">optional</span>' in of_ada.read_text("utf-8")
