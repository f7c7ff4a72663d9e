"""Every mechanical mutant of a solution loses points, except those in `survivors.toml`, which gives the reasons."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from course.syllabus import OURS, Topic
from tests.hidden import mechanical
from tests.hidden.judged import SEED, points_for
from tests.original import points_of

LISTED = tomllib.loads((Path(__file__).parent / "survivors.toml").read_text("utf-8"))
EXERCISES = [(topic, name) for topic in OURS for name in mechanical.solutions(topic)]


@pytest.mark.slow
@pytest.mark.parametrize(("topic", "name"), EXERCISES, ids=[name for _, name in EXERCISES])
def test_only_equivalent_mutants_get_full_marks(topic: Topic, name: str) -> None:
    solution = mechanical.definitions(topic)[name]
    assert points_for(name, solution, SEED) == points_of(name), "else every mutant would lose points"
    listed = {(row["was"], now): row["why"] for row in LISTED.get(name, ()) for now in row["now"]}
    assert all(listed.values()), "each survivor is listed with its reason"
    found = {(mutant.was, mutant.now) for mutant in mechanical.survivors(topic, name)}
    assert found == listed.keys(), "new ones are holes, or equivalent: `python -m tests.hidden.mechanical` prints them"


CELL = """
def answer(x, dim=1):
    ### BEGIN SOLUTION
    if x > 0 and not dim:
        x = max(x, 2, key=abs)[1:]
    return -x + 0.5
    ### END SOLUTION
"""
CONDITION, REST = "if x > 0 and (not dim):", "x = max(x, 2, key=abs)[1:]"


def test_each_kind_of_change_is_made_once():
    changed = {"": [], CONDITION: [], REST: [], "return -x + 0.5": []}
    for mutant in mechanical.mutants(CELL):
        changed[mutant.was if mutant.was in changed else ""].append(mutant.now)
    assert changed == {
        "": ["pass"],  # the whole branch
        CONDITION: [
            *("if not (x > 0 and (not dim)):", "if True:", "if False:", "if x > 0 or not dim:"),
            *("if x >= 0 and (not dim):", "if x > 0 and (not not dim):", "if x > 1 and (not dim):"),
            "if x > -1 and (not dim):",
        ],
        REST: [
            *("pass", "x = max(x, 2)[1:]", "x = max(x, key=abs)[1:]"),
            *("x = max(x, 2, key=abs)[:]", "x = max(x, 3, key=abs)[1:]", "x = max(x, 1, key=abs)[1:]"),
            *("x = max(x, 2, key=abs)[2:]", "x = max(x, 2, key=abs)[0:]"),
        ],
        "return -x + 0.5": ["pass", "return -x - 0.5", "return +x + 0.5", "return -x + 1.0"],
    }


def test_all_listed_exercises_exist():
    assert LISTED.keys() <= {name for _, name in EXERCISES}
