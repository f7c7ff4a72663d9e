"""Find a course and hold it as one value: its folder, an instructor's choices, and the topics.

Each program finds the course once, where it begins: the command line, nbgrader's plug-ins, a notebook, a worker. From
there the value is an argument, so several courses can be used in one process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from course.outline import (
    CARRIED,
    FILE,
    FINAL,
    VIVA,
    Choice,
    Faulty,
    Late,
    Outline,
    Rubric,
    parse_outline,
    read_outline,
)
from course.syllabus import OURS, Item, Topic, Unknown, near

CONFIG = "nbgrader_config.py"
"""The file of nbgrader's settings, in the folder of every course."""


@dataclass(frozen=True)
class Course:
    """A course: its folder `root`, the content of its `course.toml`, and its topics in order.

    By default it is the original course, in the working folder.
    """

    root: Path = Path()
    outline: Outline = field(default_factory=Outline)
    topics: tuple[Topic, ...] = OURS

    @property
    def is_original(self) -> bool:
        """Return whether this is the original course, which no instructor has changed."""
        return self.outline.path is None

    @property
    def late_rule(self) -> Late | None:
        """Return what late work loses, or None in the original course, where nbgrader's own rule holds."""
        return None if self.is_original else self.outline.late

    @property
    def known_folders(self) -> tuple[str, ...]:
        """Return the folders of all topics, including original ones that `course.toml` leaves out."""
        return tuple(dict.fromkeys(topic.folder for topic in (*OURS, *self.topics)))

    def find_topic(self, name: str) -> Topic:
        """Return the topic called `name`: `rnn`, `03_rnn` or `3`.

        Raises:
            Unknown: no topic has that name. The message names similar ones or all.
        """
        if topic := self._topic(name):
            return topic
        folders = [topic.folder for topic in self.topics]
        which = near(name, folders) or f". The topics are {', '.join(folders)}"
        raise Unknown(f"no topic is called {name!r}{which}")

    def _topic(self, name: str) -> Topic | None:
        return next((topic for topic in self.topics if name in topic.names), None)

    def topic_in(self, folder: str) -> Topic | None:
        """Return the topic whose folder, the nbgrader assignment, is called `folder`, or None."""
        return next((topic for topic in self.topics if topic.folder == folder), None)

    def find_item(self, name: str) -> tuple[Topic, Item]:
        """Return the topic and the item whose `grade_id` is `name`.

        Raises:
            Unknown: no item has that name. `similar` finds similar ones.
        """
        for topic in self.topics:
            for item in topic.in_source:
                if item.name == name:
                    return topic, item
        raise Unknown(f"no exercise is called {name!r}")

    def item_of(self, name: str) -> Item:
        """Return the item whose `grade_id` is `name`.

        Raises:
            Unknown: no item has that name.
        """
        return self.find_item(name)[1]

    def similar(self, name: str) -> str:
        """Return ". Did you mean …?" with similar exercises, a topic's exercises for its name, or an empty string."""
        if topic := self._topic(name):
            return f". That is a topic, with the exercises {', '.join(item.name for item in topic.judged)}"
        return near(name, [item.name for topic in self.topics for item in topic.items])


def find_course(start: Path | None = None) -> Course:
    """Return the course of the folder `start`, by default the working folder.

    The nearest folder at or above it that holds `course.toml` beside `nbgrader_config.py` is the course. A student
    edition for that course contains the file within the package, and looks nowhere else. Without either, the course is
    the original one.

    Raises:
        Faulty: `course.toml` is invalid.
    """
    start = (start or Path.cwd()).resolve()
    around = (start, *start.parents)
    if CARRIED.is_file():
        outline = read_outline(CARRIED)
    elif folder := next((one for one in around if (one / FILE).is_file() and (one / CONFIG).is_file()), None):
        return course_in(folder)
    else:
        outline = Outline()
    return Course(next(filter(is_course, around), start), outline, chosen(outline))


