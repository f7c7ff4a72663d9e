"""Limit how much the cells of a notebook may print, and tell whether their outputs can be saved."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode, ValidationError, from_dict, validate

from course.grading.cells import notebook_bytes
from course.grading.intake.untrusted import MOST_NESTED, depth

MOST_CELLS_FULL = 4
"""The limit of a whole notebook's output, as a multiple of the limit of one cell."""

BOX = 100
"""Characters that a list or a dict counts for, because even an empty one takes two kilobytes of memory while a
notebook is written."""


def output_size(value: Any) -> int:
    """Return about how many characters an output holds."""
    if isinstance(value, dict):
        return BOX + sum(output_size(key) + output_size(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return BOX + sum(map(output_size, value))
    return 8 + len(value) if isinstance(value, str | bytes) else 8


def can_be_saved(cell: NotebookNode) -> bool:
    """Whether a notebook with this cell is valid, as a kernel can send any output."""
    nb = from_dict({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [{**cell}]})
    nb.cells[0].pop("id", None)
    return is_whole(nb)


def is_whole(nb: NotebookNode) -> bool:
    """Whether a notebook is valid and can be written to a file."""
    try:
        validate(nb)
        return depth(nb) <= MOST_NESTED and bool(notebook_bytes(nb))
    except (ValidationError, ValueError, TypeError, RecursionError):
        return False


def millions(count: int) -> str:
    """Return a number of characters in words, in millions."""
    return f"{count / 1e6:.1f} million characters"
