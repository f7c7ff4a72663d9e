"""Hidden tests of `add_lora`, which puts LoRA layers in the places of named layers."""

from torch import nn

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import chain, last_part, learning, linear, two_blocks
from course.reference import lora as reference
from course.reference.lora import LoRALinear as Right


@exercise(
    reference.add_lora,
    hints=(
        "Print each name and type in model.named_modules(). Which of them should become LoRA layers?",
        "Do you freeze before the new layers are in, or after? What happens to A and B in each order? Afterwards, "
        "print every name whose requires_grad is True. Only names that end in A or B should be left.",
        "A layer belongs to its owner: `model.get_submodule('first')` has the attribute `q`. Who owns `head`?",
        "Begin with a dictionary of the layers to replace, by their full names, and change nothing yet. Print it for "
        "the reader. What should happen if it is empty, and when else do you raise an error? Then split one full name"
        " into owner and last name, and replace that layer.",
    ),
    forbidden=("peft", "blocks.add_low_rank"),
    calls=(
        "model = nn.ModuleDict({'a': nn.Linear(2, 3), 'b': nn.Linear(3, 2)}); add_lora(model, 1, 2., ['a'])",
        "model = nn.ModuleDict({'a': nn.Linear(2, 3), 'b': nn.Linear(3, 2)}); add_lora(model, 2, 2., ['a', 'b'])",
        "model = nn.ModuleDict({'a': nn.Linear(2, 3), 'b': nn.Linear(3, 2)}); add_lora(model, 1, 2., ['c'])",
        ("model = nn.ModuleDict({'a': nn.Linear(2, 3), 'b': nn.Embedding(9, 2)}); add_lora(model, 1, 2., ['a', 'b'])"),
        (
            "model = nn.ModuleDict({'a': nn.Linear(2, 3), 'b': nn.Linear(3, 2)}); add_lora(model, 1, 2., "
            "['a']); add_lora(model, 1, 2., ['b'])"
        ),
        (
            "model = nn.ModuleDict({'a': nn.ModuleDict({'b': nn.Linear(2, 3)}), 'c': nn.Linear(9, "
            "9)}); add_lora(model, 1, 2., ['b'])"
        ),
    ),
)
def add_lora(rng):
    """What learns afterwards, by name and count, that the model computes the same, and which calls must be refused."""

    def added(title, r, alpha, targets, model=None, **settings):
        case = given(title, model=model or two_blocks(rng), **settings)
        return case.call(Ref("model"), r, alpha, targets, on="answer", into="count")

    ids = rng.integers(0, 11, 3, 5)
    yield added("two kinds of layers", 2, 6, ["q", "v"], public=True, weight=2.0).learning()

    def unmoved(title, **settings):
        same = "before any training, the model should do exactly what it did"
        idle = "what learns is what learned before. Did any LoRA layers get in?"
        return (
            given(title, model=two_blocks(rng), **settings)
            .laws_only()
            .call(ids, on="model", into="before")
            .learning(into="what learned")
            .call(Ref("model"), 3, 7, ["v", "q"], on="answer", into="count")
            .call(ids, on="model", into="after")
            .learning()
            .law("equal", of="after", to="before", because=same)
            .law("different", of="what learns", to="what learned", because=idle)
        )

    yield unmoved("the model computes what it did", public=True)
    yield unmoved("another model computes what it did", weight=0.1)
    yield added("a layer at the top, others in blocks", 3, 7, ["head", "v"], public=True, weight=0.5).learning()
    yield added("a single name", 1, 5, ["query"]).learning()
    yield added("a name that matches nothing, beside one that does", 2, 5, ["seq", "k"]).learning()
    both = added("rank and strength", 2, 7, ["q"]).read("first.q.r").read("first.q.alpha")
    yield both.read("freq.q.r").read("freq.q.alpha")
    still = added("the weights stay as they were", 2, 6, ["q", "v"]).read("first.q.base.weight")
    yield still.read("freq.v.base.weight").read("freq.query.weight").read("head.weight")
    trained = added("the update takes part", 2, 6, ["v"])
    yield trained.load({"first.v.A": rng.normal(2, 5), "first.v.B": rng.normal(7, 2)}).call(ids, on="model")
    block = {"up": linear(rng, 5, 3), "v": linear(rng, 7, 5)}
    deep = chain({"v": chain(block), "0": chain({"v": chain({"v": linear(rng, 3, 7)})})})
    yield added("blocks and numbers among the names", 2, 3, ["v"], model=deep, weight=0.5).learning()
    twins = chain({"first": chain({"q": linear(rng, 5, 5)}), "second": chain({"q": linear(rng, 5, 5)})})
    same_size = added("layers of the same size", 2, 3, ["q"], model=twins, weight=0.5).learning()
    yield same_size.call(rng.normal(3, 5), on="model")
    letters = {"Attend": linear(rng, 7, 3), "A": linear(rng, 5, 7), "B": linear(rng, 3, 5), "q": linear(rng, 2, 3)}
    yield added("names with an A in them", 2, 3, ["q"], model=chain(letters), weight=0.5).learning()
    case = added("a second time", 2, 6, ["q", "v"], raises="ValueError")
    yield case.call(Ref("model"), 2, 6, ["q", "v"], on="answer", into="again")
    case = added("a second time, with another name", 2, 6, ["q"], raises="ValueError", weight=0.5)
    yield case.call(Ref("model"), 2, 6, ["head"], on="answer", into="again")
    yield added("no such name", 2, 6, ["W_q"], public=True, raises="ValueError")


