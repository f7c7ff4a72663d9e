"""Laws: what holds for any right answer, as predicates over recorded outputs, named by string.

A law gets the outputs of one case (name -> plain value) and returns an empty string when it holds, else one sentence
for the student. A key stores a law as its name and parameters, so parameters are plain values and tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .script import LawUse

FALSE_ALARM = 1e-7
"""Bound on the probability that a right sampler breaks one frequency law (below one in a million an exercise)."""

EXPECTED = "what the reference did"
"""The name under which the judge lays the reference's own outputs of the case beside those that are examined."""

Outputs = Mapping[str, Any]


@dataclass(frozen=True)
class Law:
    """A predicate, and for laws of chance the table of counts it looks at."""

    holds: Callable[..., str]
    counts: Callable[..., Tensor] | None = None


LAWS: dict[str, Law] = {}


def law(function: Callable[..., str]) -> Callable[..., str]:
    """Registers a law under its function's name."""
    LAWS[function.__name__] = Law(function)
    return function


def broken(use: LawUse, outputs: Outputs) -> str:
    """Why the law does not hold for `outputs`; empty when it does."""
    try:
        return LAWS[use.name].holds(outputs, **use.params)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError, AttributeError, OverflowError):
        of = use.params.get("of", "out")
        return f"what came back as {of!r} is not of the kind that can be examined: {_kind(outputs.get(of))}"


def counts(use: LawUse, outputs: Outputs) -> Tensor | None:
    """The table of counts behind a law of chance, (rows, K); None for other laws and for unusable outputs."""
    table = LAWS[use.name].counts
    try:
        return None if table is None else table(outputs, **use.params)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError, AttributeError):
        return None


# -- values ----------------------------------------------------------------------------------------------------------


@law
def equal(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-6) -> str:
    """Two outputs agree."""
    if _agree(outputs[of], outputs[to], within):
        return ""
    return because or f"two results that must agree differ ({of} and {to})"


@law
def different(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-6) -> str:
    """Two outputs do not agree."""
    if not _agree(outputs[of], outputs[to], within):
        return ""
    return because or f"two results that must differ are the same ({of} and {to})"


@law
def exceeds_by(
    outputs: Outputs, value: Tensor, of: str = "out", to: str = "", because: str = "", within: float = 1e-5
) -> str:
    """One output is another plus `value`."""
    if _agree(_tensor(outputs[of]).double() - value.double(), _tensor(outputs[to]).double(), within):
        return ""
    return because or f"{of} and {to} do not differ by what they should"


@law
def begins_with(outputs: Outputs, of: str = "out", to: str = "", dim: int = 0, because: str = "") -> str:
    """The first entries of an output along `dim` are another output."""
    beginning = _tensor(outputs[of]).narrow(dim, 0, _tensor(outputs[to]).shape[dim])
    if _agree(beginning, outputs[to], 1e-6):
        return ""
    return because or f"{of} does not begin with {to}"


