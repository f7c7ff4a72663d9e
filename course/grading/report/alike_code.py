"""Near-equal answers: pairs of submissions to look at, never a verdict.

Code is compared as a sequence of tokens in which the names that the code itself binds are all one name, so that
renaming, comments and layout change nothing. What was given out is not compared, and neither is an answer that many
in the class wrote alike, as short exercises have few right answers.
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
"""Pairs whose answers are less alike than this are not shown. Of 292 pairs of right answers in
`tests/hidden/alternatives`, which were written to differ, half are below 0.54, 19 in 20 below 0.7, none above 0.81.
"""

SHORTEST = 60
"""Tokens that have to be compared before likeness says anything: about eight lines."""

MANY, SHARE = 5, 0.2
"""An answer that so many, and such a share of those who answered, write token for token alike is the usual one."""

MOST_PAIRS = 20
"""The most alike pairs are enough for an evening."""

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
    """Two students whose answers are alike: how much over all that was compared, and by exercise; both in [0, 1]."""

    first: str
    second: str
    likeness: float
    by_exercise: dict[str, float]
    tokens: int


@dataclass(frozen=True)
class Likeness:
    """What comparing a class gave: the pairs to look at, and the answers too usual to be compared, with how many."""

    pairs: tuple[Pair, ...] = ()
    usual: tuple[tuple[str, int], ...] = ()


def compare(answers: Mapping[str, Mapping[str, str]], given: Mapping[str, str], text: frozenset[str]) -> Likeness:
    """The near-equal pairs of a class.

    Args:
        answers: what each student wrote for each exercise.
        given: what stood there in the release.
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
    """The tokens of Python code; names it binds itself become one, comments and layout go.

    Broken code is read as far as it can be.
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
    """The words of a text, in lower case and without what is around them."""
    words = (word.strip(".,;:!?()[]\"'*_`$").lower() for word in source.split())
    return tuple(word for word in words if word)


def _tokens(source: str, prose: bool) -> Tokens:
    return text_tokens(source) if prose else code_tokens(source)


def _bound(source: str) -> frozenset[str]:
    """The names that code binds: parameters, variables, functions, imports. Of broken code, none is known."""
    code = parsed(source)
    nodes = list(ast.walk(code)) if code else []
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {node.asname for node in nodes if isinstance(node, ast.alias) and node.asname}
    return frozenset(bound)


def _usual(written: Mapping[str, Mapping[str, Tokens]]) -> dict[tuple[str, Tokens], int]:
    """The answers that many wrote alike, and how many did."""
    counts = Counter((name, tokens) for answers in written.values() for name, tokens in answers.items())
    answered = Counter(name for answers in written.values() for name in answers)
    return {answer: number for answer, number in counts.items() if number >= max(MANY, SHARE * answered[answer[0]])}


def _pair(
    first: str,
    second: str,
    written: Mapping[str, Mapping[str, Tokens]],
    usual: Mapping[tuple[str, Tokens], int],
) -> Pair | None:
    """The two as a pair to look at, if they are alike enough over enough."""
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
    """Twice the longest common subsequence over the sum of lengths: 1 for equal sequences."""
    return float(Indel.normalized_similarity(first, second))
