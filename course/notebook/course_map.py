"""Draw the course as a map: topics from top to bottom beside a rail, whose lines lead from each topic to later ones.

In a course with several volumes, each begins with its title. In a course with all of our topics, dots of four colours
show the paths for six weeks.

The map is HTML in the page's own colours, and shows the progress in each notebook.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count, pairwise

from ..study_paths import StudyPath, Volume, foundations, paths_through, volumes_of
from ..syllabus import Topic
from .display import plain
from .standing import Standing, goes_on, on_path

ROW, LANE, MARGIN = 46, 26, 17
"""Pixels between topics, between lanes of the rail, and between the edge and the first lane."""
HEADING = 40
"""Height in pixels of a volume's title."""
RAIL, DONE, BEGUN = "#8A8F98", "#2e9e5b", "#3b82d0"
DOTS = {"language": "#9a63d6", "vision": "#d07a1f", "efficiency": "#0f9aa6", "large-models": "#d0487a"}
"""Colours of the paths' dots by name, readable on white and on black."""


@dataclass(frozen=True)
class Stop:
    """A topic's place on the map: its row, its lane of the rail, and the ways that lead there.

    `y` is the middle of its row in pixels, and `opens` the volume whose title is above it.
    """

    topic: Topic
    row: int
    lane: int
    ways: tuple[Way, ...]
    y: int
    opens: Volume | None = None


@dataclass(frozen=True)
class Way:
    """A way from the row `start` to a stop in the row `end`, along a lane without other stops in between."""

    start: int
    end: int
    lane: int


def stops(topics: Sequence[Topic]) -> list[Stop]:
    """Return the places of `topics`, which are in syllabus order.

    A way that a longer chain of ways covers is left out. A topic keeps the lane of one that leads to it, if no other
    topic has continued there. Otherwise it takes the first lane that is free. A way uses the lane of one of its ends,
    or one further out if there are stops on that.
    """
    rows = {topic.name: row for row, topic in enumerate(topics)}
    before = _without_shortcuts([[rows[other.name] for other in foundations(topic, topics)] for topic in topics])
    needed_until = [max((row for row, found in enumerate(before) if at in found), default=at) for at in rows.values()]
    placed: list[Stop] = []
    opening, y = _openings(topics), -ROW // 2
    for row, found in enumerate(before):
        last = {stop.lane: stop.row for stop in placed}
        left_to_it = [placed[start].lane for start in found if last[placed[start].lane] == start]
        going_on = [lane for lane in left_to_it if _is_clear(placed, lane, last[lane], row)]
        idle = (lane for lane in count() if lane not in last or needed_until[last[lane]] <= row)
        lane = min(going_on, default=None)
        if lane is None:
            lane = next(lane for lane in idle if _is_clear(placed, lane, min(found, default=row), row))
        ways = []
        for start in found:
            outer = (other for other in count(max(lane, placed[start].lane)) if _is_clear(placed, other, start, row))
            ways.append(Way(start, row, next(outer)))
        y += ROW + (HEADING if row in opening else 0)
        placed.append(Stop(topics[row], row, lane, tuple(ways), y, opening.get(row)))
    return placed


def _openings(topics: Sequence[Topic]) -> dict[int, Volume]:
    """Return volumes by the row above which their titles go, or nothing if all topics are of one volume."""
    volumes = volumes_of(topics)
    rows = {next(row for row, topic in enumerate(topics) if volume.holds(topic)): volume for volume in volumes}
    return rows if len(volumes) > 1 else {}


def _is_clear(placed: Sequence[Stop], lane: int, start: int, end: int) -> bool:
    """Return whether a lane has no stop and no way between two rows."""
    under_way = (way for stop in placed for way in stop.ways if way.lane == lane)
    return not any(stop.lane == lane for stop in placed[start + 1 : end]) and not any(
        max(way.start, start) + 1 < min(way.end, end) for way in under_way
    )


def _without_shortcuts(before: Sequence[Sequence[int]]) -> list[list[int]]:
    reached: list[set[int]] = []
    for found in before:
        reached.append(set(found).union(*(reached[start] for start in found)))
    return [[start for start in found if not any(start in reached[other] for other in found)] for found in before]


def _across(lane: int) -> int:
    return MARGIN + LANE * lane


def _point(stop: Stop) -> tuple[int, int]:
    return _across(stop.lane), stop.y


