"""Requests are found in texts as students and platforms write them, and kept once, with the decision."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.grading.intake.regrade_requests import (
    LONGEST,
    UNTOLD,
    Asked,
    Decision,
    decide,
    find_requests,
    keep_requests,
    kept_requests,
    line_of,
    read_requests,
)

TOPIC = "06_self_attention"
NO_BREAK = "\xa0"
LINE = line_of(TOPIC, "softmax", "ada")
ASKED = Asked(TOPIC, "softmax", "ada", "I subtract the maximum.")
DECISION = Decision("You do.", "kim", "2027-02-03T10:00:00+00:00", 0.5, 1.0)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (f"{LINE} I subtract the maximum.", ["I subtract the maximum."]),
        (f"Dear Dr Kim,\n> {LINE.upper().replace(TOPIC.upper(), TOPIC)} no\n> quoted", ["no\n> quoted"]),
        (f"{LINE}\nline one\n\nline two\n{LINE} again", ["line one\n\nline two", "again"]),
        (f"{LINE} a\x1b[31mred\x07", ["a[31mred"]),
        (f"{LINE}   ", [UNTOLD]),
        (f"\xa0{LINE.replace(' ', NO_BREAK)}{NO_BREAK}why\tnot", ["why not"]),
        (f"{LINE} {'x' * 9000}", ["x" * LONGEST]),
        (f"please {LINE} not at the beginning", []),
        ("regrade ../gradebook, softmax, ada: no topic", []),
        (f"{LINE} one\n" * 60, ["one"] * 50),
    ],
)
def test_a_text_holds_requests(text: str, reasons: list[str]) -> None:
    assert [one.reason for one in find_requests(text)] == reasons


def test_a_name_may_have_spaces_and_an_address(tmp_path: Path) -> None:
    found = find_requests(f"regrade {TOPIC}, softmax, van 't Hoff:why\nREGRADE {TOPIC},softmax,k@example.org: how: so")
    assert [(one.student, one.reason) for one in found] == [("van 't Hoff", "why"), ("k@example.org", "how: so")]


def test_files_are_read_as_platforms_give_them(tmp_path: Path) -> None:
    page, notepad, picture = (tmp_path / name for name in ("regrade.html", "regrade.txt", "regrade-it.txt"))
    page.write_text(f"<html><body><p>Hello</p><p>{LINE} a &lt; b<br/>and <b>c</b></p></body></html>", "utf-8")
    notepad.write_bytes(b"\xef\xbb\xbf" + f"{LINE} why\r\nso".encode())
    picture.write_bytes(b"\x89PNG\xff" + LINE.encode())
    assert [one.reason for one in read_requests(page)] == ["a < b\nand c"]
    assert [one.reason for one in read_requests(notepad)] == ["why\nso"]
    for encoding in ("cp1252", "utf-16"):
        notepad.write_bytes(f"Björn\n{LINE} größer".encode(encoding))
        assert [one.reason for one in read_requests(notepad)] == ["größer"]
    assert read_requests(picture) == read_requests(tmp_path / "none.txt") == []


def test_each_is_kept_once_and_keeps_its_decision(tmp_path: Path) -> None:
    other = Asked(TOPIC, "softmax", "ada", "Another reason.")
    elsewhere = Asked("03_rnn", "rnn_cell", "ada", "why")
    first = keep_requests(tmp_path, TOPIC, [(ASKED, ""), (ASKED, ""), (elsewhere, "")], "2027-02-01")
    assert [(one.number, one.asked) for one in first] == [(1, ASKED)]
    decide(tmp_path, TOPIC, 1, DECISION)
    second = keep_requests(tmp_path, TOPIC, [(ASKED, ""), (other, "ada_7")], "2027-02-08")
    assert [(one.number, one.sender, one.came) for one in second] == [(2, "ada_7", "2027-02-08")]
    assert [(one.asked, one.decision) for one in kept_requests(tmp_path, TOPIC)] == [(ASKED, DECISION), (other, None)]
