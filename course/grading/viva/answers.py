"""Read the answers of a class from a table, and refuse it as a whole until it is right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from course.grading.classroom.roster import Row, Table
from course.grading.gradebook.students import lookalikes
from course.grading.intake.untrusted import printable
from course.grading.viva.marks import Key, Marked
from course.grading.viva.round import FIRST_SEED, LETTERS, Round, marked
from course.problem import Problem


def read_answers(path: Path, this_round: Round) -> tuple[list[Marked], list[str]]:
    """Return the marked sheets of a round, and the students whose rows are empty because they were not there.

    The table has the columns `student`, `1`, `2` and so on, and may have a column `sheet` with the sheets' numbers.

    Raises:
        Problem: the file cannot be read, or something in it fits no sheet. The message names the line.
    """
    table, sheets = Table.read(path), this_round.keys_by_sheet()
    _demand_columns(table, sheets)
    by_student: dict[str, list[str]] = {}
    for number, keys in sheets.items():
        by_student.setdefault(keys[0].student, []).append(number)
    known_as = lookalikes({row["student"].strip() for row in table.rows}, [*by_student])
    found: dict[str, Marked] = {}
    lines: dict[str, int] = {}
    for row, line in zip(table.rows, table.numbers, strict=True):
        where, student = f"{path}, line {line}", row["student"].strip()
        student = known_as.get(student, student)  # a spreadsheet program makes 123 of 00123
        if student in found:
            raise Problem(f"{where}: {student} stands in line {lines[student]}, too. Delete one of the two lines")
        number = _sheet_of(row, student, by_student, where, this_round)
        found[student] = _marked({**row, "student": student, "sheet": number}, sheets[number], where)
        lines[student] = line
    if missing := [student for student in by_student if student not in found]:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise Problem(
            f"{path} has no line for {missing[0]}{others}. Add it, with empty cells if the student was not there"
        )
    there = [one for one in found.values() if any(answer for _, answer in one.answers)]
    return there, [student for student, one in found.items() if one not in there]


def _demand_columns(table: Table, sheets: dict[str, list[Key]]) -> None:
    wanted = ["student", *(str(number) for number in range(1, 1 + max(map(len, sheets.values()), default=0)))]
    if lacking := [name for name in wanted if name not in table.columns]:
        first = ",".join(wanted)
        raise Problem(f"{table.path}, line 1, has no column {lacking[0]}. Write {first} as the first line")


def _sheet_of(row: Row, student: str, by_student: dict[str, list[str]], where: str, this_round: Round) -> str:
    """Return the number of the sheet that a row answers.

    Raises:
        Problem: the student is unknown, or the number is missing or another one.
    """
    if student not in by_student:
        near = get_close_matches(student, by_student, n=1)
        hint = f"Did you mean {near[0]}?" if near else "Write the id as key.csv does"
        raise Problem(f"{where}: {printable(student) or 'nobody'} has no sheet in {this_round.folder}. {hint}")
    own, number = by_student[student], row.get("sheet", "").strip().upper()
    if not number and len(own) > 1:
        told = f"{student} has the sheets {' and '.join(own)}, because the code changed between them"
        raise Problem(f"{where}: {told}. Add a column sheet, and write there which one this is")
    if number and number not in own:
        raise Problem(
            f"{where}: sheet {printable(number)} {_whose(number, by_student, this_round)}. {student} has {own[-1]}"
        )
    return number or own[0]


def _whose(number: str, by_student: dict[str, list[str]], this_round: Round) -> str:
    owner = next((student for student, own in by_student.items() if number in own), "")
    if owner:
        return f"belongs to {owner}"
    found = re.match(rf"{this_round.topic.names[-1]}-(\d+)-", number)
    if found and (seed := int(found[1])) != this_round.seed:
        option = "without --seed" if seed == FIRST_SEED else f"with --seed {seed}"
        return f"is of another round, whose answers you mark {option}"
    return "was not made here"


def _marked(row: Row, keys: Sequence[Key], where: str) -> Marked:
    """Return a row with its key.

    Raises:
        Problem: a cell holds anything but a letter, or an answer to a question that the sheet lacks.
    """
    for name, cell in ((name, cell.strip()) for name, cell in row.items() if name.isdecimal()):
        student, letter = row["student"], cell.upper()
        if letter and int(name) > len(keys):
            told = f"the sheet of {student} has {len(keys)} questions, but column {name} holds {printable(cell)!r}"
            raise Problem(f"{where}: {told}. Empty that cell")
        if letter and (len(letter) > 1 or letter not in LETTERS):
            told = f"{student} answers question {name} with {printable(cell)!r}"
            raise Problem(f"{where}: {told}. Write one letter from A to D, or nothing for no answer")
    return marked(row, keys)
