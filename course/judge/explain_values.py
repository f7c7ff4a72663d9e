"""Explain wrong values: how they relate to the right ones in all failing cases, and which cases pass.

A sentence about one case must hold in every failing case that compares the same result. So failing cases are examined
together, after all comparisons. At grading, a relation that holds in all public cases is reported for those, as
`check` does, even if it does not hold in the hidden ones. Right answers are not examined.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..exercise.key import Key, KeyCase
from ..exercise.nested import leaves
from ..exercise.recording import Recording
from ..exercise.script import Case, are_gradients
from .compare_values import agree, as_compared
from .difference import Difference
from .relation import EXACT, MOST_NUMBERS, RELATIONS, Pair, Relation, evidence

ENOUGH_BITS = 24.0
"""Evidence that a relation needs, summed over all failing cases, in bits: two fractions equal to six places, or 24
booleans. About forty relations are tried for each answer, so chance matches must be improbable."""

MANY_NUMBERS = 6
"""A dict with at least so many numbers is examined as one tensor, and a smaller one number by number."""

SIZE = "has size"
TRAINING = "the model is in training mode"

FEWEST_ALIKE, FEWEST_OF_A_SIZE, FEWEST_OTHERS = 1, 2, 3
"""A fact is reported if at least so many cases of one verdict share it and so many of the other verdict lack it.

