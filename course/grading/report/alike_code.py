"""Find pairs of near-equal answers, for a person to look at and never as a verdict.

Code is compared as a sequence of tokens in which all names that the code itself binds become one name, so that
renaming, comments and layout change nothing. Released code is not compared, and neither is an answer that many in the
class wrote, because short exercises have few right answers.
"""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rapidfuzz.distance import Indel

from course.source import parsed

Tokens = tuple[str, ...]

ALIKE = 0.85
"""The likeness from which a pair is shown. Of 292 pairs of right answers in `tests/hidden/alternatives`, which were
written to differ, half are below 0.54, 19 in 20 below 0.7, none above 0.81.
"""

SHORTEST = 60
"""The fewest compared tokens at which likeness means something: about eight lines."""

MANY, SHARE = 5, 0.2
"""The number, and the share of those who answered, from which token-for-token equal answers count as usual."""

MOST_PAIRS = 20
"""The number of pairs in the report, most alike first."""

_LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Pair:
    """Two students whose answers are alike, with the likeness in [0, 1] over all compared tokens and by exercise."""

    first: str
    second: str
    likeness: float
    by_exercise: dict[str, float]
    tokens: int


@dataclass(frozen=True)
class Likeness:
    """The result of comparing a class: the pairs to look at, and the usual answers, which are skipped, with counts."""

    pairs: tuple[Pair, ...] = ()
    usual: tuple[tuple[str, int], ...] = ()


def compare(answers: Mapping[str, Mapping[str, str]], given: Mapping[str, str], text: frozenset[str]) -> Likeness:
    """Return the near-equal pairs of a class.

    Args:
        answers: each student's source for each exercise.
        given: the released source of each exercise.
        text: the exercises answered in prose.
    """
    blank = {name: _tokens(source, name in text) for name, source in given.items()}
    written: dict[str, dict[str, Tokens]] = {}
    for student, sources in answers.items():
        tokens = {name: _tokens(source, name in text) for name, source in sources.items()}
        written[student] = {name: found for name, found in tokens.items() if found and found != blank.get(name)}
    usual = _usual(written)
    pairs = []
    for first, second in combinations(sorted(written), 2):
        pair = _pair(first, second, written, usual)
        if pair is not None:
            pairs.append(pair)
    pairs.sort(key=lambda pair: (-pair.likeness, -pair.tokens, pair.first, pair.second))
    counted = [(name, number) for (name, _), number in usual.items()]
    return Likeness(tuple(pairs[:MOST_PAIRS]), tuple(sorted(counted)))


def code_tokens(source: str) -> Tokens:
    """Return the tokens of Python code, with one name for all names it binds and without comments and layout.

    Broken code is read up to the first error.
    """
    bound = _bound(source)
    tokens: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type not in _LAYOUT:
                own = token.type == tokenize.NAME and not keyword.iskeyword(token.string) and token.string in bound
                tokens.append("name" if own else token.string)
    except (tokenize.TokenError, SyntaxError):
        pass
    return tuple(tokens)


def text_tokens(source: str) -> Tokens:
    """Return the words of a text, in lower case and without punctuation."""
    words = (word.strip(".,;:!?()[]\"'*_`$").lower() for word in source.split())
    return tuple(word for word in words if word)


def _tokens(source: str, prose: bool) -> Tokens:
    return text_tokens(source) if prose else code_tokens(source)


def _bound(source: str) -> frozenset[str]:
    """Return the names that code binds: parameters, variables, functions, imports. Broken code gives none."""
    code = parsed(source)
    nodes = list(ast.walk(code)) if code else []
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {node.asname for node in nodes if isinstance(node, ast.alias) and node.asname}
    return frozenset(bound)


def _usual(written: Mapping[str, Mapping[str, Tokens]]) -> dict[tuple[str, Tokens], int]:
    """Return the answers that many students wrote alike, with their number."""
    counts = Counter((name, tokens) for answers in written.values() for name, tokens in answers.items())
    answered = Counter(name for answers in written.values() for name in answers)
    return {answer: number for answer, number in counts.items() if number >= max(MANY, SHARE * answered[answer[0]])}


def _pair(
    first: str,
    second: str,
    written: Mapping[str, Mapping[str, Tokens]],
    usual: Mapping[tuple[str, Tokens], int],
) -> Pair | None:
    """Return two students as a pair if their likeness is high enough over enough tokens, else None."""
    by_exercise: dict[str, float] = {}
    alike = compared = 0.0
    for name, tokens in written[first].items():
        other = written[second].get(name)
        if other is None or (name, tokens) in usual or (name, other) in usual:
            continue
        length = (len(tokens) + len(other)) / 2
        by_exercise[name] = likeness(tokens, other)
        alike, compared = alike + length * by_exercise[name], compared + length
    if compared < SHORTEST or alike < ALIKE * compared:
        return None
    return Pair(first, second, alike / compared, by_exercise, round(compared))


def likeness(first: Sequence[str], second: Sequence[str]) -> float:
    """Return twice the longest common subsequence over the sum of lengths: 1 for equal sequences."""
    return float(Indel.normalized_similarity(first, second))
