"""The manifest in a zip is read as it was written, and whatever else lies there is none."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from course.grading.intake.manifest import Manifest, read_manifest
from course.grading.intake.submit import manifest
from course.syllabus import OURS

TOPIC = OURS[0]
WHEN = datetime(2026, 3, 5, 7, 9, 1, tzinfo=UTC)


def said(folder: Path, content: Any) -> Manifest | None:
    path = folder / "submission.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_manifest(path)


def test_what_is_packed_is_read(tmp_path: Path) -> None:
    written = manifest({"a.txt": b"1"}, TOPIC, "zoe\u0308", [], WHEN)
    read = said(tmp_path, written)
    assert read == Manifest(TOPIC.folder, "zo\u00eb", "20260305T070901Z") and read.is_valid


def test_a_time_of_another_zone_is_written_in_utc(tmp_path: Path) -> None:
    read = said(tmp_path, {"topic": TOPIC.folder, "student": "ada", "time": "2026-03-05T09:09:01+02:00"})
    assert read is not None and read.time == "20260305T070901Z"


@pytest.mark.parametrize("content", [b"", b"no JSON", [], {}, {"time": None}, {"time": "soon"}, {"time": [1]}])
def test_what_says_no_time_is_none(content: Any, tmp_path: Path) -> None:
    assert said(tmp_path, content) is None
    assert read_manifest(tmp_path / "nowhere.json") is None


@pytest.mark.parametrize("about", [{}, {"student": "../ada"}, {"student": ""}, {"topic": "7"}, {"topic": ["01_a"]}])
def test_a_time_counts_though_nobody_is_named(about: dict[str, Any], tmp_path: Path) -> None:
    """An attempt that is replaced has a time then, and a zip is nobody's."""
    named = {"topic": TOPIC.folder, "student": "ada", **about} if about else {}
    read = said(tmp_path, {**named, "time": WHEN.isoformat()})
    assert read is not None and read.time == "20260305T070901Z" and not read.is_valid
