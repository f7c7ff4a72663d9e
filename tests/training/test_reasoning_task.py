"""The calculator: the notebook's loop gets full marks by reward alone, and the commonest bugs do not.

What was measured stands in `course/data/calculator/model_card.md`.
"""

from __future__ import annotations

from itertools import islice

import pytest
import torch

from course import blocks, data
from course.data import calculator
from course.reference.assistant import group_advantages
from course.reference.reasoning import clipped_loss, extract_answer, rollout
from tests.original import item_of, points_of
from tests.training.judged import verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)
ROUNDS = 60


def begun() -> blocks.GPT:
    """The supervised model."""
    return blocks.GPT(**calculator.SIZES).load_published(calculator.weights())


def rewards_of(ids, mask, right):
    """1.0 for each answer whose last line is right, else 0.0, (B,)."""
    said = [calculator.decode(row[own][:-1].tolist()) for row, own in zip(ids, mask)]
    return torch.tensor([float(extract_answer(text) == int(value)) for text, value in zip(said, right)])


def in_groups(rewards):
    """Advantages (32, 8) of each answer within its question."""
    return group_advantages(rewards.view(-1, calculator.GROUP)).flatten()


def the_larger(log_p, old, advantages, mask):
    """The clipped loss with the larger of its two terms."""
    return -clipped_loss(log_p, old, -advantages, mask)


def trained(seed, advantages=in_groups, rounds=ROUNDS, loss_of=clipped_loss):
    """The notebook's loop, with so many rounds of its budget."""
    torch.manual_seed(seed)
    model, throws = begun(), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99))
    batches = data.stream("reasoning_task", torch.Generator().manual_seed(seed))
    for k, (prompts, right) in enumerate(islice(batches, rounds)):
        ids, mask, old = rollout(model, prompts, 24, calculator.END, throws)
        gained = advantages(rewards_of(ids, mask, right))[:, None].expand_as(old)
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - k / ROUNDS)
        for _ in range(2):
            for some in torch.randperm(len(ids)).chunk(2):
                logits, _ = model(ids[some, :-1])
                log_p = logits.log_softmax(-1).gather(-1, ids[some, 1:, None])[..., 0]
                own = mask[some, 1:]
                loss = loss_of(log_p, old[some, 1:], gained[some, 1:], own)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
    return model.eval()


def test_the_budget_is_so_many_rounds():
    assert item_of("reasoning_task").budget.cpu == ROUNDS * calculator.QUESTIONS * calculator.GROUP


@pytest.mark.parametrize("seed", SEEDS)
def test_the_notebooks_loop_gets_full_marks(seed):
    assert verdict_on("reasoning_task", trained(seed), seed).kind == "passed"


@pytest.mark.parametrize(
    "bug",
    [{"advantages": lambda rewards: -in_groups(rewards)}, {"loss_of": the_larger}],
    ids=["sign", "maximum"],
)
def test_bugs_that_break_training_get_less_than_half(bug):
    assert verdict_on("reasoning_task", trained(0, rounds=30, **bug), 0).score < points_of("reasoning_task") / 2


def test_the_supervised_model_gets_nothing():
    assert verdict_on("reasoning_task", begun().eval(), 0).score == 0
