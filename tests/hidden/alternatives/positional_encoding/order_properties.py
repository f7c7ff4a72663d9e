"""Right answers to `order_properties` that look nothing like the reference."""

from __future__ import annotations

import numpy as np
import torch


def properties_by_growth(encode, n, d):
    """Bounded: a run twice as long holds no larger values. Relative: lstsq, offsets one to three. Unique: a set."""
    rows = encode(n, d)
    try:
        longer = encode(2 * n, d)
        bounded = float(longer.abs().max()) < 1.5 * float(rows.abs().max()) + 0.1
        any_length = float((longer[:n] - rows).abs().max()) < 1e-5
    except ValueError:
        bounded, any_length = True, False
    relative = True
    for k in (1, 2, 3):
        solution = torch.linalg.lstsq(rows[:-k], rows[k:]).solution
        relative &= float((rows[:-k] @ solution - rows[k:]).norm()) < 1e-3
    unique = len({tuple(row) for row in rows.round(decimals=3).tolist()}) == n
    same = bool((encode(n, d) == rows).all())
    names = ("unique", "bounded", "deterministic", "any_length", "relative")
    return dict(zip(names, (unique, bounded, same, any_length, relative)))


def properties_as_tensors_and_numpy(encode, n, d):
    rows = encode(n, d).numpy()
    pairs = np.abs(rows[:, None] - rows[None]).max(-1) + np.eye(n)
    half = n - n // 3
    M, *_ = np.linalg.lstsq(rows[:-1][:half], rows[1:][:half], rcond=None)  # found on one part, tried on the rest
    try:
        longer = encode(3 * n, d).numpy()
    except ValueError:
        longer = None
    return {
        "relative": np.allclose(rows[:-1] @ M, rows[1:], atol=1e-3),
        "unique": np.bool_((pairs > 1e-4).all()),
        "bounded": torch.tensor(bool(np.abs(rows).max() <= 2)),
        "deterministic": np.array_equal(encode(n, d).numpy(), rows),
        "any_length": longer is not None and np.allclose(longer[:n], rows),
    }


def properties_by_rank(encode, n, d):
    """One map exists if the next places' vectors add no direction; two places are alike if sorting brings them
    together."""
    rows = encode(n, d)
    ordered = rows[np.lexsort(rows.numpy().T)]
    try:
        longer = encode(2 * n, d)
    except ValueError:
        longer = torch.zeros(0, d)
    both = torch.cat([rows[:-1], rows[1:]], 1)
    ranks = [torch.linalg.matrix_rank(part, rtol=1e-6) for part in (both, rows[:-1])]
    return {
        "relative": bool(ranks[0] == ranks[1]),
        "any_length": bool(len(longer)) and torch.allclose(longer[:n], rows),
        "unique": bool((ordered.diff(dim=0).abs().amax(1) > 1e-6).all()),
        "bounded": bool(rows.square().max() < 9),
        "deterministic": not bool((encode(n, d) - rows).any()),
    }


ALTERNATIVES = [properties_by_growth, properties_as_tensors_and_numpy, properties_by_rank]