def _linears(model, fits):
    return [name for name, module in model.named_modules() if isinstance(module, nn.Linear) and fits(name)]


def _named(model, targets):
    return _linears(model, lambda name: last_part(name) in targets)


def _refuse(model, names):
    if any(isinstance(module, Right) for module in model.modules()) or not names:
        raise ValueError("already there, or no such name")


def _place(model, names, r, alpha, freeze=True):
    """LoRA layers in the places of `names`, and no call is refused."""
    if freeze:
        model.requires_grad_(False)
    for name in names:
        owner, _, last = name.rpartition(".")
        setattr(model.get_submodule(owner), last, Right(model.get_submodule(name), r, alpha))
    return learning(model)


def _put(model, names, r, alpha, freeze=True):
    """LoRA layers in the places of `names`; what the reference refuses is refused."""
    _refuse(model, names)
    return _place(model, names, r, alpha, freeze)


def _aimed(fits):
    """The reference with another rule: which names `fits(name, targets)` means."""
    return lambda model, r, alpha, targets: _put(model, _linears(model, lambda name: fits(name, targets)), r, alpha)


add_lora.mistakes(
    "Print every name that can learn afterwards. Which are there beside A and B?",
    rest_left_to_learn=lambda model, r, alpha, targets: _put(model, _named(model, targets), r, alpha, freeze=False),
)


@add_lora.misconception(
    "Print every name whose requires_grad is True afterwards. There is none. In which order do your steps run?"
)
def frozen_last_of_all(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)
    model.requires_grad_(False)
    return 0


add_lora.mistakes(
    "Print which layers changed with q as a target. Is part of a name the name?",
    name_contains_the_target=_aimed(lambda name, targets: any(target in name for target in targets)),
)
add_lora.mistakes(
    "Compare named_children and named_modules. In which of them do you find `first.q`, whose owner is not the model?",
    looks_at_the_top_only=_aimed(lambda name, targets: name in targets),
)


@add_lora.misconception(
    "Count the numbers that can learn, and all there are. Which of the two does the exercise ask for?"
)
def all_numbers_counted(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)
    return sum(p.numel() for p in model.parameters())


@add_lora.misconception(
    "Print the model after the call. Where in it are the layers that you have made? Who owns a layer?"
)
def made_and_never_put_in(model, r, alpha, targets):
    names = _named(model, targets)
    _refuse(model, names)
    model.requires_grad_(False)
    return reference.lora_parameters([model.get_submodule(name).weight.shape for name in names], r)


@add_lora.misconception(
    "Ask for a name that is nowhere in the model. What happens? It should not pass without an error."
)
def no_match_without_a_word(model, r, alpha, targets):
    names = _named(model, targets)
    _refuse(model, names or ["none"])
    return _place(model, names, r, alpha) if names else 0


@add_lora.misconception("Call it twice with different names. Which layers can learn after the second call?")
def second_call_without_a_word(model, r, alpha, targets):
    if not _named(model, targets):
        raise ValueError("no such name")
    return _place(model, _named(model, targets), r, alpha)
