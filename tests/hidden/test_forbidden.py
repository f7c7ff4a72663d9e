"""Every forbidden call is named in the text of its exercise, because it costs all points."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import course
import course.blocks
from course.exercise.watch import resolve
from course.hidden import exercises
from course.syllabus import OURS, Topic
from tests.original import find

SOLUTIONS = Path(course.__file__).parents[1] / "solutions"
HEAD = re.compile(r' (solution|check)="(\w+)"')
NOT = re.compile(r"\b(not|no|nor|without|forbidden)\b", re.IGNORECASE)
NAME = re.compile(r"`([\w.]+)`")
WRITTEN_OUT = {"nn": "torch.nn", "F": "torch.nn.functional", "Tensor": "torch.Tensor"}
STRICT = [(topic, exercise) for topic in OURS for exercise in exercises(topic) if exercise.forbidden]


def text_of(topic: Topic, name: str) -> str:
    """Return the Markdown between the last check and an exercise's solution, and its cell without the solution."""
    above: list[str] = []
    for cell in (SOLUTIONS / f"{topic.folder}.py").read_text("utf-8").split("\n# %%"):
        head, _, body = cell.partition("\n")
        found = HEAD.match(head)
        if found and found.groups() == ("solution", name):
            return "\n".join([*above, re.sub(r"### BEGIN SOLUTION.*?### END SOLUTION", "", body, flags=re.DOTALL)])
        above = [] if found else [*above, body] if "[markdown]" in head else above
    raise KeyError(name)


def names_not_to_use(text: str) -> set[str]:
    """Return the names in backquotes that stand in a sentence with a "not" in it."""
    prose = re.sub(r"\n#? *", " ", text)
    return {name for said in re.split(r"(?<=[.?!]) ", prose) if NOT.search(said) for name in NAME.findall(said)}


def is_named(call: str, named: set[str]) -> bool:
    """Return whether a name means this call: it may also name its package, an alias or a variant of it."""
    return any(_is_within(call, name) or _is_variant(call, name) or _is_alias(call, name) for name in named)


def _is_within(call: str, package: str) -> bool:
    return f"{_in_full(call)}.".startswith(f"{_in_full(package)}.")


def _is_variant(call: str, name: str) -> bool:
    """Return whether a call is a variant of `name`, as `nn.CrossEntropyLoss` is of `F.cross_entropy`."""
    return _plain(name) in _plain(call)


def _is_alias(call: str, name: str) -> bool:
    functions, layers = resolve((call, name))
    return any(call in found and name in found and found[call] == found[name] for found in (functions, layers))


def _in_full(name: str) -> str:
    root, dot, rest = name.partition(".")
    return f"{WRITTEN_OUT.get(root, root)}{dot}{rest}"


def _plain(name: str) -> str:
    return name.rpartition(".")[2].replace("_", "").lower()


@pytest.mark.parametrize(("topic", "exercise"), STRICT, ids=[exercise.name for _, exercise in STRICT])
def test_a_text_names_each_call_that_is_forbidden(topic, exercise):
    named = names_not_to_use(text_of(topic, exercise.name))
    unnamed = [call for call in exercise.forbidden if not is_named(call, named)]
    assert not unnamed, f"the text of {exercise.name} warns of {sorted(named)} alone"


@pytest.mark.parametrize(
    ("text", "call", "named"),
    [
        ("# Do not use `F.softmax`.", "torch.softmax", True),
        ("# Do not use `F.softmax`.", "nn.LogSoftmax", True),
        ("# Do not use `F.softmax`.", "F.softmin", False),
        ("# You may use `F.softmax`. Do not loop.", "F.softmax", False),
        (
            "# No call of `torch.func` helps, nor\n# one of `torch.autograd`.",
            "torch.autograd.forward_ad.make_dual",
            True,
        ),
        ("# No layer of `torch.nn` is needed.", "nn.MultiheadAttention", True),
        ("# No layer of `torch.nn` is needed.", "torch.layer_norm", False),
        ("# Do not use `nn.MultiheadAttention`.", "F.multi_head_attention_forward", True),
        ("# Work without the package `peft`.", "peft", True),
        ("# Do not use a norm.", "F.normalize", False),
    ],
)
def test_what_names_a_call(text, call, named):
    assert is_named(call, names_not_to_use(text)) == named


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("layer_norm", "F.rms_norm"),
        ("label_smoothing_loss", "F.kl_div"),
        ("rnn_cell", "nn.GRU"),
        ("bptt", "nn.RNN"),
        ("softmax", "F.gumbel_softmax"),
        ("Transformer", "blocks.EncoderLayer"),
    ],
)
def test_what_merely_helps_is_allowed(name, call):
    assert call not in find(name).forbidden
