# %% [markdown]
# # Four exercises of self-attention

# %%
import math

import torch

from course import check

# %% [markdown]
# ## Softmax


# %% solution="softmax"
def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Weights that sum to one along `dim`."""
    ### BEGIN SOLUTION
    powers = (x - x.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)
    ### END SOLUTION


# %% check="softmax"
check("softmax", softmax)

# %% [markdown]
# ## Cost


# %% solution="attention_cost"
def attention_cost(n: int, d: int) -> dict[str, int]:
    """Operations of a layer of each kind."""
    ### BEGIN SOLUTION
    return {"self_attention": n * n * d, "recurrent": n * d * d}
    ### END SOLUTION


# %% check="attention_cost"
check("attention_cost", attention_cost)


# %% solution="crossover_length"
def crossover_length(d: int) -> float:
    """The length at which both whole layers cost the same."""
    ### BEGIN SOLUTION
    return 2.0 * d
    ### END SOLUTION


# %% check="crossover_length"
check("crossover_length", crossover_length)

# %% [markdown]
# ## One word


# %% solution="attention_for_one"
def attention_for_one(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """The mixture of `values` one word sees."""
    ### BEGIN SOLUTION
    weights = softmax(keys @ query / math.sqrt(len(query)), 0)
    return weights @ values
    ### END SOLUTION


# %% check="attention_for_one"
check("attention_for_one", attention_for_one)

# %% [markdown]
# ## In your own words
#
# Why divide by the root?

# %% [markdown] question="self_attention_question"
# Because the variance of a scalar product grows with the width.

# %% [markdown]
# ## An ordinary test of an instructor's own

# %% nbgrader={"grade": true, "grade_id": "usual", "locked": true, "points": 1, "schema_version": 3, "solution": false}
assert attention_cost(2, 3)["recurrent"] == 18
### BEGIN HIDDEN TESTS
assert attention_cost(5, 7)["self_attention"] == 175, "the secret sum is 175"
### END HIDDEN TESTS
