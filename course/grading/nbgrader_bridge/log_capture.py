"""Keep nbgrader's log off the screen, and report its errors in a sentence."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Said(list[str]):
    """The messages of nbgrader's logged errors, and the first exception that was active when one was logged."""

    cause: BaseException | None = None


@contextmanager
def quiet() -> Iterator[Said]:
    """Keep nbgrader's log off the screen, and yield the list that collects the messages of its errors."""
    from traitlets.log import get_logger

    said = Said()

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())
            said.cause = said.cause or sys.exc_info()[1]

    logger, handler = logging.getLogger(get_logger().name), Keep(logging.ERROR)
    before = logger.propagate, list(logger.handlers)
    logger.handlers, logger.propagate = [handler], False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SQLAlchemy warns of nbgrader's inserts
            yield said
    finally:
        logger.propagate, logger.handlers = before


def reason_of(said: Sequence[str], error: BaseException) -> str:
    """Return what nbgrader's log says happened: the last line of its traceback, without the exception's name."""
    lines = [message.strip().splitlines()[-1] for message in said if message.lstrip().startswith("Traceback")]
    reason = (lines or list(said) or [str(error)])[0].strip()
    return re.sub(r"^[\w.]*(Error|Exception|Problem): ", "", reason)
