"""`situations.md` is a record of what was tried: each row's test is there, under that name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROWS = [
    [cell.strip() for cell in line.strip("| \n").split(" | ")]
    for line in (TESTS / "situations.md").read_text("utf-8").splitlines()
    if re.match(r"\| \d", line)
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[-1])
def test_the_test_that_a_row_names_is_there(row):
    _number, _situation, _outcome, test = row
    file, _, name = test.removeprefix("tests/").partition("::")
    assert re.search(rf"^ *def {name}\(", (TESTS / file).read_text("utf-8"), re.M)
