"""Read the regrade requests that students hand in, and keep them with an instructor's decisions.

A feedback page offers each request as a file and as a line. Whatever text holds such a line is a request, so a student
may also type the line on the platform, and an instructor may copy it from a mail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from course.files import write_atomically
from course.grading.intake.html_text import text_of_html
from course.grading.intake.untrusted import texts_of
from course.outline import TOPIC_FOLDER

FOLDER = Path(".course", "requests")
"""The folder, within the course's folder, with a file for each topic."""

LARGEST = 2**16
"""The most bytes of a text that is read for requests."""

LONGEST = 2000
"""The most characters of a reason: a third of a page."""

MOST = 50
"""The most requests that one text may hold; a notebook has a dozen graded cells."""

UNTOLD = "(no reason given)"

_LINE = re.compile(
    r"^[ >*`-]*regrade +(?P<topic>[\w-]+), *(?P<exercise>[\w-]+), *(?P<student>[^:,\n]+):(?P<reason>.*)",
    re.IGNORECASE,
)
_ENDINGS = frozenset((".txt", ".md", ".html"))


@dataclass(frozen=True)
class Asked:
    """What a student asks: to look again at an `exercise` of a `topic`, with a reason."""

    topic: str
    exercise: str
    student: str
    reason: str


@dataclass(frozen=True)
class Decision:
    """An instructor's decision: the reason, who decided and when (ISO 8601), and the points before and after."""

    because: str
    by: str
    at: str
    before: float | None
    after: float | None

    @property
    def changes(self) -> bool:
        """Whether the points changed."""
        return self.before != self.after


@dataclass(frozen=True)
class Request:
    """A kept request, by its `number` in the topic. `came` is the date (ISO 8601), and `sender` who sent it, or ""."""

    number: int
    asked: Asked
    came: str
    sender: str = ""
    decision: Decision | None = None


def line_of(topic: str, exercise: str, student: str) -> str:
    """Return the line that begins a request; the reason follows it."""
    return f"regrade {topic}, {exercise}, {student}:"


def may_ask(path: PurePosixPath) -> bool:
    """Return whether a file's name says that it holds requests."""
    return "regrade" in path.name.lower() and path.suffix.lower() in _ENDINGS


def read_requests(path: Path) -> list[Asked]:
    """Return the requests in a file, none if it is large or no text."""
    try:
        return [] if path.is_symlink() or path.stat().st_size > LARGEST else requests_in(path.name, path.read_bytes())
    except OSError:
        return []


def requests_in(name: str, data: bytes) -> list[Asked]:
    """Return the requests in the bytes of a file with this name, none if it is no text."""
    text, _ = next(texts_of(data), ("", ""))
    return list(find_requests(text_of_html(text) if name.lower().endswith((".html", ".htm")) else text))


def find_requests(text: str) -> Iterator[Asked]:
    """Yield the requests in a text: each begins with its line and goes on to the next one."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in text.splitlines():
        line = re.sub(r"\s", " ", line)  # editors write no-break spaces
        if begins := _LINE.match(line):
            found.append((begins, [begins["reason"]]))
        elif found:
            found[-1][1].append(line)
    for said, lines in found[:MOST]:
        if TOPIC_FOLDER.fullmatch(said["topic"]):
            reason = "\n".join("".join(filter(str.isprintable, line)).rstrip() for line in lines).strip()
            yield Asked(said["topic"], said["exercise"], said["student"].strip(), reason[:LONGEST] or UNTOLD)


def kept_requests(root: Path, topic: str) -> list[Request]:
    """Return the kept requests of a topic, oldest first."""
    try:
        plain = json.loads(_path(root, topic).read_text("utf-8"))
    except OSError:
        return []
    return [_request(**one) for one in plain]


def keep_requests(root: Path, topic: str, asked: Iterable[tuple[Asked, str]], came: str) -> list[Request]:
    """Keep new requests of a topic, each with its sender, and return them.

    A request that is there already, decided or not, is not new, because platforms hand out old files again and again.
    """
    kept = kept_requests(root, topic)
    known = {one.asked for one in kept}
    new: list[Request] = []
    for one, sender in asked:
        if one not in known and one.topic == topic:
            new.append(Request(len(kept) + len(new) + 1, one, came, sender))
            known.add(one)
    if new:
        _write(root, topic, [*kept, *new])
    return new


def decide(root: Path, topic: str, number: int, decision: Decision) -> None:
    """Keep the decision on a request in place of an earlier one."""
    kept = kept_requests(root, topic)
    _write(root, topic, [replace(one, decision=decision) if one.number == number else one for one in kept])


def _request(asked: dict[str, str], decision: dict[str, Any] | None, **others: Any) -> Request:
    return Request(asked=Asked(**asked), decision=Decision(**decision) if decision else None, **others)


def _write(root: Path, topic: str, requests: Iterable[Request]) -> None:
    plain = [asdict(one) for one in requests]
    write_atomically(_path(root, topic), json.dumps(plain, indent=1, ensure_ascii=False).encode())


def _path(root: Path, topic: str) -> Path:
    return root / FOLDER / f"{topic}.json"
