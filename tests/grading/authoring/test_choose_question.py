"""The written question that a class gets: in its notebook, and in what `hint` says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from traitlets.config import Config

from course.course import Course, chosen
from course.exercise.key import read_key_file
from course.grading.authoring.source import build
from course.grading.cells import grade_id
from course.grading.nbgrader_bridge.choose_question import ChooseQuestion
from course.grading.nbgrader_bridge.course_of import hand_on
from course.hidden import other_question, question_hints, write_key
from course.outline import QUESTIONS, Faulty, read_outline
from course.syllabus import OURS, Topic
from tests.original import ORIGINAL, find_topic

SOLUTIONS = Path(__file__).parents[3] / "solutions"


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_each_topic_asks_what_the_class_chose_and_nothing_else_changes(topic: Topic) -> None:
    asked = set()
    for number in QUESTIONS:
        given = build(ORIGINAL, SOLUTIONS / f"{topic.folder}.py", topic)
        before = [cell.source for cell in given.cells]
        config, resources = Config(), {"nbgrader": {"assignment": topic.folder}}
        hand_on(config, Course(topics=(replace(topic, question=number),)))
        notebook, _ = ChooseQuestion(config=config).preprocess(given, resources)
        (place,) = [at for at, cell in enumerate(notebook.cells) if grade_id(cell) == f"{topic.name}_question"]
        after = [cell.source for cell in notebook.cells]
        heading, text = after.pop(place - 1).split("(about 10 minutes)\n\n")
        assert after == before[: place - 1] + before[place:]
        assert before[place - 1].startswith(heading) and "sentences" in text
        asked.add(text)
    assert len(asked) == 3


def test_hint_helps_with_the_question_that_was_chosen(tmp_path: Path) -> None:
    topic = replace(find_topic("06"), question=2)
    write_key(tmp_path, topic)
    other = other_question(topic)
    held = read_key_file(tmp_path / "self_attention.key").question_hints
    assert other is not None and held == {"self_attention_question": other.hints} != question_hints(find_topic("06"))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            "[topics.06_self_attention]\nquestion = 4",
            "question is 4. Each topic has three written questions, so write 1",
        ),
        ("[topics.06_self_attention]\nquestion = true", "question is True. Each topic has three"),
        ("[topics.06_self_attention]\nquestion = []", "question is []. Each topic has three"),
        (
            '[topics.90_mine]\ntitle = "Mine"\nquestion = 2\nexercises = [{ name = "f", points = 1, minutes = 5 }]',
            "[topics.90_mine] is your own topic. Write its question in its notebook",
        ),
    ],
)
def test_a_question_that_there_is_not_is_refused(table: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(table, "utf-8")
    with pytest.raises(Faulty) as refused:
        chosen(read_outline(tmp_path / "course.toml"))
    assert said in str(refused.value)


def test_a_class_chooses_in_course_toml(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text("[topics.06_self_attention]\nquestion = 3", "utf-8")
    (topic,) = chosen(read_outline(tmp_path / "course.toml"))
    assert topic == replace(find_topic("06"), question=3)
