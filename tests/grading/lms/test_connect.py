"""Where the class is, and with which token: what `course.toml` may say, and where a token comes from."""

from __future__ import annotations

import traceback
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import NoKeyringError

from course.course import Course
from course.grading.intake.ownership import write_senders
from course.grading.intake.platforms import BY_USER, Sender
from course.grading.lms.connect import connect
from course.grading.lms.people import FOLDER, students_by_number
from course.grading.lms.secret import USER, Token, read_token, variable
from course.outline import Faulty, Place, parse_outline
from course.problem import Problem
from tests.grading.lesson import NAME, TOPIC

from .sites import TOKEN

PLACE = Place("https://school.example.org", 7)


def outline(lines: str) -> dict[str, Place]:
    return parse_outline(f"[topics.{NAME}]\n[canvas]\n{lines}", Path("course.toml")).places


def test_course_toml_says_where_the_class_is() -> None:
    found = outline(f'address = "https://school.example.org/"\ncourse = 7\nassignments = {{ "{NAME}" = 12 }}')
    assert found == {"canvas": Place("https://school.example.org", 7, {NAME: 12})}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("course = 7", "Write the site's address"),
        ('address = "http://school.example.org"\ncourse = 7', "Write the site's address"),
        ('address = "https://x:y@school.example.org"\ncourse = 7', "Write the site's address"),
        ('address = "https://school.example.org"', "course is None"),
        ('address = "https://school.example.org"\ncourse = "7"', "course is '7'. Write its number"),
        ('address = "https://school.example.org"\ncourse = 7\nassignments = {"9" = 1}', "which is no topic here"),
        (f'address = "https://x.example.org"\ncourse = 7\nassignments = {{"{NAME}" = 0}}', "is 0. Write its number"),
        ('address = "https://school.example.org"\ncourse = 7\nteacher = 1', "'teacher', which means nothing here"),
        (f'access_token = "{TOKEN}"', "no place for a secret. Delete the line, make a new token"),
    ],
)
def test_what_it_cannot_say(lines: str, said: str) -> None:
    with pytest.raises(Faulty) as told:
        outline(lines)
    assert said in str(told.value) and TOKEN not in str(told.value)


class Ring(KeyringBackend):
    """A keyring with one token."""

    priority = 1.0  # type: ignore[assignment]

    def __init__(self, token: str | None) -> None:
        self.token = token

    def get_password(self, service: str, username: str) -> str | None:
        if self.token is None:
            raise NoKeyringError
        return self.token if (service, username) == (PLACE.address, USER) else None

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


def use(monkeypatch: pytest.MonkeyPatch, in_environment: str, in_keyring: str | None) -> None:
    monkeypatch.setenv(variable("canvas"), in_environment)
    monkeypatch.setattr(keyring.core, "_keyring_backend", Ring(in_keyring))


@pytest.mark.parametrize(
    ("in_environment", "in_keyring", "found"),
    [("from-here", "from-there", "from-here"), (" \n", "from-there\n", "from-there"), ("from-here", None, "from-here")],
)
def test_a_token_comes_from_the_environment_or_the_keyring(
    in_environment: str, in_keyring: str | None, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, in_environment, in_keyring)
    assert read_token("canvas", PLACE).reveal() == found


@pytest.mark.parametrize(
    ("token", "said"), [("", "there is no token"), ("a b", "has a character"), ("ä", "has a char")]
)
def test_no_token_or_none_that_can_be_one(token: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, token, None)
    with pytest.raises(Problem, match=said):
        read_token("canvas", PLACE)


def test_a_token_does_not_show_itself() -> None:
    token = Token(TOKEN)
    assert TOKEN not in f"{token} {token!r} {[token]}" and token.hide(f"no {TOKEN}!") == "no (token)!"
    assert TOKEN not in "".join(traceback.format_exception(ValueError(token)))


def test_a_course_without_a_place_is_told_what_to_write() -> None:
    with pytest.raises(Problem, match=r"Add a table \[moodle\] with address = "):
        connect(Course(), "moodle")


def test_numbers_say_who_is_who(tmp_path: Path) -> None:
    """Those of the class list count more than those of the work. Participants are no users."""
    course = Course(tmp_path)
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "moodle.json").write_text('{"1": "ada", "2": "bea", "3": "cy"}')
    senders = {"ada": (BY_USER, "1"), "dan": (BY_USER, "4"), "root": (BY_USER, "3"), "eve": ("Moodle", "2")}
    senders |= {"cy": (BY_USER, "2"), "fay": (BY_USER, "6"), "guy": (BY_USER, "6")}
    write_senders(tmp_path, NAME, {name: Sender(of, key, name) for name, (of, key) in senders.items()})
    known, notes = students_by_number(course, "moodle", TOPIC)
    assert known == {"1": "ada", "2": "bea", "3": "cy", "4": "dan"}
    assert len(notes) == 1 and notes[0].startswith("fay, guy: ")
    assert students_by_number(course, "canvas", TOPIC) == ({}, [])
