"""Check what only an instructor has, `course.toml` and the sandbox, for `course doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from course.grading.machine.finding import Finding


def own_course(folder: Path) -> Iterator[Finding]:
    """Check that `course.toml` can be read; yield nothing without one, or for the copy in a student edition."""
    from course.course import find_course
    from course.outline import Faulty

    try:
        course = find_course(folder)
        if not course.is_original and not course.outline.carried:
            topics = len(course.topics)
            yield Finding("fine", "course.toml", f"{course.outline.path}: {topics} topic{'s' * (topics != 1)}")
    except (Faulty, OSError) as fault:
        advice = "Correct this file, because no command runs before that. `course list` then shows what it says"
        yield Finding("wrong", "course.toml", str(fault), advice)


def sandbox() -> Iterator[Finding]:
    """Check which sandbox isolates students' code on this machine."""
    if find_spec("zmq") is None:
        return  # reported by `packages`
    from course.grading.sandbox.probe import strongest

    tier = strongest()
    why = "; ".join(tier.reasons)
    if tier.name == "none":
        advice = (
            "Grade only code that you trust here, or grade on Linux with bubblewrap "
            f"({why or 'COURSE_SANDBOX is none'})"
        )
        yield Finding("note", "sandbox", "none, so grading runs students' code NOT ISOLATED", advice)
    elif tier.reasons:
        yield Finding("note", "sandbox", tier.name, f"bubblewrap isolates better ({why})")
    else:
        yield Finding("fine", "sandbox", tier.name)
