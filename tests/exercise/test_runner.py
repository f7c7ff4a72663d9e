"""The runner executes scripts for references and answers alike, and records outputs, errors and changes."""

from __future__ import annotations

import random
import runpy

import numpy as np
import pytest
import torch
from torch import nn

from course import seed
from course.exercise import Generator, Ref, build, call, draws, given_model
from course.exercise.runner import run
from course.exercise.script import Script
from course.exercise.wire import pack, unpack


def recorded(case, answer, watch=()):
    script = Script.from_plain(unpack(pack(case.script(watch).to_plain())))
    return run(script, answer)


def test_a_call_and_its_gradients():
    case = call("product", torch.ones(2, 3), torch.full((3,), 2.0))
    out = recorded(case, lambda a, b: a @ b).outputs
    assert out["out"].tolist() == [6.0, 6.0]
    assert [gradient.shape for gradient in out["gradients of out"]] == [(2, 3), (3,)]


def test_inputs_are_fresh_for_every_step():
    def spoil(x):
        x += 1
        return x.sum()

    x = torch.zeros(3)
    case = call("spoiled", x, grad=False).call(x, on="answer", into="again")
    seen = recorded(case, spoil)
    assert float(seen.outputs["out"]) == float(seen.outputs["again"]) == 3.0
    assert seen.mutated == ("out: 0", "again: 0")
    assert x.sum() == 0


def test_changes_to_lists_are_noticed():
    case = call("sorted", ["b", "a"], {"n": 1})
    assert recorded(case, lambda words, counts: sorted(words)).mutated == ()
    assert recorded(case, lambda words, counts: words.sort()).mutated == ("out: 0",)
    assert recorded(case, lambda words, counts: counts.clear()).mutated == ("out: 1",)


NAN = float("nan")


@pytest.mark.parametrize(
    "given",
    [
        torch.tensor([1.0, NAN]),
        torch.tensor([NAN, 2.0], dtype=torch.bfloat16),
        [1.0, NAN],
        [[NAN, "a"], (2.0, NAN)],
        {"a": [NAN]},
        [np.array([1.0, NAN])],
    ],
    ids=str,
)
def test_nan_among_the_inputs_is_no_change_and_hides_none(given):
    def leave(value):
        return 0

    def change(value):
        if isinstance(value, dict):
            value["a"] = 3.0
        else:
            value[0] = 3.0

    case = call("kept", given, grad=False)
    assert recorded(case, leave).mutated == ()
    assert recorded(case, change).mutated == ("out: 0",)


def test_other_types_are_changes_and_no_errors():
    def as_array(value):
        value[0] = np.zeros(2)

    def as_double(x):
        x.data = x.double()

    assert recorded(call("list", [1.0]), as_array).mutated == ("out: 0",)
    assert recorded(call("tensor", torch.ones(2), grad=False), as_double).mutated == ("out: 0",)


def test_a_tensor_given_twice_is_two_with_a_gradient_each():
    case = call("twice", *[torch.ones(2)] * 2)
    assert recorded(case, lambda a, b: a is b).outputs["out"] is False
    first, second = recorded(case, lambda a, b: (a * 3 + b).exp()).outputs["gradients of out"]
    assert torch.allclose(first, 3 * second)


def test_models_are_built_filled_called_and_read():
    case = (
        build("linear", 3, 2)
        .fill(5)
        .call(torch.ones(1, 3), into="out")
        .gradients(wrt="parameters")
        .read("in_features")
        .map([(torch.ones(3),), (torch.zeros(3),)], into="rows")
    )
    first, second = (recorded(case, nn.Linear).outputs for _ in range(2))
    assert torch.equal(first["out"], second["out"])
    assert set(first["gradients of out"]) == {"weight", "bias"}
    assert first["in_features"] == 3
    assert first["rows"].shape == (2, 2)


def counting(x, seen=None):
    """Return a running sum, and a state of a type that cannot be sent."""
    seen = seen or iter(())
    total = x + sum(seen)
    return total, iter([total])


def test_what_is_carried_on_is_handed_over_and_not_recorded():
    case = build("sums", 1, carries=["state"]).call(2, Ref("state"), on="answer", into="then", carries=["state"])
    assert recorded(case, counting).outputs == {"model": 1, "then": 3}


def test_operations_are_counted_and_shapes_are_looked_up_for_nothing():
    def doubled(x):
        for _ in range(x.shape[0]):
            x = x + x
        return x

    counted = recorded(call("doubled", torch.ones(7), grad=False).counts_operations(), doubled)
    assert counted.outputs["operations"] == 7 and counted.outputs["out"].tolist() == [128.0] * 7
    assert "operations" not in recorded(call("doubled", torch.ones(7)), doubled).outputs


@pytest.mark.parametrize("answer", [lambda x: x, lambda x: (x,), lambda x: (x, 1, 2)])
def test_another_number_of_results_than_are_carried_on_is_told_in_a_sentence(answer):
    raised = recorded(build("sums", 1, carries=["state"]), answer).raised
    assert raised.message.startswith("expected a tuple of 2 results, got an object of type")


