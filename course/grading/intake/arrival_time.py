"""When work came, as `timestamp.txt` beside it says, whatever editor saved that file."""

from __future__ import annotations

import codecs
import re
import warnings
from datetime import datetime
from pathlib import Path

from course.grading.intake.untrusted import printable
from course.grading.problem import Problem

ARRIVAL = "timestamp.txt"
"""When the work came: nbgrader writes it, and it is no part of the work."""

RIGHT = "Write it as 2027-01-31 23:40:00+01:00"

_HALF_DAY = re.compile(r"(?<=\d)\s+([ap])\.?m\b\.?", re.IGNORECASE)
"""The ending of `11:40 PM`, which nbgrader takes for a zone."""


class Undated(Problem):
    """Nobody can tell when the work came; there is nothing wrong with the work itself."""


def read_stamp(work: Path) -> str | None:
    """What the time stamp in a folder of work says, as nbgrader reads it rightly; None where there is none.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no text.
    """
    path = work / ARRIVAL
    if not path.exists():
        return None
    data = path.read_bytes()
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = data.decode("utf-16" if utf16 else "utf-8-sig").strip()
    return _HALF_DAY.sub(lambda half: f"{half[1].upper()}M", text)


def in_utc(text: str | None) -> datetime | None:
    """A time stamp as nbgrader reads it: in UTC, and without a zone.

    Raises:
        ValueError, OverflowError: it is no date.
    """
    time = _as_nbgrader(text)
    if text and not _names_a_day(text):
        raise ValueError(f"{text} has no whole date")
    return time


def _as_nbgrader(text: str | None) -> datetime | None:
    from nbgrader.utils import parse_utc

    time: datetime | None = parse_utc(text)
    return time


def _names_a_day(text: str) -> bool:
    """Whether a time stamp has year, month and day: nbgrader would take what it lacks from today."""
    from dateutil.parser import parse

    words = text.split(" ")
    date = " ".join(words[:2]) if len(words) == 3 else text  # nbgrader's zone is the third of three words
    two_days = (datetime(2024, 1, 1), datetime(2027, 2, 2))
    return len({parse(date, default=day, ignoretz=True).date() for day in two_days}) == 1


def refuse_timestamp(work: Path) -> None:
    """Refuse a time stamp that names no time, or one that nbgrader would take for another.

    Raises:
        Undated: it does.
    """
    from dateutil.parser import ParserError, UnknownTimezoneWarning
    from dateutil.tz import gettz

    try:
        text = read_stamp(work)
        if not text:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnknownTimezoneWarning)  # nbgrader takes such a zone for UTC
            warnings.simplefilter("error", FutureWarning)  # and looks for one that is a path among the system's files
            words, zone = text.split(" "), text.split()[-1]
            unknown = len(words) == 3 and zone[0].isalpha() and gettz(zone) is None
            _as_nbgrader(text)
            has_day = _names_a_day(text)
    except (UnknownTimezoneWarning, FutureWarning):
        raise Undated(f"{ARRIVAL} names an unknown time zone, {printable(text or ''):.60}. {RIGHT}") from None
    except (ValueError, OverflowError, ParserError, IsADirectoryError):
        raise Undated(f"{ARRIVAL} does not hold a date. {RIGHT}") from None
    if not has_day:
        raise Undated(f"{ARRIVAL} says {printable(text):.60}, without year, month and day. {RIGHT}")
    if unknown:
        raise Undated(f"{ARRIVAL} names an unknown time zone, {printable(zone):.20}. {RIGHT}")
    if len(words) == 3 and not zone[0].isalpha() and set(zone) - set("+-0:"):  # for nbgrader seconds, or UTC
        raise Undated(f"{ARRIVAL} has a space before {zone:.20}, so nbgrader misreads it. {RIGHT}")
    if re.match(r"\d{1,2}[./-]\d{1,2}[./-]\d", text):  # which nbgrader reads with the month first
        raise Undated(
            f"{ARRIVAL} says {printable(text):.30}, where nbgrader takes the first number for the month. {RIGHT}"
        )
