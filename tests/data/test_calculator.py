"""The calculator: what a line comes to, how it is worked out, and what a batch holds."""

from __future__ import annotations

import pytest
import torch

from course import blocks
from course.data import calculator


def test_a_line_comes_to_its_last_digit():
    assert [calculator.value(line) for line in ("3", "3+8", "3+8*5", "3+8*5+9*4", "6*6*6*6*2")] == [3, 1, 5, 6, 2]


@pytest.mark.parametrize("line", ["", "+", "3+", "3+8=1", "34", "3-4"])
def test_what_is_no_line_is_refused(line):
    with pytest.raises(ValueError, match="digits"):
        calculator.value(line)


def test_each_step_of_a_worked_example_has_the_value_of_the_line():
    assert calculator.worked("3+8*5+9*4") == "=1*5+9*4=5+9*4=4*4=6;"
    for line in calculator.questions(200, torch.Generator().manual_seed(0)):
        worked = calculator.worked(line)
        assert len(worked) == calculator.LONGEST and worked[-1] == calculator.TOKENS[calculator.END]
        assert {calculator.value(step) for step in worked[1:-1].split("=")} == {calculator.value(line)}


def test_a_batch_has_each_question_eight_times_in_a_row():
    prompts, right = next(calculator.batches(torch.Generator().manual_seed(1)))
    assert prompts.shape == (256, calculator.LENGTH) and right.shape == (256,)
    groups = prompts.view(calculator.QUESTIONS, calculator.GROUP, -1)
    assert bool((groups == groups[:, :1]).all()) and len(groups[:, 0].unique(dim=0)) > 30
    assert right.tolist() == [calculator.value(calculator.decode(row)) for row in prompts.tolist()]


def test_the_weights_fit_the_model_and_are_small():
    model = blocks.GPT(**calculator.SIZES).load_published(calculator.weights())
    assert sum(weight.numel() for weight in model.parameters()) < 52_000
    assert calculator.WEIGHTS.stat().st_size < 110_000