def test_the_rows_of_a_tensor_are_asked_about_one_by_one():
    rows = torch.arange(6.0).reshape(3, 2)
    by_tensor, by_tuples = (given_model("sums").map(asked) for asked in (rows, [(row,) for row in rows]))
    shapes = []

    def total(row):
        shapes.append(row.shape)
        return row.mul_(2).sum()  # its own copy: the next answer finds the rows as they were

    for _ in range(2):
        found = [recorded(case, total).outputs["out"] for case in (by_tensor, by_tuples)]
        assert torch.equal(found[0], found[1]) and torch.equal(found[0], torch.tensor([2.0, 10.0, 18.0]))
    assert set(shapes) == {(2,)} and torch.equal(rows, torch.arange(6.0).reshape(3, 2))


def test_weights_are_loaded_by_name():
    case = (
        build("linear", 1, 1).load({"weight": torch.tensor([[3.0]]), "bias": torch.tensor([1.0])}).call(torch.ones(1))
    )
    assert recorded(case, nn.Linear).outputs["out"].item() == 4.0


class Heads(nn.Module):
    def __init__(self, shared=False):
        super().__init__()
        self.q, self.k = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        if shared:
            self.k.weight = self.q.weight


class Spoiled:
    @property
    def kept(self):
        return self.lost