def _height(placed: Sequence[Stop]) -> int:
    return placed[-1].y + ROW // 2 if placed else 0


def rail_width(placed: Sequence[Stop]) -> int:
    """Return the width of the rail in pixels."""
    lanes = [stop.lane for stop in placed] + [way.lane for stop in placed for way in stop.ways]
    return MARGIN + _across(max(lanes, default=0))


def _ways(placed: Sequence[Stop]) -> str:
    """Draw the ways between stops as SVG paths: each turns into its lane at once, and to its stop at the end."""
    paths = []
    for stop in placed:
        x, y = _point(stop)
        for way in stop.ways:
            (a, b), along = _point(placed[way.start]), _across(way.lane)
            leaves = f"C{a} {b + ROW // 2} {along} {b + ROW // 2} {along} {b + ROW}" if along != a else ""
            joins = f"V{y - ROW}C{along} {y - ROW // 2} {x} {y - ROW // 2} {x} {y}" if along != x else f"V{y}"
            paths.append(f"M{a} {b}{leaves}{joins}")
    return f'<path d="{"".join(paths)}" fill="none" stroke="{RAIL}" stroke-width="3" stroke-linecap="round"/>'


def _station(stop: Stop, standing: Standing, ground: str) -> str:
    """Draw a stop as SVG: an empty ring, an arc for the share that passes, or a full circle with a tick."""
    x, y = _point(stop)
    colour = DONE if standing.done else RAIL
    inside = f' style="fill:{DONE if standing.done else ground}"'
    ring = f'<circle cx="{x}" cy="{y}" r="9"{inside} stroke="{colour}" stroke-width="3"/>'
    if standing.done:
        return ring + f'<path d="M{x - 4} {y}l3 3l5 -6" fill="none" stroke="white" stroke-width="2.4"/>'
    if not standing.begun:
        return ring
    share = 56.5 * standing.passed / max(standing.of, 1)  # of the circumference, 2π · 9
    dot = f'<circle cx="{x}" cy="{y}" r="3.5" fill="{BEGUN}"/>'
    arc = (
        f'<circle cx="{x}" cy="{y}" r="9" fill="none" stroke="{BEGUN}" stroke-width="4" '
        f'stroke-dasharray="{share:.1f} 60" transform="rotate(-90 {x} {y})"/>'
    )
    return ring + (arc if share else "") + dot


_CHOOSE = "<code style='background:none;color:inherit'>progress(path=\"language\")</code> chooses one."
_TITLE = "white-space:nowrap;overflow:hidden;text-overflow:ellipsis"


def html(
    topics: Sequence[Topic],
    standings: Mapping[str, Standing],
    links: Mapping[str, str],
    path: StudyPath | None = None,
) -> str:
    """Return the map for a notebook's output, with each topic's progress and a link to its notebook if there is one.

    A chosen `path` connects only its own topics, and only its dots are shown.
    """
    told = _headline(topics, standings, links, path)
    if path is None and paths_through(topics):
        told += f" Coloured dots show four paths for six weeks. {_CHOOSE}"
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:14px;line-height:1.35;color:inherit;max-width:58em">'
        f'<p style="margin:4px 0 10px">{told}</p>{rows_beside_rail(topics, standings, links, path)}</div>'
    )


def rows_beside_rail(
    topics: Sequence[Topic],
    standings: Mapping[str, Standing],
    links: Mapping[str, str],
    path: StudyPath | None = None,
) -> str:
    """Return the map without its headline, as HTML: one topic below the other, beside the rail."""
    placed = stops(topics)
    height, width, paths = _height(placed), rail_width(placed), (path,) if path else paths_through(topics)
    ground = "var(--jp-layout-color0, Canvas)"
    drawn = "".join(_station(stop, standings[stop.topic.name], ground) for stop in placed)
    rail = (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" aria-hidden="true" '
        f'style="position:absolute;left:0;top:0">{_ways(placed)}{drawn}</svg>'
    )
    rows = [_row(stop.topic, standings[stop.topic.name], links.get(stop.topic.name, ""), paths) for stop in placed]
    return f'<div style="position:relative;padding-left:{width + 6}px">{rail}{_lists(placed, rows)}</div>'