A single case has many small sizes. Its title says more than one of them.
"""


def explained(key: Key, found: Sequence[Difference | None], seen: Mapping[int, Recording]) -> list[Difference | None]:
    """Return `found`, the difference in each case, with a relation added where one holds in all failing cases."""
    wrong = {
        position: _wrong(key.cases[position], seen[position], key.signature)
        for position, gap in enumerate(found)
        if gap is not None and gap.kind == "values" and position in seen
    }
    public = {position: pairs for position, pairs in wrong.items() if key.cases[position].case.public}
    said = {**(_messages_by_case(public) if len(public) < len(wrong) else {}), **_messages_by_case(wrong)}
    where = _where_it_passes(key, found)
    told = list(found)
    for position, gap in enumerate(found):
        if gap is not None and gap.kind == "values":
            alike = _alike(public if position in public else wrong, position)
            told[position] = replace(gap, message=(said.get(position) or f"{gap.message}{_beside(alike)}") + where)
    return told


def is_unconfirmed(key: Key, found: Sequence[Difference | None]) -> bool:
    """Return whether a hidden case contradicts what the public cases suggest about which cases pass or fail."""
    public = [gap if held.case.public else None for held, gap in zip(key.cases, found, strict=False)]
    if not any(gap is not None and gap.kind == "values" for gap in public):
        return False
    passes, fact = _only_where(key, found, public_only=True)
    facts = _facts_by_case(key, found)
    return bool(fact) and any((found[p] is None) == passes and fact not in known for p, known in facts.items())


def _alike(wrong: Mapping[int, Mapping[str, Pair]], position: int) -> list[Pair]:
    """Return the first wrong result of a case, from each of the cases."""
    place = next(iter(wrong.get(position, ())), None)
    return [pairs[place] for pairs in wrong.values() if place in pairs] if place is not None else []


def _messages_by_case(wrong: Mapping[int, Mapping[str, Pair]]) -> dict[int, str]:
    """Return the message for each case, from the first of its results for which a relation is found."""
    said: dict[int, str] = {}
    for place in dict.fromkeys(place for pairs in wrong.values() for place in pairs):
        pairs = {position: pairs[place] for position, pairs in wrong.items() if place in pairs}
        for position, sentence in _sentences(place, pairs).items():
            said.setdefault(position, f"{sentence}{_beside(pairs.values())}")
    return said


def _beside(pairs: Collection[Pair]) -> str:
    """Return a phrase that says that all other results are right, if they are in every case."""
    if not pairs or not all(pair.others and pair.is_alone for pair in pairs):
        return ""
    one = all(len(pair.others) == 1 for pair in pairs)
    part = "element" if all(name.startswith("element") for pair in pairs for name in pair.others) else "result"
    return f" ({f'the other {part} is' if one else f'all other {part}s are'} right)"


def _sentences(place: str, pairs: Mapping[int, Pair]) -> dict[int, str]:
    """Return a sentence for each failing case, or nothing if no relation holds in all of them."""
    for relation in RELATIONS:
        held = _held(relation, pairs)
        if evidence(held.values()) >= ENOUGH_BITS:
            return {p: _sentence(place, pairs[p], one) for p, one in held.items() if one.sentence}
    return {}


def _held(relation: Callable[[Pair], Relation | None], pairs: Mapping[int, Pair]) -> dict[int, Relation]:
    """Return the relation in every case that can show it, or nothing if it fails in one of those.

    A case whose wrong numbers carry little information (only zeros, say) is skipped if others can show the relation. So
    is a case that is nearly right, unless the relation is exact.
    """
    held: dict[int, Relation] = {}
    most = max(pair.bits(pair.wrong) for pair in pairs.values())
    for position, pair in pairs.items():
        one = Relation("", 0.0) if pair.is_nearly_right and relation not in EXACT else relation(pair)
        if one is None and pair.bits(pair.wrong) < ENOUGH_BITS <= most:
            continue
        kinds = {other.kind for other in held.values()} - {""}
        if one is None or (one.kind and kinds - {one.kind}):
            return {}
        held[position] = one
    return held


def _sentence(place: str, pair: Pair, relation: Relation) -> str:
    if pair.answer.dim() or pair.right.dtype == torch.bool:
        return f"{place}{relation.sentence}"
    got, words = f"{place}got {pair.answer.item():.6g}", relation.sentence
    return f"{got}, which is {words.removeprefix('it is ')}" if words.startswith("it is ") else f"{got}, and {words}"


# -- the numbers of a case ---------------------------------------------------------------------------------------


def _wrong(held: KeyCase, seen: Recording, signature: Sequence[str]) -> dict[str, Pair]:
    """Return the wrong tensors of the first wrong output, by the names that sentences use for them."""
    tolerance = held.case.tolerance or 0.0
    expected, came = as_compared(held.case, held.expected, seen)
    for name, right in expected.items():
        if are_gradients(name):
            continue
        placed = list(_placed(right, came.get(name)))
        wrong = [one.shape != other.shape or not agree(one, other, tolerance) for _, one, other in placed]
        inputs = _inputs(held.case, name, signature) if any(wrong) else {}
        pairs: dict[str, Pair] = {}
        for place, one, other in compress(placed, wrong):
            others = {_alone(called): right for called, right, _ in placed if called != place}
            if one.shape == other.shape and one.numel() <= MOST_NUMBERS:
                pairs[place] = Pair(one, other, tolerance, inputs, others, sum(wrong) == 1, _is_keyed(right))
        if any(wrong):
            return pairs
    return {}


def _placed(right: Any, answer: Any, place: str = "") -> Iterator[tuple[str, Tensor, Tensor]]:
    """Yield right and answered tensors with their names. Lists and dicts of numbers count as one tensor."""
    one, other = _as_tensor(right), _as_tensor(answer)
    if one is not None:
        if other is not None:
            yield place, one, other
    elif isinstance(right, list | tuple) and isinstance(answer, list | tuple) and len(right) == len(answer):
        for index, pair in enumerate(zip(right, answer, strict=True)):
            part = "result" if isinstance(right, tuple) and "element" not in place else "element"
            yield from _placed(*pair, f"{place or 'in '}{part} {index + 1} of {len(right)}, ")
    elif isinstance(right, dict) and isinstance(answer, dict) and right.keys() == answer.keys():
        if _is_keyed(right) and _is_keyed(answer):
            yield place, _of_numbers(list(right.values())), _of_numbers([answer[key] for key in right])
            return
        for name, value in right.items():
            yield from _placed(value, answer[name], f"{place}at {name!r:.60}, ")


def _alone(place: str) -> str:
    """Return the name of a place for use within a sentence."""
    named = place.removesuffix(", ").removeprefix("in ")
    return f"the value {named}" if named.startswith("at ") else named


def _is_keyed(value: Any) -> bool:
    """Return whether a value is a dict that is examined as one tensor."""
    return isinstance(value, dict) and len(value) >= MANY_NUMBERS and all(map(_is_number, value.values()))


def _as_tensor(value: Any) -> Tensor | None:
    """Return a tensor, array, number or list of numbers as a tensor, or None for anything else."""
    if isinstance(value, Tensor):
        return None if value.is_complex() else value.detach()
    if isinstance(value, np.ndarray):
        return _as_tensor(torch.from_numpy(value)) if value.dtype.kind in "biuf" else None
    if isinstance(value, list | tuple) and len(value) > 1 and all(map(_is_number, value)):
        return _of_numbers(value)
    return _of_numbers(value) if _is_number(value) else None


def _of_numbers(value: Any) -> Tensor:
    """Return numbers as a tensor in double precision, unless all are whole or all are True or False."""
    kinds = {type(one) for one in leaves(value)}
    dtype = torch.bool if kinds == {bool} else torch.int64 if kinds == {int} else torch.float64
    return torch.tensor(value, dtype=dtype)


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that a tensor can hold."""
    return isinstance(value, bool | int | float) and abs(value) < 2**53


