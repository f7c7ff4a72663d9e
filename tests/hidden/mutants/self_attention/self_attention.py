"""Wrong answers to `self_attention` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference.self_attention import scaled_dot_product_attention


def _attend(q, k, v):
    return scaled_dot_product_attention(q, k, v)[0]


def _mutant(name, weigh):
    """An answer whose weights are `weigh(q, k)`."""

    def mutant(x, W_q, W_k, W_v):
        return weigh(x @ W_q.T, x @ W_k.T) @ (x @ W_v.T)

    mutant.__name__ = name
    return mutant


def _root(q):
    return q.shape[-1] ** 0.5


def _divided_by_its_sum(scores):
    return scores / scores.sum(-1, keepdim=True)


def values_are_keys(x, W_q, W_k, W_v):
    return _attend(x @ W_q.T, x @ W_k.T, x @ W_k.T)


def values_not_transposed(x, W_q, W_k, W_v):
    return _attend(x @ W_q.T, x @ W_k.T, x @ W_v)


def not_projected(x, W_q, W_k, W_v):
    return _attend(x, x, x)


def added_to_the_words_where_they_fit(x, W_q, W_k, W_v):
    out = _attend(x @ W_q.T, x @ W_k.T, x @ W_v.T)
    shared = min(out.shape[-1], x.shape[-1])
    return out + F.pad(x[..., :shared], (0, out.shape[-1] - shared))


MUTANTS = [
    _mutant("scaled_by_D", lambda q, k: (q @ k.mT / q.shape[-1]).softmax(-1)),
    _mutant("scaled_by_the_number_of_words", lambda q, k: (q @ k.mT / q.shape[1] ** 0.5).softmax(-1)),
    _mutant("scaled_after_the_softmax", lambda q, k: (q @ k.mT).softmax(-1) / _root(q)),
    _mutant("multiplied_by_the_root", lambda q, k: (q @ k.mT * _root(q)).softmax(-1)),
    _mutant("reshaped_for_transposed", lambda q, k: (q @ k.reshape(k.mT.shape) / _root(q)).softmax(-1)),
    _mutant("no_exponential", lambda q, k: _divided_by_its_sum(q @ k.mT / _root(q))),
    _mutant("exponentials_that_overflow", lambda q, k: _divided_by_its_sum((q @ k.mT / _root(q)).exp())),
    values_are_keys,
    values_not_transposed,
    not_projected,
    added_to_the_words_where_they_fit,
]
