"""Hashes that a process has found out are read by the next, and a file that cannot be read or written stops nobody."""

from __future__ import annotations

import pytest

from course.grading.freshness import kept_hashes
from course.grading.freshness.kept_hashes import KeptHashes, once_a_state, state_of


def never() -> str:
    raise AssertionError("it was kept")


def test_what_one_process_found_out_another_reads(tmp_path):
    file = tmp_path / "cache" / "hashes.json"
    first, second = KeptHashes(file), KeptHashes(file)
    assert first.of("a", lambda: "1") == "1" and second.of("a", lambda: "1") == "1"
    third = KeptHashes(file)
    assert third.of("a", never) == "1" and third.of("b", lambda: "2") == "2"
    last = KeptHashes(file)
    assert last.of("a", never) == "1" and last.of("b", never) == "2"


@pytest.mark.parametrize("content", ["", "[1]", '{"a": 1}', "\x00"])
def test_a_broken_file_is_written_anew(tmp_path, content):
    file = tmp_path / "hashes.json"
    file.write_text(content)
    assert KeptHashes(file).of("a", lambda: "1") == "1"
    assert KeptHashes(file).of("a", never) == "1"


def test_states_that_are_gone_are_forgotten_at_last(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_hashes, "MOST", 2)
    hashes = KeptHashes(tmp_path / "hashes.json")
    for name in ("a", "b", "c"):
        hashes.of(name, lambda: "1")
    last = KeptHashes(tmp_path / "hashes.json")
    assert last.of("c", never) == "1" and last.of("a", lambda: "again") == "again"


def test_where_nothing_can_be_written_it_is_found_out_again(tmp_path):
    (tmp_path / "cache").write_text("no folder")
    hashes = KeptHashes(tmp_path / "cache" / "hashes.json")
    assert hashes.of("a", lambda: "1") == "1"
    assert KeptHashes(hashes.file).of("a", lambda: "2") == "2"


def test_what_is_found_out_holds_for_one_state_and_one_question(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_hashes, "hashes", lambda: kept)
    kept, package = KeptHashes(tmp_path / "hashes.json"), tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    for content in ("one", "two"):
        (package / "inner" / "module.py").write_text(content)
        state_of.cache_clear()
        assert once_a_state(package, b"who?", lambda said=content: said) == content
        assert once_a_state(package, b"who?", never) == content
        assert once_a_state(package, b"when?", lambda: "now") == "now"
    state_of.cache_clear()
