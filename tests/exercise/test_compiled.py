"""Compiled answers are detected, and run uncompiled while they are examined."""

from __future__ import annotations

import functools

import pytest
import torch
from torch import nn

from course.exercise.compiled import is_compiled, original, plain_name, without_compiling


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


class Layer(nn.Module):
    def forward(self, x):
        return 2 * x


class Holds(nn.Module):
    def __init__(self, compiled):
        super().__init__()
        self.inner = torch.compile(Layer()) if compiled else Layer()

    def forward(self, x):
        return self.inner(x)


def of_a_method(compiled):
    """Return a class with a method that is compiled if `compiled` is true."""

    class Doubles:
        def forward(self, x):
            return 2 * x

        forward = torch.compile(forward) if compiled else forward

        def __call__(self, x):
            return self.forward(x)

    return Doubles


def by_itself():
    layer = Layer()
    layer.compile()
    return layer


def decorated():
    """Return a class that is compiled as a whole."""

    class Doubles(nn.Module):
        def forward(self, x):
            return 2 * x

    return torch.compile(Doubles)


COMPILED = {
    "a function": lambda: torch.compile(double),
    "twice": lambda: torch.compile(torch.compile(double)),
    "scripted": lambda: torch.jit.script(double),
    "a model": lambda: torch.compile(Layer()),
    "by its own method": by_itself,
    "a part": lambda: Holds(compiled=True),
    "a method": lambda: of_a_method(compiled=True),
    "a class": decorated,
}
PLAIN = {
    "a function": lambda: double,
    "a part of one": lambda: functools.partial(double),
    "a model": lambda: Holds(compiled=False),
    "a class": lambda: Layer,
    "a method": lambda: of_a_method(compiled=False),
    "a number": lambda: 3,
    "a built-in function": lambda: torch.exp,
    "whoever has every attribute": lambda: type("Says", (), {"__getattr__": lambda self, name: name})(),
    "no whole model": lambda: Layer.__new__(Layer),
}


@pytest.mark.parametrize("make", COMPILED.values(), ids=list(COMPILED))
def test_what_was_compiled_runs_as_it_was_written(make, monkeypatch):
    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", lambda *_, **__: pytest.fail("it was compiled"))
    made = make()
    assert (is_compiled(made) and not is_compiled(original(made))) or original(made) is made
    with without_compiling() as asked:
        run = original(made)
        run = run() if isinstance(run, type) else run
        assert run(torch.ones(2)).tolist() == [2, 2]
    assert not asked


@pytest.mark.parametrize("make", PLAIN.values(), ids=list(PLAIN))
def test_anything_else_is_as_it_is(make):
    made = make()
    assert original(made) is made and not is_compiled(made)


def test_what_is_compiled_meanwhile_is_left_as_it_is_and_noticed():
    before = torch.compile
    with without_compiling() as asked:
        assert torch.compile(double) is double and torch.compile(mode="max-autotune")(double) is double
        assert not is_compiled(by_itself()) or by_itself()(torch.ones(1)).item() == 2
    assert asked and torch.compile is before


def test_a_decorator_around_a_compiled_function_is_a_part_of_the_answer():
    @torch.no_grad()
    @torch.compile
    def quietly(x):
        return 2 * x

    assert original(quietly) is quietly
    with without_compiling():
        assert not quietly(torch.ones(1, requires_grad=True)).requires_grad


def test_parameters_go_by_their_own_names():
    names = [
        plain_name(name) for name, _ in torch.compile(nn.Sequential(torch.compile(nn.Linear(1, 1)))).named_parameters()
    ]
    assert names == ["0.weight", "0.bias"]
