"""Hidden tests of `SparseAutoencoder`: features, what they add up to, and a loss whose penalty cannot be cheated."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import build, exercise
from course.reference import inside as reference

SMALL = "three vectors"


@exercise(
    reference.SparseAutoencoder,
    name="SparseAutoencoder",
    hints=(
        "Write the shapes of x, f and x_hat for D = 2 and three features. Which bias stands before the encoder, and "
        "which before the ReLU?",
        "Halve a feature and double its column of `W_dec`. What changes in x_hat? Should the loss change?",
        "Begin with one vector. What is its squared error, summed over the width? Then take a second vector, and ask "
        "which of the sums become means.",
    ),
    calls=(
        "set_all(SparseAutoencoder(2, 3), 0)(tensor([[5., 7.]]))",
        "set_all(SparseAutoencoder(1, 1), 1)(tensor([[3.]]))",
        "set_all(SparseAutoencoder(1, 1), 1)(tensor([[-9.]]))",
        "set_all(SparseAutoencoder(2, 3), 0).loss(tensor([[3., 4.]]), 1.)",
        "set_all(SparseAutoencoder(1, 1), 1).loss(tensor([[2.]]), 10.)",
        "set_all(SparseAutoencoder(2, 3), 0).loss(tensor([[1., 0.], [3., 0.]]), 1.)",
    ),
)
def SparseAutoencoder(rng):
    """Columns of unlike lengths, biases everywhere, l1 of several sizes; the gradients of all four parameters."""

    def model(title, D, n, scale=1.0, **options):
        state = {
            "W_enc": rng.normal(n, D),
            "b_enc": 0.5 * rng.normal(n),
            "W_dec": torch.linspace(0.3, 3.0, n).double() * rng.normal(D, n),
            "b_dec": scale * rng.normal(D),
        }
        return build(title, D, n, **options).call(method="double", into="model").load(state)

    yield model(SMALL, 5, 7, public=True, weight=2.0).call(rng.normal(3, 5).requires_grad_()).gradients()
    yield model("vectors of a batch of texts", 3, 11).call(rng.normal(2, 5, 3))
    yield model("a large bias in the decoder", 5, 13, 4.0, weight=2.0).call(rng.normal(7, 5))
    loss = model("the loss", 5, 7, public=True, weight=2.0)
    yield loss.call(rng.normal(11, 5), 0.3, method="loss").gradients(wrt="parameters")
    other = model("another penalty", 3, 5, weight=2.0).call(rng.normal(13, 3), 2.0, method="loss")
    yield other.gradients(wrt="parameters")
    yield model("without a penalty", 3, 5).call(rng.normal(7, 3), 0.0, method="loss").counts_with("the loss")
    yield model("the loss of one vector", 7, 3).call(rng.normal(1, 7), 0.5, method="loss")


def _with(**methods):
    """An autoencoder with other methods."""
    return type("Other", (reference.SparseAutoencoder,), methods)


def _features(model, x):
    return ((x - model.b_dec) @ model.W_enc.T + model.b_enc).relu()


def _loss(penalty, error=lambda d: d.square().sum(-1).mean()):
    def loss(model, x, l1):
        x_hat, f = model(x)
        return error(x - x_hat) + l1 * penalty(model, f)

    return loss


def _lengths(model):
    return model.W_dec.norm(dim=0)


SparseAutoencoder.mistakes(
    "Halve a feature's row in the encoder and double its column in the decoder. The sum is the same, and your penalty "
    "falls. What could weigh a feature so that this does not help?",
    LengthsForgotten=_with(loss=_loss(lambda model, f: f.sum(-1).mean())),
)
SparseAutoencoder.mistakes(
    "Give it each vector twice. A mean would not change. Does your penalty?",
    PenaltySummedOverTheBatch=_with(loss=_loss(lambda model, f: (f * _lengths(model)).sum())),
)
SparseAutoencoder.mistakes(
    "Set all features of a vector to zero by a large negative `b_enc`. What should the penalty be? What does yours add "
    "up?",
    PenaltyOnTheWeights=_with(loss=_loss(lambda model, f: _lengths(model).sum())),
)
SparseAutoencoder.mistakes(
    "Take x = (3, 4) and all parameters 0. The squared error is 25. What is yours? A mean over the width makes the "
    "penalty stronger as vectors grow wider.",
    MeanOverTheWidth=_with(
        loss=_loss(lambda model, f: (f * _lengths(model)).sum(-1).mean(), lambda d: d.square().mean())
    ),
)
SparseAutoencoder.mistakes(
    "Double a feature that is on. By which factor does your penalty grow?",
    SquaredPenalty=_with(loss=_loss(lambda model, f: (f * _lengths(model)).square().sum(-1).mean())),
)


@SparseAutoencoder.misconception("Can a feature of yours be below zero? Print the smallest.")
class NoReLU(reference.SparseAutoencoder):
    def forward(self, x):
        f = (x - self.b_dec) @ self.W_enc.T + self.b_enc
        return f @ self.W_dec.T + self.b_dec, f


@SparseAutoencoder.misconception("Let x be `b_dec` itself and `b_enc` zero. Which features should be on?")
class BiasNotTakenOff(reference.SparseAutoencoder):
    def forward(self, x):
        f = (x @ self.W_enc.T + self.b_enc).relu()
        return f @ self.W_dec.T + self.b_dec, f


@SparseAutoencoder.misconception("Set `W_dec` to zero. What should x_hat be?")
class BiasNotPutBack(reference.SparseAutoencoder):
    def forward(self, x):
        f = _features(self, x)
        return f @ self.W_dec.T, f


@SparseAutoencoder.misconception("Change `W_enc`. Do your features change? Which matrix reads, and which writes?")
class Tied(reference.SparseAutoencoder):
    def forward(self, x):
        f = ((x - self.b_dec) @ self.W_dec + self.b_enc).relu()
        return f @ self.W_dec.T + self.b_dec, f


@SparseAutoencoder.misconception("Double a row of `W_enc`, with `b_enc` zero. What should become of its feature?")
class RowsOfTheEncoderNormed(reference.SparseAutoencoder):
    def forward(self, x):
        f = ((x - self.b_dec) @ F.normalize(self.W_enc, dim=1).T + self.b_enc).relu()
        return f @ self.W_dec.T + self.b_dec, f
