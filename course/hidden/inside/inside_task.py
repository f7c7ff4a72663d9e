"""Hidden tests of `inside_task`: has a sparse autoencoder found the directions that vectors are made of?"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.data import superposition
from course.exercise import exercise, given_model

FULL, PASS, NOTHING = 0.97, 0.85, 0.75
"""Mean best cosines with the true directions. See tests/training/test_inside_task.py for what trainings reach."""


class _Columns(nn.Module):
    """An autoencoder with these columns (24, n), as if it had been trained: it reads with the same columns."""

    def __init__(self, columns, cut=0.1, rectified=True):
        super().__init__()
        self.W_dec = nn.Parameter(columns)
        self.cut, self.rectified = cut, rectified

    def forward(self, x):
        f = x @ F.normalize(self.W_dec, dim=0) - self.cut
        f = f.relu() if self.rectified else f
        return f @ self.W_dec.T, f


def _near(cosine):
    """Columns whose best cosine with every direction is `cosine`, or a little more."""
    true = superposition.directions()
    noise = torch.randn(true.shape, generator=torch.Generator().manual_seed(1))
    noise = F.normalize(noise - (noise * true).sum(1, keepdim=True) * true, dim=1)
    return (cosine * true + (1 - cosine**2) ** 0.5 * noise).T.contiguous()


@exercise(
    _Columns(_near(0.995)),
    name="inside_task",
    hints=(
        "Print the number of features that are on for a vector. About two made it. How many does your model use?",
        "Print both parts of the loss. A perfect reconstruction finds nothing, and a penalty that wins finds nothing "
        "either. Which of the two rules yours?",
        "Are there features that are never on? Let `l1` rise over the first tenth of the batches, and the learning "
        "rate over the first hundred.",
        "Begin with an optimizer and the loop over `batches`, and call `model.loss(x, l1)` with l1 = 0.4. Does the "
        "loss fall?",
    ),
)
def inside_task(rng):
    """Which directions the columns of live features have. Bars: tests/training/test_inside_task.py."""

    def asked(title, bar, n=1000, **options):
        x, _ = superposition.draw(n, torch.Generator().manual_seed(rng.seed()))
        read = given_model(title, **options).call(x).read("W_dec").laws_only()
        return read.law("directions_found", directions=superposition.directions(), vectors=x, bar=bar)

    some = asked(f"a mean best cosine of {PASS}", PASS, public=True)
    yield some.shows("directions_found", full=FULL, called="the mean best cosine")
    many = asked(f"a mean best cosine of {FULL}, on other vectors", FULL, weight=3.0)
    yield many
    yield many.judged_again(f"{PASS} on other vectors", weight=2.0, bar=PASS)
    for bar in (NOTHING, 0.6, 0.52):
        low = many.judged_again(f"{bar} on other vectors", weight=0.1, bar=bar)
        yield low.counts_with(f"{PASS} on other vectors")


inside_task.mistakes(
    "Print how many features are on for a vector, and both parts of the loss. Two or so made the vector. If none is "
    "on, or a third of them, which part rules alone, and could a feature pay less without doing less?",
    no_penalty=_Columns(_near(0.55)),
    penalty_cheated=_Columns(_near(0.79)),
    penalty_squared=_Columns(_near(0.7)),
    all_features_dead=_Columns(_near(0.995), cut=99.0),
)
inside_task.mistakes(
    "On the way. How many features are on for a vector, and does the loss still fall at the end? If some features are "
    "never on, let l1 rise slowly.",
    some_directions_missing=_Columns(_near(0.92)),
)
