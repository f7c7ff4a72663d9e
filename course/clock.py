"""Count days as people do, by the clock on the wall, also on the days when clocks are changed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

DAY = timedelta(days=1)


def days_later(moment: datetime, days: int, zone: tzinfo | None) -> datetime:
    """Return the moment, in UTC, at which a clock in `zone` shows the same time so many days later.

    Without a zone the clock is this machine's. If it shows the time twice, the second one counts, and if it skips the
    time, the moment right after as long a wait.
    """
    wall = moment.astimezone(zone).replace(tzinfo=None) + timedelta(days=days)
    return max(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def time_after(due: datetime, came: datetime, zone: tzinfo | None) -> timedelta:
    """Return how long after `due` something `came`, both with a zone, in days of the clock and the time since.

    A day has 24 hours in this count, also one of 23 or 25 hours. Before `due` the result is negative.
    """
    with suppress(OverflowError):  # dates near the limits of datetime
        rough = (came.astimezone(zone).replace(tzinfo=None) - due.astimezone(zone).replace(tzinfo=None)).days
        for days in range(max(rough + 1, 0), -1, -1):
            if (day := days_later(due, days, zone)) <= came:
                return days * DAY + min(came - day, DAY)
        return came - days_later(due, 0, zone)
    return came - due


@dataclass(frozen=True)
class Extension:
    """More time: so many `days` of the clock, and then a `time` by the hour."""

    days: int = 0
    time: timedelta = timedelta()

    @classmethod
    def of(cls, longer: timedelta) -> Extension:
        """Return an extension of a number of days, whose whole days are those of the clock."""
        return cls(longer.days, longer - longer.days * DAY)

    def after(self, due: datetime, zone: tzinfo | None) -> datetime:
        """Return the due date with this extension, in the time zone of `due`."""
        moved = days_later(due, self.days, zone) if self.days else due.astimezone(UTC)
        return (moved + self.time).astimezone(due.tzinfo)
