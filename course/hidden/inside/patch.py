"""Hidden tests of `patch`: what one module says is replaced in one run, and nothing else is touched."""

from __future__ import annotations

import torch

from course.exercise import Ref, exercise, given, stand_in
from course.reference import inside as reference

V, D, K = 7, 5, 3
ONE = "one place of a text"


@exercise(
    reference.patch,
    hints=(
        "A forward hook gets the module, its inputs and its output. What becomes of what the hook returns?",
        "Run the model again after `patch`. Does it say what it said before? And if the run ended in an error?",
        "Begin with a hook that prints the shape of the output and returns nothing. Run the model, and then take the "
        "hook off by what `register_forward_hook` has returned.",
    ),
    calls=(
        "m = set_all(nn.Linear(1, 2), 1); patch(m, m, tensor([[3.]]), tensor(9.), tensor([True, False]))",
        "m = set_all(nn.Linear(1, 2), 1); patch(m, m, tensor([[3.]]), tensor(9.), tensor(False))",
        "m = set_all(nn.Linear(1, 2), 1); patch(m, m, tensor([[3.]]), tensor([5., 6.]), tensor(True))",
        ("m = set_all(nn.Linear(1, 2), 1); patch(m, m, tensor([[3.]]), tensor(9.), tensor(True)); m(tensor([[3.]]))"),
        "m = set_all(nn.Linear(1, 1), 1); patch(nn.Sequential(m, m), m, tensor([[3.]]), tensor(5.), tensor(True))",
        "m = set_all(nn.Linear(1, 1), 1); patch(nn.Sequential(m, nn.ReLU()), m, ones(1, 1), tensor(-5.), tensor(True))",
    ),
)
def patch(rng):
    """A table, a module in the middle and an output; values and places of several shapes; what stays afterwards."""

    def model(title, mid=None, parts=("table", "mid", "last"), **options):
        case = given(
            title,
            table=stand_in("embedding", weight=rng.normal(V, D)),
            mid=mid or stand_in("linear", weight=rng.normal(D, D), bias=rng.normal(D)),
            last=stand_in("linear", weight=rng.normal(K, D)),
            **options,
        )
        return case.make(stand_in("chain", parts={str(i): Ref(part) for i, part in enumerate(parts)}), into="model")

    def ids(B=2, T=11):
        return rng.integers(0, V, B, T)

    def patched(case, value, where, read=None, into="out"):
        read = ids() if read is None else read
        return case.call(Ref("model"), Ref("mid"), read, value, where, on="answer", into=into)

    def places(*shape):
        chosen = rng.integers(0, 2, *shape).bool()
        chosen.view(-1)[:2] = torch.tensor([True, False])  # one of each, whatever is drawn
        return chosen

    one = torch.zeros(2, 11, 1, dtype=torch.bool)
    one[1, 3] = True
    yield patched(model(ONE, public=True, weight=2.0), rng.normal(2, 11, D).requires_grad_(), one).gradients()
    value = rng.normal(D).requires_grad_()
    yield patched(model("one vector for several places", weight=2.0), value, places(11, 1)).gradients()
    yield patched(model("one number for parts of vectors"), torch.tensor(0.0).double(), places(2, 11, D))
    value = rng.normal(2, 1, D)
    value[0] = torch.inf
    unused = torch.tensor([False, True])[:, None, None]
    yield patched(model("values that are not used may be infinite", public=True), value, unused)
    twice = model("a module that is called twice", parts=("table", "mid", "mid", "last"), public=True)
    yield patched(twice, rng.normal(D), places(11, 1))
    after = patched(model("the model is as before afterwards", public=True, weight=2.0), rng.normal(D), places(11, 1))
    yield after.call(ids(3, 5), into="afterwards").counts_with(ONE)
    failed = model("also when the run ends in an error", weight=2.0).make(stand_in("despite_errors"), into="tried")
    failed = failed.call(Ref("answer"), Ref("model"), Ref("mid"), ids() + V, rng.normal(D), places(11, 1), on="tried")
    yield failed.call(ids(3, 5), into="afterwards").counts_with(ONE)
    hooked = stand_in("hooked", inner=stand_in("linear", weight=rng.normal(D, D)), factor=3.0)
    others = patched(model("hooks of others stay", mid=hooked), rng.normal(D), torch.tensor(False))
    yield others.call(ids(3, 5), into="afterwards").counts_with(ONE)
    beside = stand_in("residual", inner=Ref("mid"))
    case = given("the module's own tensor stays", mid=stand_in("chain", parts={}))
    case = case.make(stand_in("embedding", weight=rng.normal(V, D)), into="table").make(beside, into="beside")
    parts = {"table": Ref("table"), "beside": Ref("beside")}
    case = case.make(stand_in("chain", parts=parts), into="model")
    yield patched(case, rng.normal(D), places(11, 1)).counts_with(ONE)
    mode = patched(model("training mode stays").train(), rng.normal(D), places(11, 1))
    yield mode.read("training").counts_with(ONE)


def hooked(model, module, ids, hook):
    """Run the model with a forward hook on a module, and remove the hook."""
    handle = module.register_forward_hook(hook)
    try:
        return model(ids)
    finally:
        handle.remove()


@patch.misconception("Run the model once more after `patch`. Does it say what it said before?")
def hook_left_on(model, module, ids, value, where):
    module.register_forward_hook(lambda module, inputs, output: torch.where(where, value, output))
    return model(ids)


@patch.misconception("Let the model read an id that it does not know, and catch the error. Is the hook still there?")
def hook_left_on_after_an_error(model, module, ids, value, where):
    handle = module.register_forward_hook(lambda module, inputs, output: torch.where(where, value, output))
    out = model(ids)
    handle.remove()
    return out


@patch.misconception("Hang a hook of your own on the module, and call `patch`. Is yours still there?")
def everybodys_hooks_removed(model, module, ids, value, where):
    try:
        module.register_forward_hook(lambda module, inputs, output: torch.where(where, value, output))
        return model(ids)
    finally:
        module._forward_hooks.clear()


@patch.misconception("Print what the module returned before and after your hook. Who else goes on using that tensor?")
def written_in_place(model, module, ids, value, where):
    def replace(module, inputs, output):
        new = torch.where(where, value, output)
        with torch.no_grad():
            output.copy_(new)
        return new

    return hooked(model, module, ids, replace)


@patch.misconception("Does the result change with `value`? What does PyTorch do with what your hook returns?")
def hook_returns_nothing(model, module, ids, value, where):
    def replace(module, inputs, output):
        output = torch.where(where, value, output)

    return hooked(model, module, ids, replace)


@patch.misconception("Let `where` be False everywhere. Should anything change?")
def where_inverted(model, module, ids, value, where):
    return hooked(model, module, ids, lambda module, inputs, output: torch.where(where, output, value))


@patch.misconception("Let `value` be infinite where `where` is False. What is infinity times zero?")
def blended_by_multiplication(model, module, ids, value, where):
    return hooked(model, module, ids, lambda module, inputs, output: where * value + ~where * output)
