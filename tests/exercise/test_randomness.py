"""Global random state is a script's own while it runs, and the caller's own again afterwards."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from course.exercise.randomness import begin_anew, randomness_put_back


def drawn() -> tuple[float, float, float, float]:
    return random.random(), float(np.random.rand()), float(np.random.randn()), float(torch.rand(()))


@pytest.mark.parametrize("times", [1, 3])
def test_the_callers_numbers_go_on_as_if_nothing_had_been_drawn(times):
    begin_anew(5)
    first, expected = drawn(), drawn()
    begin_anew(5)
    assert drawn() == first
    with pytest.raises(ValueError, match="enough"), randomness_put_back():
        for _ in range(times):
            with randomness_put_back():
                begin_anew(7)
                within = drawn()
            with randomness_put_back():
                begin_anew(7)
                assert drawn() == within
        raise ValueError("enough")
    assert drawn() == expected
