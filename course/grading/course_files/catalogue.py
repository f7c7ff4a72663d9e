"""List topics and exercises as text, and find the topics that a command names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from course.course import Course
from course.grading.course_files.own_cells import own_cells_released
from course.problem import Problem
from course.study_paths import PATHS, PRESETS, left_out
from course.syllabus import OURS, Topic, near


def overview(topics: Sequence[Topic], root: Path) -> str:
    """Return a line for each topic: folder, title, graded cells, points, time; `root` has the released notebooks."""
    width = max((len(topic.folder) for topic in topics), default=0)
    title = max((len(topic.title) for topic in topics), default=0)
    lines = []
    for topic in topics:
        own = own_cells_released(root, topic)
        cells, points = len(topic.items) + len(own), topic.points + sum(cell.points for cell in own)
        about = hours(sum(item.minutes for item in topic.items))
        lines.append(
            f"{topic.folder:{width}}  {topic.title:{title}}  {counted(cells, 'graded cell', 2)}  "
            f"{counted(points, 'point', 3)}  about {about}{due(topic)}"
        )
    return "\n".join(lines)


def describe(topic: Topic, root: Path, uses: Mapping[str, str] | None = None) -> str:
    """Return a list of the topic's graded cells in the notebook's order, with the instructor's own cells last.

    `uses` has a short note for each exercise on the other cells that use it.
    """
    own = own_cells_released(root, topic)
    names = [*(item.name for item in topic.items), *(cell.name for cell in own)]
    width = max(map(len, names), default=0)
    lines = [
        f"  {item.name:{width}}  {item.kind:8}  {counted(item.points, 'point', 2) if item.points else 'optional '}"
        f"  about {f'{item.minutes} minutes':10}  {(uses or {}).get(item.name, '')}".rstrip()
        for item in topic.items
    ]
    lines += [f"  {cell.name:{width}}  {cell.kind:8}  {counted(cell.points, 'point', 2)}" for cell in own]
    return "\n".join([overview([topic], root), *lines])


SIX_WEEKS = """\
Four paths go through the course in six weeks, with one or two notebooks a week. Plan about eight hours a week,
reading included. {aims} The numbers are those of the notebooks above.

{table}

The last row has the notebooks that a path builds on and leaves out. Skim them first, unless you know what they
teach."""
"""The text about the study paths in every list of the notebooks."""


def six_weeks() -> str:
    """Return the six-week paths in Markdown: the aim of each, and a table of the topics of each week."""
    rows = [["week", *(path.title.lower() for path in PATHS)], ["--:", *(":--" for _ in PATHS)]]
    for number, weeks in enumerate(zip(*(path.weeks for path in PATHS), strict=True), 1):
        rows.append([str(number), *(_numbers(week) for week in weeks)])
    chosen = ([topic for topic in OURS if path.holds(topic)] for path in PATHS)
    rows.append(["left out", *(_numbers(topic.folder for topic in left_out(topics)) for topics in chosen)])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return SIX_WEEKS.format(table=table, aims=" ".join(f"**{path.title}** leads {path.aim}." for path in PATHS))


def _numbers(folders: Iterable[str]) -> str:
    return ", ".join(str(int(folder[:2])) for folder in folders)


def counted(number: float, what: str, digits: int = 0) -> str:
    """Return a number with its noun, as in `1 point` or `2.5 points`; `digits` pads it to a constant width."""
    whole = int(number) if number == int(number) else number
    return f"{whole:{digits}} {what}{'s' if number != 1 else ' ' if digits else ''}"


def hours(minutes: int) -> str:
    """Return minutes as hours and minutes: `95` as `1 h 35`."""
    whole, rest = divmod(minutes, 60)
    return f"{whole} h {rest:02}" if whole else f"{rest} min"


def due(topic: Topic) -> str:
    """Return a topic's dates as the end of a line, or an empty string if it has none."""
    dates = (("opens", topic.opens), ("due", topic.due))
    return "".join(f"  {what} {date:%Y-%m-%d %H:%M %z}" for what, date in dates if date)


def topic_called(course: Course, name: str) -> Topic:
    """Return the topic that the user names at the shell.

    Raises:
        Problem: there is no such topic; the message says if the name is a folder or another file.
    """
    try:
        return course.find_topic(name)
    except KeyError as error:
        path = Path(name)
        if path.is_dir() or path.is_file():
            what = "a folder" if path.is_dir() else "no notebook"
            raise Problem(f"{name} is {what}. Name a topic, or a file that ends in .ipynb") from None
        raise Problem(error.args[0]) from None


def topics_called(course: Course, names: Sequence[str]) -> list[Topic]:
    """Return the topics, volumes or paths that the user names at the shell, as topics in order; all if none is named.

    Raises:
        Problem: a name is unknown, or this course has no topic of that volume or path.
    """
    wanted = {topic for name in names for topic in _called(course, name)}
    return [topic for topic in course.topics if not names or topic in wanted]


def _called(course: Course, name: str) -> list[Topic]:
    """Return the topic called `name`, or the course's topics in that volume or on that path."""
    is_topic = any(name in topic.names for topic in course.topics)
    if name in PRESETS and not is_topic:
        found = [topic for topic in course.topics if PRESETS[name].holds(topic)]
        if not found:
            raise Problem(f"this course has no topic of {name}. `course list` shows its topics")
        return found
    folders = [topic.folder for topic in course.topics]
    if not is_topic and not near(name, folders) and (which := near(name, list(PRESETS))):
        raise Problem(f"no topic, volume or path is called {name!r}{which}")
    return [topic_called(course, name)]
