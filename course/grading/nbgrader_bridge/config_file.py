"""A course's nbgrader_config.py: read, with its faults told in a sentence."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from traitlets.config import Config

from course.grading.problem import Problem

NAME = "nbgrader_config.py"


def stop_at_faults() -> None:
    """Make nbgrader stop where the rest of its configuration fails, instead of going on with settings of its own.

    Those know no sandbox. nbgrader has no setting for that by the time it reads the file, but it logs the fault.
    """
    from traitlets.log import get_logger

    logging.getLogger(get_logger().name).addFilter(_stop)


def _stop(record: logging.LogRecord) -> bool:
    if record.exc_info and record.exc_info[1] and str(record.msg).startswith("Exception while loading config"):
        sys.exit(f"course: {fault_of(record.exc_info[1])}")
    return True


def fault_of(error: BaseException) -> str:
    """Where a configuration failed and how, in a line."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(NAME)]
    if isinstance(error, SyntaxError):
        return f"{NAME}, line {error.lineno}: {error.msg}"
    where = f"{NAME}, line {lines[-1].lineno}" if lines else NAME
    return f"{where}: {type(error).__name__}: {error}"


def misspelt(config: Config, text: str) -> str:
    """Which setting of the configuration written in `text` nobody reads, in a line; nothing where all are read.

    traitlets only logs such a setting, and not before somebody is graded without it. Told are those of our own classes
    and those that are nearly right: another program's are none of our business.
    """
    classes = _configurable()
    for section, settings in config.items():
        wanted, is_ours = classes.get(section, (set(), False))
        if section not in classes:
            if near := get_close_matches(section, classes, 1, cutoff=0.9):
                return f"{_place(section, text)}: there is no class {section}. Did you mean {near[0]}?"
            continue
        for name, value in settings.items():
            if name in wanted or isinstance(value, Config):
                continue
            near = get_close_matches(name, wanted, 1, cutoff=0.6 if is_ours else 0.8)
            if near or is_ours:
                meant = f"Did you mean {near[0]}?" if near else "Leave it out"
                return f"{_place(f'{section}.{name}', text)}: {section} has no setting {name}. {meant}"
    return ""


def _place(setting: str, text: str) -> str:
    pattern = re.compile(rf"^[^#]*\b{re.escape(setting)}\b")
    lines = (number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line))
    number = next(lines, None)
    return f"{NAME}, line {number}" if number else NAME


def _configurable() -> dict[str, tuple[set[str], bool]]:
    """The settings there are, by the names of the classes they may be set at, and whether such a class is ours.

    What is set at a class holds for those that are made of it, with settings of their own.
    """
    from traitlets.config import Configurable

    plugins = ("add_pictures", "fit_boxes", "choose_question", "zip_collect", "quoted_csv", "late_penalty", "unpacking")
    for module in (
        *plugins,
        "feedback_page",
        "offline_page",
        "fit_without_points",
        "safe_html",
        "judged_execute",
        "sanitise",
    ):
        import_module(f"course.grading.nbgrader_bridge.{module}")
    found: dict[str, tuple[set[str], bool]] = {}
    waiting, seen = [Configurable], set()
    while waiting:
        cls = waiting.pop()
        waiting += [sub for sub in cls.__subclasses__() if sub not in seen]
        seen |= set(cls.__subclasses__())
        for base in cls.__mro__:
            if issubclass(base, Configurable):
                settings, is_ours = found.get(base.__name__, (set(), False))
                is_ours = is_ours or base.__module__.startswith("course.")
                found[base.__name__] = settings | set(cls.class_trait_names(config=True)), is_ours
    return found


def load_config(root: Path) -> Config:
    """The course's nbgrader_config.py, as nbgrader itself would read it.

    Raises:
        Problem: it cannot be read, or sets what there is not.
    """
    from traitlets.config.loader import PyFileConfigLoader

    try:
        config = PyFileConfigLoader(NAME, path=str(root)).load_config()
    except SystemExit as stop:
        raise Problem(str(stop).removeprefix("course: ")) from stop
    except Exception as error:
        raise Problem(fault_of(error)) from error
    if fault := misspelt(config, (root / NAME).read_text(encoding="utf-8")):
        raise Problem(fault)
    return config
