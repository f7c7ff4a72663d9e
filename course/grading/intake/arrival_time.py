"""Read and check when work arrived from its `timestamp.txt`, whatever editor saved that file."""

from __future__ import annotations

import codecs
import re
import warnings
from datetime import datetime
from pathlib import Path

from course.grading.intake.untrusted import printable
from course.problem import Problem

ARRIVAL = "timestamp.txt"
"""The file with the arrival time: nbgrader writes it, and it is not part of the work."""

RIGHT = "Write it as 2027-01-31 23:40:00+01:00"

_HALF_DAY = re.compile(r"(?<=\d)\s+([ap])\.?m\b\.?", re.IGNORECASE)
"""The ending of `11:40 PM`, which nbgrader mistakes for a time zone."""


class Undated(Problem):
    """The arrival time of the work cannot be read; the work itself may be valid."""


def read_stamp(work: Path) -> str | None:
    """Return the time stamp in a folder of work, as text that nbgrader reads correctly, or None without one.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is no text.
    """
    path = work / ARRIVAL
    if not path.exists():
        return None
    data = path.read_bytes()
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = data.decode("utf-16" if utf16 else "utf-8-sig").strip()
    return _HALF_DAY.sub(lambda half: f"{half[1].upper()}M", text)


def in_utc(text: str | None) -> datetime | None:
    """Return a time stamp as nbgrader reads it: in UTC, as a naive datetime.

    Raises:
        ValueError, OverflowError: the text is no date.
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
    """Return whether a time stamp has year, month and day, because nbgrader fills in missing parts from today."""
    from dateutil.parser import parse

    words = text.split(" ")
    date = " ".join(words[:2]) if len(words) == 3 else text  # nbgrader's zone is the third of three words
    two_days = (datetime(2024, 1, 1), datetime(2027, 2, 2))
    return len({parse(date, default=day, ignoretz=True).date() for day in two_days}) == 1


def refuse_timestamp(work: Path) -> None:
    """Refuse a time stamp that is no time, or that nbgrader would misread.

    Raises:
        Undated: the time stamp is refused.
    """
    from dateutil.parser import ParserError, UnknownTimezoneWarning
    from dateutil.tz import gettz

    try:
        text = read_stamp(work)
        if not text:
            return
        with warnings.catch_warnings():
            warnings.simplefilter("error", UnknownTimezoneWarning)  # nbgrader would read such a zone as UTC
            warnings.simplefilter("error", FutureWarning)  # dateutil would read a zone that is a path
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
    if re.match(r"\d{1,2}[./-]\d{1,2}[./-]\d", text):  # nbgrader reads the month first
        raise Undated(
            f"{ARRIVAL} says {printable(text):.30}, where nbgrader takes the first number for the month. {RIGHT}"
        )
