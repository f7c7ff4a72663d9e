"""Declare an exercise: its reference, cases, misconceptions and hints, in one place.

@exercise(reference.rnn_cell, hints=("…", "…"), forbidden=("nn.RNNCell",))
def rnn_cell(rng):
    yield call("a small batch", rng.normal(2, 3), …, public=True)

@rnn_cell.misconception("What comes out when x and h are zero?")
def no_bias(x, h, W_x, W_h, b): …
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .rng import Rng
from .script import TOLERANCE, Case

PUBLIC_SEED = 0
"""Seed of `check`'s public cases, equal for all students."""


class _Mark:
    """A marker that a function of cases may yield between cases."""


rest_hidden = _Mark()
"""Marker before hidden cases that are slow to draw, after all public ones. `check` stops drawing there."""


@dataclass(frozen=True)
class Misconception:
    """A typical wrong answer, and a hint about its idea.

    `convention` names another published convention under which the computation is correct, if there is one.
    """

    name: str
    wrong: Callable[..., Any]
    hint: str
    convention: str = ""


@dataclass
class Exercise:
    """An exercise: reference, cases, misconceptions, hints and forbidden calls. The syllabus holds the points.

    `shown` are the positions, among several results, of those that are only for display, such as attention weights.
    Their values are compared, but not whether gradients flow back through them.

    `calls` are small calls as text, such as `"softmax(tensor([2., 2.]), 0)"`. Every student may see them, because
    questions about an answer's own code are made of them.
    """

    name: str
    reference: Callable[..., Any]
    make_cases: Callable[[Rng], Iterable[Case | _Mark]]
    hints: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    tolerance: float = TOLERANCE
    shown: tuple[int, ...] = ()
    calls: tuple[str, ...] = ()
    misconceptions: list[Misconception] = field(default_factory=list)

    def misconception(self, hint: str, *, convention: str = "", name: str = "") -> Callable[[Any], Any]:
        """Return a decorator that adds a wrong implementation. By default its name is the misconception's."""

        def add(wrong: Any) -> Any:
            self.misconceptions.append(Misconception(name or wrong.__name__, wrong, hint, convention))
            return wrong

        return add

    def mistakes(self, hint: str, **wrong: Callable[..., Any]) -> None:
        """Add misconceptions that share a hint, by name, such as the same mistake at several places."""
        self.misconceptions += [Misconception(name, answer, hint) for name, answer in wrong.items()]

    def cases(self, seed: int = PUBLIC_SEED, *, public_only: bool = False) -> list[Case]:
        """Return the cases in the order of judging, public before hidden, each with its own seed for global randomness.

        All inputs are drawn from `seed`, also those of public cases. So the outputs in an answer key, which are for
        `PUBLIC_SEED`, are no right answers at grading.

        Raises:
            TypeError: something other than a case was yielded, or nothing at all.
            ValueError: a case refers to another one that is missing or not at the required position.
        """
        made = self.make_cases(Rng(self._seed(seed)))
        if made is None:
            raise TypeError("nothing is yielded")
        if public_only:
            made = itertools.takewhile(lambda case: case is not rest_hidden, made)
        cases = [_a_case(case) for case in made if case is not rest_hidden]
        if not public_only:
            self._demand_needed(cases)
        public = [case for case in cases if case.public]
        hidden = [] if public_only else [case for case in cases if not case.public]
        return self._numbered([*public, *hidden], self._seed(seed, "numbers") % 2**31)

    def _numbered(self, cases: Iterable[Case], first: int) -> list[Case]:
        """Number the cases from `first` on. A case that judges again keeps the number of the case before."""
        numbered: list[Case] = []
        for number, case in enumerate(cases, first):
            if case.again and not (numbered and numbered[-1].steps is case.steps):
                raise ValueError(
                    f"{self.name}, case {case.title!r}: it must come right after the case that it judges again"
                )
            numbered.append(replace(case, seed=numbered[-1].seed if case.again else number, shown=self.shown))
        return numbered

    def _demand_needed(self, cases: Sequence[Case]) -> None:
        """Raise ValueError unless the titles that a case needs belong to exactly one other case each."""
        titles = [case.title for case in cases]
        for case in cases:
            for title in case.needs:
                if titles.count(title) != 1 or title == case.title:
                    raise ValueError(
                        f"{self.name}, case {case.title!r}: exactly one other case must be called {title!r}"
                    )

    @property
    def signature(self) -> tuple[str, ...]:
        """Return the reference's parameter names, for messages."""
        return tuple(inspect.signature(self.reference).parameters)

    def _seed(self, seed: int, *use: str) -> int:
        """Derive a seed for one use by hashing. Students' processes see some seeds and must not find the others."""
        return int.from_bytes(hashlib.sha256(":".join((self.name, str(seed), *use)).encode()).digest()[:4], "big")


def _a_case(made: Any) -> Case:
    if not isinstance(made, Case):
        raise TypeError(f"{made!r:.60} is not a case. Begin a case with call, build, draws, given or given_model")
    return made


def exercise(
    reference: Callable[..., Any],
    *,
    hints: Iterable[str] = (),
    forbidden: Iterable[str] = (),
    tolerance: float = TOLERANCE,
    shown: Iterable[int] = (),
    calls: Iterable[str] = (),
    name: str = "",
) -> Callable[[Callable[[Rng], Iterable[Case | _Mark]]], Exercise]:
    """Return a decorator that makes an `Exercise` of a function that yields cases, with the function's name.

    `tolerance` is rtol = atol in float64. `shown` and `calls` are described at `Exercise`. Pass `name` if a class
    already has the exercise's name.

    Raises:
        TypeError: `hints`, `forbidden` or `calls` is a single string, whose letters would become the items.
    """
    for called, given in (("hints", hints), ("forbidden", forbidden), ("calls", calls)):
        if isinstance(given, str):
            raise TypeError(f"{called} is a single string. Write a tuple, with a comma, {called}=({given!r:.30},)")

    def declare(make_cases: Callable[[Rng], Iterable[Case | _Mark]]) -> Exercise:
        texts = tuple(hints), tuple(forbidden)
        called = name or make_cases.__name__
        return Exercise(called, reference, make_cases, *texts, tolerance, tuple(shown), tuple(calls))

    return declare
