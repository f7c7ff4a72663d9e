"""Hidden tests of `lora_state`."""

from __future__ import annotations

from course.exercise import Ref, exercise, given, stand_in
from course.hidden.lora.scaffold import _adapted, _chain, _last, _linear, _norm, as_they_were
from course.reference import lora as reference


@exercise(
    reference.lora_state,
    hints=(
        "Print the keys of `model.state_dict()`. Which of them does somebody need who has the base already?",
        "Could `model.load_state_dict(yours, strict=False)` find the places again? Two layers have an A each.",
        "A name is a path. Which part of it says that a tensor is an A or a B?",
    ),
)
def lora_state(rng):
    """Names and values, in models with other things that learn, and other names with an A in them."""

    def state(title, model, **settings):
        return given(title, model=model, **settings).call(Ref("model"), on="answer", into="state")

    def model(frozen=()):
        (q, _), (v, _) = _adapted(rng, 5, 6, 2, 6.0), _adapted(rng, 4, 5, 3, 7.0)
        first = {"norm": _norm(rng, 6), "q": q, "v": v, "Attend": _linear(rng, 7, 4)}
        second = {"A": _linear(rng, 6, 7), "q": _adapted(rng, 3, 6, 2, 5.0)[0], "B": _linear(rng, 5, 3)}
        parts = {
            "words": stand_in("embedding", weight=rng.normal(11, 6)),
            "first": _chain(first),
            "second": _chain(second),
            "head": _linear(rng, 2, 5),
        }
        return _chain(
            parts, buffers={"mask": rng.normal(3, 3), "RNA": rng.normal(3), "AB": rng.normal(2)}, frozen=frozen
        )

    def small(frozen=()):
        parts = {"norm": _norm(rng, 6), "q": _adapted(rng, 5, 6, 2, 6.0)[0], "head": _linear(rng, 2, 5)}
        return _chain({"body": _chain(parts)}, frozen=frozen)

    others = ("body.norm.weight", "body.norm.bias", "body.head.weight", "body.head.bias")
    yield state("one layer, and nothing else learns", small(others), public=True)
    yield state("a head that learns as well", small(), public=True)
    yield state("three layers, and names with an A in them", model(), weight=2.0)
    yield state("after training, all is frozen", small((*others, "body.q.A", "body.q.B")))
    yield state(
        "no LoRA layer", _chain({"up": _linear(rng, 5, 3), "down": _linear(rng, 2, 5)}), weight=0.5
    ).counts_with("one layer, and nothing else learns")
    yield as_they_were(state("the model afterwards", small()), "model", "body.q.A", "body.q.B", "body.q.base.weight")


def _kept(model, wanted):
    return {name: tensor for name, tensor in model.state_dict().items() if wanted(name)}


@lora_state.misconception("How large is your file beside the model's? Print the names that are in it.")
def whole_state(model):
    return dict(model.state_dict())


@lora_state.misconception("Train the head as well, and look again: is all that learns part of the adapter?")
def whatever_learns(model):
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


@lora_state.misconception("Two layers have an A each. Which of them does your file hold, and where does it belong?")
def last_part_for_a_name(model):
    return {_last(name): tensor for name, tensor in reference.lora_state(model).items()}


@lora_state.misconception("Blocks have layers of the same names. Could load_state_dict find the place that you mean?")
def name_without_its_block(model):
    return {".".join(name.split(".")[-2:]): tensor for name, tensor in reference.lora_state(model).items()}


@lora_state.misconception("Call a layer `Attend`. Has it become an adapter by its name?")
def a_letter_anywhere(model):
    return _kept(model, lambda name: "A" in name or "B" in name)


@lora_state.misconception("A tensor may be called `RNA`. Has it become an adapter by its last letter?")
def a_letter_at_the_end(model):
    return _kept(model, lambda name: name.endswith(("A", "B")))


@lora_state.misconception("Call a layer `Attend`. Has it become an adapter by its name?")
def a_letter_behind_a_dot(model):
    return _kept(model, lambda name: ".A" in name or ".B" in name)


@lora_state.misconception("Call a layer `A`: it has a weight. Which part of a name is the parameter's own?")
def some_part_of_the_name(model):
    return _kept(model, lambda name: bool({"A", "B"} & set(name.split("."))))


@lora_state.misconception("An adapter is two factors. Which of yours would be missing after loading?")
def factor_A_alone(model):
    return _kept(model, lambda name: _last(name) == "A")


@lora_state.misconception("An adapter is two factors. A begins at random, so can it be left out?")
def factor_B_alone(model):
    return _kept(model, lambda name: _last(name) == "B")


@lora_state.misconception("Whoever loads the adapter has the base. Which of your tensors do they have already?")
def base_taken_along(model):
    layers = [name.rpartition(".")[0] for name in reference.lora_state(model)]
    return _kept(model, lambda name: any(name.startswith(f"{layer}.") for layer in layers))


@lora_state.misconception("Does your dict have names for keys and tensors for values, as state_dict() has?")
def a_dict_for_each_layer(model):
    found = {}
    for name, tensor in reference.lora_state(model).items():
        found.setdefault(name.rpartition(".")[0], {})[_last(name)] = tensor
    return found


@lora_state.misconception("Multiplied out, an update is as large as the weight. What is small about A and B?")
def updates_multiplied_out(model):
    state = reference.lora_state(model)
    layers = dict.fromkeys(name.rpartition(".")[0] for name in state)
    return {layer: state[f"{layer}.B"] @ state[f"{layer}.A"] for layer in layers}
