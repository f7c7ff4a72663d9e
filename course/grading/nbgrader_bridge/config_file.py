"""Read a course's nbgrader_config.py and report its faults in one sentence."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from traitlets.config import Config

from course.problem import Problem

NAME = "nbgrader_config.py"


def stop_at_faults() -> None:
    """Make nbgrader stop when its configuration file fails, instead of continuing with default settings.

    The defaults have no sandbox. nbgrader has no setting for this when it reads the file, but it logs the fault.
    """
    from traitlets.log import get_logger

    logging.getLogger(get_logger().name).addFilter(_stop)


def _stop(record: logging.LogRecord) -> bool:
    if record.exc_info and record.exc_info[1] and str(record.msg).startswith("Exception while loading config"):
        sys.exit(f"course: {fault_of(record.exc_info[1])}")
    return True


def fault_of(error: BaseException) -> str:
    """Return where a configuration failed and how, in one line."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(NAME)]
    if isinstance(error, SyntaxError):
        return f"{NAME}, line {error.lineno}: {error.msg}"
    where = f"{NAME}, line {lines[-1].lineno}" if lines else NAME
    return f"{where}: {type(error).__name__}: {error}"


def misspelt(config: Config, text: str) -> str:
    """Return one line about a setting in the configuration `text` that no class reads, or "" if every setting is read.

    traitlets only logs such a setting, and only after grading without it. Reported are unknown settings of our classes,
    and near misses of other known names. Other programs' settings are ignored.
    """
    classes = _configurable(config)
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


def _configurable(config: Config) -> dict[str, tuple[set[str], bool]]:
    """Return the settings of each configurable class by class name, and whether the class belongs to this package.

    Our classes are those that the configuration names as plugins and steps. A setting of a base class also holds for
    its subclasses, so a base class gets their settings, too.
    """
    from traitlets.config import Configurable

    for module in set(re.findall(r"'(course\.[\w.]+)\.\w+'", repr(config))):
        import_module(module)
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
    """Return the course's nbgrader_config.py, loaded the way nbgrader loads it.

    Raises:
        Problem: the file cannot be read, or sets a class or setting that does not exist.
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
