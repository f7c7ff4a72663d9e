"""Right answers to `step_time` that look nothing like the reference."""

from __future__ import annotations


def token_by_token(model, machine, batch, new, cached=0):
    operations = 0
    for token in range(new):
        keys = cached + token + 1
        operations += 2 * model["parameters"] + 2 * model["layers"] * 2 * model["width"] * keys
    weights = model["parameters"] * model["bytes"]
    one_text = sum(2 * model["kv_width"] * model["bytes"] for _ in range(model["layers"])) * (cached + new)
    times = {
        "memory": (weights + batch * one_text) / machine["bytes"],
        "compute": batch * operations / machine["operations"],
    }
    bound = max(times, key=lambda name: times[name])
    return {
        "operations": batch * operations,
        "bytes": weights + batch * one_text,
        "seconds": times[bound],
        "bound": bound,
    }


def by_intensity(model, machine, batch, new, cached=0):
    P, L, D, E, size = (model[name] for name in ("parameters", "layers", "width", "kv_width", "bytes"))
    flops = float(batch * (2 * P * new + 2 * L * D * new * (2 * cached + new + 1)))
    moved = float(size * P + size * batch * L * 2 * E * (cached + new))
    busy = flops / moved > machine["operations"] / machine["bytes"]
    seconds = flops / machine["operations"] if busy else moved / machine["bytes"]
    return {"operations": flops, "bytes": moved, "seconds": seconds, "bound": ("memory", "compute")[busy]}


ALTERNATIVES = [token_by_token, by_intensity]
