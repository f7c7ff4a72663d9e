"""Wrong answers to `lora_state` that no misconception knows by name."""

from __future__ import annotations

from course.reference import lora as reference


def state_of_the_first_layer(model):
    return dict(list(reference.lora_state(model).items())[:2])


def state_with_dashes(model):
    return {name.replace(".", "_"): tensor for name, tensor in reference.lora_state(model).items()}


def state_in_half(model):
    return {name: tensor.half() for name, tensor in reference.lora_state(model).items()}


def state_transposed(model):
    return {name: tensor.T for name, tensor in reference.lora_state(model).items()}


def state_of_names(model):
    return list(reference.lora_state(model))


def state_taken_out(model):
    """What is saved is zero in the model afterwards."""
    state = {name: tensor.clone() for name, tensor in reference.lora_state(model).items()}
    for tensor in reference.lora_state(model).values():
        tensor.zero_()
    return state


def state_without_the_model(model):
    return {f"model.{name}": tensor for name, tensor in reference.lora_state(model).items()}


def state_of_what_changed(model):
    """B is left out where it is small."""
    return {name: tensor for name, tensor in reference.lora_state(model).items() if tensor.numel() > 10}


def state_of_matrices_that_learn(model):
    return {name: p.detach() for name, p in model.named_parameters() if p.requires_grad and p.dim() == 2}


def state_scaled(model):
    """The strength is multiplied into B, and would count twice after loading."""
    state = reference.lora_state(model)
    return {name: 2 * tensor if name.endswith("B") else tensor for name, tensor in state.items()}


MUTANTS = [
    state_of_the_first_layer,
    state_with_dashes,
    state_in_half,
    state_transposed,
    state_of_names,
    state_taken_out,
    state_without_the_model,
    state_of_what_changed,
    state_of_matrices_that_learn,
    state_scaled,
]
