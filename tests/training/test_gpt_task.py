"""The play over ten seeds: the notebook's loop clears every bar, and the commonest bugs do not.

Measured over ten seeds with the notebook's loop, in nats a word above the grammar: 0.01 to 0.03 after 12,000 texts, and
0.03 to 0.07 after 8,000. After 8,000 texts, without positions 0.20 to 0.26, with a constant learning rate 0.07 to 0.14,
from weights of deviation 0.02 0.03 to 0.11. The loss of a surname that was said before is 0.71 to 0.89 with the
notebook's loop, and 1.6 with one seed of ten; guessing has 2.77, and a coin between the two surnames of a text 0.69. So
the model knows which surnames were said, and not whose they are: both get 0.49 where both people have spoken, after
12,000 texts and after 32,000. They are drawn in the notebook, and earn nothing.
"""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from course.data import play
from course.hidden.gpt.scaffold import WithLayers
from course.reference.gpt import GPT, GPTLayer
from tests.original import find, points_of
from tests.training import judged
from tests.training.judged import falling, verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)
SIZES = len(play.words()), 64, 2, 4, 2, 128


class KnowsNoPositions(WithLayers):
    class layer(GPTLayer):
        def attend(self, y, past):
            (known,) = (known for known in find("cached_attention").misconceptions if known.name == "nothing_rotated")
            return known.wrong(y, *(W.weight for W in (self.W_q, self.W_k, self.W_v, self.W_o)), self.n_heads, past)


def loss(model, ids):
    logits, _ = model(ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def trained(seed, model=GPT, lr=8e-3):
    """The notebook's model and loop, and its budget."""
    options = {"loss": loss, "optimizer": torch.optim.AdamW, "schedule": falling(0.0)}
    return judged.trained("gpt_task", lambda: model(*SIZES), seed, lr=lr, **options)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_notebooks_loop_gets_full_marks(seed):
    assert verdict_on("gpt_task", trained(seed), seed).kind == "passed"


@pytest.mark.parametrize("seed", SEEDS)
def test_without_positions_it_does_not(seed):
    assert verdict_on("gpt_task", trained(seed, KnowsNoPositions), seed).score < points_of("gpt_task")


@pytest.mark.parametrize("seed", SEEDS)
def test_small_steps_do_not(seed):
    assert verdict_on("gpt_task", trained(seed, lr=2e-4), seed).score < points_of("gpt_task")