def _inputs(case: Case, output: str, signature: Sequence[str]) -> dict[str, Tensor]:
    """Return the tensor arguments of the call that produced an output, by the names that sentences use for them."""
    step = next((step for step in reversed(case.steps) if step.into == output and step.verb == "call"), None)
    if step is None:
        return {}
    named = signature if step.on == "answer" and not step.method else ()
    given = {_called(place, named): value for place, value in enumerate(step.args)}
    given |= {f"`{name}`": value for name, value in step.kwargs.items()}
    return {name: value.detach() for name, value in given.items() if isinstance(value, Tensor)}


def _called(place: int, signature: Sequence[str]) -> str:
    return f"`{signature[place]}`" if place < len(signature) else f"input {place + 1}"


# -- which cases pass --------------------------------------------------------------------------------------------


def _where_it_passes(key: Key, found: Sequence[Difference | None]) -> str:
    """Return a sentence about what all passing cases share and no failing one has, or an empty string."""
    passes, fact = _only_where(key, found)
    return f". Your solution is {'right' if passes else 'wrong'} only where {fact}" if fact else ""


def _only_where(key: Key, found: Sequence[Difference | None], *, public_only: bool = False) -> tuple[bool, str]:
    """Return whether the passing (not the failing) cases have a fact of their own, and the fact, or an empty string."""
    facts = _facts_by_case(key, found, public_only=public_only)
    passing = [known for p, known in facts.items() if found[p] is None]
    failing = [known for p, known in facts.items() if found[p] is not None]
    if fact := _in_common([each - {TRAINING} for each in passing], failing):  # with dropout 1 every answer is right
        return True, fact
    return False, _in_common(failing, passing) if len(failing) > 1 else ""  # the title of a single case says as much


def _facts_by_case(key: Key, found: Sequence[Difference | None], *, public_only: bool = False) -> dict[int, set[str]]:
    """Return facts about each case that asks for values and was reached, by its position."""
    asked = {p: held.case for p, held in enumerate(key.cases[: len(found)]) if held.case.public or not public_only}
    return {p: _facts(case, key.signature) for p, case in asked.items() if case.values and not case.raises}


def _in_common(some: Sequence[set[str]], others: Sequence[set[str]]) -> str:
    """Return the first fact that all of `some` share and none of `others` has, or an empty string."""
    if len(some) < FEWEST_ALIKE or len(others) < FEWEST_OTHERS:
        return ""
    facts = set.intersection(*some) - set().union(*others)
    if len(some) < FEWEST_OF_A_SIZE:
        facts = {fact for fact in facts if SIZE not in fact}
    return min(facts, key=lambda fact: (SIZE in fact, fact), default="")


def _facts(case: Case, signature: Sequence[str]) -> set[str]:
    """Return facts about a case's arguments and the mode of its model."""
    step = next((step for step in case.steps if step.on == "answer" and step.verb == "call"), None)
    modes = {step.verb for step in case.steps}
    facts = {TRAINING if "train" in modes else "the model is in `eval` mode"}
    if step is None:
        return facts
    given = dict(zip(signature, step.args, strict=False)) | dict(step.kwargs)
    for name in signature:
        facts |= set(_facts_of(f"`{name}`", given.get(name)))
    return facts


def _facts_of(name: str, value: Any) -> Iterator[str]:
    if value is None:
        yield f"{name} is not given"
    elif isinstance(value, bool):
        yield f"{name} is {value}"
    elif isinstance(value, int | float) and value in (0, 1):
        yield f"{name} is {value:g}"
    elif isinstance(value, Tensor):
        if value.dtype == torch.bool and bool(value.all()):
            yield f"{name} is True everywhere"
        if value.is_floating_point() and value.numel() and not bool(value.any()):
            yield f"{name} is 0 everywhere"
        if value.dim() and value.shape[0] == 1:
            yield f"{name} {SIZE} 1 along axis 0"
