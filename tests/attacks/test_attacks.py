"""Attacks on the grader by the notebooks it runs: none has an effect, and every one is reported."""

from __future__ import annotations

import sys

import pytest

from .answers import MESSAGES, TRICKS
from .handed_in import SUBMISSIONS
from .probes import ALL, BOMBS
from .suite import run_all, tiers
from .table import Met, table

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sandboxes are made on Linux only")

STOPPED_BY = {probe.name: {probe.only} for probe in ALL if probe.only}
"""The tiers that promise to stop an attack, where not all of them do."""

NAMES = [attack.name for attack in (*ALL, *BOMBS, *MESSAGES, *TRICKS, *SUBMISSIONS)]


@pytest.fixture(scope="module")
def rows(tmp_path_factory) -> list[Met]:
    return run_all(tmp_path_factory.mktemp("attacks"))


def test_there_are_many_and_each_has_its_name():
    assert len(NAMES) >= 40
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_has_no_effect_and_is_reported(rows, name):
    met = [row for row in rows if row.attack == name]
    if not met and not STOPPED_BY.get(name, set(tiers())) & set(tiers()):
        pytest.skip("no sandbox here that promises to stop it")
    assert met and all(row.harmless for row in met), "\n" + table(met)


def test_every_sandbox_of_this_machine_was_tried(rows):
    assert set(tiers()) <= {row.tier for row in rows}


def test_the_table_says_what_was_not_harmless():
    said = table([Met("one", "a file", "any", "", "refused"), Met("two", "a file", "any", "read", "")])
    assert "none" in said.splitlines()[2] and "refused" in said.splitlines()[2]
    assert "read" in said.splitlines()[3] and "NOT REPORTED" in said.splitlines()[3]