def course_in(root: Path) -> Course:
    """Return the course in the folder `root`: an instructor's if it holds `course.toml`, else the original one.

    Raises:
        Faulty: `course.toml` is invalid.
    """
    outline = read_outline(root / FILE) if (root / FILE).is_file() else Outline()
    return Course(root, outline, chosen(outline))


@cache
def public_course(text: str, root: Path) -> Course:
    """Return the course in `root` whose outline has the `public` part `text`, or the original one for an empty text.

    A worker asks for it once a task, so it is kept.
    """
    outline = parse_outline(text, root / FILE) if text else Outline()
    return Course(root, outline, chosen(outline))


def is_course(folder: Path) -> bool:
    """Return whether a folder is the root of a course."""
    return (folder / CONFIG).is_file() and (folder / "solutions").is_dir()


def chosen(outline: Outline, ours: Sequence[Topic] = OURS) -> tuple[Topic, ...]:
    """Return the topics of a course in order: all of `ours`, or those that an instructor's outline names.

    Raises:
        Faulty: the outline names something that does not exist, or one name twice.
    """
    if outline.path is None:
        return tuple(ours)
    known = {topic.folder: topic for topic in ours}
    try:
        topics = [
            _choose(known[choice.folder], choice) if choice.folder in known else _own(choice, ours, outline.path.parent)
            for choice in outline.choices.values()
        ]
        _demand_droppable(outline, topics)
        topics = [_without(topic, outline) for topic in topics]
        _distinct([*(item.name for topic in topics for item in topic.in_source)], "two exercises are called")
        _distinct([topic.folder[:2] for topic in topics if topic.number is not None], "two topics have the number")
        for choice in outline.choices.values():
            _demand_earlier(choice, [topic.folder for topic in topics])
        for topic in topics:
            _demand_fit(outline.rubrics.get(topic.folder, {}), topic)
        _demand_countable(outline, topics)
    except Faulty as fault:
        raise Faulty(f"{outline.path}: {fault}") from None
    return tuple(sorted(topics, key=lambda topic: topic.folder))


def _choose(topic: Topic, choice: Choice) -> Topic:
    """Return an original topic with an instructor's points and due date."""
    where = f"[topics.{topic.folder}]"
    if choice.items or choice.title or choice.builds_on:
        raise Faulty(
            f"{where} is a topic of ours and keeps its title and exercises. Change only its points, due date and "
            "question"
        )
    names = [item.name for item in topic.items]
    for name in sorted(choice.points.keys() - {*names}):
        which = near(name, names) or f". Its exercises are {', '.join(names)}"
        raise Faulty(f"{where} gives points to {name!r}, which is no exercise of it{which}")
    items = tuple(replace(item, points=choice.points.get(item.name, item.points)) for item in topic.items)
    return replace(topic, items=items, due=choice.due, opens=choice.opens, question=choice.question)


def _demand_droppable(outline: Outline, topics: Sequence[Topic]) -> None:
    """Raise Faulty unless `without_points` names topics of the course, or exercises in it that have 0 points."""
    points = {item.name: item.points for topic in topics for item in topic.items}
    folders = [topic.folder for topic in topics]
    for name in outline.without_points if isinstance(outline.without_points, tuple) else ():
        where = f"[grading] without_points has {name!r}"
        if name not in points and name not in folders:
            raise Faulty(f"{where}, which is no topic or exercise here{near(name, [*folders, *points])}")
        if points.get(name):
            raise Faulty(f"{where}, which has {points[name]:g} points. Give it 0 points, or remove it there")


def _without(topic: Topic, outline: Outline) -> Topic:
    """Return the topic without those items of 0 points that the course drops."""
    dropped = tuple(item for item in topic.items if not item.points and outline.drops(topic.folder, item.name))
    kept = tuple(item for item in topic.items if item not in dropped)
    if not kept:
        raise Faulty(f"[topics.{topic.folder}] has 0 points for everything. Take the topic's tables out instead")
    return replace(topic, items=kept, dropped=dropped)


