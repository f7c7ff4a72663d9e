"""Read an instructor's `course.toml`: the topics they chose, with points, due dates and a late policy."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args
from unicodedata import normalize
from zoneinfo import ZoneInfo, available_timezones

from course.clock import Extension
from course.syllabus import FollowThrough

FILE = "course.toml"
CARRIED = Path(__file__).with_name(FILE)
"""The place of the outline in a student edition, for the course it was made for."""

AllWithoutPoints = Literal["optional", "drop"]
WithoutPoints = AllWithoutPoints | tuple[str, ...]
"""What happens to exercises with 0 points: they are marked as optional, or removed from the notebook.

A list names the exercises to remove, or topics whose exercises without points are all removed.
"""

Assistants = Literal["allowed", "tutor", "not at all"]
"""What AI assistants may do for students, according to their instructor."""

RULES: dict[str, tuple[str, ...]] = {
    "follow_through": get_args(FollowThrough),
    "without_points": get_args(AllWithoutPoints),
}
"""The rules of `[grading]`, each with its possible values."""

SETTINGS = {"assistants": get_args(Assistants), **RULES}
"""All settings whose value is one of a few words."""

KINDS = ("exercise", "question")
"""Kinds of items in an instructor's own topic."""

QUESTIONS = (1, 2, 3)
"""The numbers of the written questions of each original topic, of which a class gets one."""

DATE = "Write a date with time and time zone, such as due = 2027-01-31T23:59:00+01:00, without quotes"
"""Advice on the form of a due date."""

LONGER = 'Write it as "3 days", "36 hours" or "1 week"'
"""Advice on the form of an extension."""

LONGEST = timedelta(days=366)
"""The longest possible extension."""

VIVA = "_viva"
"""What follows a topic's folder in the name of its viva in the gradebook."""

FINAL = "final"
"""What the final grade is called in commands and on platforms."""

PLATFORMS = ("canvas", "moodle")
"""The tables that say where on a platform a class is."""

PUBLIC = ("title", "time_zone", "late", "grading", "topics")
"""The parts of a `course.toml` that students get, without anything about single students."""

PRIVATE = ("extensions", "excused", "groups", "rubrics", "viva", "final", "feedback")
"""The tables that students do not get."""

TOPIC_FOLDER = re.compile(r"((?P<number>\d\d)_)?(?P<name>[a-z][a-z0-9_]*)")
"""What a topic's folder is called: `03_rnn`, or a topic of an instructor's own without a number, `project`."""


class Faulty(ValueError):
    """A `course.toml` says something impossible. The message says what, where, and what to do."""


