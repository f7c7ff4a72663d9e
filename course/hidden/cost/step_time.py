"""Hidden tests of `step_time`: what every text costs and what all of them share, and the bound that holds."""

from __future__ import annotations

from course.exercise import call, exercise
from course.reference import cost as reference

SMALL = {"parameters": 100, "layers": 2, "width": 8, "kv_width": 4, "bytes": 2}
SLOW = {"operations": 1000, "bytes": 100}
LLAMA = {"parameters": 6_738_415_616, "layers": 32, "width": 4096, "kv_width": 4096, "bytes": 2}
A100 = {"operations": 312e12, "bytes": 2e12}
BARE = "{'parameters': 10, 'layers': 0, 'width': 1, 'kv_width': 1, 'bytes': 2}, {'operations': 10, 'bytes': 10}"
PAIRS = "{'parameters': 0, 'layers': 1, 'width': 1, 'kv_width': 1, 'bytes': 1}, {'operations': 1, 'bytes': 1}"
"""A model without attention, and one with nothing else, for calls."""


@exercise(
    reference.step_time,
    hints=(
        "Follow the worked example line by line. Which of your numbers is the first that differs?",
        "Which bytes does one pass read once for all texts, and which once for each text?",
        "Two new tokens behind four. How many keys does the first one see, and how many the second?",
        "Begin with the operations of one text. Each parameter takes a multiplication and an addition a token, and "
        "each pair of a query and a key takes both for its score and for its value, in every layer.",
    ),
    calls=(
        f"step_time({BARE}, 1, 1)",
        f"step_time({BARE}, 5, 1)",
        f"step_time({PAIRS}, 1, 3)",
        f"step_time({PAIRS}, 1, 1, 9)",
        f"step_time({PAIRS}, 2, 1, 9)['bytes']",
    ),
)
def step_time(rng):
    """A small model by hand, a large one while it writes and while it reads, and each size by itself."""
    yield call("the worked example", SMALL, SLOW, 3, 2, 4, public=True, weight=2.0)
    yield call("one token, numbers of 4 bytes", {**LLAMA, "bytes": 4}, A100, 1, 1, public=True)
    yield call("a prompt of a large model", LLAMA, A100, 1, 2048, public=True, weight=2.0)
    yield call("64 texts behind a thousand tokens", LLAMA, A100, 64, 1, cached=1000, weight=2.0)
    yield call("256 texts", LLAMA, A100, 256, 1)
    for title in ("one size", "another"):
        small = {name: rng.choice([11, 13, 17, 19]) * size for name, size in SMALL.items()}
        asked = rng.choice([3, 7]), rng.choice([2, 5]), rng.choice([23, 29])
        yield call(f"{title}, memory", small, {"operations": 1e9, "bytes": 3e5}, *asked, weight=2.0)
        yield call(f"{title}, compute", small, {"operations": 2e5, "bytes": 1e9}, *asked, weight=2.0)


def _timed(each=2, keys=2, times=lambda batch: 1, pairs=lambda new, cached: cached + (new + 1) / 2):
    """The roofline with one change. `pairs` says how many keys a new token sees on average."""

    def timed(model, machine, batch, new, cached=0):
        attention = 2 * each * model["layers"] * model["width"] * new * pairs(new, cached)
        operations = batch * (each * model["parameters"] * new + attention)
        cache = batch * keys * model["layers"] * model["kv_width"] * (cached + new)
        read = model["bytes"] * (times(batch) * model["parameters"] + cache)
        compute, memory = operations / machine["operations"], read / machine["bytes"]
        bound = "compute" if compute > memory else "memory"
        return {"operations": operations, "bytes": read, "seconds": max(compute, memory), "bound": bound}

    return timed


step_time.mistakes(
    "How many bytes are read for 1 text, and how many for 64 without a cache? Who reads the weights again?",
    weights_read_for_each_text=_timed(times=lambda batch: batch),
)
step_time.mistakes(
    "A cache holds two kinds of vectors for each token. Count the bytes of the worked example: 288 numbers.",
    keys_without_values=_timed(keys=1),
)
step_time.mistakes(
    "A weight is multiplied, and the product is added. How many operations are these?",
    one_operation_for_two=_timed(each=1),
)
step_time.mistakes(
    "Write down which keys each of two new tokens sees behind four. Are there 11 pairs?",
    new_tokens_see_all=_timed(pairs=lambda new, cached: cached + new),
)


@step_time.misconception("Your machine computes while it reads. Does a step take both times, or the longer one?")
def both_times_added(model, machine, batch, new, cached=0):
    step = reference.step_time(model, machine, batch, new, cached)
    return {**step, "seconds": step["operations"] / machine["operations"] + step["bytes"] / machine["bytes"]}
