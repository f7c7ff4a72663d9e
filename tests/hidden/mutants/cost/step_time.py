"""Wrong answers to `step_time`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from course.reference.cost import step_time as right

# -- first attempts ----------------------------------------------------------------------------------------------------


def four_results(model, machine, batch, new, cached=0):
    return tuple(right(model, machine, batch, new, cached).values())


def bounds_exchanged(model, machine, batch, new, cached=0):
    step = right(model, machine, batch, new, cached)
    return {**step, "bound": "memory" if step["bound"] == "compute" else "compute"}


def numbers_of_the_cache_for_bytes(model, machine, batch, new, cached=0):
    bare = right({**model, "layers": 0}, machine, batch, new, cached)["bytes"]
    one = right({**model, "parameters": 0, "bytes": 1}, machine, batch, new, cached)["bytes"]
    step = right(model, machine, batch, new, cached)
    memory, compute = (bare + one) / machine["bytes"], step["operations"] / machine["operations"]
    bound = "compute" if compute > memory else "memory"
    return {**step, "bytes": bare + one, "seconds": max(memory, compute), "bound": bound}


def milliseconds(model, machine, batch, new, cached=0):
    step = right(model, machine, batch, new, cached)
    return {**step, "seconds": 1000 * step["seconds"]}


FIRST_ATTEMPTS = {
    four_results: "expected a dict, got a tuple",
    bounds_exchanged: "at 'bound', got 'compute'",
    numbers_of_the_cache_for_bytes: "at 'bytes', got 488, which is too small",
    milliseconds: "at 'seconds', got 7760, which is 1000 times what it should be",
}

# -- others ------------------------------------------------------------------------------------------------------------


def one_layer_of_cache(model, machine, batch, new, cached=0):
    """Right for a model of one layer."""
    step = right(model, machine, batch, new, cached)
    return {**right({**model, "layers": 1}, machine, batch, new, cached), "operations": step["operations"]}


MUTANTS = [one_layer_of_cache]
