"""Wrong answers to `add_lora` that no misconception knows by name."""

from __future__ import annotations

from course.reference import lora as reference


def added_with_a_plain_layer(model, r, alpha, targets):
    """Add factors A and B that the forward pass does not use."""
    count = reference.add_lora(model, r, alpha, targets)
    for module in model.modules():
        if isinstance(module, reference.LoRALinear):
            module.forward = module.base.forward
    return count


def added_to_the_first_target_only(model, r, alpha, targets):
    return reference.add_lora(model, r, alpha, targets[:1])


def added_where_every_name_is_found(model, r, alpha, targets):
    """Raise an error if one target matches nothing, although others do."""
    names = {name.split(".")[-1] for name, _ in model.named_modules()}
    if not names >= set(targets):
        raise ValueError("no such name")
    return reference.add_lora(model, r, alpha, targets)


def added_one_layer_shared(model, r, alpha, targets):
    """Share one pair of factors between all targets of the same size."""
    count, seen = reference.add_lora(model, r, alpha, targets), None
    for module in model.modules():
        if isinstance(module, reference.LoRALinear):
            seen = seen or module
            if seen.A.shape == module.A.shape:
                module.A = seen.A
    return count


def added_and_freed_by_a_part_of_the_name(model, r, alpha, targets):
    """Free every parameter with a part `A` or `B` in its name."""
    reference.add_lora(model, r, alpha, targets)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(bool({"A", "B"} & set(name.split("."))))
    return reference.trainable_parameters(model)[0]


MUTANTS = [
    added_with_a_plain_layer,
    added_to_the_first_target_only,
    added_where_every_name_is_found,
    added_one_layer_shared,
    added_and_freed_by_a_part_of_the_name,
]
