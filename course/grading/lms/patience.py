"""Ask again what failed for a moment, wait as long as the platform says, and stop where asking again is no use.

Canvas answers 429, and earlier 403, with `Rate Limit Exceeded` once a token's quota is used up. The quota refills by 10
units a second, and `X-Rate-Limit-Remaining` says what is left (`app/middleware/request_throttle.rb` in
github.com/instructure/canvas-lms). Moodle has no limit of its own, but the server before it may answer 429 or 503.
"""

from __future__ import annotations

import email.utils
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from course.grading.lms.platform import Unclear
from course.problem import Problem

TRIES = 8
"""How often one request is sent before the command gives up."""

LONGEST = 600.0
"""The seconds that a platform may ask to wait. If it asks for more, the command stops and says so."""

TOLD = 3
"""The number of tries that fail before the command says that it is waiting."""

SLOWEST = 60.0
"""The most seconds between two tries if the platform does not say how long to wait."""

LITTLE, REFILL = 100.0, 10.0
"""Units of Canvas's quota below which the next request waits, and how many of them come back in a second."""

BROKEN = frozenset((500, 502, 503, 504))
"""The statuses of a server that fails, perhaps only now."""

TIMEOUT = 60.0
"""The seconds without an answer after which a request counts as cut."""

R = TypeVar("R")


@dataclass(frozen=True)
class Reply(Generic[R]):
    """A library's `answer` to a request, with what decides whether to ask again; `body` may be shortened."""

    answer: R
    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def is_limited(self) -> bool:
        """Whether the platform refused the request only because there were too many."""
        return self.status == 429 or (self.status == 403 and b"Rate Limit Exceeded" in self.body)


@dataclass
class Patience:
    """The waits of one command, which a test replaces: `wait` sleeps for seconds, and `now` is a clock.

    `address` is that of the platform, for messages.
    """

    name: str
    address: str
    wait: Callable[[float], None] = field(default_factory=lambda: time.sleep)
    now: Callable[[], float] = field(default_factory=lambda: time.time)

    def ask(self, send: Callable[[], Reply[R]], cut: type[Exception], *, repeatable: bool) -> R:
        """Return the answer to a request, which may be an error that asking again does not change.

        Args:
            send: sends the request, and raises `cut` if the connection failed.
            repeatable: whether sending it twice does the same as sending it once.

        Raises:
            Unclear: the request is not repeatable, and its answer did not arrive.
            Problem: the platform cannot be reached, or asks to wait for too long.
        """
        for number in range(TRIES):
            try:
                reply = send()
            except cut as error:
                failed = f"{self.name} cannot be reached at {self.address} ({type(error).__name__})"
                advice = "Check the address in course.toml, or run the command again later"
                if not repeatable:
                    raise Unclear(failed) from None
                delay = min(SLOWEST, 2.0**number)
            else:
                advice = "Run the command again later"
                again = self._delay(reply, number, repeatable)
                if again is None:
                    self._spare(reply.headers)
                    return reply.answer
                failed, delay = f"{self.name} answered with status {reply.status}", again
            if number == TOLD - 1:
                print(f"{failed}. Trying again for some minutes, unless you stop the command", file=sys.stderr)
            if number < TRIES - 1:
                self.wait(delay)
        raise Problem(f"{failed} {TRIES} times. {advice}") from None

    def _delay(self, reply: Reply[R], number: int, repeatable: bool) -> float | None:
        """Return the seconds to wait before the request is sent again, or None if the reply is final."""
        if not reply.is_limited and reply.status not in BROKEN:
            return None
        if not reply.is_limited and not repeatable:
            raise Unclear(f"{self.name} answered with status {reply.status}")
        told = self._told(reply.headers.get("Retry-After", ""))
        if told is not None and told > LONGEST:
            raise Problem(f"{self.name} asks to wait {told / 60:.0f} minutes. Run the command again then")
        return min(SLOWEST, 2.0**number) if told is None else told

    def _told(self, text: str) -> float | None:
        """Return the seconds that a `Retry-After` asks for, as a number or a date; None if it says nothing."""
        if text.strip().isdigit():
            return float(text)
        try:
            return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - self.now())
        except (ValueError, TypeError):
            return None

    def _spare(self, headers: Mapping[str, str]) -> None:
        """Wait until Canvas's quota for this token has filled up a little."""
        try:
            left = float(headers.get("X-Rate-Limit-Remaining", LITTLE))
        except ValueError:
            return
        if left < LITTLE:
            self.wait((LITTLE - left) / REFILL)
