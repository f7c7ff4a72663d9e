"""Hidden tests of `label_smoothing_loss`: the smoothed target, and a mean over real tokens alone."""

import torch

from course.exercise import call, exercise
from course.reference import encoder_decoder as reference

BUILT_IN_LOSSES = ("F.cross_entropy", "nn.CrossEntropyLoss")


@exercise(
    reference.label_smoothing_loss,
    hints=(
        "Write down the smoothed target of one token for V = 4 and epsilon = 0.2. Do its numbers sum to one?",
        "With epsilon = 0 it must be the cross-entropy you know. Is it, over the real tokens alone?",
        "Make the logits of a padded position huge. May the loss move? Then add a column of padding. May it move now?",
        "Begin with the log-probabilities of all words, (B, T, V). Put the formula for q into the one for L, and "
        "split the sum into one part for the right word and one for all words. Compute both as (B, T). The mask comes"
        " last.",
    ),
    forbidden=BUILT_IN_LOSSES,
    calls=(
        "label_smoothing_loss(tensor([[[0., 0.]]]), tensor([[0]]), 0., tensor([[True]]))",
        "label_smoothing_loss(tensor([[[0., 0.]]]), tensor([[0]]), 0.5, tensor([[True]]))",
        "label_smoothing_loss(tensor([[[100., 0.]]]), tensor([[0]]), 0., tensor([[True]]))",
        "label_smoothing_loss(tensor([[[100., 0.]]]), tensor([[0]]), 0.2, tensor([[True]]))",
        "label_smoothing_loss(tensor([[[100., 0.]]]), tensor([[1]]), 0.2, tensor([[True]]))",
        "label_smoothing_loss(tensor([[[100., 0.], [100., 0.]]]), tensor([[0, 1]]), 0., tensor([[True, True]]))",
    ),
)
def label_smoothing_loss(rng):
    """B, T and V differ. Ragged masks, epsilon from 0 to 1, and anything in the padding."""

    def inputs(B, T, V, lengths, dtype=torch.float64):
        mask = torch.arange(T) < torch.tensor(lengths)[:, None]
        return 2 * rng.normal(B, T, V, dtype=dtype), rng.integers(0, V, B, T), mask

    def case(title, epsilon, *sizes, dtype=torch.float64, **settings):
        logits, targets, mask = inputs(*sizes, dtype=dtype)
        return call(title, logits, targets, epsilon, mask, **settings)

    yield case("a small batch", 0.1, 2, 3, 5, [3, 2], public=True, weight=2.0)
    yield case("no smoothing", 0.0, 3, 5, 7, [5, 1, 2], public=True)
    yield case("much smoothing", 0.5, 3, 2, 5, [1, 2, 2], weight=2.0)
    yield case("nothing but smoothing", 1.0, 2, 5, 3, [3, 5])
    yield case("two words", 0.3, 3, 5, 2, [2, 4, 5])
    yield case("one token", 0.2, 1, 1, 7, [1])
    logits, targets, mask = inputs(3, 7, 5, [7, 1, 3])
    yield call("anything in the padding", torch.where(mask[..., None], logits, 1e4), targets, 0.1, mask)
    scattered = rng.uniform(2, 7) < 0.5
    scattered[:, 3] = True
    yield call("gaps in the mask", *inputs(2, 7, 5, [7, 7])[:2], 0.1, scattered)
    yield call(
        "logits of thousands",
        1e3 * rng.normal(2, 3, 5),
        rng.integers(0, 5, 2, 3),
        0.1,
        mask[:2, :3].clone(),
        grad=False,
    )
    yield case("float32", 0.1, 2, 3, 7, [2, 3], dtype=torch.float32)


def _smoothed(logits, targets, epsilon, share=None, right=None, scored=torch.log_softmax):
    """Losses (B, T) against `right` at the target and `share` at every other word, by what `scored` makes of logits."""
    log_p, V = scored(logits, -1), logits.shape[-1]
    share = epsilon / V if share is None else share
    right = 1 - epsilon + epsilon / V if right is None else right
    at_target = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return -(right - share) * at_target - share * log_p.sum(-1)


@label_smoothing_loss.misconception(
    "Add five columns of padding. Should the loss change? Over which tokens do you take the mean?"
)
def padding_counts(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon).mean()


@label_smoothing_loss.misconception("Padding adds nothing to your sum. What do you divide the sum by?")
def divided_by_all_places(logits, targets, epsilon, mask):
    return (_smoothed(logits, targets, epsilon).where(mask, torch.zeros(())).sum() / mask.numel()).to(logits.dtype)


@label_smoothing_loss.misconception(
    "Do the words of a short sentence weigh more than those of a long one? Should they?"
)
def mean_of_sentence_means(logits, targets, epsilon, mask):
    losses = _smoothed(logits, targets, epsilon).masked_fill(~mask, 0.0)
    return (losses.sum(1) / mask.sum(1)).mean()


@label_smoothing_loss.misconception(
    "Does the right word get a share of epsilon as well? Write the target down for V = 4.",
    convention="all of epsilon to the other V - 1 words",
)
def shared_by_the_others(logits, targets, epsilon, mask):
    others = epsilon / (logits.shape[-1] - 1)
    return _smoothed(logits, targets, epsilon, share=others, right=1 - epsilon)[mask].mean()


@label_smoothing_loss.misconception(
    "With logits of thousands, print the smallest probability and its logarithm. Where did it get lost?"
)
def logarithm_of_nearly_zero(logits, targets, epsilon, mask):
    log_p = (logits.softmax(-1) + 1e-9).log()
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return (-(1 - epsilon) * right - epsilon * log_p.mean(-1))[mask].mean()


def _with(**changed):
    """The right mean of losses against another target: `changed` makes shares of epsilon and V."""
    return lambda logits, targets, epsilon, mask: _smoothed(
        logits, targets, epsilon, **{name: share(epsilon, logits.shape[-1]) for name, share in changed.items()}
    )[mask].mean()


label_smoothing_loss.mistakes(
    "Sum the smoothed target of one token. Is it one?",
    shared_by_two_words_fewer=_with(
        share=lambda epsilon, V: epsilon / max(V - 2, 1), right=lambda epsilon, V: 1 - epsilon
    ),
)


@label_smoothing_loss.misconception(
    "Your loss can fall below zero. Print the numbers that you sum. Is each a logarithm of a probability?"
)
def logarithm_forgotten(logits, targets, epsilon, mask):
    return _smoothed(logits, targets, epsilon, scored=torch.softmax)[mask].mean()


@label_smoothing_loss.misconception(
    "Your gradient is right, and your value is lower by the entropy of the target. The text asks for cross-entropy.",
    convention="Kullback-Leibler divergence from the smoothed target",
)
def divergence(logits, targets, epsilon, mask):
    V = logits.shape[-1]
    share, right = torch.tensor(epsilon / V).double(), torch.tensor(1 - epsilon + epsilon / V).double()
    entropy = -torch.xlogy(right, right) - (V - 1) * torch.xlogy(share, share)
    return (_smoothed(logits, targets, epsilon)[mask].mean() - entropy).to(logits.dtype)