@dataclass(frozen=True)
class Late:
    """The loss of a late submission: a percentage of its score for every day begun after the hours of grace."""

    percent_per_day: float = 0.0
    grace_hours: float = 0.0
    most_percent: float = 100.0

    def penalty(self, score: float, seconds: float) -> float:
        """Return the points that `score` loses for work that came `seconds` late."""
        seconds -= self.grace_hours * 3600
        days = -(-seconds // 86400) if seconds > 0 else 0
        return score * min(self.percent_per_day * days, self.most_percent) / 100


@dataclass(frozen=True)
class Final:
    """How a final grade in percent follows from a student's shares of the points.

    `weights` are those of topics, or empty where a topic weighs as much as its points. Of the topics outside
    `never_dropped`, the `drop_lowest` with the lowest shares do not count. What `extra_credit` names, topics and
    exercises, adds to a grade and is not asked for. The grade is at most `cap`, with so many `decimals`.
    """

    weights: dict[str, Fraction] = field(default_factory=dict)
    drop_lowest: int = 0
    never_dropped: frozenset[str] = frozenset()
    extra_credit: frozenset[str] = frozenset()
    cap: int = 100
    decimals: int = 1


@dataclass(frozen=True)
class Choice:
    """A topic in `course.toml`.

    `title`, `lecture`, `builds_on` (folders of topics) and `items` describe an instructor's own topic.
    `question` is the number of the written question that the class gets in an original topic.
    """

    folder: str
    due: datetime | None = None
    points: dict[str, float] = field(default_factory=dict)
    title: str = ""
    lecture: str = ""
    builds_on: tuple[str, ...] = ()
    items: tuple[dict[str, Any], ...] = ()
    question: int = 1
    opens: datetime | None = None

    @property
    def number(self) -> int | None:
        """Return its number in the course: 3 of `03_rnn`."""
        return int(self.folder[:2]) if self.folder[0].isdigit() else None

    @property
    def name(self) -> str:
        """Return its name in code: `rnn` of `03_rnn`."""
        return self.folder if self.number is None else self.folder[3:]


@dataclass(frozen=True)
class Group:
    """Students who submit together: `members` by their ids, in `topics` by their folders."""

    name: str
    members: tuple[str, ...]
    topics: frozenset[str]


@dataclass(frozen=True)
class Place:
    """Where a class is on a platform: the site's `address`, the number of its `course` there, and named `assignments`.

    `assignments` are the platform's numbers by topic, for those that are not called like their topic.
    """

    address: str
    course: int
    assignments: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Criterion:
    """A line of a rubric: its text, and the points that it gives, or, if negative, takes from full points.

    Criteria of one `group` exclude each other: an answer meets one of them.
    """

    text: str
    points: float
    group: str = ""

    @property
    def wording(self) -> str:
        """Return the text that students read in the comment."""
        return f"{self.group}: {self.text}" if self.group else self.text


Rubric = tuple[Criterion, ...]
"""The criteria of a written question, in the order of display to a grader."""


@dataclass(frozen=True)
class Outline:
    """The content of a `course.toml`: `path` is the file, `choices` its topics by folder, other fields mostly rules.

    `zone` is the class's time zone, in which dates are shown and days are counted; without one it is this machine's.

    `extensions` give single students more time, by student and topic. `excused` are students with the topics that do
    not count for them, and `final` says how the final grade follows. `groups` submit together. `rubrics` are those of
    written questions, by topic and question. `viva` has the points of questions about one's own code, by topic.
    `asks_in_feedback` says whether pages of feedback ask about the student's own code, `takes_requests` whether they
    offer regrade requests. `places` are those of the class on `PLATFORMS`. `public` is the text of the parts in
    `PUBLIC`. The defaults, without a file, are those of the original course.
    """

    path: Path | None = None
    title: str = "Sequence models"
    assistants: Assistants = "tutor"
    zone: ZoneInfo | None = None
    late: Late = field(default_factory=Late)
    follow_through: FollowThrough = "lose"
    without_points: WithoutPoints = "optional"
    choices: dict[str, Choice] = field(default_factory=dict)
    extensions: dict[str, dict[str, Extension]] = field(default_factory=dict)
    excused: dict[str, frozenset[str]] = field(default_factory=dict)
    final: Final | None = None
    groups: tuple[Group, ...] = ()
    rubrics: dict[str, dict[str, Rubric]] = field(default_factory=dict)
    viva: dict[str, float] = field(default_factory=dict)
    asks_in_feedback: bool = True
    takes_requests: bool = True
    places: dict[str, Place] = field(default_factory=dict)
    public: str = ""

    @property
    def carried(self) -> bool:
        """Return whether this is the copy in a student edition."""
        return self.path == CARRIED

    def drops(self, folder: str, exercise: str) -> bool:
        """Return whether an exercise of a topic leaves the notebook if it has 0 points."""
        rule = self.without_points
        return rule == "drop" if isinstance(rule, str) else folder in rule or exercise in rule

    def extended(self, folder: str) -> dict[str, Extension]:
        """Return the extensions for a topic, by student."""
        return {student: by[folder] for student, by in self.extensions.items() if folder in by}

    def extended_due(self, folder: str) -> dict[str, datetime]:
        """Return the due dates of students with an extension for a topic, or nothing if it has no due date."""
        due = self.choices[folder].due if folder in self.choices else None
        return {one: longer.after(due, self.zone) for one, longer in self.extended(folder).items()} if due else {}

    def students_named(self, folder: str) -> set[str]:
        """Return the students that the extensions, excuses or groups for a topic name."""
        members = {student for group in self.groups_in(folder) for student in group.members}
        return members | self.extended(folder).keys() | self.excused_from(folder)

    def excused_from(self, part: str) -> set[str]:
        """Return the students for whom a topic, or its viva, does not count."""
        return {student for student, parts in self.excused.items() if part in parts}

    def groups_in(self, folder: str) -> list[Group]:
        """Return the groups that submit a topic together."""
        return [group for group in self.groups if folder in group.topics]


def read_outline(path: Path) -> Outline:
    """Read the outline in the file at `path`.

    Raises:
        Faulty: the file is not TOML, or contains something unknown or impossible.
    """
    try:
        return parse_outline(path.read_text(encoding="utf-8-sig"), path)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise Faulty(f"{path} is not in UTF-8, and line {line} cannot be read. Save the file as UTF-8") from None


def parse_outline(text: str, path: Path) -> Outline:
    """Return the outline with the `text` of the file at `path`, which is not read.

    Raises:
        Faulty: the text is not TOML, or contains something unknown or impossible.
    """
    try:
        values = _tables(text)
        _only(values, (*PUBLIC, "assistants", *PRIVATE, *PLATFORMS), "it")
        zone = _zone(_text(values, "time_zone"))
        late = _late(_table(values, "late"))
        rules = _rules(_table(values, "grading"))
        choices = {name: _choice(name, chosen, zone) for name, chosen in _table(values, "topics").items()}
        if not choices:
            raise Faulty("it chooses no topic. Write a table such as [topics.03_rnn]")
        viva = _viva(_table(values, "viva"), choices)
        graded = (*choices, *(f"{topic}{VIVA}" for topic, points in viva.items() if points))
        return Outline(
            path,
            _text(values, "title", "Sequence models"),
            _assistants(values),
            zone,
            late,
            choices=choices,
            extensions=_extensions(_table(values, "extensions"), choices),
            excused=_excused(_table(values, "excused"), graded),
            final=_final(_table(values, "final"), graded) if "final" in values else None,
            groups=_groups(_table(values, "groups"), choices),
            rubrics=_rubrics(_table(values, "rubrics"), choices),
            viva=viva,
            asks_in_feedback=_in_feedback(_table(values, "feedback"), "questions"),
            takes_requests=_in_feedback(_table(values, "feedback"), "requests"),
            places={name: _place(_table(values, name), f"[{name}]", choices) for name in PLATFORMS if name in values},
            public="".join(f"{name} = {_toml(values[name])}\n" for name in PUBLIC if name in values),
            **rules,
        )
    except Faulty as error:
        raise Faulty(f"{path}: {error}") from None


def _tables(text: str) -> dict[str, Any]:
    """Parse the file's text. If it is not TOML, raise Faulty with the line at fault."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = text.splitlines()[int(place[1]) - 1].strip() if place else ""
        if place and re.match("Cannot (declare|overwrite)", str(error)):
            again = f"line {place[1]} says {line!r} a second time"
            raise Faulty(f"{again}. Change the first one, and delete this one") from None
        if place and re.match(r"(due|opens)\s*=", line):
            raise Faulty(f"line {place[1]} is {line!r}. {DATE}") from None
        if place and (rule := re.match(rf"({'|'.join(SETTINGS)})\s*=", line)):
            raise Faulty(f"line {place[1]} is {line!r}. Write {_either(rule[1])}, with the quotes") from None
        raise Faulty(f"{error}. That line is {line!r}" if line else str(error)) from None


def _late(values: dict[str, Any]) -> Late:
    if "time_zone" in values:
        raise Faulty("[late] has the time_zone, which is that of all dates. Move the line above the first table")
    _only(values, ("percent_per_day", "grace_hours", "most_percent"), "[late]")
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise Faulty(f"[late] {name} is {value!r}, but must be a number of 0 or more")
        if "percent" in name and value > 100:
            raise Faulty(f"[late] {name} is {value!r}, but late work can lose at most 100 percent of its score")
    return Late(**values)


def _zone(name: str) -> ZoneInfo | None:
    """Return the time zone of this name, or None without one, or on a machine that knows none, as Windows."""
    if not name or not (known := available_timezones()):
        return None
    if name != "UTC" and (name not in known or "/" not in name):  # EST and its like have no summer time
        raise Faulty(f'time_zone is {name!r}, but must be a city\'s, such as time_zone = "Europe/Berlin"')
    return ZoneInfo(name)


def _rules(values: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of `[grading]`, by the name of the field of `Outline`."""
    _only(values, RULES, "[grading]")
    dropped = values.get("without_points")
    if isinstance(dropped, list) and all(isinstance(name, str) for name in dropped):
        values = {**values, "without_points": tuple(dropped)}
    listed = {"without_points": ', or a list of exercises and topics, such as ["03_rnn"]'}
    for name, setting in values.items():
        if setting not in RULES[name] and not isinstance(setting, tuple):
            raise Faulty(f"[grading] {name} is {setting!r}, but must be {_either(name)}{listed.get(name, '')}")
    return values


def _assistants(values: dict[str, Any]) -> Assistants:
    chosen = values.get("assistants", "tutor")
    if chosen not in SETTINGS["assistants"]:
        raise Faulty(f"assistants is {chosen!r}, but must be {_either('assistants')}")
    return chosen


def _either(name: str) -> str:
    """Return the possible values of a setting, for messages."""
    return " or ".join(f'"{setting}"' for setting in SETTINGS[name])


def _extensions(values: dict[str, Any], topics: Iterable[str]) -> dict[str, dict[str, Extension]]:
    return {normalize("NFC", student): _extension(student, by, topics) for student, by in values.items()}


def _extension(student: str, by_topic: Any, topics: Iterable[str]) -> dict[str, Extension]:
    """Return a student's extensions by topic. One text is an extension for all topics."""
    where = f"[extensions] {student}"
    if isinstance(by_topic, str):
        by_topic = dict.fromkeys(topics, by_topic)
    if not isinstance(by_topic, dict):
        example = f'{{ "{min(topics)}" = "3 days" }}'
        raise Faulty(
            f"{where} is {by_topic!r}. Name topics and times, such as {student} = {example}, or one time for all"
        )
    given = {}
    for topic, said in by_topic.items():
        if topic not in topics:
            dotted = " A student's name with a dot needs quotes" if isinstance(said, dict) else ""
            raise Faulty(f"{where} has {topic!r}, which is no topic here. Choose from {', '.join(topics)}.{dotted}")
        found = re.fullmatch(r"(\d{1,6}(?:\.\d+)?) *(minute|hour|day|week)s?", said) if isinstance(said, str) else None
        if found is None:
            raise Faulty(f"{where} has {said!r} for {topic}. {LONGER}")
        longer = timedelta(**{f"{found[2]}s": float(found[1])})
        given[topic] = Extension.of(longer) if found[2] in ("day", "week") else Extension(time=longer)
        if not timedelta() < longer <= LONGEST:
            raise Faulty(f"{where} has {said!r} for {topic}. Give more than nothing, and at most {LONGEST.days} days")
    return given


def _excused(values: dict[str, Any], graded: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return what each excused student is excused from."""
    example = f'such as ["{min(graded)}"]'
    return {
        normalize("NFC", student): _listed(said, graded, f"[excused] {student}", example)
        for student, said in values.items()
    }


def _listed(said: Any, known: Iterable[str], where: str, example: str) -> frozenset[str]:
    """Return a list of names that are all `known`, as a set."""
    if not isinstance(said, list) or not all(isinstance(name, str) for name in said):
        raise Faulty(f"{where} is {said!r}, but must be a list, {example}")
    if unknown := [name for name in said if name not in known]:
        raise Faulty(f"{where} has {unknown[0]!r}, which is no topic here. Choose from {', '.join(known)}")
    return frozenset(said)


def _final(values: dict[str, Any], graded: Sequence[str]) -> Final:
    """Return the rule of `[final]`. What is asked of names of exercises, `course.course` asks."""
    _only(values, ("weights", "drop_lowest", "never_dropped", "extra_credit", "cap", "decimals"), "[final]")
    for name, least, most in (("drop_lowest", 0, len(graded) - 1), ("cap", 1, 1000), ("decimals", 0, 3)):
        value = values.get(name, least)
        if type(value) is not int or not least <= value <= most:
            raise Faulty(f"[final] {name} is {value!r}, but must be a whole number from {least} to {most}")
    example = f'such as ["{min(graded)}"]'
    extra = values.get("extra_credit", [])
    if not isinstance(extra, list) or not all(isinstance(name, str) for name in extra):
        raise Faulty(f"[final] extra_credit is {extra!r}, but must be a list of topics or exercises, {example}")
    named = {
        "never_dropped": _listed(values.get("never_dropped", []), graded, "[final] never_dropped", example),
        "extra_credit": frozenset(extra),
        "weights": _weights(_table(values, "weights", "[final]"), graded),
    }
    return Final(**{**values, **named})


def _weights(values: dict[str, Any], graded: Sequence[str]) -> dict[str, Fraction]:
    """Return the weights as they are written in decimals, or none without a table."""
    for name, value in values.items():
        if name not in graded:
            raise Faulty(f"[final.weights] has {name!r}, which is no topic here. Choose from {', '.join(graded)}")
        if type(value) not in (int, float) or not 0 <= value < 1e6:
            raise Faulty(f"[final.weights] {name} is {value!r}, but must be a number of 0 or more")
    if values and (missing := [name for name in graded if name not in values]):
        raise Faulty(f"[final.weights] has no line for {missing[0]}. Give it a weight, or 0 if it does not count")
    return {name: Fraction(str(value)) for name, value in values.items()}


def _groups(values: dict[str, Any], topics: Iterable[str]) -> tuple[Group, ...]:
    """Return the groups. Raise Faulty if a student is in two groups for the same topic."""
    groups = tuple(_group(name, said, topics) for name, said in values.items())
    places: dict[tuple[str, str], str] = {}
    for group in groups:
        for place in [(student, topic) for student in group.members for topic in sorted(group.topics)]:
            if (other := places.setdefault(place, group.name)) != group.name:
                raise Faulty(f"[groups] has {place[0]} in {other} and in {group.name} for {place[1]}. Remove one")
    return groups


def _group(name: str, said: Any, topics: Iterable[str]) -> Group:
    where = f"[groups] {name}"
    example = f'Write {name} = ["ada", "bob"]'
    table = said if isinstance(said, dict) else {"members": said}
    _only(table, ("members", "topics"), where)
    members, chosen = table.get("members"), table.get("topics", list(topics))
    if not isinstance(members, list) or not all(map(_is_a_name, members)):
        raise Faulty(f"{where} needs a list of students. {example}")
    if len(members) < 2 or len(set(members)) < len(members):
        raise Faulty(f"{where} must have two or more students, each of them once. {example}")
    unknown = [one for one in chosen if one not in topics] if isinstance(chosen, list) else [chosen]
    if unknown:
        raise Faulty(f"{where} has {unknown[0]!r}, which is no topic here. Choose from {', '.join(topics)}")
    return Group(name, tuple(normalize("NFC", one) for one in members), frozenset(chosen))


def _place(values: dict[str, Any], where: str, topics: Iterable[str]) -> Place:
    if secret := next((name for name in values if "token" in name.lower() or "key" in name.lower()), ""):
        raise Faulty(
            f"{where} has {secret!r}, but this file is no place for a secret. Delete the line, make a new token, and "
            "keep that in the system's keyring"
        )
    _only(values, ("address", "course", "assignments"), where)
    address = _text(values, "address", where=where).rstrip("/")
    if not re.fullmatch(r"https://[\w.-]+(:\d+)?(/[\w./~-]*)?|http://(localhost|127\.0\.0\.1)(:\d+)?", address):
        raise Faulty(f'{where} address is {address!r}. Write the site\'s address, such as "https://school.example.org"')
    named = _table(values, "assignments", where)
    for name, number in {"course": values.get("course"), **named}.items():
        if name not in ("course", FINAL, *topics):
            raise Faulty(f"{where} assignments has {name!r}, which is no topic here. Choose from {', '.join(topics)}")
        if type(number) is not int or number < 1:
            raise Faulty(f"{where} {name} is {number!r}. Write its number there, which stands in the page's address")
    return Place(address, values["course"], named)


def _is_a_name(said: Any) -> bool:
    """Return whether a value can be the name of a student's folder."""
    return isinstance(said, str) and bool(said) and "/" not in said and not said.startswith(".")


def _rubrics(values: dict[str, Any], topics: Iterable[str]) -> dict[str, dict[str, Rubric]]:
    for topic in values:
        if topic not in topics:
            raise Faulty(f"[rubrics] has {topic!r}, which is no topic here. Choose from {', '.join(topics)}")
    return {
        topic: {question: _rubric(said, f"[rubrics.{topic}] {question}") for question, said in questions.items()}
        for topic in values
        for questions in [_table(values, topic, "[rubrics]")]
    }


def _rubric(said: Any, where: str) -> Rubric:
    """Return the criteria of one question. Raise Faulty if two have the same text."""
    if not isinstance(said, list) or not said or not all(isinstance(one, dict) for one in said):
        raise Faulty(f'{where} must be a list of criteria, such as {{ points = 1, text = "Names the scale." }}')
    criteria = tuple(_criterion(one, f"{where}, criterion {number},") for number, one in enumerate(said, 1))
    wordings = [one.wording for one in criteria]
    if twice := next((one for one in wordings if wordings.count(one) > 1), ""):
        raise Faulty(f"{where} has the criterion {twice!r} twice. Change one of the texts")
    groups = [name for name, _ in groupby(one.group for one in criteria) if name]
    if apart := next((name for name in groups if groups.count(name) > 1), ""):
        raise Faulty(f"{where} has criteria between those of the group {apart!r}. Put the group's criteria together")
    if not any(one.points for one in criteria):
        raise Faulty(f"{where} has no criterion with points. Give one of them points, such as points = 1")
    return criteria


def _criterion(values: dict[str, Any], where: str) -> Criterion:
    _only(values, ("points", "text", "group"), where)
    points: Any = values.get("points")
    if type(points) not in (int, float) or not abs(points) < float("inf") or points * 4 % 1:
        written = "no points" if points is None else f"{points!r} points"
        raise Faulty(f"{where} has {written}. Write a number in steps of 0.25, such as 0.5 or -0.5")
    words = {name: normalize("NFC", _text(values, name, where=where).strip()) for name in ("text", "group")}
    if not words["text"]:
        raise Faulty(f'{where} has no text. Say what earns or loses the points, such as text = "Names the scale."')
    return Criterion(points=float(points), **words)


def _viva(values: dict[str, Any], topics: Iterable[str]) -> dict[str, float]:
    """Return the points of the viva on each topic that has one."""
    for topic in values:
        if topic not in topics:
            raise Faulty(f"[viva] has {topic!r}, which is no topic here. Choose from {', '.join(topics)}")
    return {topic: _points(value, f"[viva] {topic}") for topic, value in values.items()}


def _in_feedback(values: dict[str, Any], name: str) -> bool:
    _only(values, ("questions", "requests"), "[feedback]")
    chosen: Any = values.get(name, True)
    if not isinstance(chosen, bool):
        raise Faulty(f"[feedback] {name} is {chosen!r}, but must be true or false, without quotes")
    return chosen


def _choice(folder: str, values: Any, zone: ZoneInfo | None) -> Choice:
    where = f"[topics.{folder}]"
    if not isinstance(values, dict) or not TOPIC_FOLDER.fullmatch(folder):
        named = "two digits, an underscore, lower-case letters"
        raise Faulty(f"{where} is not a topic. Name the table like 03_rnn, with {named}, or without the number")
    _only(values, ("opens", "due", "question", "points", "title", "lecture", "builds_on", "exercises"), where)
    opens, due = (_date(values, name, where, zone) for name in ("opens", "due"))
    if opens and due and opens >= due:
        raise Faulty(f"{where} opens at or after it is due. Change one of the two dates")
    points = {name: _points(value, f"{where} {name}") for name, value in _table(values, "points", where).items()}
    question = values.get("question", 1)
    if isinstance(question, bool) or question not in QUESTIONS:
        raise Faulty(f"{where} question is {question!r}. Each topic has three written questions, so write 1, 2 or 3")
    items = values.get("exercises", [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Faulty(f'{where} exercises must be a list of {{ name = "...", points = 2, minutes = 10 }}')
    checked = tuple(_item(item, where) for item in items)
    words = _text(values, "title"), _text(values, "lecture")
    return Choice(folder, due, points, *words, _builds_on(values, where), checked, question, opens)


def _date(values: dict[str, Any], name: str, where: str, zone: ZoneInfo | None) -> datetime | None:
    """Return a date in the class's time zone, which is that of a date without one."""
    date = values.get(name)
    if date is None:
        return None
    if not isinstance(date, datetime) or (date.tzinfo is None and zone is None):
        raise Faulty(f"{where} {name} is {str(date)!r}. {DATE}")
    if not 1970 <= date.year < 9999:
        raise Faulty(f"{where} {name} is in the year {date.year}. Write the year with four digits, such as 2027")
    return date.replace(tzinfo=date.tzinfo or zone).astimezone(zone or date.tzinfo)


def _builds_on(values: dict[str, Any], where: str) -> tuple[str, ...]:
    folders = values.get("builds_on", [])
    if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
        raise Faulty(f'{where} builds_on must be a list of topics, such as builds_on = ["03_rnn"]')
    return tuple(folders)


def _item(values: dict[str, Any], where: str) -> dict[str, Any]:
    _only(values, ("name", "points", "minutes", "kind"), f"an exercise of {where}")
    name = values.get("name")
    if not isinstance(name, str) or not name.isidentifier():
        raise Faulty(f"{where} has an exercise named {name!r}. Give it the name of the function that students write")
    if type(values.get("minutes")) is not int or values["minutes"] < 0:
        said = f"minutes = {values['minutes']!r}" if "minutes" in values else "no minutes"
        raise Faulty(f"{where} {name} has {said}. Write a whole number of 0 or more")
    if values.get("kind", "exercise") not in KINDS:
        raise Faulty(f"{where} {name} is of kind {values['kind']!r}. Choose {' or '.join(KINDS)}")
    return {**values, "points": _points(values.get("points"), f"{where} {name}")}


def _points(value: Any, whose: str) -> float:
    """Return a number of points in quarters. A whole number stays an int, because results' names contain it."""
    if type(value) not in (int, float) or not 0 <= value < float("inf") or value * 4 % 1:
        said = "no points" if value is None else f"{value!r} points"
        raise Faulty(f"{whose} has {said}. Write a number of 0 or more, in steps of 0.25")
    return int(value) if value == int(value) else value


def _table(values: dict[str, Any], name: str, where: str = "it") -> dict[str, Any]:
    table = values.get(name, {})
    if not isinstance(table, dict):
        raise Faulty(f"{where} has a {name} that is not a table")
    return table


def _text(values: dict[str, Any], name: str, default: str = "", where: str = "") -> str:
    text = values.get(name, default)
    if not isinstance(text, str) or "\n" in text:
        raise Faulty(f"{where} {name} is {text!r}, but must be one line of text in quotes".lstrip())
    return text


def _only(values: dict[str, Any], known: Iterable[str], where: str) -> None:
    unknown = [name for name in values if name not in known]
    if unknown:
        raise Faulty(f"{where} says {unknown[0]!r}, which means nothing here. Choose from {', '.join(known)}")


def _toml(value: Any) -> str:
    """Return a value of a `course.toml` as TOML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(name)} = {_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
