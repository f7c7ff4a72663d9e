"""Small made-up answers, and a way to execute runs in this process."""

from __future__ import annotations

from textwrap import dedent

from course.questions import Apart, Question, Subject, ask, subject

SOFTMAX = """
def softmax(x, dim):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""
SOFTMAX_CALLS = (
    "softmax(tensor([2., 2.]), 0)",
    "softmax(tensor([1000., 1000.]), 0)",
    "softmax(tensor([[0., 100.], [0., 0.]]), 1)",
    "softmax(tensor([[0., 100.], [0., 0.]]), 0)",
    "softmax(tensor([[0., 0., 0., 0.]]), 1)",
    "softmax(tensor([0., -1000.]), 0)",
    "softmax(tensor([7.]), 0)",
)

COUNT = """
def count(words):
    found = {}
    for word in words:
        if word not in found:
            found[word] = 0
        found[word] += 1
    return [(word, found[word]) for word in found if found[word] > 1]
"""
COUNT_CALLS = (
    "count(list('banana'))",
    "count(list('abc'))",
    "count(list('aab'))",
    "count([])",
    "count(list('aaaa'))",
    "count(list('abba'))",
)


def made(source: str, calls: tuple[str, ...], name: str = "", setup: str = "import torch") -> Subject:
    """A subject of a made-up source, which defines the name in its first call."""
    return subject(name or calls[0].partition("(")[0], dedent(source), setup, calls)


def asked(
    source: str,
    calls: tuple[str, ...],
    seed: int = 0,
    most: int = 6,
    setup: str = "import torch",
    silence: float | None = None,
) -> list[Question]:
    """The questions about a made-up answer, without a hurry. What is silent for `silence` seconds is left out."""
    return ask(made(source, calls, setup=setup), Apart(90, silence), seed, most)
