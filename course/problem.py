"""The error that a command reports in one or two sentences, without a traceback."""

from __future__ import annotations


class Problem(Exception):
    """An error about bad input. The message says in one or two sentences what happened and what to do next."""
