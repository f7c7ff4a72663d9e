"""Laws of trained models: what they get right, what they lose, what they may have changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from .. import translation
from .measure import Measure
from .plain import kind, tensor
from .registry import EXPECTED, Outputs, Unreadable, law, law_with


def _accuracy(outputs: Outputs, targets: Tensor | list[Tensor], of: str | list[str] = "out", **_: Any) -> float:
    asked = [(of, targets)] if isinstance(of, str) else zip(of, targets, strict=True)
    shares = [_share_right(_scores(outputs[name], right), right) for name, right in asked]
    return sum(shares) / len(shares)


@law_with(measure=Measure(_accuracy))
def accuracy_at_least(
    outputs: Outputs, targets: Tensor | list[Tensor], bar: float, of: str | list[str] = "out", because: str = ""
) -> str:
    """The largest logit is the target's for at least `bar` of the rows; a target below zero is not counted.

    Of several outputs, with targets each, it is the mean of their accuracies: over splits of the data, say.
    """
    accuracy = _accuracy(outputs, targets, of)
    if accuracy >= bar:
        return ""
    return because or f"the accuracy on held-out data is {accuracy:.1%}, but it should be at least {bar:.1%}"


def _share_right(logits: Tensor, targets: Tensor) -> float:
    return float((logits.argmax(-1) == targets)[targets >= 0].double().mean())


def _exact_match(outputs: Outputs, targets: Tensor, eos: int, of: str = "out", **_: Any) -> float:
    return translation.exact_match(*(translation.sentences(tensor(ids), eos) for ids in (outputs[of], targets)))


@law_with(measure=Measure(_exact_match))
def exact_match_at_least(
    outputs: Outputs, targets: Tensor, bar: float, eos: int, of: str = "out", because: str = ""
) -> str:
    """Of sentences (B, T), each up to its first `eos`, at least `bar` are the targets' to the last word."""
    found = _exact_match(outputs, targets, eos, of)
    return "" if found >= bar else because or f"{found:.1%} of the sentences are right, but {bar:.1%} should be"


@law
def mostly_unlike(outputs: Outputs, targets: Tensor, share: float, eos: int, of: str = "out", because: str = "") -> str:
    """Of sentences (B, T), each up to its first `eos`, less than `share` are these wrong targets' to the last word."""
    said, wrong = (translation.sentences(tensor(ids), eos) for ids in (outputs[of], targets))
    found = translation.exact_match(said, wrong)
    return "" if found < share else because or f"{found:.0%} of the sentences show the same mistake"


def _bleu(outputs: Outputs, targets: Tensor, eos: int, of: str = "out", **_: Any) -> float:
    return translation.bleu(*(translation.sentences(tensor(ids), eos) for ids in (outputs[of], targets)))


@law_with(measure=Measure(_bleu, is_share=False))
def bleu_at_least(outputs: Outputs, targets: Tensor, bar: float, eos: int, of: str = "out", because: str = "") -> str:
    """BLEU of sentences (B, T), each up to its first `eos`, against the targets', reaches `bar`."""
    found = _bleu(outputs, targets, eos, of)
    return "" if found >= bar else because or f"BLEU is {found:.3f}, but it should be at least {bar:.3f}"


@law
def says(outputs: Outputs, word: int, share: float, of: str = "out", because: str = "") -> str:
    """At least a `share` of the rows of ids (B, T) contain `word`."""
    found = float((tensor(outputs[of]) == word).any(1).double().mean())
    return "" if found >= share else because or f"{found:.0%} of the rows contain {word}, but {share:.0%} should"


@law
def perplexity_at_most(outputs: Outputs, targets: Tensor, bar: float, of: str = "out", because: str = "") -> str:
    """exp of the mean −log p of the targets under rows of probabilities (n, V) is at most `bar`."""
    probabilities = tensor(outputs[of]).double().reshape(len(targets), -1)
    good = torch.isfinite(probabilities) & (probabilities >= -1e-6)
    if not bool(good.all()) or float((probabilities.sum(-1) - 1).abs().max()) > 1e-4:
        return "the predictions are not probability distributions. Each row should be non-negative and sum to one"
    found = _perplexity(probabilities, targets)
    if found <= bar:
        return ""
    return because or f"the perplexity on held-out data is {found:.3g}, but it should be at most {bar:.3g}"


def _times_the_reference(outputs: Outputs, targets: Tensor, of: str = "out", **_: Any) -> float:
    found, own = (tensor(ids).double().reshape(len(targets), -1) for ids in (outputs[of], outputs[EXPECTED][of]))
    return _perplexity(found, targets) / _perplexity(own, targets)


