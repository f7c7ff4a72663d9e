# %% [markdown]
# # 99 Doubling
#
# Why double? Because halving was taken. Read [the README](../../README.md) or
# [the next section](#Counting), and look at the picture:
#
# ![a number and its double on a line](data:image/png;base64,AAAA)

# %%
import torch

from course import check, fit

# %% [markdown]
# ## Twice
#
# Return two times `x` (about 5 minutes).


# %% solution="double"
def double(x: torch.Tensor) -> torch.Tensor:
    """Twice `x`, any shape."""
    ### BEGIN SOLUTION
    twice_the_value = torch.add(x, x)
    return twice_the_value
    ### END SOLUTION


# %% check="double"
check("double", double)

# %%
double(torch.arange(3))

# %% [markdown]
# ## Counting


# %% solution="Counter"
class Counter:
    """Counts its calls."""

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self.calls_so_far = 0
        ### END SOLUTION

    def __call__(self) -> int:
        ### BEGIN SOLUTION
        self.calls_so_far = self.calls_so_far + 1
        return self.calls_so_far
        ### END SOLUTION


# %% check="Counter"
check("Counter", Counter)

# %% [markdown]
# ## The task


# %% solution="sample_task"
def train(model, batches):
    """Make `model` double its input."""
    ### BEGIN SOLUTION
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in batches:
        batches.log(torch.nn.functional.mse_loss(model(x), y))
        optimiser.step()
    ### END SOLUTION


# %%
record = fit("sample_task", lambda: torch.nn.Linear(1, 1), train)

# %% check="sample_task"
check("sample_task", record.model)

# %%
double(torch.arange(3))

# %% [markdown]
# ## In your own words
#
# Why is twice twice not three?

# %% [markdown] question="sample_question"
# Since two and two make four, however often one counts.

# %% [markdown]
# ## Going further
#
# Triple.
