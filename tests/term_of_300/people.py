"""The students of the class: names and ids such as platforms have them, in every awkward form."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

FIRST = (
    "Ada",
    "Béa",
    "Chloë",
    "D’Arcy",
    "Ève",
    "François",
    "Gülşen",
    "Håkon",
    "Íris",
    "José María",
    "Łukasz",
    "Nguyễn",
)
LAST = ("Kim", "O'Hara", "Núñez", "Smith-Jones", "Kim", "de la Cruz", "Şahin", "King, Jr.", "Müller", "van 't Hoff")
UNLIKE_LOGINS = 5


@dataclass(frozen=True)
class Student:
    """A student, by number: `id` is what the course knows them by."""

    number: int
    first: str
    last: str
    login: str
    id: str

    @property
    def canvas_id(self) -> int:
        """The number that Canvas has for the user."""
        return 5000 + 7 * self.number

    @property
    def sis_id(self) -> str:
        """The number that the registrar has, with leading zeros."""
        return f"{900 + self.number:07}"

    @property
    def participant(self) -> int:
        """The number that Moodle has for the participant in one assignment."""
        return 101 + 3 * self.number

    @property
    def username(self) -> str:
        """The name in Moodle, which has no capitals (`user_create_user` in `user/lib.php` refuses them)."""
        return self.login.lower()

    @property
    def email(self) -> str:
        """The address in Moodle."""
        return self.login if "@" in self.login else f"s{self.number}@students.example.org"

    @property
    def full_name(self) -> str:
        """`First Last`."""
        return f"{self.first} {self.last}"

    @cached_property
    def sortable_name(self) -> str:
        """`Last, First`."""
        return f"{self.last}, {self.first}"


def students(count: int) -> list[Student]:
    """The class: equal full names among them, and as many kinds of logins as `UNLIKE_LOGINS`."""
    logins = [_login(number) for number in range(count)]
    short = Counter(login.partition("@")[0] for login in logins)
    return [
        Student(
            number,
            FIRST[number // 2 % len(FIRST)],  # two in a row share the first name, and some of them the last
            LAST[number // 2 % 7 if number % 4 < 2 else number % len(LAST)],
            login,
            login if short[login.partition("@")[0]] > 1 else login.partition("@")[0],
        )
        for number, login in enumerate(logins)
    ]


def _login(number: int) -> str:
    """A number with leading zeros, an address, a name with capitals, or one address in two domains."""
    kind = number % UNLIKE_LOGINS
    return (
        f"00{number:05}",
        f"first.last{number}@example.org",
        f"J.Smith{number}",
        f"kim{number - kind}@a.example.org",
        f"kim{number - kind}@b.example.org",
    )[kind]
