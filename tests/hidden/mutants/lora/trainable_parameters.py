"""Wrong answers to `trainable_parameters` that no misconception knows by name."""

from __future__ import annotations

from course.reference import lora as reference


def counts_by_shape(model):
    """Tensors of one shape count once."""
    seen = {p.shape: p for p in model.parameters()}
    return sum(p.numel() for p in seen.values() if p.requires_grad), sum(p.numel() for p in seen.values())


def counts_the_longest_side(model):
    sizes = [(len(p), p.requires_grad) for p in model.parameters()]
    return sum(n for n, free in sizes if free), sum(n for n, _ in sizes)


def counts_and_frees(model):
    counts = reference.trainable_parameters(model)
    model.requires_grad_(True)
    return counts if counts[0] else (counts[1], counts[1])


def counts_bytes(model):
    parameters = list(model.parameters())
    return (
        sum(p.numel() * p.element_size() for p in parameters if p.requires_grad),
        sum(p.numel() * p.element_size() for p in parameters),
    )


def counts_a_share(model):
    learning, total = reference.trainable_parameters(model)
    return learning / total, total


def counts_one_number(model):
    return reference.trainable_parameters(model)[0]


def counts_tied_as_nothing(model):
    named = list(model.named_parameters(remove_duplicate=False))
    times = {id(p): sum(other is p for _, other in named) for _, p in named}
    once = [p for _, p in named if times[id(p)] == 1]
    return sum(p.numel() for p in once if p.requires_grad), sum(p.numel() for p in once)


def counts_lora_only(model):
    learning = sum(p.numel() for name, p in model.named_parameters() if name.split(".")[-1] in ("A", "B"))
    return learning, reference.trainable_parameters(model)[1]


MUTANTS = [
    counts_by_shape,
    counts_the_longest_side,
    counts_and_frees,
    counts_bytes,
    counts_a_share,
    counts_one_number,
    counts_tied_as_nothing,
    counts_lora_only,
]
