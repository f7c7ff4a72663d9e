"""What is hidden among the system's own folders stays out of reach, whatever links lie beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.grading.sandbox import apply as confinement
from course.grading.sandbox import landlock
from course.grading.sandbox.spec import Confines

from .child import in_child, needs_landlock, outcome

LIBRARIES = "lib/python3.11/site-packages"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment as `python -m venv` makes it, in which the course is installed with its tests."""
    root = tmp_path.resolve() / "environment"
    installed = root / LIBRARIES / "course"
    for path in (installed / "hidden" / "rnn.py", root / LIBRARIES / "torch" / "__init__.py", root / "bin" / "python"):
        path.parent.mkdir(parents=True)
        path.write_text(path.name)
    (root / "lib64").symlink_to("lib")
    (root / LIBRARIES / "again").symlink_to(installed)
    (root / "up").symlink_to(root.parent)
    (root / "nowhere").symlink_to("nowhere")
    monkeypatch.setattr(confinement, "system_paths", lambda: [root])
    monkeypatch.setattr(confinement, "hidden_paths", lambda _: [installed])
    return root


def test_links_are_not_granted_as_what_they_lead_to(environment: Path) -> None:
    granted = confinement.readable(Confines("/private"))
    assert granted == [environment / "bin", environment / LIBRARIES / "torch"]


@needs_landlock()
def test_no_link_leads_to_what_is_hidden(environment: Path) -> None:
    """`lib64` is `lib`: granted, it gave away the tests that were taken out of that."""
    place = environment / LIBRARIES
    hidden = [*(place / name / "hidden" / "rnn.py" for name in ("course", "again"))]
    hidden += [environment / "lib64" / path.relative_to(environment / "lib") for path in hidden]
    hidden += [environment / "up" / path.relative_to(environment.parent) for path in hidden]
    shown = [place / "torch" / "__init__.py", environment / "lib64/python3.11/site-packages/torch/__init__.py"]

    def read() -> list[list[str]]:
        landlock.restrict(confinement.readable(Confines("/private")), [])
        return [[outcome(path.read_text) for path in paths] for paths in (hidden, shown)]

    assert in_child(read) == [["EACCES"] * len(hidden), ["done"] * len(shown)]
