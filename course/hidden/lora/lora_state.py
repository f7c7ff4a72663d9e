"""Hidden tests of `lora_state`, the part of a state that an adapter needs."""

from course.exercise import Ref, exercise, given, stand_in
from course.hidden.lora.scaffold import as_they_were, chain, last_part, linear, lora_layer, norm
from course.reference import lora as reference


@exercise(
    reference.lora_state,
    hints=(
        "Print the keys of `model.state_dict()`. Which of them are missing for a colleague with the base?",
        "Load yours with model.load_state_dict(yours, strict=False). Does each of two A's get back into its layer?",
        "Begin with a loop over the names in `model.state_dict()`. A name is a path. Print its parts. Which one says "
        "that a tensor is an A or a B? A layer called `A` may have a weight, too. Is it kept?",
    ),
    calls=(
        "model = LoRALinear(nn.Linear(2, 3), 1, 2.); sorted(lora_state(model))",
        "lora_state(nn.Linear(2, 3))",
        "model = nn.Sequential(LoRALinear(nn.Linear(2, 3), 1, 2.), nn.Linear(3, 2)); sorted(lora_state(model))",
        "model = nn.ModuleDict({'B': nn.Linear(2, 2)}); sorted(lora_state(model))",
        "model = nn.ModuleDict({'q': LoRALinear(nn.Linear(2, 3), 1, 2.)}); sorted(lora_state(model))",
        "model = nn.ModuleDict({'A': LoRALinear(nn.Linear(2, 3), 1, 2.)}); sorted(lora_state(model))",
    ),
)
def lora_state(rng):
    """Names and values, in models with other things that learn, and other names with an A in them."""

    def state(title, model, **settings):
        return given(title, model=model, **settings).call(Ref("model"), on="answer", into="state")

    def model(frozen=()):
        (q, _), (v, _) = lora_layer(rng, 5, 6, 2, 6.0), lora_layer(rng, 4, 5, 3, 7.0)
        first = {"norm": norm(rng, 6), "q": q, "v": v, "Attend": linear(rng, 7, 4)}
        second = {"A": linear(rng, 6, 7), "q": lora_layer(rng, 3, 6, 2, 5.0)[0], "B": linear(rng, 5, 3)}
        parts = {
            "words": stand_in("embedding", weight=rng.normal(11, 6)),
            "first": chain(first),
            "second": chain(second),
            "head": linear(rng, 2, 5),
        }
        return chain(
            parts, buffers={"mask": rng.normal(3, 3), "RNA": rng.normal(3), "AB": rng.normal(2)}, frozen=frozen
        )

    def small(frozen=()):
        parts = {"norm": norm(rng, 6), "q": lora_layer(rng, 5, 6, 2, 6.0)[0], "head": linear(rng, 2, 5)}
        return chain({"body": chain(parts)}, frozen=frozen)

    others = ("body.norm.weight", "body.norm.bias", "body.head.weight", "body.head.bias")
    yield state("one layer, and nothing else learns", small(others), public=True)
    yield state("a head that learns as well", small(), public=True)
    theirs = stand_in("adapted", **{**lora_layer(rng, 5, 6, 2, 6.0)[0].parameters, "kind": None})
    yield state("a LoRA layer of another class than yours", chain({"q": theirs}), public=True)
    yield state("three layers, and names with an A in them", model(), weight=2.0)
    yield state("after training, all is frozen", small((*others, "body.q.A", "body.q.B")))
    yield state("no LoRA layer", chain({"up": linear(rng, 5, 3), "down": linear(rng, 2, 5)}), weight=0.5).counts_with(
        "one layer, and nothing else learns"
    )
    yield as_they_were(state("the model afterwards", small()), "model", "body.q.A", "body.q.B", "body.q.base.weight")


def _kept(wanted):
    """The answer that keeps the entries whose names are `wanted`."""
    return lambda model: {name: tensor for name, tensor in model.state_dict().items() if wanted(name)}


lora_state.mistakes(
    "How large is your file beside the model's? Print the names that are in it.",
    whole_state=_kept(lambda name: True),
)
lora_state.mistakes(
    "Let the head learn as well, and look again. Is everything that learns part of the adapter?",
    whatever_learns=lambda model: {name: p for name, p in model.named_parameters() if p.requires_grad},
)
lora_state.mistakes(
    "Two layers have an A each. Which of them does your file hold, and where does it belong?",
    last_part_for_a_name=lambda model: {last_part(name): t for name, t in reference.lora_state(model).items()},
)
lora_state.mistakes(
    "Call a layer `Attend`. Has it become an adapter by its name?",
    a_letter_anywhere=_kept(lambda name: "A" in name or "B" in name),
)
lora_state.mistakes(
    "A tensor may be called `RNA`. Has it become an adapter by its last letter?",
    a_letter_at_the_end=_kept(lambda name: name.endswith(("A", "B"))),
)
lora_state.mistakes(
    "Call a layer `A`. Is its weight in your file? Which part of a name is the parameter's own?",
    some_part_of_the_name=_kept(lambda name: bool({"A", "B"} & set(name.split(".")))),
)
lora_state.mistakes(
    "Load your file into a fresh model. Does it compute the same? A begins at random there.",
    factor_B_alone=_kept(lambda name: last_part(name) == "B"),
)


@lora_state.misconception(
    "A colleague who loads the adapter has the base already. Which of your tensors are in the base, too?"
)
def base_taken_along(model):
    layers = tuple(f"{name.rpartition('.')[0]}." for name in reference.lora_state(model))
    return {name: tensor for name, tensor in model.state_dict().items() if name.startswith(layers)}