@law
def slices_differ(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """No two slices along `dim` are the same."""
    slices = _tensor(outputs[of]).double().movedim(dim, 0).flatten(1)
    apart = (slices[:, None] - slices).abs().amax(-1).fill_diagonal_(math.inf)
    return "" if bool((apart > within).all()) else because or "two things that must differ are the same"


@law
def slices_agree(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """All slices along `dim` are the same."""
    slices = _tensor(outputs[of]).double().movedim(dim, 0)
    return "" if _agree(slices, slices[:1].expand_as(slices), within) else because or "things differ that must agree"


@law
def close_to(outputs: Outputs, value: Any, of: str = "out", within: float = 1e-6, because: str = "") -> str:
    """An output is near a known value."""
    if _agree(outputs[of], value, within):
        return ""
    return because or "the value is not the one that every right answer gives"


@law
def sums_to_one(outputs: Outputs, of: str = "out", dim: int = -1, because: str = "") -> str:
    """Probabilities along `dim` add up."""
    total = _tensor(outputs[of]).double().sum(dim)
    worst = float((total - 1).abs().max()) if total.numel() else 0.0
    if worst < 1e-5:
        return ""
    return because or f"probabilities do not sum to one: a sum is off by {worst:.3g}"


@law
def bounded(
    outputs: Outputs, of: str = "out", low: float = -math.inf, high: float = math.inf, because: str = ""
) -> str:
    """Every value lies in [low, high]."""
    values = _tensor(outputs[of]).double()
    if bool((values >= low).all()) and bool((values <= high).all()):
        return ""
    return because or f"a value lies outside [{low:g}, {high:g}]"


@law
def positive(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Every value is above zero."""
    if bool((_tensor(outputs[of]) > 0).all()):
        return ""
    return because or "a probability is zero (or negative)"


@law
def finite(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """No NaN, no infinity."""
    bad = int((~torch.isfinite(_tensor(outputs[of]).double())).sum())
    return (because or f"{bad} values are NaN or infinite") if bad else ""


@law
def shape_is(outputs: Outputs, shape: tuple[int, ...], of: str = "out", because: str = "") -> str:
    """The output has this shape."""
    found = tuple(_tensor(outputs[of]).shape)
    return "" if found == tuple(shape) else because or f"the shape is {found}, and {tuple(shape)} was expected"


@law
def whole_numbers(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """The output is a LongTensor."""
    if isinstance(outputs[of], Tensor) and outputs[of].dtype == torch.int64:
        return ""
    return because or f"a LongTensor was expected, and {_kind(outputs[of])} came"


@law
def argmax_is(outputs: Outputs, index: Any, of: str = "out", because: str = "") -> str:
    """The largest value along the last axis sits at `index` (a number or a LongTensor)."""
    found = _tensor(outputs[of]).argmax(-1)
    return "" if _agree(found, torch.as_tensor(index), 0.0) else because or "the largest value is in another place"


@law
def at_least(outputs: Outputs, value: float, of: str = "out", because: str = "") -> str:
    """A number reaches `value`."""
    found = float(outputs[of])
    return "" if found >= value else because or f"{found:.4g} is below {value:.4g}"


@law
def at_most(outputs: Outputs, value: float, of: str = "out", because: str = "") -> str:
    """A number stays at or below `value`."""
    found = float(outputs[of])
    return "" if found <= value else because or f"{found:.4g} is above {value:.4g}"


@law
def exceeds(outputs: Outputs, value: float, of: str = "out", because: str = "") -> str:
    """Some entry is larger than `value` in absolute value, infinity included."""
    largest = float(_tensor(outputs[of]).double().abs().max())
    return "" if largest > value else because or f"no value grows beyond {value:g}"


@law
def same_rows(outputs: Outputs, to: str, of: str = "out", because: str = "", within: float = 1e-5) -> str:
    """The rows of two outputs agree in order, whatever axes of one they were computed with."""
    a, b = (_tensor(outputs[name]).double() for name in (of, to))
    if a.numel() == b.numel() and _agree(a.reshape(b.shape), b, within):
        return ""
    return because or f"the rows of {of} and {to} should be the same"


@law
def combination_is_not_zero(outputs: Outputs, weights: Tensor, of: str = "out", because: str = "") -> str:
    """The rows do not cancel under `weights` (as those of a linear function would)."""
    rows = _tensor(outputs[of]).double().reshape(len(weights), -1)
    size = float((weights.double().abs() @ rows.abs()).max())
    if float((weights.double() @ rows).abs().max()) > 1e-5 * size:
        return ""
    return because or "the results cancel as those of a linear function do"


# -- gradients -------------------------------------------------------------------------------------------------------


@law
def every_parameter_learns(outputs: Outputs, of: str = "gradients of out", because: str = "") -> str:
    """Each parameter's gradient is there and is not zero."""
    gradients = outputs[of]
    if not gradients:
        return because or "no gradient reaches the parameters: is the result still connected to them?"
    idle = [name for name, grad in gradients.items() if grad is None or not bool((grad != 0).any())]
    return (because or f"no gradient reaches {', '.join(map(str, idle[:4]))}") if idle else ""


@law
def every_token_learns(outputs: Outputs, tokens: int, of: str = "gradients of out", because: str = "") -> str:
    """Wherever a parameter has an axis of size `tokens`, each of the tokens gets some gradient."""
    for gradient in outputs[of].values():
        for axis in (axis for axis in range(gradient.dim()) if gradient.shape[axis] == tokens):
            idle = int((gradient.movedim(axis, 0).reshape(tokens, -1) == 0).all(dim=1).sum())
            if idle:
                return because or f"{idle} of {tokens} tokens that were read get no gradient"
    return "" if outputs[of] else because or "no gradient reaches the parameters"


@law
def learns_at_least(outputs: Outputs, numbers: int, of: str = "gradients of out", because: str = "") -> str:
    """The parameters that get a gradient hold so many numbers between them."""
    found = sum(gradient.numel() for gradient in (outputs[of] or {}).values() if gradient is not None)
    return "" if found >= numbers else because or f"{found} numbers are learned; at least {numbers} were expected"


# -- chance ----------------------------------------------------------------------------------------------------------


def frequency_counts(outputs: Outputs, probabilities: Tensor, of: str = "out", start: Any = None, **_: Any) -> Tensor:
    """Counts of drawn ids, (rows, K): one row, or one a previous token when `start` says where each draw begins.

    The draws are a LongTensor (n,), or (n, L) for n sequences; with `start`, position 0 follows `start`.
    """
    drawn = _tensor(outputs[of]).long()
    table = torch.zeros(probabilities.reshape(-1, probabilities.shape[-1]).shape, dtype=torch.float64)
    if start is None:
        row = torch.zeros_like(drawn)
    else:
        first = torch.full_like(drawn[..., :1], int(start))
        row = torch.cat([first, drawn[..., :-1]], dim=-1)
    if bool((drawn < 0).any()) or bool((drawn >= table.shape[1]).any()):
        raise ValueError("ids outside the vocabulary were drawn")
    flat = row.reshape(-1) * table.shape[1] + drawn.reshape(-1)
    return table.view(-1).index_add_(0, flat, torch.ones(flat.numel(), dtype=torch.float64)).view(table.shape)


def frequencies(outputs: Outputs, probabilities: Tensor, of: str = "out", start: Any = None, because: str = "") -> str:
    """Draws follow `probabilities` ((K,), or (K, K) by previous token with `start`).

    Each cell's count is held against Chernoff's bound P(|p̂ − p| as large) ≤ 2·exp(−n·KL(p̂‖p)), which is exact
    for any n, over all cells: a right sampler breaks it with probability below `FALSE_ALARM`.
    """
    table = frequency_counts(outputs, probabilities, of, start)
    p = probabilities.double().reshape(table.shape)
    n = table.sum(-1, keepdim=True)
    limit = math.log(2 * table.numel() * max(float(n.max()), 2.0) / FALSE_ALARM)
    excess = n * _binary_divergence(table / n.clamp(min=1), p)
    if bool((excess[n.expand_as(excess) > 0] <= limit).all()):
        return ""
    return because or "the draws do not follow the distribution they should: tally a few thousand of them"


LAWS["frequencies"] = Law(frequencies, frequency_counts)


def _binary_divergence(a: Tensor, b: Tensor) -> Tensor:
    """KL divergence of Bernoulli(a) from Bernoulli(b); infinite where b excludes what a saw."""
    return (
        torch.special.xlogy(a, a)
        - torch.special.xlogy(a, b)
        + torch.special.xlogy(1 - a, 1 - a)
        - torch.special.xlogy(1 - a, 1 - b)
    )


# -- trained models --------------------------------------------------------------------------------------------------


@law
def accuracy_at_least(outputs: Outputs, targets: Tensor, bar: float, of: str = "out", because: str = "") -> str:
    """The largest logit is the target's for at least `bar` of the rows; a target below zero is not counted."""
    logits = _tensor(outputs[of])
    right = logits.reshape(len(targets), -1).argmax(-1) == targets
    accuracy = float(right[targets >= 0].double().mean())
    return "" if accuracy >= bar else because or f"accuracy {accuracy:.1%} on held-out data; {bar:.1%} is asked for"


@law
def perplexity_at_most(outputs: Outputs, targets: Tensor, bar: float, of: str = "out", because: str = "") -> str:
    """exp of the mean −log p of the targets under rows of probabilities (n, V) is at most `bar`."""
    probabilities = _tensor(outputs[of]).double().reshape(len(targets), -1)
    if not bool(torch.isfinite(probabilities).all()) or float((probabilities.sum(-1) - 1).abs().max()) > 1e-4:
        return "the predictions are no probability distributions, so a perplexity would mean nothing"
    found = _perplexity(probabilities, targets)
    return "" if found <= bar else because or f"held-out perplexity {found:.3g}; {bar:.3g} or less is asked for"


@law
def perplexity_within(outputs: Outputs, targets: Tensor, factor: float, of: str = "out", because: str = "") -> str:
    """The same, with a bar of `factor` times the perplexity of the reference in the same case."""
    own = _tensor(outputs[EXPECTED][of]).double().reshape(len(targets), -1)
    return perplexity_at_most(outputs, targets, factor * _perplexity(own, targets), of, because)


def _perplexity(probabilities: Tensor, targets: Tensor) -> float:
    chosen = probabilities.gather(1, targets[:, None]).squeeze(1)
    return float(torch.exp(-chosen.clamp(min=1e-300).log().mean()))


@law
def log_loss_at_most(
    outputs: Outputs, targets: Tensor, known: Tensor, margin: float, of: str = "out", because: str = ""
) -> str:
    """The mean −log softmax(logits)[target], natural logarithm, is at most `margin` above that of `known` (n,).

    `known` is what somebody else loses on the very same targets: the source itself, the bare frequencies.
    """
    found, bar = float(_log_losses(outputs[of], targets).mean()), float(known.mean()) + margin
    return "" if found <= bar else because or f"held-out loss {found:.3f}; {bar:.3f} or less is asked for"


@law
def log_loss_at_least(
    outputs: Outputs, targets: Tensor, known: Tensor, margin: float, of: str = "out", because: str = ""
) -> str:
    """The mean −log softmax(logits)[target] is not more than `-margin` below that of `known` (n,): no such guesses."""
    found, bar = float(_log_losses(outputs[of], targets).mean()), float(known.mean()) + margin
    return "" if found >= bar else because or f"a loss of {found:.3f}; {bar:.3f} or more was expected"


@law
def no_better_than(outputs: Outputs, targets: Tensor, best: Tensor, of: str = "out", because: str = "") -> str:
    """The losses of logits (n, V) are not below the `best` possible (n,) by more than chance.

    A difference of the means beyond four standard errors of the paired differences is no luck: targets have leaked.
    """
    differences = _log_losses(outputs[of], targets) - best.double()
    error = float(differences.std()) / math.sqrt(len(differences))
    if float(differences.mean()) >= -4 * error - 1e-6:
        return ""
    return because or "better than anybody can be who knows the source itself: the answers leak into the question"


@law
def no_probabilities(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """The rows are scores: they are not all positive with a sum of one."""
    logits = _tensor(outputs[of]).double()
    if bool((logits < 0).any()) or float((logits.sum(-1) - 1).abs().max()) > 1e-3:
        return ""
    return because or "these are probabilities, and scores are asked for, as they are before any softmax"


@law
def neighbours_alike(
    outputs: Outputs, kinds: Tensor, rows: Tensor, k: int, bar: float, of: str = "out", because: str = ""
) -> str:
    """Of the `k` nearest other rows, by cosine, of each of `rows`, a share of at least `bar` has a kind in common.

    `kinds` (V, K) is True where a row is of a kind.
    """
    vectors = _tensor(outputs[of]).double()
    if vectors.ndim != 2 or len(vectors) != len(kinds) or not bool(torch.isfinite(vectors).all()):
        return f"a table of {len(kinds)} finite vectors was expected, and one of shape {tuple(vectors.shape)} came"
    directions = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=1e-12)
    similarity = directions[rows] @ directions.T
    similarity[torch.arange(len(rows)), rows] = -math.inf
    near = similarity.topk(k).indices  # (n, k)
    alike = (kinds[rows].double() @ kinds.double().T > 0).gather(1, near)
    found = float(alike.double().mean())
    return (
        ""
        if found >= bar
        else because or f"{found:.0%} of the neighbours are of the same kind; {bar:.0%} are asked for"
    )


def _log_losses(logits: Any, targets: Tensor) -> Tensor:
    """−log softmax(logits)[target] for each row, (n,); infinite where there is a NaN."""
    scores = _tensor(logits).double().reshape(len(targets), -1)
    losses = scores.logsumexp(-1) - scores.gather(1, targets[:, None]).squeeze(1)
    return losses.nan_to_num(nan=math.inf)


def _tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, list) and value and all(isinstance(item, Tensor) for item in value):
        raise TypeError("tensors of different shapes")
    return torch.as_tensor(value)


def _agree(first: Any, second: Any, within: float) -> bool:
    if (
        isinstance(first, list | tuple)
        and isinstance(second, list | tuple)
        and any(isinstance(item, Tensor) for item in first)
    ):
        return len(first) == len(second) and all(_agree(a, b, within) for a, b in zip(first, second, strict=True))
    if not isinstance(first, Tensor | float | int | list) or not isinstance(second, Tensor | float | int | list):
        return bool(type(first) is type(second) and first == second)
    a, b = _tensor(first), _tensor(second)
    return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=within, atol=within, equal_nan=False)


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)} and type {str(value.dtype).removeprefix('torch.')}"
    return "nothing" if value is None else f"a {type(value).__name__}"
