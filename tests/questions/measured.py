"""Ask about all right answers in `tests/hidden/alternatives`, and count: `python -m tests.questions.measured [NN]`."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from course.questions import Apart, Question, Subject, Unaskable, ask, gathered, subject
from course.syllabus import OURS
from tests.hidden.answers import answers
from tests.original import find

EXERCISES = {item.name: topic for topic in OURS for item in topic.items if item.kind == "exercise"}


@dataclass(frozen=True)
class Measured:
    """What is asked about one answer, or why nothing is, and the processor time of it in seconds."""

    exercise: str
    answer: str
    questions: tuple[Question, ...]
    why_none: str
    seconds: float

    def as_json(self) -> str:
        """A line for `tests.questions.checked_again`."""
        return json.dumps({**vars(self), "questions": [question.to_plain() for question in self.questions]})


def subject_of(exercise: str, answer: Any) -> Subject:
    """The subject for an answer, as `explain` makes it.

    Raises:
        Unaskable: it has none.
    """
    calls, beside = find(exercise).calls, {name: find(name).reference for name in EXERCISES if name != exercise}
    source, setup = gathered(answer, beside.__contains__, calls, beside)
    return subject(answer.__name__, source, setup, calls, exercise)


def measure(exercise: str, answer: Any, seed: int = 0, most: int = 6) -> Measured:
    """Ask about one answer, without a hurry."""
    began, questions, why = os.times(), tuple[Question, ...](), ""
    try:
        questions = tuple(ask(subject_of(exercise, answer), Apart(120), seed, most))
    except Unaskable as reason:
        why = str(reason)
    seconds = sum(os.times()[:4]) - sum(began[:4])
    return Measured(exercise, getattr(answer, "__name__", type(answer).__name__), questions, why, seconds)


def measure_all(topics: Collection[int]) -> Iterator[Measured]:
    """Ask about all alternatives of topics."""
    for exercise, topic in EXERCISES.items():
        if topic.number in topics:
            yield from (measure(exercise, answer) for answer in _alternatives(exercise))


def _alternatives(exercise: str) -> list[Any]:
    return answers("alternatives", EXERCISES[exercise], exercise)


def enough_of_each_kind(found: Sequence[Measured], number: int = 200) -> list[Question]:
    """All questions, and as many more of rare kinds, from other seeds, that the share of a guess is no chance.

    Of 25 questions, a rule that finds 25 of 100 finds 9 or more in one of ten samples.
    """
    questions = [question for one in found for question in one.questions]
    for kind in {question.kind for question in questions}:
        asked = [one for one in found if any(question.kind == kind for question in one.questions)]
        seed, have = 0, sum(question.kind == kind for question in questions)
        while have < number:
            seed += 1
            for one in asked:
                answer = next(a for a in _alternatives(one.exercise) if a.__name__ == one.answer)
                more = [q for q in measure(one.exercise, answer, seed).questions if q.kind == kind]
                questions += more
                have += len(more)
    return questions


def guessed(questions: Iterable[Question]) -> dict[str, dict[str, float]]:
    """The share of right choices, by kind, that each rule finds which reads the four choices and no code."""
    hits, number = defaultdict[str, Counter[str]](Counter), Counter[str]()
    for question in questions:
        texts = [choice.text for choice in question.choices]
        bags = [_bag(text) for text in texts]
        away, long = [sum(_apart(a, b) for b in bags) for a in bags], [len(text) for text in texts]
        rules = {"likest": away.index(min(away)), "oddest": away.index(max(away))}
        rules |= {"longest": long.index(max(long)), "shortest": long.index(min(long))}
        rules |= {f"always {letter}": place for place, letter in enumerate("abcd")}
        number[question.kind] += 1
        hits[question.kind].update(rule for rule, place in rules.items() if place == question.key)
    return {kind: {rule: hits[kind][rule] / number[kind] for rule in sorted(hits[kind])} for kind in sorted(number)}


def _bag(text: str) -> Counter[str]:
    parts = re.findall(r"-?\w+\.?\w*|[^\w\s]", text)
    return Counter(f"{place}:{part}" for place, part in enumerate(parts)) + Counter(parts)


def _apart(a: Counter[str], b: Counter[str]) -> float:
    return 1 - 2 * (a & b).total() / (a.total() + b.total() or 1)


def main() -> None:
    """Write each answer as a line of JSON, and the counts to the standard error."""
    found = []
    for one in measure_all([int(number) for number in sys.argv[1:]] or range(1, len(OURS) + 1)):
        found.append(one)
        print(one.as_json(), flush=True)
    seconds, asked = sorted(one.seconds for one in found), [one for one in found if one.questions]
    say = sys.stderr.write
    say(f"{len(asked)} of {len(found)} answers have three questions or more\n")
    say(f"seconds of processor time: median {seconds[len(seconds) // 2]:.2f}, most {seconds[-1]:.2f}\n")
    for kind, rules in guessed(enough_of_each_kind(asked)).items():
        say(f"{kind}: " + ", ".join(f"{rule} {share:.0%}" for rule, share in rules.items()) + "\n")
    for one in found:
        if one.why_none:
            say(f"  {one.exercise}: {one.answer}: {one.why_none}\n")


if __name__ == "__main__":
    main()
