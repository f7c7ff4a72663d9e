"""Laws of trained models: their accuracy, their losses, and which weights training may change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from .. import translation
from .measure import Measure
from .plain import kind, tensor
from .registry import EXPECTED, Outputs, Unreadable, law, law_with


def _accuracy(outputs: Outputs, targets: Tensor | list[Tensor], of: str | list[str] = "out", **_: Any) -> float:
    asked: Iterable[tuple[str, Any]] = [(of, targets)] if isinstance(of, str) else zip(of, targets, strict=True)
    shares = [_share_right(_scores(outputs[name], right), right) for name, right in asked]
    return sum(shares) / len(shares)


@law_with(measure=Measure(_accuracy))
def accuracy_at_least(
    outputs: Outputs, targets: Tensor | list[Tensor], bar: float, of: str | list[str] = "out", because: str = ""
) -> str:
    """Require the target to have the largest logit in at least `bar` of the rows. Targets below zero are ignored.

    For several outputs with targets each (splits of the data, say), their mean accuracy is compared.
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
    """Require at least `bar` of the sentences (B, T) to match the targets exactly, each up to its first `eos`."""
    found = _exact_match(outputs, targets, eos, of)
    return "" if found >= bar else because or f"{found:.1%} of the sentences are right, but {bar:.1%} should be"


@law
def mostly_unlike(outputs: Outputs, targets: Tensor, share: float, eos: int, of: str = "out", because: str = "") -> str:
    """Require less than `share` of the sentences (B, T) to match these wrong targets, each up to its first `eos`."""
    said, wrong = (translation.sentences(tensor(ids), eos) for ids in (outputs[of], targets))
    found = translation.exact_match(said, wrong)
    return "" if found < share else because or f"{found:.0%} of the sentences show the same mistake"


def _bleu(outputs: Outputs, targets: Tensor, eos: int, of: str = "out", **_: Any) -> float:
    return translation.bleu(*(translation.sentences(tensor(ids), eos) for ids in (outputs[of], targets)))


@law_with(measure=Measure(_bleu, is_share=False))
def bleu_at_least(outputs: Outputs, targets: Tensor, bar: float, eos: int, of: str = "out", because: str = "") -> str:
    """Require a BLEU of at least `bar` for sentences (B, T), each up to its first `eos`, against the targets."""
    found = _bleu(outputs, targets, eos, of)
    return "" if found >= bar else because or f"BLEU is {found:.3f}, but it should be at least {bar:.3f}"


@law
def says(outputs: Outputs, word: int, share: float, of: str = "out", because: str = "") -> str:
    """Require at least a `share` of the rows of ids (B, T) to contain `word`."""
    found = float((tensor(outputs[of]) == word).any(1).double().mean())
    return "" if found >= share else because or f"{found:.0%} of the rows contain {word}, but {share:.0%} should"


@law
def perplexity_at_most(outputs: Outputs, targets: Tensor, bar: float, of: str = "out", because: str = "") -> str:
    """Require exp of the mean −log p of the targets under rows of probabilities (n, V) to be at most `bar`."""
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
    """Require a perplexity of at most `factor` times the reference's in the same case, over the same vocabulary."""
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
    """Require a mean −log softmax(logits)[target] (natural logarithm) of at most `margin` above that of `known` (n,).

    `known` holds the losses of another predictor on the same targets: the data's source or plain frequencies, say.
    Targets (n, T) hold several for each row, and those below zero are ignored. `known` is then a sum for each row, and
    the mean is over all targets that count.
    """
    found, bar = _per_target(log_losses(outputs[of], targets), targets), _per_target(known, targets) + margin
    if found <= bar:
        return ""
    return because or f"the loss on held-out data is {found:.3f}, but it should be at most {bar:.3f}"


@law
def log_loss_at_least(
    outputs: Outputs, targets: Tensor, known: Tensor, margin: float, of: str = "out", because: str = ""
) -> str:
    """Require a mean −log softmax(logits)[target] of at least `margin` (negative) above `known` (n,)."""
    found, bar = _per_target(log_losses(outputs[of], targets), targets), _per_target(known, targets) + margin
    return "" if found >= bar else because or f"the loss is {found:.3f}, but it should be at least {bar:.3f}"


@law
def no_better_than(outputs: Outputs, targets: Tensor, best: Tensor, of: str = "out", because: str = "") -> str:
    """Require losses of logits (n, V) that are not below the `best` possible ones (n,) by more than chance.

    With targets (n, T), a row's loss is a sum, since the terms within a row are dependent. A difference of the means of
    more than four standard errors of the paired differences shows that targets have leaked.
    """
    differences = log_losses(outputs[of], targets) - best.double()
    error = float(differences.std()) / math.sqrt(len(differences))
    if not math.isfinite(error) or float(differences.mean()) >= -4 * error - 1e-6:
        return ""  # an infinite loss is no leak
    return because or "the loss is lower than any model can reach. Do the targets leak into the input?"