def _own(choice: Choice, ours: Sequence[Topic], root: Path) -> Topic:
    """Return a topic of the instructor's own, whose course is in the folder `root`."""
    where = f"[topics.{choice.folder}]"
    if not choice.title or not choice.items:
        folders = [topic.folder for topic in ours]
        which = near(choice.folder, folders) or f". Ours are {', '.join(folders)}."
        raise Faulty(f"{where} is no topic of ours{which} One of your own needs a title and exercises")
    if choice.name in {topic.name for topic in ours}:
        raise Faulty(f"{where} has the name of a topic of ours. Give it another name")
    if choice.points:
        raise Faulty(f"{where} is your own topic. Write its points in its exercises")
    if choice.question != 1:
        raise Faulty(f"{where} is your own topic. Write its question in its notebook")
    items = tuple(Item(**values) for values in choice.items)
    before = tuple(Choice(folder).name for folder in choice.builds_on)
    home = root / "exercises" / choice.folder
    return Topic(
        choice.number, choice.name, choice.title, choice.lecture, items, before, choice.due, home, opens=choice.opens
    )


def _demand_earlier(choice: Choice, folders: Sequence[str]) -> None:
    """Raise Faulty unless the topics that a topic builds on come before it in the course."""
    earlier = [folder for folder in folders if folder < choice.folder]
    for folder in choice.builds_on:
        if folder not in earlier:
            which = near(folder, earlier)
            raise Faulty(
                f"[topics.{choice.folder}] builds on {folder!r}, which is no earlier topic of this course{which}"
            )


def _demand_fit(rubrics: Mapping[str, Rubric], topic: Topic) -> None:
    """Raise Faulty unless each rubric belongs to a written question of the topic and stays within its points."""
    questions = {item.name: item.points for item in topic.items if item.kind == "question"}
    for name, rubric in rubrics.items():
        where = f"[rubrics.{topic.folder}] {name}"
        if name not in questions:
            which = f". Its written questions are {', '.join(questions)}" if questions else ""
            raise Faulty(f"{where} is no written question of the topic{which or '. It has none'}")
        for criterion in rubric:
            if abs(criterion.points) > questions[name]:
                most = f"{questions[name]:g}"
                raise Faulty(
                    f"{where} has {criterion.points:g} points for {criterion.wording!r}, but the question has {most}. "
                    f"Give at most {most}"
                )


def _demand_countable(outline: Outline, topics: Sequence[Topic]) -> None:
    """Raise Faulty unless `extra_credit` names what earns points, and leaves something that counts in each topic."""
    extra = outline.final.extra_credit if outline.final else frozenset()
    points = {item.name: item.points for topic in topics for item in topic.items}
    folders = [topic.folder for topic in topics]
    vivas = [f"{topic}{VIVA}" for topic, most in outline.viva.items() if most]
    for name in sorted(extra - {*folders, *vivas}):
        where = f"[final] extra_credit has {name!r}, which"
        if name not in points:
            raise Faulty(f"{where} is no topic or exercise here{near(name, [*folders, *vivas, *points])}")
        if not points[name]:
            raise Faulty(f"{where} has 0 points. Give it some, or remove it there")
    for topic in topics:
        if extra and all(item.name in extra for item in topic.items if item.points):
            raise Faulty(f"[final] extra_credit has every exercise of {topic.folder}. Name the topic in their place")
    weights = outline.final.weights if outline.final else {}
    if outline.final and not any(weights.get(name, 1) for name in {*folders, *vivas} - extra):
        raise Faulty("[final] leaves no topic that counts. Give one a weight, and keep it out of extra_credit")
    if outline.final and FINAL in folders:
        raise Faulty(f"[topics.{FINAL}] has the name of the final grade. Give the topic another name")


def _distinct(names: Sequence[str], what: str) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise Faulty(f"{what} {twice[0]}")