@pytest.mark.parametrize(
    ("answer", "state", "said"),
    [
        (Heads, {"W_q": 2}, "expected a parameter `W_q`, but an object of type `Heads` has `q.weight`, `k.weight`"),
        (nn.Identity, {"W": 2}, "expected a parameter `W`, but an object of type `Identity` has none"),
        (
            lambda: Heads(shared=True),
            {"q.weight": 2, "k.weight": 2},
            "`k.weight` is the same parameter as `q.weight`, but they should be two parameters",
        ),
        (Heads, {"q.weight": 3}, "expected the shape (3, 3), got (2, 2) for the parameter `q.weight`"),
        (lambda: [1], {"W": 2}, "expected an `nn.Module`, got an object of type `list`"),
        (lambda: None, {"W": 2}, "expected an `nn.Module`, got None. Is a `return` missing?"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_a_sentence(answer, state, said):
    case = build("loaded").load({name: torch.ones(size, size) for name, size in state.items()})
    assert recorded(case, answer).raised.message == said


@pytest.mark.parametrize(
    ("further", "answer", "said"),
    [
        (lambda case: case.call(method="double"), lambda: [1], "expected an `nn.Module`, got an object of"),
        (lambda case: case.fill(3), lambda: [1], "expected an `nn.Module`, got an object of type `list`"),
        (lambda case: case.train(), lambda: [1], "expected an `nn.Module`, got an object of type `list`"),
        (lambda case: case.learning(), lambda: [1], "expected an `nn.Module`, got an object of type `list`"),
        (
            lambda case: case.call(method="maps"),
            Heads,
            "the check needs `maps`, but an object of type `Heads` does not have it",
        ),
        (lambda case: case.read("q.A"), Heads, "the check needs `q.A`, but an object of type `Linear` has no `A`"),
        (lambda case: case.read("A"), lambda: None, "expected an object with `A`, got None. Is a `return` missing?"),
        (lambda case: case.call(), lambda: 3, "your result should be callable, but it is an object of type `int`"),
        (lambda case: case.call(method="q"), lambda: Ref("x"), "the check needs `q`, but an object of type `Ref`"),
        (
            lambda case: case.call(method="name"),
            lambda: Ref("x"),
            "`name` should be callable, but it is an object of type",
        ),
        (lambda case: case.read("kept"), Spoiled, "'Spoiled' object has no attribute 'lost'"),
    ],
)
def test_what_is_asked_of_something_else_is_told_in_a_sentence(further, answer, said):
    assert said in recorded(further(build("made")), answer).raised.message


def test_what_a_function_returns_is_asked_for_as_a_tensor():
    case = call("counted", 3).call(on="out", method="double", into="out")
    said = "expected a tensor, got an object of type `list`"
    assert recorded(case, lambda n: [n]).raised.message == said


def test_models_evaluate_unless_they_are_told_to_train():
    case = given_model("dropout").call(torch.ones(50), into="still").train().call(torch.ones(50), into="moving")
    out = recorded(case, nn.Dropout(0.5).eval()).outputs
    assert torch.equal(out["still"], torch.ones(50))
    assert not torch.equal(out["moving"], torch.ones(50))


def test_a_trained_model_may_learn_more_before_it_is_examined():
    """Train with the student's own method on the judge's data, and then examine the model that it returns."""

    class Regression(nn.Linear):
        def finetuned(self, x, y):
            optimizer = torch.optim.SGD(self.parameters(), lr=0.5)
            for _ in range(200):
                optimizer.zero_grad()
                ((self(x) - y) ** 2).mean().backward()
                optimizer.step()
            return self

    x = torch.tensor([[0.0], [1.0]])
    case = given_model("learns").learn(x, 3 * x, method="finetuned", into="finetuned").call(x, on="finetuned")
    torch.manual_seed(0)
    out = recorded(case, Regression(1, 1)).outputs["out"]
    assert torch.allclose(out, 3 * x, atol=1e-2) and not out.requires_grad


class MadeLate(nn.Module):
    """A model that makes its layer at the first call."""

    def forward(self, x):
        if not hasattr(self, "layer"):
            self.layer = nn.Sequential(nn.Linear(3, 2), nn.Dropout())
        return self.layer(x)


@pytest.mark.parametrize("late", [MadeLate, lambda: nn.LazyLinear(2)], ids=["made late", "lazy"])
def test_parameters_that_are_made_at_the_first_call_are_filled_all_the_same(late):
    case = build("late").fill(5).call(torch.ones(1, 3), into="out").call(torch.ones(1, 3), into="again")
    at_once = recorded(case, lambda: nn.Linear(3, 2)).outputs["out"]
    out = recorded(case, late).outputs
    assert torch.equal(out["out"], at_once)
    assert torch.equal(out["again"], at_once)


def test_draws_go_on_with_one_generator():
    case = draws("noise", 4, Generator(3))
    out = recorded(case, lambda generator: torch.rand(2, generator=generator)).outputs["out"]
    assert out.shape == (4, 2)
    assert len(out.unique()) == 8


def test_one_object_given_twice_is_one_object():
    case = build("list", (1, 2)).call(Ref("model"), on="answer", into="copy")
    assert recorded(case, list).outputs["copy"] == [1, 2]


def failing(x):
    y = x + 1
    raise ValueError(f"bad {y.item()}")


def test_an_error_is_recorded_with_its_own_line():
    raised = recorded(call("fails", torch.zeros(1)), failing).raised
    assert raised.types[:2] == ("ValueError", "Exception")
    assert raised.message == "bad 1.0"
    assert "raise ValueError" in raised.line


def test_an_error_in_a_folder_called_course_has_a_line_too(tmp_path):
    """Leave out this package's own lines only, because a class may keep its work in a folder `course/`."""
    notes = tmp_path / "course" / "notes.py"
    notes.parent.mkdir()
    notes.write_text("def answer(x):\n    return x / 'two'\n", "utf-8")
    names = runpy.run_path(str(notes))
    raised = recorded(call("fails", torch.zeros(1)), names["answer"]).raised
    assert raised.line == "return x / 'two'"


@pytest.mark.parametrize("error", [SystemExit(0), KeyError("x"), RecursionError()])
def test_every_error_of_an_answer_is_its_own(error):
    def answer(x):
        raise error

    assert recorded(call("fails", torch.zeros(1)), answer).raised.name == type(error).__name__


def test_an_interrupt_is_the_users():
    def answer(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recorded(call("stops", torch.zeros(1)), answer)


def test_the_callers_randomness_goes_on_undisturbed():
    torch.manual_seed(1)
    random.seed(1)
    expected = torch.rand(1), random.random()
    torch.manual_seed(1)
    random.seed(1)
    seen = [recorded(call("draws", torch.zeros(1)), lambda x: x + torch.rand(1)) for _ in range(2)]
    assert (torch.rand(1), random.random()) == expected
    assert torch.equal(seen[0].outputs["out"], seen[1].outputs["out"])


@pytest.mark.parametrize("module", [random, np.random, torch])
def test_a_number_in_the_place_of_what_seeds_disturbs_nobody(module, monkeypatch):
    """Run after `np.random.seed = 42`, as some students write, which overwrites the function."""
    for name in ("seed", "manual_seed"):
        if callable(getattr(module, name, None)):
            monkeypatch.setattr(module, name, 42)
    out = recorded(call("doubles", torch.ones(2)), lambda x: 2 * x).outputs["out"]
    assert out.tolist() == [2.0, 2.0]
    assert seed(7) == 7


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("F.softmax", lambda x: nn.functional.softmax(x, -1)),
        ("torch.softmax", lambda x: torch.softmax(x, -1)),
        ("Tensor.softmax", lambda x: x.softmax(-1)),
        ("nn.Softmax", lambda x: nn.Softmax(-1)(x)),
        ("torch.autograd.grad", lambda x: torch.autograd.grad((x * x).sum(), x)[0]),
        ("Tensor.backward", lambda x: (x * x).sum().backward()),
        ("nn.RNNCell", lambda x: nn.RNNCell(3, 3).double()(x)),
        ("nn.RNN", lambda x: torch.rnn_tanh_cell(x, x, *(torch.ones(3, 3).double(),) * 2)),
    ],
)
def test_forbidden_calls_are_noticed(name, answer):
    watch = ("nn.RNN", "nn.RNNCell") if "RNN" in name else (name,)
    assert recorded(call("watched", torch.ones(2, 3, dtype=torch.float64)), answer, watch).watched


def test_no_grad_is_kept():
    case = call("plain", torch.ones(2), grad=False).without_autograd()
    assert recorded(case, lambda x: torch.is_grad_enabled()).outputs["out"] is False
