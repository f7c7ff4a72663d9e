# %% [markdown]
# # A project of your own
#
# All notebooks before this one asked questions with known answers. Here you ask a question of your own, run an experiment, and report what it shows. Nobody has given you its answer, and nobody in the course knows it.
#
# A good project is small. It changes one thing, measures one number, and trusts the measurement only after a repetition. An honest "it made no difference" earns as many points as a success.
#
# The project has three parts, which a person reads: a plan, an experiment and a report. The table above each part says what earns points. Plan about eight hours, and write the plan before you run anything.

# %%
import torch
from torch import nn
from torch.nn import functional as F

from course import check, fit

# %% [markdown]
# ## What you can ask
#
# Take one of these suggestions, or a question of your own. A figure in a notebook that surprised you is a good place to begin. What would move its curve?
#
# > <!-- needs: 03_rnn -->
# > **Short sequences first?** A child learns short sentences before long ones. Train the reader of topic 03 on its shortest sequences first and on the longer ones later, with the same number of examples in all. Is it more
# > accurate than a reader that sees all lengths from the beginning, and does that hold for sequences longer than any in training?
#
# > <!-- needs: 06_self_attention -->
# > **How narrow can a lookup be?** In topic 06, a layer of width 64 recalls lists of 26 pairs. At which width does the same layer fall below 95 %, and how does that width grow with the number of pairs?
#
# > <!-- needs: 15_gpt -->
# > **Deep or wide?** Topic 15 trains a GPT of two layers. Keep its number of parameters nearly the same, and trade layers for width. Which shape has the lowest loss on new texts, and is the difference larger than that
# > between two trainings of one shape?
#
# ## What you can use
#
# You may use everything in the course and everything that you wrote in earlier notebooks. Copy what you need into cells of this notebook. `check` still knows the earlier exercises, so check a copy before you build on it:
#
# ```python
# check("softmax", softmax)
# ```
#
# `fit` trains with the data and the budget of a training task that you know, and keeps the weights in `checkpoints/`. Give each training a name of its own with `variant`. `fit` begins each training from the same random
# numbers. For a repetition, set another seed in the function that builds the model:
#
# ```python
# def build(width, seed):
#     torch.manual_seed(seed)
#     return RecallModel(width=width)
#
#
# for seed in (1, 2, 3):
#     fit("self_attention_task", lambda: build(16, seed), train, variant=f"width16_seed{seed}")
# ```
#
# Your notebook is executed once more before it is read. `fit` then loads your weights and does not train again. Any other cell has 30 seconds, so train with `fit`, and measure on a few thousand examples.
#
# ## Part 1: your plan
#
# Write the plan before the first training. State the question, and say what is known about it and from where. Predict the number that you will measure, and say what result would surprise you. Name the baseline, the one thing that
# you change, and all that you keep the same.
#
# | what earns points | points |
# |---|---|
# | a question that one number can answer | 2 |
# | what is known, with its source | 1 |
# | a prediction in numbers, with a reason | 2 |
# | a baseline and one change | 1 |

# %% [markdown] question="project_plan"
# **Question.** At which width does the self-attention layer of topic 06 fall below 95 % on lists of 8 pairs?
#
# **What is known.** Topic 06 reaches 98 to 100 % at width 64, also on lists of 26 pairs. It does not try narrower layers.
#
# **Prediction.** Keys must be told apart by their dot products. There are 26 letters, and unit vectors that are nearly orthogonal need about as many dimensions. I predict that width 32 still has 99 % and width 8 less than
# 80 %. I would be surprised if width 8 passed 95 %.
#
# **Baseline and change.** The baseline is the model of topic 06 with width 64. Only the width changes. Loop, batches, learning rate and number of examples stay.

# %% [markdown]
# ## Part 2: your experiment
#
# Add as many cells as you like below this one. Draw a figure with the spread of at least three trainings.

# %%
# Your experiment begins here.

# %% [markdown]
# When your experiment is done, describe it below. Say what you trained, how often, and on which examples you measured. Tell what went wrong on the way and what you changed because of it.
#
# | what earns points | points |
# |---|---|
# | a fair comparison, with new examples | 3 |
# | at least three seeds, and their spread | 2 |
# | a figure that shows the result | 1 |
# | a notebook that runs from top to bottom | 1 |
# | an account of what went wrong | 1 |

# %% [markdown] question="project_experiment"
# Full points go to an experiment that gives every model the same examples, measures on new ones, repeats each training with three seeds, and draws the result with its spread. The text says which trainings were made and what went
# wrong. The graded copy of the notebook shows whether it runs.

# %% [markdown]
# ## Part 3: your report
#
# Write at most 300 words for a classmate who has not read the notebook. Answer the question with your number and its spread. Compare it with your prediction. Then try to prove yourself wrong. What else could explain the result, and
# which cell tests that? End with what the experiment cannot say, and with the next experiment.
#
# | what earns points | points |
# |---|---|
# | an answer with a number and its spread | 2 |
# | a comparison with the prediction | 1 |
# | another explanation, tested | 2 |
# | limits and the next experiment | 1 |

# %% [markdown] question="project_report"
# Full points go to a report that states the measured width with its spread over seeds, returns to the prediction of part 1, tests at least one other explanation (such as too few examples for the narrow models), and names what
# the data cannot decide.
