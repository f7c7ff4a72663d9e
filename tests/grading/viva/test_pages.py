"""The printed sheets and the key."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from course.grading.viva.pages import save_pages
from course.grading.viva.sheets import Asked, Sheet, numbered
from course.questions import Choice, Question
from course.questions.subject import escaped
from tests.grading.viva.made_up import a_round, question, sheet

HOSTILE = "<script>alert(1)</script></style><img src=x onerror=y>"
BIDI = "a\u202eb"


@pytest.fixture
def pages(tmp_path):
    code = escaped(f"  1 def f(x):\n  2     return '{HOSTILE}' + '{BIDI}' + x.sсale")
    asked = Question("trace", "f", code, f"What is `{HOSTILE}`?\n    f('{HOSTILE}')", (
        Choice(f"`{HOSTILE}`", f"Because {HOSTILE}."), *question("f", 1).choices[1:]
    ), 0)  # fmt: skip
    both = Asked("f", asked), Asked("f", question("f", 2, 3, code))
    mine = numbered(Sheet("", "ada", both), "06-1-", ())
    of = a_round(tmp_path, mine, sheet("bob", "ABCD"))
    save_pages(of, of.sheets(), {"ada": f"Ada {HOSTILE}", "bob": ""}, "Models & more")
    folder = of.folder
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.html")}


def test_there_is_a_page_for_each_student_one_for_the_printer_and_the_key(pages):
    assert pages.keys() == {"sheets/ada.html", "sheets/bob.html", "sheets.html", "key.html"}
    assert pages["sheets.html"].count("<article") == 2 and pages["sheets/bob.html"].count("<article") == 1


@pytest.mark.parametrize("name", ["sheets/ada.html", "sheets.html", "key.html"])
def test_nothing_that_a_student_wrote_is_markup(pages, name):
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(pages[name])
    assert not {"script", "img"} & {*tags} and "&lt;script&gt;alert(1)" in pages[name]
    assert "\u202e" not in pages[name] and "a\\u202eb" in pages[name]
    assert not re.search(r"https?:|url\(|@import", pages[name])


def test_letters_that_look_like_others_get_a_note(pages):
    assert "In this code, с is CYRILLIC SMALL LETTER ES." in pages["sheets/ada.html"]
    assert "CYRILLIC" not in pages["sheets/bob.html"]


def test_a_sheet_shows_code_once_and_no_key(pages):
    page = pages["sheets/ada.html"]
    assert page.count("return &#39;&lt;script") == 1 and "The code is that of question 1." in page
    assert "Because" not in page and "Reason" not in page and "✓" not in page and 'class="right"' not in page
    assert len(re.findall(r'<div class="no|<li><b>[A-D]</b>', page)) == 8


def test_the_key_marks_the_right_choice_and_gives_all_reasons(pages):
    page = pages["key.html"]
    rights = re.findall(r'<li class="right"><b>([A-D])</b>', page)
    assert rights == ["A", "D", "A", "B", "C", "D"]
    assert len(re.findall(r'class="reason"', page)) == 24
