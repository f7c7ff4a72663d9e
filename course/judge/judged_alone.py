"""Whether an answer that rests on a failing one can be judged by itself.

It can where the judge knows what the earlier mistake makes of a right answer. Otherwise a person has to look.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from ..exercise.key import Key
from ..exercise.recording import Recording
from ..source import is_stub
from .compare import difference
from .diagnose import says_nothing, shows, tells_apart
from .ground import FOLLOWS, called, fails
from .verdict import Verdict


def is_untold(
    verdict: Verdict, key: Key, sources: Mapping[str, str], earlier: Mapping[str, Verdict], explained: Container[str]
) -> bool:
    """Whether a person has to say if the answer that got `verdict` is right but for an earlier mistake.

    Args:
        key: knows the answer that is right but for the mistake, where the judge has one.
        sources: the students' cells by exercise.
        earlier: the verdicts before this one.
        explained: the exercises whose answers fail by one known mistake alone.
    """
    name = verdict.exercise
    if not verdict.rests_on or is_stub(sources.get(name, "")):
        return False
    if not _shows_values(verdict, key):
        return True
    one_cause = causes(name, sources, earlier) == {verdict.rests_on} and verdict.rests_on in explained
    return not verdict.but_for_that and not one_cause


def causes(name: str, sources: Mapping[str, str], earlier: Mapping[str, Verdict]) -> set[str]:
    """The failing answers that the one to `name` calls, itself or by others, and that are not right but for another."""
    found: set[str] = set()
    seen, left = {name}, [name]
    while left:
        for other in called(sources.get(left.pop(), "")) - seen:
            if other in earlier and fails(earlier[other]):
                seen.add(other)
                left.append(other)
                if not earlier[other].but_for_that:
                    found.add(other)
    return found


def explains(key: Key, mistake: str, came: Sequence[Recording]) -> bool:
    """Whether a wrong answer does all that it does by one mistake; `came` are its recordings, one for each script."""
    asked = [held for held in key.cases if not held.case.again]
    if not mistake or len(came) < len(asked):
        return False
    return all(
        shows(held, mistake, recording)
        for held, recording in zip(asked, came, strict=True)
        if tells_apart(held, mistake) or difference(held, recording, key.signature)
    )


def _shows_values(verdict: Verdict, key: Key) -> bool:
    """Whether the answer that is right but for the mistake differs in a value, and has some that can be compared.

    Laws can be broken, and errors raised, by any other mistake as well.
    """
    if all(known.name != FOLLOWS for known in key.misconceptions):
        return False
    compared = [held for held in key.cases if held.case.values and held.wrong(FOLLOWS).raised is None]
    failed = {case.title for case in verdict.cases if not case.passed}
    return any(held.case.title in failed for held in compared) and not all(
        says_nothing(held.wrong(FOLLOWS)) for held in compared
    )
