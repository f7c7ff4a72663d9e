"""Hidden tests of `direct_attribution`: shares of one logit that add up to it. Gradients are not asked for."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import inside as reference


@exercise(
    reference.direct_attribution,
    hints=(
        "Add up your shares. Is their sum the logit that the model computes from the sum of the parts?",
        "Join two parts into one. Is its share the sum of their shares? Whose size does the norm of the model divide "
        "by?",
        "Begin with one place and two parts. By which single number does the last norm divide their sum?",
    ),
    calls=(
        "direct_attribution(tensor([[1.], [1.]]), ones(1), tensor([[3.], [5.]]), tensor(0), eps=0.)",
        "direct_attribution(tensor([[1.], [1.]]), ones(1), tensor([[3.], [5.]]), tensor(1), tensor(0), eps=0.)",
        "direct_attribution(tensor([[4.], [0.]]), ones(1), tensor([[3.], [5.]]), tensor(0), eps=0.)",
        "direct_attribution(tensor([[3.], [-1.]]), ones(1), tensor([[2.], [1.]]), tensor(0), eps=0.)",
        "direct_attribution(tensor([[1.], [1.]]), tensor([7.]), tensor([[3.], [5.]]), tensor(0), eps=0.)",
    ),
)
def direct_attribution(rng):
    """Parts of unlike sizes, parts that nearly cancel, one token or a difference of two, no batch or two axes."""

    def asked(title, P, *places, D=7, V=11, wrong=True, dtype=torch.float64, memory=lambda x: x, **options):
        sizes = torch.linspace(0.2, 3.0, P).to(dtype).view(P, *(1 for _ in places), 1)
        parts, gamma = sizes * rng.normal(P, *places, D, dtype=dtype), 1 + rng.normal(D, dtype=dtype)
        right = rng.integers(0, V, *places)
        tokens = (right, (right + rng.integers(1, V, *places)) % V) if wrong else (right,)
        W_U = rng.normal(V, D, dtype=dtype)
        return call(title, memory(parts), memory(gamma), memory(W_U), *tokens, grad=False, **options)

    yield asked("one token at each place", 3, 2, 5, wrong=False, public=True, weight=2.0)
    yield asked("right less wrong", 5, 2, 3, public=True, weight=2.0)
    yield asked("a single place", 3, D=5)
    yield asked("many parts", 13, 7, D=5)
    yield asked("a large eps", 3, 5, eps=2.0)
    yield asked("float32", 3, 5, dtype=torch.float32, public=True)
    yield asked("memory that is not contiguous", 3, 5, memory=noncontiguous, public=True)


def _shares(scaled, gamma, W_U, right, wrong):
    direction = W_U[right] if wrong is None else W_U[right] - W_U[wrong]
    return (scaled * gamma * direction).sum(-1)


def _by(scale):
    """The answer that scales the parts so."""
    return lambda parts, gamma, W_U, right, wrong=None, eps=1e-6: _shares(
        parts * scale(parts, eps), gamma, W_U, right, wrong
    )


def _rms(x, eps):
    return (x.square().mean(-1, keepdim=True) + eps).rsqrt()


direct_attribution.mistakes(
    "Add up your shares. Are they the model's logit? By how many different numbers do you divide the parts of one "
    "place, and by how many does the model?",
    each_part_by_its_own_scale=_by(_rms),
    scale_of_the_last_part=_by(lambda parts, eps: _rms(parts[-1], eps)),
)
direct_attribution.mistakes(
    "Multiply all parts by 10. The model's logit stays. Do your shares?",
    no_norm=_by(lambda parts, eps: 1.0),
)
direct_attribution.mistakes(
    "Take gamma of zeros. What should be left of the shares?",
    gamma_forgotten=lambda parts, gamma, *given, **options: reference.direct_attribution(
        parts, torch.ones_like(gamma), *given, **options
    ),
)
direct_attribution.mistakes(
    "Let the second part be zero. Is its share zero?",
    cumulated=lambda *given, **options: reference.direct_attribution(*given, **options).cumsum(0),
)
direct_attribution.mistakes(
    "A part that says `right` aloud has a share above zero. What is the sign of yours?",
    right_and_wrong_exchanged=lambda parts, gamma, W_U, right, wrong=None, eps=1e-6: reference.direct_attribution(
        parts, gamma, W_U, right if wrong is None else wrong, None if wrong is None else right, eps
    ),
)
direct_attribution.mistakes(
    "Call it once with `wrong` and once without. Do the shares differ?",
    wrong_ignored=lambda parts, gamma, W_U, right, wrong=None, eps=1e-6: reference.direct_attribution(
        parts, gamma, W_U, right, eps=eps
    ),
)


@direct_attribution.misconception("Add up your shares. A logarithm of a sum is no sum of logarithms. Is it a logit?")
def log_softmax_of_a_part(parts, gamma, W_U, right, wrong=None, eps=1e-6):
    said = (parts * _rms(parts.sum(0), eps) * gamma @ W_U.T).log_softmax(-1)

    def of(token):
        return said.gather(-1, token.expand(parts.shape[:-1])[..., None]).squeeze(-1)

    return of(right) if wrong is None else of(right) - 0.5 * of(wrong)
