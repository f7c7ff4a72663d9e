"""Check Python and the packages of this environment for `course doctor`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from importlib.util import find_spec

from course.grading.machine.finding import Finding, Kind

DISTRIBUTION = "sequence-course"


def python() -> Iterator[Finding]:
    """Check that this version of Python is one that the course supports."""
    version = platform.python_version()
    said = f"{version} on {platform.system()} {platform.machine()}, {sys.executable}"
    wanted = _about("Requires-Python")
    if wanted and not fits(version, wanted):
        yield Finding(
            "wrong", "Python", said, f"The course needs Python {wanted}. Make an environment with such a version"
        )
    else:
        yield Finding("fine", "Python", said)


def packages() -> Iterator[Finding]:
    """Check the libraries that notebooks need and, if the hidden tests are installed, those that grading needs."""
    if find_spec("packaging") is None:
        yield Finding(
            "wrong", "packages", "not even packaging is installed", "Install the course's wheel again with pip"
        )
        return
    try:
        listed = metadata.requires(DISTRIBUTION) or []
        course = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        yield Finding(
            "note", "course", "runs from a folder and is not installed", "Install the course's wheel with pip"
        )
        return
    edition = "instructor's edition" if find_spec("course.hidden") else "student edition"
    yield Finding("fine", "course", f"{course}, {edition}")
    extras = ("", "grading") if find_spec("course.hidden") else ("",)
    found = [_package(line, extras) for line in listed]
    told = [text for kind, text in filter(None, found) if kind == "fine"]
    yield Finding("fine", "packages", ", ".join(told) or "none")
    for kind, text in filter(None, found):
        if kind != "fine":
            yield Finding(kind, "packages", text, f"pip install {_quoted(text.split(':')[0])}")


def _package(line: str, extras: Sequence[str]) -> tuple[Kind, str] | None:
    """Return the finding on one line of the required packages, or None if its marker does not apply."""
    from packaging.requirements import Requirement

    wanted = Requirement(line)
    if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in extras):
        return None
    plain = f"{wanted.name}{wanted.specifier}"
    try:
        version = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return "wrong", f"{plain}: not installed"
    if not wanted.specifier.contains(version, prereleases=True):
        return "wrong", f"{plain}: {version} is installed"
    return "fine", f"{wanted.name} {version}"


def fits(version: str, wanted: str) -> bool:
    """Whether a version is in a range; True without `packaging`, which reads ranges."""
    if find_spec("packaging") is None:
        return True
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(wanted).contains(version, prereleases=True)


def _quoted(requirement: str) -> str:
    return f'"{requirement}"' if set("<>=!~,") & set(requirement) else requirement


def _about(field: str) -> str:
    try:
        return metadata.metadata(DISTRIBUTION)[field] or ""
    except metadata.PackageNotFoundError:
        return ""
