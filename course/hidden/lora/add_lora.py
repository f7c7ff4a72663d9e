"""Hidden tests of `add_lora`."""

from __future__ import annotations

import copy

from torch import nn

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import _chain, _last, _learning, _linear, _model
from course.reference import lora as reference
from course.reference.lora import LoRALinear as Right


@exercise(
    reference.add_lora,
    hints=(
        "`for name, module in model.named_modules(): print(name, type(module).__name__)`. Which of them do you want?",
        "Afterwards, print every name whose requires_grad is True. Only names that end in A or B should be left.",
        "When do you freeze: before the new layers are in, or after? What happens to A and B in each order?",
        "A layer belongs to its owner: `model.get_submodule('first')` has the attribute `q`. Who owns `head`?",
    ),
    forbidden=("peft",),
)
def add_lora(rng):
    """What learns afterwards, by name and count, and that the model does what it did; then who must be refused."""

    def added(title, r, alpha, targets, model=None, **settings):
        case = given(title, model=model or _model(rng), **settings)
        return case.call(Ref("model"), r, alpha, targets, on="answer", into="count")

    ids = rng.integers(0, 11, 3, 5)
    yield added("two kinds of layers", 2, 6, ["q", "v"], public=True, weight=2.0).learning()

    def unmoved(title, **settings):
        return (
            given(title, model=_model(rng), **settings)
            .laws_only()
            .call(ids, on="model", into="before")
            .learning(into="what learned")
            .call(Ref("model"), 3, 7, ["v", "q"], on="answer", into="count")
            .call(ids, on="model", into="after")
            .learning()
            .law(
                "equal", of="after", to="before", because="before any training, the model should do exactly what it did"
            )
            .law(
                "different",
                of="what learns",
                to="what learned",
                because="what learns is what learned before: have any layers been put in?",
            )
        )

    yield unmoved("the model does what it did", public=True)
    yield unmoved("another model does what it did", weight=0.1)
    yield added("a layer at the top, others in blocks", 3, 7, ["head", "v"], public=True, weight=0.5).learning()
    yield added("a single name", 1, 5, ["query"]).learning()
    yield added("a name that matches nothing, beside one that does", 2, 5, ["seq", "k"]).learning()
    yield (
        added("rank and strength", 2, 7, ["q"])
        .read("first.q.r")
        .read("first.q.alpha")
        .read("freq.q.r")
        .read("freq.q.alpha")
    )
    yield (
        added("the weights stay as they were", 2, 6, ["q", "v"])
        .read("first.q.base.weight")
        .read("freq.v.base.weight")
        .read("freq.query.weight")
        .read("head.weight")
    )
    yield (
        added("the update takes part", 2, 6, ["v"])
        .load({"first.v.A": rng.normal(2, 5), "first.v.B": rng.normal(7, 2)})
        .call(ids, on="model")
    )
    block = {"up": _linear(rng, 5, 3), "v": _linear(rng, 7, 5)}
    deep = _chain({"v": _chain(block), "0": _chain({"v": _chain({"v": _linear(rng, 3, 7)})})})
    yield added("blocks and numbers among the names", 2, 3, ["v"], model=deep, weight=0.5).learning()
    twins = _chain({"first": _chain({"q": _linear(rng, 5, 5)}), "second": _chain({"q": _linear(rng, 5, 5)})})
    same_size = added("layers of the same size", 2, 3, ["q"], model=twins, weight=0.5).learning()
    yield same_size.call(rng.normal(3, 5), on="model")
    letters = {"Attend": _linear(rng, 7, 3), "A": _linear(rng, 5, 7), "B": _linear(rng, 3, 5), "q": _linear(rng, 2, 3)}
    yield added("names with an A in them", 2, 3, ["q"], model=_chain(letters), weight=0.5).learning()
    case = added("a second time", 2, 6, ["q", "v"], raises="ValueError")
    yield case.call(Ref("model"), 2, 6, ["q", "v"], on="answer", into="again")
    case = added("a second time, with another name", 2, 6, ["q"], raises="ValueError", weight=0.5)
    yield case.call(Ref("model"), 2, 6, ["head"], on="answer", into="again")
    yield added("no such name", 2, 6, ["W_q"], raises="ValueError")


