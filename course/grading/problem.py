"""What stands between a person and what they asked for, in one sentence."""

from __future__ import annotations


class Problem(Exception):
    """Raised by every command for bad input: the message is one clear sentence that says what to do next."""
