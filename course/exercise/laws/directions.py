"""Laws of an autoencoder's columns: which of the directions that made the data has it found?"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional as F

from .measure import Measure
from .plain import tensor
from .registry import Outputs, Unreadable, law_with

LIKE = 0.5
"""The mean cosine with the vectors from which on a reconstruction is one of them. Of other vectors it is near 0."""


def _found(
    outputs: Outputs,
    directions: Tensor,
    of: str = "W_dec",
    features: str = "out",
    part: int = 1,
    vectors: Tensor | None = None,
    **_: Any,
) -> float:
    """Return the mean, over directions (N, D), of the best cosine with a column whose feature is ever active.

    It is 0 if the reconstruction, the first entry of `features`, is not like the `vectors` (B, D).

    Raises:
        Unreadable: the columns are not as wide as a direction, or features and columns do not fit.
    """
    columns, answer = tensor(outputs[of]).double(), outputs[features]
    if not isinstance(answer, tuple | list) or len(answer) <= part:
        raise Unreadable("the model should return x_hat and f. What does its forward return?")
    active = tensor(answer[part]).flatten(0, -2) > 0  # (B, n)
    if columns.ndim != 2 or columns.shape != (directions.shape[1], active.shape[1]):
        raise Unreadable(f"expected W_dec ({directions.shape[1]}, {active.shape[1]}), got {tuple(columns.shape)}")
    live = columns[:, active.any(0)]
    if not live.shape[1] or (vectors is not None and not _is_like(answer[0], vectors)):
        return 0.0
    return float((directions.double() @ F.normalize(live, dim=0)).amax(1).mean())


def _is_like(answer: Any, vectors: Tensor) -> bool:
    rebuilt = tensor(answer).double()
    fits = rebuilt.shape == vectors.shape
    return fits and float(F.cosine_similarity(rebuilt, vectors.double(), dim=-1).mean()) >= LIKE


@law_with(measure=Measure(_found, "bar", is_share=False))
def directions_found(
    outputs: Outputs,
    directions: Tensor,
    bar: float,
    of: str = "W_dec",
    features: str = "out",
    part: int = 1,
    vectors: Tensor | None = None,
    because: str = "",
) -> str:
    """Require a mean best cosine of at least `bar` between directions (N, D) and live columns of `of` (D, n).

    A column is live if its feature, entry `part` of the output `features`, is above zero somewhere. Where `vectors`
    (B, D) are given, the first entry has to be like them.
    """
    found = _found(outputs, directions, of, features, part, vectors)
    told = f"the mean best cosine with the true directions is {found:.3f}, but it should be at least {bar:g}"
    return "" if found >= bar else because or told