def _put(model, names, r, alpha, freeze=True):
    """LoRA layers in the places of `names`, as the reference does it."""
    if any(isinstance(module, Right) for module in model.modules()) or not names:
        raise ValueError("already there, or no such name")
    if freeze:
        model.requires_grad_(False)
    for name in names:
        owner, _, last = name.rpartition(".")
        setattr(model.get_submodule(owner), last, Right(model.get_submodule(name), r, alpha))
    return _learning(model)


def _linears(model, fits=lambda name: True):
    return [name for name, module in model.named_modules() if isinstance(module, nn.Linear) and fits(name)]


def _aimed(model, targets):
    return _linears(model, lambda name: _last(name) in targets)


@add_lora.misconception("Count what can learn afterwards. Beside A and B, whose numbers are those?")
def rest_left_to_learn(model, r, alpha, targets):
    return _put(model, _aimed(model, targets), r, alpha, freeze=False)


@add_lora.misconception("Afterwards, is there any name whose requires_grad is True? Think of the order of your steps.")
def frozen_last_of_all(model, r, alpha, targets):
    _put(model, _aimed(model, targets), r, alpha)
    model.requires_grad_(False)
    return _learning(model)


@add_lora.misconception("With q as a target, which names with a q in them have you changed? Print them all.")
def name_contains_the_target(model, r, alpha, targets):
    return _put(model, _linears(model, lambda name: any(t in name for t in targets)), r, alpha)


@add_lora.misconception("With q as a target, which layers have you changed? Is part of a name the name?")
def last_part_contains_the_target(model, r, alpha, targets):
    return _put(model, _linears(model, lambda name: any(t in _last(name) for t in targets)), r, alpha)


@add_lora.misconception("Does `first.seq` end in `q`? As a string it does. And as a path, what is its last part?")
def name_ends_in_the_letters(model, r, alpha, targets):
    return _put(model, _linears(model, lambda name: name.endswith(tuple(targets))), r, alpha)


@add_lora.misconception(
    "`first.q` is called `q`, and the model is not its owner. Do you find it? Compare named_children and named_modules."
)
def looks_at_the_top_only(model, r, alpha, targets):
    names = [name for name, child in model.named_children() if isinstance(child, nn.Linear) and name in targets]
    return _put(model, names, r, alpha)


@add_lora.misconception("Names in a block have parts: `first.q`. Any part of them, or one in particular?")
def any_part_of_the_name(model, r, alpha, targets):
    return _put(model, _linears(model, lambda name: bool(set(name.split(".")) & set(targets))), r, alpha)


@add_lora.misconception("Ask for one name, and list the layers that have changed. Did you ask for those?")
def every_linear_layer(model, r, alpha, targets):
    if not _aimed(model, targets):
        raise ValueError("no such name")
    return _put(model, _linears(model), r, alpha)


@add_lora.misconception("Call a layer `Attend`. Can its weight learn afterwards, and should it?")
def freed_by_a_letter(model, r, alpha, targets):
    _put(model, _aimed(model, targets), r, alpha)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("A" in name or "B" in name)
    return _learning(model)


@add_lora.misconception("How many layers have the name you asked for, and how many have you changed?")
def only_the_first_found(model, r, alpha, targets):
    return _put(model, _aimed(model, targets)[:1], r, alpha)


@add_lora.misconception("What does the number say that you return: layers, or numbers that can learn?")
def layers_counted(model, r, alpha, targets):
    names = _aimed(model, targets)
    _put(model, names, r, alpha)
    return len(names)


@add_lora.misconception("How many numbers can learn, and how many are there? Which of the two is asked for?")
def all_numbers_counted(model, r, alpha, targets):
    _put(model, _aimed(model, targets), r, alpha)
    return sum(p.numel() for p in model.parameters())