def _lists(placed: Sequence[Stop], rows: Sequence[str]) -> str:
    """Return the rows as HTML lists, one for each volume below its title, or one in all."""
    starts = sorted({0, *(stop.row for stop in placed if stop.opens is not None)})
    return "".join(
        f'{_title(placed[start].opens)}<ul style="list-style:none;margin:0;padding:0">{"".join(rows[start:end])}</ul>'
        for start, end in pairwise([*starts, len(placed)])
    )


def _title(volume: Volume | None) -> str:
    if volume is None:
        return ""
    return (
        f'<div style="height:{HEADING}px;display:flex;align-items:center">'
        f'<span style="{_TITLE}"><b>{volume.title}</b> &middot; {escape(volume.about)}</span></div>'
    )


def _row(topic: Topic, standing: Standing, link: str, paths: Sequence[StudyPath]) -> str:
    name = escape(topic.heading).replace(" ", "&ensp;", topic.number is not None)
    title = f'<a class="stop" href="{escape(link)}" style="font-weight:600">{name}</a>' if link else f"<b>{name}</b>"
    share = 100 * standing.passed / max(standing.of, 1)
    colour = DONE if standing.done else BEGUN
    bar = (
        '<span aria-hidden="true" style="display:inline-block;vertical-align:middle;width:84px;height:6px;'
        'border-radius:3px;background:rgba(128,132,140,.3);margin-right:8px">'
        f'<span style="display:block;height:6px;border-radius:3px;width:{share:.0f}%;background:{colour}">'
        "</span></span>"
    )
    at = f" &middot; next: <code style='background:none;color:inherit;white-space:nowrap'>{escape(standing.at)}</code>"
    about = _time(sum(item.minutes for item in topic.items))
    counted = f"{bar}{standing.words()} &middot; " if standing.of else ""
    small = f"{counted}{about}{at if standing.begun and standing.at else ''}"
    on = "".join(
        f' &ensp;<span aria-hidden="true" style="color:{DOTS[path.name]}">&#9679;</span> {path.title.lower()}'
        for path in paths
        if path.holds(topic)
    )
    return (
        f'<li style="height:{ROW}px;margin:0;display:flex;flex-direction:column;justify-content:center;min-width:0">'
        f'<span style="{_TITLE}">{title}</span>'
        f'<span style="{_TITLE};font-size:12px"><span style="opacity:.8">{small}</span>{on}</span></li>'
    )


def _headline(
    topics: Sequence[Topic], standings: Mapping[str, Standing], links: Mapping[str, str], path: StudyPath | None
) -> str:
    counted = on_path(topics, path)
    listed = [standings[topic.name] for topic in counted]
    passed, of = sum(standing.passed for standing in listed), sum(standing.of for standing in listed)
    done = sum(standing.done for standing in listed)
    told = f"<b>{passed} of {of} exercises pass</b>, and {done} of {len(counted)} notebooks are done."
    if path is not None:
        told = f"On the path {path.title.lower()}, {told}"
    if grades := [standing.grade for standing in listed if standing.grade]:
        score, points = sum(grade.score for grade in grades), sum(grade.points for grade in grades)
        told += f" Grading gave {score:.4g} of {points:.4g} points so far."
    at = goes_on(counted, standings)
    if at is None:
        whole = f"That is the whole {'course' if path is None else 'path'}"
        return f"{told} {whole if done == len(counted) else 'The others come later'}. Well done."
    name = escape(at.heading)
    link = f'<a href="{escape(links[at.name])}">{name}</a>' if at.name in links else name
    return f"{told} {'Go on' if any(s.begun for s in listed) else 'Begin'} with {link}."


def text(topics: Sequence[Topic], standings: Mapping[str, Standing], path: StudyPath | None = None) -> str:
    """Return the map as plain text, with only the topics of a chosen path in its order, and the headline below."""
    along = on_path(topics, path)
    width = max((len(topic.title) for topic in along), default=0)
    lines = []
    for topic in along:
        standing = standings[topic.name]
        mark = "✓" if standing.done else "○"
        at = f", next: {standing.at}" if standing.begun and standing.at else ""
        number = topic.heading.removesuffix(topic.title).strip()
        lines.append(f"{mark} {number:>2}  {topic.title:<{width}}  {standing.words()}{at}")
    return "\n".join([*lines, "", plain(_headline(topics, standings, {}, path))])


def _time(minutes: int) -> str:
    whole, quarter = divmod(round(minutes / 15), 4)
    return "about " + (f"{whole}{('', '¼', '½', '¾')[quarter]} h" if whole else f"{15 * quarter} min")
