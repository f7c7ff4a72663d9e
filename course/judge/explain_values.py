"""Explain wrong values: what relation to the right ones they have in all failing cases, and in which cases they pass.

What is said of one case must hold in every failing case that compares the same result. So the failing cases are
examined together, once all of them have been compared. At grading, what holds in all public ones is said of those, as
`check` says it, even if it does not hold in the hidden ones. Right answers are not examined.
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
"""A relation is said where numbers that tell it from a right answer hold so many bits, in all failing cases together:
two fractions compared to six places, or 24 times True or False. Some forty relations are tried for each answer."""

MANY_NUMBERS = 6
"""A dict of so many numbers is examined as a whole, and a smaller one number by number."""

SIZE = "has size"
TRAINING = "the model is in training mode"

FEWEST_ALIKE, FEWEST_OF_A_SIZE, FEWEST_OTHERS = 1, 2, 3
"""What all cases of one verdict have in common is said where so many have it, and so many of the other lack it.

One case alone is small in many ways: its title says more than one of its sizes.
"""


def explained(key: Key, found: Sequence[Difference | None], seen: Mapping[int, Recording]) -> list[Difference | None]:
    """`found`, the difference in each case, with a relation for the numbers where one holds in all failing cases."""
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
    """Whether a hidden case rules out what the public ones say of where the answer is right or wrong."""
    public = [gap if held.case.public else None for held, gap in zip(key.cases, found, strict=False)]
    if not any(gap is not None and gap.kind == "values" for gap in public):
        return False
    passes, fact = _only_where(key, found, public_only=True)
    facts = _facts_by_case(key, found)
    return bool(fact) and any((found[p] is None) == passes and fact not in known for p, known in facts.items())


def _alike(wrong: Mapping[int, Mapping[str, Pair]], position: int) -> list[Pair]:
    """The first wrong result of a case, in all the cases."""
    place = next(iter(wrong.get(position, ())), None)
    return [pairs[place] for pairs in wrong.values() if place in pairs] if place is not None else []


def _messages_by_case(wrong: Mapping[int, Mapping[str, Pair]]) -> dict[int, str]:
    """What is said of each case, by the first of its results of which a relation is known."""
    said: dict[int, str] = {}
    for place in dict.fromkeys(place for pairs in wrong.values() for place in pairs):
        pairs = {position: pairs[place] for position, pairs in wrong.items() if place in pairs}
        for position, sentence in _sentences(place, pairs).items():
            said.setdefault(position, f"{sentence}{_beside(pairs.values())}")
    return said


def _beside(pairs: Collection[Pair]) -> str:
    """That all the other results are right, where it is so in all of the cases."""
    if not pairs or not all(pair.others and pair.is_alone for pair in pairs):
        return ""
    one = all(len(pair.others) == 1 for pair in pairs)
    part = "element" if all(name.startswith("element") for pair in pairs for name in pair.others) else "result"
    return f" ({f'the other {part} is' if one else f'all other {part}s are'} right)"


def _sentences(place: str, pairs: Mapping[int, Pair]) -> dict[int, str]:
    """What is said of each of the failing cases; nothing where no relation holds in all of them."""
    for relation in RELATIONS:
        held = _held(relation, pairs)
        if evidence(held.values()) >= ENOUGH_BITS:
            return {p: _sentence(place, pairs[p], one) for p, one in held.items() if one.sentence}
    return {}


def _held(relation: Callable[[Pair], Relation | None], pairs: Mapping[int, Pair]) -> dict[int, Relation]:
    """The relation in every one of the cases that can tell; empty where it fails in one.

    A case whose wrong numbers say too little by themselves, zeros alone say, cannot tell where others can. Nor can one
    that is nearly right, unless the relation is an exact one.
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
    """The wrong tensors of the first output that has some, by what they are called in a sentence."""
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
    """The right tensors and the answer's, with what they are called; lists and dicts of numbers are one tensor."""
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
            yield place, _as_tensor(list(right.values())), _as_tensor([answer[key] for key in right])
            return
        for name, value in right.items():
            yield from _placed(value, answer[name], f"{place}at {name!r:.60}, ")


def _alone(place: str) -> str:
    """What a place is called within a sentence."""
    named = place.removesuffix(", ").removeprefix("in ")
    return f"the value {named}" if named.startswith("at ") else named


def _is_keyed(value: Any) -> bool:
    """Whether it is a dict that is examined as a whole."""
    return isinstance(value, dict) and len(value) >= MANY_NUMBERS and all(map(_is_number, value.values()))


def _as_tensor(value: Any) -> Tensor | None:
    """A tensor, an array, a number or a list of numbers as a tensor; None for anything else."""
    if isinstance(value, Tensor):
        return None if value.is_complex() else value.detach()
    if isinstance(value, np.ndarray):
        return _as_tensor(torch.from_numpy(value)) if value.dtype.kind in "biuf" else None
    if isinstance(value, list | tuple) and len(value) > 1 and all(map(_is_number, value)):
        return _of_numbers(value)
    return _of_numbers(value) if _is_number(value) else None


def _of_numbers(value: Any) -> Tensor:
    """Numbers in double precision, unless all are whole or all are True or False."""
    kinds = {type(one) for one in leaves(value)}
    dtype = torch.bool if kinds == {bool} else torch.int64 if kinds == {int} else torch.float64
    return torch.tensor(value, dtype=dtype)


def _is_number(value: Any) -> bool:
    """Whether it is a number that a tensor can hold."""
    return isinstance(value, bool | int | float) and abs(value) < 2**53


def _inputs(case: Case, output: str, signature: Sequence[str]) -> dict[str, Tensor]:
    """The tensors that the call of an output was given, by what they are called in a sentence."""
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
    """What all passing cases have in common and no failing one has, as a sentence; empty where nothing has."""
    passes, fact = _only_where(key, found)
    return f". Your solution is {'right' if passes else 'wrong'} only where {fact}" if fact else ""


def _only_where(key: Key, found: Sequence[Difference | None], *, public_only: bool = False) -> tuple[bool, str]:
    """Whether it is the passing or the failing cases that have a fact to themselves, and the fact; else empty."""
    facts = _facts_by_case(key, found, public_only=public_only)
    passing = [known for p, known in facts.items() if found[p] is None]
    failing = [known for p, known in facts.items() if found[p] is not None]
    if fact := _in_common([each - {TRAINING} for each in passing], failing):  # where all is dropped, all is right
        return True, fact
    return False, _in_common(failing, passing) if len(failing) > 1 else ""  # of one case its title says as much


def _facts_by_case(key: Key, found: Sequence[Difference | None], *, public_only: bool = False) -> dict[int, set[str]]:
    """What can be said of each case, by its position, that asks for values and was reached."""
    asked = {p: held.case for p, held in enumerate(key.cases[: len(found)]) if held.case.public or not public_only}
    return {p: _facts(case, key.signature) for p, case in asked.items() if case.values and not case.raises}


def _in_common(some: Sequence[set[str]], others: Sequence[set[str]]) -> str:
    """The first fact that all of `some` share and none of the `others` has."""
    if len(some) < FEWEST_ALIKE or len(others) < FEWEST_OTHERS:
        return ""
    facts = set.intersection(*some) - set().union(*others)
    if len(some) < FEWEST_OF_A_SIZE:
        facts = {fact for fact in facts if SIZE not in fact}
    return min(facts, key=lambda fact: (SIZE in fact, fact), default="")


def _facts(case: Case, signature: Sequence[str]) -> set[str]:
    """What can be said of the arguments of a case, and of the mode of its model."""
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