@law_with(relative=True, measure=Measure(_times_the_reference, "factor", at_most=True, is_share=False))
def perplexity_within(outputs: Outputs, targets: Tensor, factor: float, of: str = "out", because: str = "") -> str:
    """The same, over the reference's vocabulary, with a bar of `factor` times its perplexity in the same case."""
    own = tensor(outputs[EXPECTED][of]).double().reshape(len(targets), -1)
    V = tensor(outputs[of]).reshape(len(targets), -1).shape[1]
    if own.shape[1] != V:
        return f"expected a distribution over {own.shape[1]} tokens, got one over {V}"
    return perplexity_at_most(outputs, targets, factor * _perplexity(own, targets), of, because)


def _perplexity(probabilities: Tensor, targets: Tensor) -> float:
    chosen = probabilities.gather(1, targets[:, None]).squeeze(1)
    return float(torch.exp(-chosen.clamp(min=1e-300).log().mean()))


def _above_known(outputs: Outputs, targets: Tensor, known: Tensor, of: str = "out", **_: Any) -> float:
    return _per_target(log_losses(outputs[of], targets), targets) - _per_target(known, targets)


@law_with(measure=Measure(_above_known, "margin", at_most=True, is_share=False))
def log_loss_at_most(
    outputs: Outputs, targets: Tensor, known: Tensor, margin: float, of: str = "out", because: str = ""
) -> str:
    """The mean −log softmax(logits)[target], natural logarithm, is at most `margin` above that of `known` (n,).

    `known` is what somebody else loses on the very same targets: the source itself, the bare frequencies. Targets
    (n, T) ask at several places of a row, those below zero are left out: `known` is then a row's sum, and the mean is
    over all that is asked.
    """
    found, bar = _per_target(log_losses(outputs[of], targets), targets), _per_target(known, targets) + margin
    if found <= bar:
        return ""
    return because or f"the loss on held-out data is {found:.3f}, but it should be at most {bar:.3f}"


@law
def log_loss_at_least(
    outputs: Outputs, targets: Tensor, known: Tensor, margin: float, of: str = "out", because: str = ""
) -> str:
    """The mean −log softmax(logits)[target] is not more than `-margin` below that of `known` (n,): no such guesses."""
    found, bar = _per_target(log_losses(outputs[of], targets), targets), _per_target(known, targets) + margin
    return "" if found >= bar else because or f"the loss is {found:.3f}, but it should be at least {bar:.3f}"


@law
def no_better_than(outputs: Outputs, targets: Tensor, best: Tensor, of: str = "out", because: str = "") -> str:
    """The losses of logits (n, V) are not below the `best` possible (n,) by more than chance.

    With targets (n, T), as above, a row's loss is a sum, since what is asked within a row is not independent.
    A difference of the means beyond four standard errors of the paired differences is no luck: targets have leaked.
    """
    differences = log_losses(outputs[of], targets) - best.double()
    error = float(differences.std()) / math.sqrt(len(differences))
    if not math.isfinite(error) or float(differences.mean()) >= -4 * error - 1e-6:
        return ""  # an infinite loss is no leak
    return because or "the loss is lower than any model can reach. Do the targets leak into the input?"


@law
def no_probabilities(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """The rows are scores: they are not all positive with a sum of one."""
    logits = tensor(outputs[of]).double()
    if bool((logits < 0).any()) or float((logits.sum(-1) - 1).abs().max()) > 1e-3:
        return ""
    return because or "expected logits, got probabilities. Return the scores before the softmax"


def _share_alike(outputs: Outputs, kinds: Tensor, rows: Tensor, k: int, of: str = "out", **_: Any) -> float:
    vectors = tensor(outputs[of]).double()
    if vectors.ndim != 2 or len(vectors) != len(kinds):
        raise Unreadable(f"expected a table of {len(kinds)} vectors, got one of shape {tuple(vectors.shape)}")
    if not bool(torch.isfinite(vectors).all()):
        raise Unreadable("the table of vectors holds NaN or infinite values")
    directions = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=1e-12)
    similarity = directions[rows] @ directions.T
    similarity[torch.arange(len(rows)), rows] = -math.inf
    near = similarity.topk(k).indices  # (n, k)
    alike = (kinds[rows].double() @ kinds.double().T > 0).gather(1, near)
    return float(alike.double().mean())


@law_with(measure=Measure(_share_alike))
def neighbours_alike(
    outputs: Outputs, kinds: Tensor, rows: Tensor, k: int, bar: float, of: str = "out", because: str = ""
) -> str:
    """Of the `k` nearest other rows, by cosine, of each of `rows`, a share of at least `bar` has a kind in common.

    `kinds` (V, K) is True where a row is of a kind.
    """
    try:
        found = _share_alike(outputs, kinds, rows, k, of)
    except Unreadable as why:
        return str(why)
    if found >= bar:
        return ""
    return because or f"{found:.0%} of the neighbours are of the same kind, but {bar:.0%} should be"


def _explained(outputs: Outputs, scores: Tensor, of: str = "out", up_to_a_constant: bool = False, **_: Any) -> float:
    errors = _errors(outputs[of], scores)
    if up_to_a_constant:
        errors = errors - errors.mean()
    return 1 - float(errors.square().mean() / scores.double().var(correction=0))


