"""What the course has to offer, as text."""

from __future__ import annotations

from collections.abc import Sequence

from course.syllabus import Topic


def overview(topics: Sequence[Topic]) -> str:
    """One line a topic: folder, title, graded items, points, time."""
    width = max((len(topic.folder) for topic in topics), default=0)
    title = max((len(topic.title) for topic in topics), default=0)
    return "\n".join(
        f"{topic.folder:{width}}  {topic.title:{title}}  {len(topic.items):2} graded cells  "
        f"{topic.points:3} points  about {hours(sum(item.minutes for item in topic.items))}{due(topic)}"
        for topic in topics
    )


def describe(topic: Topic) -> str:
    """The topic's graded cells, in the notebook's order."""
    width = max((len(item.name) for item in topic.items), default=0)
    lines = [
        f"  {item.name:{width}}  {item.kind:8}  {item.points:2} points  about {item.minutes} minutes"
        for item in topic.items
    ]
    return "\n".join([overview([topic]), *lines])


def hours(minutes: int) -> str:
    """`95` as `1 h 35`."""
    whole, rest = divmod(minutes, 60)
    return f"{whole} h {rest:02}" if whole else f"{rest} min"


def due(topic: Topic) -> str:
    """When an instructor wants it, as the end of a line."""
    return f"  due {topic.due:%Y-%m-%d %H:%M %z}" if topic.due else ""
