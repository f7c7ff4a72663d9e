"""What a topic's notebooks load is in the cache before the first of them runs, as they cannot write there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import pytest

from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.execution import corpora_cache
from course.grading.execution import execute as execution
from course.grading.self_study import grade_one
from course.syllabus import Topic
from tests.original import ORIGINAL, find_topic

from ..lesson import TOPIC, make_course, solved


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What other processes were started for."""
    codes: list[str] = []
    monkeypatch.setattr(corpora_cache.subprocess, "run", lambda argv, **options: codes.append(argv[-1]))
    return codes


@pytest.mark.parametrize(
    ("topic", "kept"),
    [
        ("01_markov_ngrams", ["docstrings"]),
        ("02_cbow", []),  # draws its sentences anew each time, and keeps none
        ("10_encoder_decoder", ["phrases"]),
        ("12_lora", ["digits", "negatives"]),
    ],
)
def test_the_corpora_of_a_topic(topic: str, kept: list[str]) -> None:
    assert corpora_cache.corpora_of(find_topic(topic)) == kept


def test_the_cache_is_filled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lora = find_topic("12_lora")
    corpora_cache.fill_cache(lora)
    held = [path.name.partition("-")[0] for path in corpora_cache.for_students()]
    assert held == ["digits", "negatives"], "for students to read, and none of the grader's notes"
    with monkeypatch.context() as patch:
        patch.setattr(corpora_cache.subprocess, "run", pytest.fail)
        corpora_cache.fill_cache(lora)
        corpora_cache.fill_cache(find_topic("11_vit_patches"))
        corpora_cache.fill_cache(find_topic("02_cbow"))
    (negatives,) = cache.glob("negatives-*")
    shutil.rmtree(negatives)
    corpora_cache.fill_cache(lora)
    assert negatives.is_dir()


def test_what_the_course_makes_otherwise_today_is_made_anew(
    cache: Path, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache / "phrases-1").mkdir(parents=True)
    (cache / corpora_cache.FILLED).mkdir()
    (cache / corpora_cache.FILLED / "phrases").write_text(f"{corpora_cache.state_of_data()}\nphrases-1")
    corpora_cache.fill_cache(find_topic("10_encoder_decoder"))
    assert started == []
    monkeypatch.setattr(corpora_cache, "state_of_data", lambda: "another")
    corpora_cache.fill_cache(find_topic("10_encoder_decoder"))
    assert len(started) == 1 and "phrases" in started[0]


@pytest.mark.parametrize("fault", [OSError("no more processes"), subprocess.TimeoutExpired("python", 1)])
def test_what_goes_wrong_stops_nobody(cache: Path, fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise fault

    monkeypatch.setattr(corpora_cache.subprocess, "run", fail)
    corpora_cache.fill_cache(find_topic("10_encoder_decoder"))
    (cache / corpora_cache.FILLED / "phrases").write_bytes(b"\xff")
    corpora_cache.fill_cache(find_topic("10_encoder_decoder"))


def test_a_load_that_fails_stops_nobody(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora_cache, "corpora_of", lambda topic: ["no such corpus"])
    corpora_cache.fill_cache(find_topic("10_encoder_decoder"))
    assert corpora_cache.for_students() == []


def test_nothing_is_made_for_a_cache_that_cannot_be_written(
    tmp_path: Path, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "file" / "below"))
    corpora_cache.fill_cache(find_topic("10_encoder_decoder"))
    assert started == []


def test_it_is_filled_before_the_kernels_of_a_class_or_of_one_notebook_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled: list[Topic] = []
    monkeypatch.setattr(corpora_cache, "fill_cache", filled.append)
    monkeypatch.setattr("course.grading.kernel_edition.assemble", lambda outline, topics: tmp_path / "edition")
    root = make_course(tmp_path / "course")
    Classroom(course_in(root), TOPIC).environment()
    assert filled == [TOPIC]

    def execute(task: bytes) -> bytes:
        assert filled == [TOPIC, TOPIC]
        raise InterruptedError

    monkeypatch.setattr(execution, "execute", execute)
    nbformat.write(solved(root), tmp_path / "my.ipynb")
    with pytest.raises(InterruptedError):
        grade_one.grade_notebook(ORIGINAL, tmp_path / "my.ipynb")