@law_with(measure=Measure(_explained, is_share=False))
def explains(
    outputs: Outputs, scores: Tensor, bar: float, of: str = "out", up_to_a_constant: bool = False, because: str = ""
) -> str:
    """R² of scores (n,) against the true ones is at least `bar`: 1 - mean square error / variance of the true ones.

    With `up_to_a_constant`, the mean error is taken off first.
    """
    found = _explained(outputs, scores, of, up_to_a_constant)
    return "" if found >= bar else because or f"these scores reach an R² of {found:.2f}; {bar:.2f} is asked for"


def _offset(outputs: Outputs, scores: Tensor, of: str = "out", **_: Any) -> float:
    return abs(float(_errors(outputs[of], scores).mean()))


@law_with(measure=Measure(_offset, "most", at_most=True, is_share=False))
def offset_at_most(outputs: Outputs, scores: Tensor, most: float, of: str = "out", because: str = "") -> str:
    """Scores (n,) lie at most so far above or below the true ones on average."""
    found = float(_errors(outputs[of], scores).mean())
    side = "above" if found > 0 else "below"
    told = f"on average the scores lie {abs(found):.2f} {side} the true ones; {most:.2f} is the most"
    return "" if abs(found) <= most else because or told


@law
def nearer(outputs: Outputs, scores: Tensor, than: Tensor, of: str = "out", because: str = "") -> str:
    """Scores (n,) are nearer to the true ones than to those of another question, by their mean square error."""
    to_these, to_others = (float(_errors(outputs[of], wanted).square().mean()) for wanted in (scores, than))
    return "" if to_these < to_others else because or "the scores are nearer to the answer to another question"


def _errors(found: Any, scores: Tensor) -> Tensor:
    """How far scores lie above the true ones, (n,).

    Raises:
        Unreadable: they are not one for each of them, or not finite.
    """
    given = tensor(found).double()
    if given.shape != scores.shape or not bool(given.isfinite().all()):
        raise Unreadable(f"{len(scores)} finite scores were expected, one for each pair, and {kind(found)} came")
    return given - scores.double()


@law
def keeps_weights(outputs: Outputs, weights: Mapping[str, Tensor], of: str = "state", because: str = "") -> str:
    """Each of `weights` stands in a model's state, to the last bit, under whatever name it has there now."""
    moved = [name for name, value in weights.items() if not _stands_in(list(outputs[of].values()), value)]
    if not moved:
        return ""
    those = f"{len(moved)} of the {len(weights)} tensors" if len(moved) > 3 else ", ".join(sorted(moved))
    return because or f"{those} changed, but these weights should stay as they were"


@law
def trains_at_most(
    outputs: Outputs, weights: Mapping[str, Tensor], numbers: int, of: str = "state", because: str = ""
) -> str:
    """A model's state, parameters and buffers, has at most so many numbers that may learn or are none of `weights`."""
    begun = list(weights.values())
    found = sum(value.numel() for value in outputs[of].values() if value.requires_grad or not _stands_in(begun, value))
    return "" if found <= numbers else because or f"expected at most {numbers:,} trainable parameters, got {found:,}"


def _stands_in(tensors: list[Tensor], value: Tensor) -> bool:
    """Whether one of `tensors` is `value`, bit for bit."""
    alike = (tensor for tensor in tensors if tensor.shape == value.shape and tensor.dtype == value.dtype)
    return any(torch.equal(tensor, value) for tensor in alike)


def _scores(logits: Any, targets: Tensor) -> Tensor:
    """Scores with an axis behind those of the `targets`, one for each class.

    Raises:
        Unreadable: they are fewer than there are classes, or among them is NaN, as after a training that diverged.
    """
    scores = tensor(logits)
    if (lost := int(scores.isnan().sum())) > 0:
        where = "Print the loss of each batch to see when it becomes NaN, and how large it is just before"
        raise Unreadable(f"{lost} of {scores.numel()} scores are NaN. {where}")
    rows = scores.reshape(*targets.shape, -1)
    if rows.shape[-1] <= int(targets.max()):
        asked = f"{targets.numel()} targets of {int(targets.max()) + 1} classes or more"
        raise Unreadable(f"expected scores for {asked}, got {kind(scores)}")
    return rows


def log_losses(logits: Any, targets: Tensor) -> Tensor:
    """−log softmax(logits)[target] for each row, (n,), summed where targets are (n, T); infinite beside ±∞."""
    scores = _scores(logits, targets).double()
    scores = scores - scores.amax(-1, keepdim=True)  # beside a score of 1e17, log V would be rounded away
    losses = scores.logsumexp(-1) - scores.gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1)
    return losses.nan_to_num(nan=math.inf).masked_fill(targets < 0, 0.0).reshape(len(targets), -1).sum(1)


def _per_target(losses: Tensor, targets: Tensor) -> float:
    """The mean of rows' `losses` (n,) over all targets that are asked for."""
    return float(losses.double().sum() / (targets >= 0).sum())
