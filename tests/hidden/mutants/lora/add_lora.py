"""Wrong answers to `add_lora` that no misconception knows by name."""

from __future__ import annotations

from torch import nn

from course.reference import lora as reference


def added_whatever_it_is(model, r, alpha, targets):
    """Wraps every module of that name: a block has no weight."""
    names = [name for name, _ in model.named_modules() if name.split(".")[-1] in targets]
    if not names or any(isinstance(m, reference.LoRALinear) for m in model.modules()):
        raise ValueError("no such name")
    model.requires_grad_(False)
    for name in names:
        place, _, last = name.rpartition(".")
        setattr(model.get_submodule(place), last, reference.LoRALinear(model.get_submodule(name), r, alpha))
    return reference.trainable_parameters(model)[0]


def added_to_fresh_layers(model, r, alpha, targets):
    """The base of each is a new layer of the same size: what was trained is lost."""
    count = reference.add_lora(model, r, alpha, targets)
    for module in model.modules():
        if isinstance(module, reference.LoRALinear):
            fresh = nn.Linear(module.base.in_features, module.base.out_features, module.base.bias is not None)
            module.base = fresh.to(module.base.weight).requires_grad_(False)
    return count


def added_with_a_plain_layer(model, r, alpha, targets):
    """A and B are there, and take no part."""
    count = reference.add_lora(model, r, alpha, targets)
    for module in model.modules():
        if isinstance(module, reference.LoRALinear):
            module.forward = module.base.forward
    return count


def added_by_the_first_part(model, r, alpha, targets):
    fits = [n for n, m in model.named_modules() if isinstance(m, nn.Linear) and n.split(".")[0] in targets]
    if not fits:
        raise ValueError("no such name")
    return reference.add_lora(model, r, alpha, [n.split(".")[-1] for n in fits])


def added_without_a_count(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)


def added_and_model_returned(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)
    return model


def added_with_another_error(model, r, alpha, targets):
    try:
        return reference.add_lora(model, r, alpha, targets)
    except ValueError as error:
        raise KeyError("no such name") from error


def added_with_norms_free(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.requires_grad_(True)
    return reference.trainable_parameters(model)[0]


def added_to_the_first_target_only(model, r, alpha, targets):
    return reference.add_lora(model, r, alpha, targets[:1])


def added_where_every_name_is_found(model, r, alpha, targets):
    """One name that matches nothing is an error, whatever the others match."""
    names = {name.split(".")[-1] for name, _ in model.named_modules()}
    if not names >= set(targets):
        raise ValueError("no such name")
    return reference.add_lora(model, r, alpha, targets)


def added_factors_counted_once(model, r, alpha, targets):
    reference.add_lora(model, r, alpha, targets)
    return sum(m.A.numel() for m in model.modules() if isinstance(m, reference.LoRALinear))


def added_twice_over(model, r, alpha, targets):
    """A second call puts a layer around a layer."""
    if not any(isinstance(m, reference.LoRALinear) for m in model.modules()):
        return reference.add_lora(model, r, alpha, targets)
    for name, module in list(model.named_modules()):
        if isinstance(module, reference.LoRALinear) and name.split(".")[-1] in targets:
            module.base = reference.LoRALinear(module.base, r, alpha)
    return reference.trainable_parameters(model)[0]


def added_one_layer_shared(model, r, alpha, targets):
    """All targets of one size share one pair of factors."""
    count, seen = reference.add_lora(model, r, alpha, targets), None
    for module in model.modules():
        if isinstance(module, reference.LoRALinear):
            seen = seen or module
            if seen.A.shape == module.A.shape:
                module.A = seen.A
    return count


def added_and_freed_by_a_part_of_the_name(model, r, alpha, targets):
    """Whatever stands in something called A or B."""
    reference.add_lora(model, r, alpha, targets)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(bool({"A", "B"} & set(name.split("."))))
    return reference.trainable_parameters(model)[0]


MUTANTS = [
    added_whatever_it_is,
    added_to_fresh_layers,
    added_with_a_plain_layer,
    added_by_the_first_part,
    added_without_a_count,
    added_and_model_returned,
    added_with_another_error,
    added_with_norms_free,
    added_factors_counted_once,
    added_twice_over,
    added_to_the_first_target_only,
    added_where_every_name_is_found,
    added_one_layer_shared,
    added_and_freed_by_a_part_of_the_name,
]