@law
def no_probabilities(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Require scores, not probabilities: the rows must not all be positive with a sum of one."""
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
    """Require at least `bar` of the `k` nearest other rows (by cosine) of each of `rows` to share a kind with it.

    `kinds` (V, K) is True where a row belongs to a kind.
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
    """Require R² of scores (n,) of at least `bar`: 1 - mean square error / variance of the true scores.

    With `up_to_a_constant`, the mean error is subtracted first.
    """
    found = _explained(outputs, scores, of, up_to_a_constant)
    return "" if found >= bar else because or f"these scores reach an R² of {found:.2f}; {bar:.2f} is asked for"


def _offset(outputs: Outputs, scores: Tensor, of: str = "out", **_: Any) -> float:
    return abs(float(_errors(outputs[of], scores).mean()))


@law_with(measure=Measure(_offset, "most", at_most=True, is_share=False))
def offset_at_most(outputs: Outputs, scores: Tensor, most: float, of: str = "out", because: str = "") -> str:
    """Require scores (n,) with a mean error of at most `most` above or below the true ones."""
    found = float(_errors(outputs[of], scores).mean())
    side = "above" if found > 0 else "below"
    told = f"on average the scores lie {abs(found):.2f} {side} the true ones; {most:.2f} is the most"
    return "" if abs(found) <= most else because or told


@law
def nearer(outputs: Outputs, scores: Tensor, than: Tensor, of: str = "out", because: str = "") -> str:
    """Require scores (n,) with a smaller mean square error against the true scores than against `than`."""
    to_these, to_others = (float(_errors(outputs[of], wanted).square().mean()) for wanted in (scores, than))
    return "" if to_these < to_others else because or "the scores are nearer to the answer to another question"


def _errors(found: Any, scores: Tensor) -> Tensor:
    """Return the differences of scores from the true ones, (n,).

    Raises:
        Unreadable: the scores have another shape, or are not finite.
    """
    given = tensor(found).double()
    if given.shape != scores.shape or not bool(given.isfinite().all()):
        raise Unreadable(f"{len(scores)} finite scores were expected, one for each pair, and {kind(found)} came")
    return given - scores.double()


@law
def keeps_weights(outputs: Outputs, weights: Mapping[str, Tensor], of: str = "state", because: str = "") -> str:
    """Require each of `weights` in the model's state, bit for bit, under any name."""
    moved = [name for name, value in weights.items() if not _stands_in(list(outputs[of].values()), value)]
    if not moved:
        return ""
    those = f"{len(moved)} of the {len(weights)} tensors" if len(moved) > 3 else ", ".join(sorted(moved))
    return because or f"{those} changed, but these weights should stay as they were"


@law
def trains_at_most(
    outputs: Outputs, weights: Mapping[str, Tensor], numbers: int, of: str = "state", because: str = ""
) -> str:
    """Require at most `numbers` trainable or new numbers in a model's state (parameters and buffers)."""
    begun = list(weights.values())
    found = sum(value.numel() for value in outputs[of].values() if value.requires_grad or not _stands_in(begun, value))
    return "" if found <= numbers else because or f"expected at most {numbers:,} trainable parameters, got {found:,}"


def _stands_in(tensors: list[Tensor], value: Tensor) -> bool:
    """Return whether one of `tensors` equals `value` bit for bit."""
    alike = (tensor for tensor in tensors if tensor.shape == value.shape and tensor.dtype == value.dtype)
    return any(torch.equal(tensor, value) for tensor in alike)


def _scores(logits: Any, targets: Tensor) -> Tensor:
    """Return scores with the shape of `targets` plus an axis for the classes.

    Raises:
        Unreadable: there are fewer scores than classes, or some are NaN, as after a training that diverged.
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
    """Return −log softmax(logits)[target] for each row, (n,), summed for targets (n, T). Infinite logits give inf."""
    scores = _scores(logits, targets).double()
    scores = scores - scores.amax(-1, keepdim=True)  # beside a score of 1e17, log V would be rounded away
    losses = scores.logsumexp(-1) - scores.gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1)
    return losses.nan_to_num(nan=math.inf).masked_fill(targets < 0, 0.0).reshape(len(targets), -1).sum(1)


def _per_target(losses: Tensor, targets: Tensor) -> float:
    """Return the mean over all targets that count, from the sums `losses` (n,) of each row."""
    return float(losses.double().sum() / (targets >= 0).sum())


def _accepted(outputs: Outputs, tokens: Tensor, p: Tensor, of: str = "out", **_: Any) -> float:
    logits = tensor(outputs[of])
    if logits.dim() != 3 or logits.shape[:2] != tokens.shape[:2] or logits.shape[2] <= int(tokens.max()):
        raise Unreadable(f"expected logits for texts of shape {tuple(tokens.shape[:2])}, got {kind(logits)}")
    q = logits.float().log_softmax(-1).gather(-1, tokens.long()).exp()
    return float((q / p).clamp(max=1.0).double().mean())


@law_with(measure=Measure(_accepted))
def accepted_share_at_least(
    outputs: Outputs, tokens: Tensor, p: Tensor, bar: float, of: str = "out", because: str = ""
) -> str:
    """Require a target model to accept at least `bar` of the guesses of a draft with logits (B, T, V).

    A guess stays with probability Σ min(p, q), which is the mean of min(1, q / p) over tokens that follow p. `tokens`
    (B, T, K) are such tokens at each place, and `p` (B, T, K) their probabilities under the target.
    """
    share = _accepted(outputs, tokens, p, of)
    return "" if share >= bar else because or f"{share:.1%} of the guesses stay, but {bar:.1%} should"


@law
def accepted_rather_than(
    outputs: Outputs, tokens: Tensor, p: Tensor, other: Tensor, other_p: Tensor, of: str = "out", because: str = ""
) -> str:
    """Require that more of a draft's guesses stay than if they were meant for other distributions, given alike."""
    if _accepted(outputs, tokens, p, of) > _accepted(outputs, other, other_p, of):
        return ""
    return because or "the draft is nearer to other distributions than to the target's"


@law
def no_surer_than(outputs: Outputs, bar: float, of: str = "out", because: str = "") -> str:
    """Require the likeliest token of logits (B, T, V) to have a mean probability of at most `bar`."""
    found = float(tensor(outputs[of]).float().softmax(-1).amax(-1).double().mean())
    return "" if found <= bar else because or f"the likeliest token has {found:.2f} on average, which is too sure"
