"""The class on record is graded again, and nothing of it differs."""

from __future__ import annotations

import pytest

from .__main__ import differences, main

pytestmark = pytest.mark.slow


def test_every_grade_is_as_on_record(capsys):
    assert main([]) == 0, capsys.readouterr().out


def test_a_difference_is_seen():
    before = {"06": {"ada": {"score": 22.0, "cells": {"softmax": [2.0]}}, "gus": None}}
    after = {"06": {"ada": {"score": 22.0, "cells": {"softmax": [1.5]}}, "gus": {}}}
    assert differences(before, after) == [
        "/06/ada/cells/softmax: [2.0] before, [1.5] now",
        "/06/gus: None before, {} now",
    ]