@add_lora.misconception("Count by hand what can learn in one new layer. Are the base's numbers among them?")
def frozen_bases_counted(model, r, alpha, targets):
    _put(model, _aimed(model, targets), r, alpha)
    return sum(p.numel() for layer in model.modules() if isinstance(layer, Right) for p in layer.parameters())


@add_lora.misconception("Print every name whose requires_grad is True. What of a new layer was to stay frozen?")
def new_layers_freed_as_a_whole(model, r, alpha, targets):
    _put(model, _aimed(model, targets), r, alpha)
    for layer in model.modules():
        if isinstance(layer, Right):
            layer.requires_grad_(True)
    return _learning(model)


@add_lora.misconception("Print the shape of A in a changed layer. Which of its sizes should be the rank?")
def rank_and_strength_exchanged(model, r, alpha, targets):
    return _put(model, _aimed(model, targets), alpha, r)


@add_lora.misconception("Ask a changed layer for its alpha. Is it the one that you were given?")
def strength_not_handed_on(model, r, alpha, targets):
    return _put(model, _aimed(model, targets), r, r)


@add_lora.misconception(
    "New tasks often train the head as well. Are its numbers in A or in B, which are asked for here?"
)
def head_trained_as_well(model, r, alpha, targets):
    _put(model, _aimed(model, targets), r, alpha)
    for name, parameter in model.named_parameters():
        if name.startswith("head.") and "base" not in name:
            parameter.requires_grad_(True)
    return _learning(model)


@add_lora.misconception("Print every name whose requires_grad is True. Are biases among them?")
def biases_trained_as_well(model, r, alpha, targets):
    _put(model, _aimed(model, targets), r, alpha)
    for name, parameter in model.named_parameters():
        if _last(name) == "bias":
            parameter.requires_grad_(True)
    return _learning(model)


@add_lora.misconception(
    "Print the model after the call. Where in it are the layers that you have made? Who owns a layer?"
)
def made_and_never_put_in(model, r, alpha, targets):
    names = _aimed(model, targets)
    if any(isinstance(module, Right) for module in model.modules()) or not names:
        raise ValueError("already there, or no such name")
    model.requires_grad_(False)
    made = [Right(model.get_submodule(name), r, alpha) for name in names]
    return sum(layer.A.numel() + layer.B.numel() for layer in made)


@add_lora.misconception("Print the model after the call. Does a new layer stand in its block, or behind all blocks?")
def put_under_a_name_with_a_dot(model, r, alpha, targets):
    names = _aimed(model, targets)
    if any(isinstance(module, Right) for module in model.modules()) or not names:
        raise ValueError("already there, or no such name")
    model.requires_grad_(False)
    for name in names:
        setattr(model, name, Right(model.get_submodule(name), r, alpha))
    return _learning(model)


@add_lora.misconception("After the call, print the model that you gave. Is it that one which has changed?")
def works_on_a_copy(model, r, alpha, targets):
    return _put(copy.deepcopy(model), _aimed(model, targets), r, alpha)


@add_lora.misconception("Ask for a name that is nowhere in the model. Who finds out, and when?")
def no_match_without_a_word(model, r, alpha, targets):
    if any(isinstance(module, Right) for module in model.modules()):
        raise ValueError("already there")
    names = _aimed(model, targets)
    return _put(model, names, r, alpha) if names else 0


@add_lora.misconception("The exercise names two calls that make no sense. What does yours do in each of them?")
def nothing_makes_it_complain(model, r, alpha, targets):
    model.requires_grad_(False)
    for name in _aimed(model, targets):
        owner, _, last = name.rpartition(".")
        setattr(model.get_submodule(owner), last, Right(model.get_submodule(name), r, alpha))
    return _learning(model)


@add_lora.misconception("Call it twice with different names. Which layers can learn after the second call?")
def second_call_without_a_word(model, r, alpha, targets):
    names = [name for name in _aimed(model, targets) if not isinstance(model.get_submodule(name), Right)]
    if not names:
        raise ValueError("no such name")
    model.requires_grad_(False)
    for name in names:
        owner, _, last = name.rpartition(".")
        setattr(model.get_submodule(owner), last, Right(model.get_submodule(name), r, alpha))
    return _learning(model)
