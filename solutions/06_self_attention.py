# %% [markdown]
# # 6 Self-attention
#
# Read this list once, from left to right, without looking back:
#
# ```
# k4 a7 q0 b3 z9 m1 c5 x2
# ```
#
# Now cover it. Which digit stood beside `q`?
#
# You would rather look again. A recurrent network cannot do that. When the question comes, the list is gone, and all that is left of it is one hidden state. The network filled that state
# before it knew which pair would matter. The lectures' answer is as simple as yours. *Let the question look at the list.* Every word keeps its own vector, every word may look at every other, and
# nothing has to be carried along.
#
# **You will**
#
# - write self-attention in four lines, and see why it divides by $\sqrt{D}$
# - count what it costs beside a recurrent layer, and show what it cannot see
# - train it on the puzzle above until it makes no mistakes.
#
# **You need** matrix products, a training loop in PyTorch, the hidden state of a recurrent network, and the idea of a weighted mean whose weights are learned. One fact from statistics helps. The variance of a sum
# of independent numbers is the sum of their variances.
#
# <!-- needs: 02_cbow, 03_rnn, 05_bahdanau_attention -->
# You wrote a training loop in topic 02, a recurrent network in topic 03 and attention over its states in topic 05.
#
# Seven short exercises, one training task and one written question take about 100 minutes. Everything trains in seconds on a laptop. Are you stuck? `hint("softmax")` gives a hint, and a stronger one
# each time you call it.

# %%
import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show

# %% [markdown]
# ## A state that has to remember everything
#
# The puzzle is called **associative recall**. A list shows eight pairs, each a letter and a digit. Then it names one of the letters and asks for its digit.

# %%
lists = data.load("recall", rows=4000).with_format("torch")
for row in range(3):
    print(lists[row]["text"], "->", int(lists[row]["answer"]))

# %% [markdown]
# How much of a list is left in a recurrent network when it has read to the end? The next cell sends 4,000 lists through one. The input at each step is a letter's embedding plus a digit's, and
# we keep nothing but the last hidden state $h_T$. A linear map, fitted by least squares on half of the lists, tries to read the first digit back from it. Another map tries the second digit, and so on.
# The network is untrained, so this is the memory that training starts from.

# %%
seed(0)
batch = lists[:]
slots = blocks.PairSlots(64)
words = slots(batch["keys"], batch["values"], batch["query"])  # (4000, 9, 64), the query last
with torch.no_grad():
    states, _ = nn.RNN(64, 64, batch_first=True)(words)
last = states[:, -1]
last = torch.cat([last, torch.ones(len(last), 1)], dim=1)  # a column of ones, for the bias

found = []
for position in range(8):
    digits = batch["values"][:, position]
    readout = torch.linalg.lstsq(last[:2000], F.one_hot(digits[:2000], 10).float()).solution
    found.append((last[2000:] @ readout).argmax(1).eq(digits[2000:]).float().mean().item())
show.self_attention.memory(found)

# %% [markdown]
# The last pair is there, and the one before it partly. The first four might as well never have been read. Training helps, but less than one would hope. At the end of this notebook
# a trained RNN of this width gets one question in four right.
#
# **Dimensions.** A batch has $B$ sentences. Each sentence has $T$ queries and $S$ keys, and each key has its value. Queries and keys are $D$ wide, values $D_v$, and the words themselves $D_{in}$
# (`Dv` and `Din` in the code). We say *word* for one position of a sentence and its vector. Other texts say *token*.
#
# ## Softmax
#
# <!-- needs: 02_cbow, 05_bahdanau_attention -->
# You met the softmax in topics 02 and 05. Now write it yourself, for scores of any size.
#
# Attention is a weighted mean, and the softmax turns scores into its weights. Take the three scores 1, 2 and 3. Their exponentials are 2.72, 7.39 and 20.09, and these sum to 30.19. Each
# exponential divided by the sum is a weight, so the weights are 0.09, 0.24 and 0.67. For scores $e_1, \dots, e_S$:
#
# $$\alpha_j = \frac{\exp(e_j)}{\sum_{k} \exp(e_k)}.$$
#
# All weights are positive, they sum to one, and the largest score gets the largest weight. But $\exp(1000)$ is infinite in every format that PyTorch has, so the formula alone fails. Now subtract
# 1 from each of the three scores. The exponentials of 0, 1 and 2 are 1.00, 2.72 and 7.39, they sum to 11.11, and the weights are 0.09, 0.24 and 0.67 again. Adding the same number to all scores
# changes no weight. You may choose that number.
#
# ### Exercise: `softmax` (about 10 minutes)
#
# Compute the weights along the axis `dim`, for a tensor of any shape and for scores of any size. A score of $-\infty$ gets the weight 0, as long as another score of its slice is finite.
# Do not use `torch.softmax` or its relatives `log_softmax` and `softmin`, since they are the answer themselves. Everything else is allowed.


# %% solution="softmax"
def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Weights along `dim` that are positive and sum to one; same shape and type as x."""
    ### BEGIN SOLUTION
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)
    ### END SOLUTION


# %% check="softmax"
check("softmax", softmax)

# %% [markdown]
# Why is it called *soft max*? Stretch the same three scores:

# %%
for stretch in (0, 1, 3, 10, 1000):
    weights = softmax(stretch * torch.tensor([1.0, 2.0, 3.0]), dim=0)
    print(f"{stretch:>5} x (1, 2, 3)  ->  {'  '.join(f'{w:.3f}' for w in weights)}")

# %% [markdown]
# Everything that softmax can do lies between the plain mean and the hard choice of the maximum. Unlike the hard choice, it has a gradient.
#
# ## One word looks at the others
#
# A Python dictionary compares your question with its keys and returns the value of the key that is equal. Attention is a *soft* dictionary. **Every** key matches a little, and the answer is a
# mixture of all values.
#
# Let one word ask with the query $q = (2, 0, 0, 2)$. Three words offer keys and values. The vectors have $D = 4$ numbers, so each product is divided by $\sqrt{4} = 2$. (The reason for the root follows below.)
#
# | key $k_j$ | $q \cdot k_j$ | score $e_j$ | $\exp(e_j)$ | weight $\alpha_j$ | value $v_j$ | $\alpha_j v_j$ |
# |---|---|---|---|---|---|---|
# | $(0, 1, 1, 0)$ | 0 | 0 | 1.00 | 0.09 | 10 | 0.9 |
# | $(1, 0, 0, 0)$ | 2 | 1 | 2.72 | 0.24 | 20 | 4.9 |
# | $(1, 0, 0, 1)$ | 4 | 2 | 7.39 | 0.67 | 60 | 39.9 |
# | sum | | | 11.11 | 1.00 | | **45.7** |
#
# The output is 45.7. It lies nearest to 60, because the third key matches best. These are the lecture's four steps:
#
# 1. Each word offers a key $k_j$ and a value $v_j$, and one word asks with its query $q$.
# 2. Score every key by $e_j = q \cdot k_j \,/\, \sqrt{D}$.
# 3. Take the softmax over the keys, which gives the weights $\alpha_j$.
# 4. Return the weighted sum $\sum_j \alpha_j v_j$.
#
# ### Exercise: `attention_for_one` (about 10 minutes)
#
# Write these four steps for one query. A value may be a vector, too. Do not use `F.scaled_dot_product_attention` or `nn.MultiheadAttention`.


# %% solution="attention_for_one"
def attention_for_one(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
) -> torch.Tensor:
    """query (D,), keys (S, D), values (S, Dv) -> output (Dv,)."""
    ### BEGIN SOLUTION
    scores = keys @ query / len(query) ** 0.5
    return softmax(scores, dim=0) @ values
    ### END SOLUTION


# %% check="attention_for_one"
check("attention_for_one", attention_for_one)

# %% [markdown]
# In the next cell three keys point in three directions, and their values are 10, 20 and 60. The query points where the second key does, and it grows longer from line to line:

# %%
keys = torch.eye(3)
values = torch.tensor([[10.0], [20.0], [60.0]])
for length in (0, 1, 3, 10, 30):
    answer = attention_for_one(length * keys[1], keys, values)
    print(f"a query of length {length:>2}  ->  {answer.item():.2f}")

# %% [markdown]
# A query of length zero asks nothing and gets the mean, 30. A long one gets the dictionary's answer, 20. Training moves queries and keys until the right ones meet.
#
# ## All words at once
#
# No word waits for another's result, so nothing needs a loop. Let a second word ask the same three keys with the query $(0, 2, 0, 0)$. Its scores are 1, 0 and 0, its weights 0.58, 0.21 and 0.21, and its
# output is 22.7. Now stack the two queries as the rows of a matrix $Q$, the keys as the rows of $K$, and the values as the rows of $V$. Each step of the table becomes a matrix with one row for each query, and softmax works on each row:
#
# $$\frac{QK^\top}{\sqrt{D}} = \begin{pmatrix} 0 & 1 & 2 \\ 1 & 0 & 0 \end{pmatrix} \qquad
# \text{softmax} \begin{pmatrix} 0 & 1 & 2 \\ 1 & 0 & 0 \end{pmatrix} = \begin{pmatrix} 0.09 & 0.24 & 0.67 \\ 0.58 & 0.21 & 0.21 \end{pmatrix} \qquad
# \text{output} = \begin{pmatrix} 45.7 \\ 22.7 \end{pmatrix}$$
#
# For any number of queries and keys this is one line. All three letters are matrices here.
#
# $$\text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{D}}\right) V .$$
#
# > <!-- needs: 05_bahdanau_attention -->
# > In topic 05, $Q$ and $K$ were widths, $V$ counted tokens, and $D$ was the width of a value.
#
# Row $i$ of $QK^\top$ holds the scores that query $i$ gives to all keys. So each *row* of weights sums to one, because each query distributes its own attention.
#
# ### Why the root?
#
# Suppose that every number in $q$ and $k$ is $+1$ or $-1$, at random. Then each product of two of them is $+1$ or $-1$ as well, with mean 0 and variance 1. For $D = 4$ a score sums four such products, for example
# $1 - 1 + 1 + 1 = 2$, and its variance is 4. For $D = 100$ the variance is 100, so a score of 10 or $-10$ is nothing unusual.
#
# The same holds for all independent numbers with mean 0 and variance 1. Then $q \cdot k$ has the variance $D$. What does that do to softmax, with ten keys for each query?

# %%
predict("scores_without_scaling")

# %%
seed(0)
widths, pairs = [4, 16, 64, 256, 1024], 4000
variance = {"q · k": [], "q · k / √D": []}
largest = {"q · k": [], "q · k / √D": []}
for D in widths:
    q, k = torch.randn(pairs, 1, D), torch.randn(pairs, 10, D)
    dots = (q * k).sum(-1)  # (4000, 10)
    for name, scores in (("q · k", dots), ("q · k / √D", dots / D**0.5)):
        variance[name].append(scores.var().item())
        largest[name].append(softmax(scores, dim=-1).amax(-1).mean().item())
show.self_attention.scores_by_width(widths, variance, largest, keys=10)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Without the division, a wide layer has decided before it learns anything. Softmax turns a lead of 10 into a factor of $e^{10}$, which is 22,026. So one key in ten gets nearly all the weight, and
# chance has chosen it. Softmax is so flat there that hardly any gradient comes back to change it. With the division by $\sqrt{D}$, a layer of any width begins undecided.
#
# </details>
#
# ### Exercise: `scaled_dot_product_attention` (about 20 minutes)
#
# Compute attention for a whole batch, without a loop. Return the output *and* the weights, because you will want to look at them. There may be more queries than keys, or fewer.
# Do not use `F.scaled_dot_product_attention` or `nn.MultiheadAttention`, since they are the answer themselves.


# %% solution="scaled_dot_product_attention"
def scaled_dot_product_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """q (B, T, D), k (B, S, D), v (B, S, Dv) -> output (B, T, Dv), weights (B, T, S)."""
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B, T, S)
    weights = softmax(scores, dim=-1)
    return weights @ v, weights
    ### END SOLUTION


# %% check="scaled_dot_product_attention"
check("scaled_dot_product_attention", scaled_dot_product_attention)

# %% [markdown]
# This much already solves the puzzle, if we choose the vectors by hand. Each letter gets a direction of its own for its key, each digit gets one for its value, and the queries are long:

# %%
letters, asked, digits = "kaqb", "aqa", torch.tensor([4, 7, 0, 3])
keys = torch.eye(4)
queries = 8 * torch.stack([keys[letters.index(letter)] for letter in asked])
values = F.one_hot(digits, 10).float()
output, weights = scaled_dot_product_attention(queries[None], keys[None], values[None])
print("asked for", *asked, "-> found", *output[0].argmax(-1).tolist())
pairs = ["k4", "a7", "q0", "b3"]
show.self_attention.attention_map(weights[0], [f"{a}?" for a in asked], pairs, "Chosen by hand")

# %% [markdown]
# ## Self-attention: the words ask each other
#
# Where do queries, keys and values come from? They come from the words themselves. Each word vector is multiplied by three matrices, called **projections**, and so it plays three roles. Here is a
# word $x = (1, 2)$ with three small matrices:
#
# $$q = \begin{pmatrix} 0 & 1 \\ 1 & 0 \end{pmatrix} \begin{pmatrix} 1 \\ 2 \end{pmatrix} = \begin{pmatrix} 2 \\ 1 \end{pmatrix} \qquad
# k = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} \begin{pmatrix} 1 \\ 2 \end{pmatrix} = \begin{pmatrix} 1 \\ 2 \end{pmatrix} \qquad
# v = \begin{pmatrix} 1 & 1 \end{pmatrix} \begin{pmatrix} 1 \\ 2 \end{pmatrix} = 3 .$$
#
# One word became a query, a key and a value, and the value has a width of its own. The same three matrices serve every word $x_i$, and training learns them:
#
# $$q_i = W_q x_i \qquad k_i = W_k x_i \qquad v_i = W_v x_i .$$
#
# The query says *what I look for*, the key *how I can be found*, and the value *what I tell*. Looking and being found are different things. The word "her" looks for a name,
# but it does not want to be found by every name.
#
# As everywhere in this course, a weight is stored as `(out, in)`, like in `nn.Linear`.
#
# ### Exercise: `self_attention` (about 10 minutes)
#
# Make queries, keys and values from `x`, and let your attention do the rest. Return the output alone. Do not use `F.scaled_dot_product_attention` or `nn.MultiheadAttention`.


# %% solution="self_attention"
def self_attention(
    x: torch.Tensor, W_q: torch.Tensor, W_k: torch.Tensor, W_v: torch.Tensor
) -> torch.Tensor:
    """x (B, T, Din), W_q and W_k (D, Din), W_v (Dv, Din) -> output (B, T, Dv)."""
    ### BEGIN SOLUTION
    output, _ = scaled_dot_product_attention(x @ W_q.T, x @ W_k.T, x @ W_v.T)
    return output
    ### END SOLUTION


# %% check="self_attention"
check("self_attention", self_attention)

# %% [markdown]
# ## What it costs
#
# Begin with three words of two numbers each, so $n = 3$ and $d = 2$. Attention compares each of the 3 words with all 3. That makes 9 scores, and each multiplies 2 pairs of numbers:
# $3 \cdot 3 \cdot 2 = 18$ multiplications. A recurrent layer multiplies its hidden state by a $2 \times 2$ matrix in each of 3 steps: $3 \cdot 2 \cdot 2 = 12$.
#
# The lecture's table says the same for $n$ words of width $d$, so $n = T = S$ and $d = D = D_v = D_{in}$. It comes from section 4 of *Attention is all you need* (Vaswani and others 2017), which
# we call *the paper* from here on. The paper introduced the **Transformer**, a network of attention layers without recurrence. The table leaves out constant factors, and it counts nothing but
# these two.
#
# | layer | multiplications | steps one after another | longest path between two words |
# |---|---|---|---|
# | self-attention | $n^2 \cdot d$ | $1$ | $1$ |
# | recurrent | $n \cdot d^2$ | $n$ | $n$ |
#
# The last two columns are the reason for all this. No step waits for another, and the first word is as near to the last as to its neighbour. The price is the number of multiplications.
#
# ### Exercise: `attention_cost`, the price (about 5 minutes)
#
# Return the multiplications of both layers, as in the table and without constant factors.


# %% solution="attention_cost"
def attention_cost(n: int, d: int) -> dict[str, int]:
    """Multiplications of either layer, without constant factors.

    The keys are "self_attention" and "recurrent".
    """
    ### BEGIN SOLUTION
    return {"self_attention": n * n * d, "recurrent": n * d * d}
    ### END SOLUTION


# %% check="attention_cost"
check("attention_cost", attention_cost)

# %% [markdown]
# Both costs of the table are equal at $n = d$. But the table leaves out most of what a layer does, on both sides:
#
# - **A whole attention layer** multiplies each word by four $d \times d$ projections. You know $W_q$, $W_k$ and $W_v$. The fourth, $W_o$, follows the mixture. Then the scores take $n^2 d$
#   multiplications, and mixing the values takes another $n^2 d$. Last comes a feed-forward network, which is two linear layers with a ReLU between them. They take each word from $d$ numbers to
#   $4d$ and back to $d$.
# - **A whole recurrent layer** of 2017 is an LSTM. It multiplies by eight $d \times d$ matrices at each step, four for the new word and four for the hidden state. To be fair, the LSTM gets the
#   same feed-forward network behind it.
#
# Here is every part, for three words of two numbers first. Unlike the table above, this one keeps constant factors. It leaves out only biases, softmax and the element-wise products of the LSTM, which are few.
#
# | part | $n = 3$, $d = 2$ | any $n$ and $d$ |
# |---|---|---|
# | four projections | $4 \cdot 3 \cdot 2^2 = 48$ | $4nd^2$ |
# | scores and mixing | $2 \cdot 3^2 \cdot 2 = 36$ | $2n^2d$ |
# | feed-forward, up and down | $2 \cdot 3 \cdot 2 \cdot 8 = 96$ | $8nd^2$ |
# | **whole attention layer** | $180$ | |
# | eight matrices of the LSTM | $8 \cdot 3 \cdot 2^2 = 96$ | $8nd^2$ |
# | feed-forward, the same | $96$ | $8nd^2$ |
# | **whole recurrent layer** | $192$ | |
#
# At three words the whole attention layer is cheaper. At five words of two numbers it costs 340 and the recurrent layer 320.
#
# ### Exercise: `crossover_length`, where they meet (about 5 minutes)
#
# At which number of words $n$ do the two **whole** layers of width $d$ cost the same? Add up the parts of each layer, set the totals equal, and solve for $n$. For $d = 2$ your answer must lie between 3 and 5.


# %% solution="crossover_length"
def crossover_length(d: int) -> float:
    """The n at which whole layers of width d cost the same, everything in the table counted."""
    ### BEGIN SOLUTION
    return 2.0 * d  # 4 n d² + 2 n² d + 8 n d² = 16 n d²
    ### END SOLUTION


# %% check="crossover_length"
check("crossover_length", crossover_length)

# %%
show.self_attention.costs(attention_cost, crossover_length, d=512)

# %% [markdown]
# The left picture divides the cost of attention by the cost of recurrence, so attention is cheaper where a curve is below 1. The dashed line is your answer. The right picture shows where the multiplications of the
# whole attention layer go.
#
# The paper's layers were 512 wide, and a sentence of 2017 had about 30 words. That is far to the left of both crossings. By the paper's table, attention takes 17 times fewer multiplications
# there. For whole layers, attention saves only a quarter, and scores and mixing are 1 % of its multiplications. So fewer multiplications cannot be what made the Transformer fast. All words are
# computed at once, where an LSTM takes 30 steps one after another.
#
# Today's texts lie far to the right. With 100,000 words, a whole attention layer of width 4096 takes 3.8 times the multiplications of the recurrent one, and four fifths of them are scores and mixing. This is why a whole field
# looks for attention that costs less.
#
# <!-- needs: 17_linear_time -->
# Topic 17 builds four layers that read such a text with a state of fixed size, and measures what they save.
#
# ## What it cannot see
#
# *Man eats small dinosaur. Small dinosaur eats man.* Look at your function. Does any line of it ask *where* a word stands? A sum over all words does not know their order.
#
# Take a layer that subtracts the mean of all words, and let the words be the numbers 1, 2 and 6. Their mean is 3, and the outputs are $-2$, $-1$ and 3. Now reorder the words to 6, 1, 2. The outputs are 3, $-2$, $-1$,
# the same three numbers in the new order. A layer that adds the positions 0, 1, 2 behaves differently. It turns 1, 2, 6 into 1, 3, 8, but it turns 6, 1, 2 into 6, 2, 4.
#
# The first layer is **permutation equivariant**. Reorder its words by any permutation $\pi$, and its outputs are reordered by $\pi$ and otherwise unchanged:
#
# $$f(x_{\pi(1)}, \dots, x_{\pi(T)})_i = f(x_1, \dots, x_T)_{\pi(i)} .$$
#
# ### Exercise: `is_permutation_equivariant`, a test for blindness to order (about 10 minutes)
#
# `fn` maps words `(B, T, D)` to new words `(B, T, ...)`. Does it treat this one permutation as the equation says? No number may differ by more than 0.0001.


# %% solution="is_permutation_equivariant"
def is_permutation_equivariant(fn, x: torch.Tensor, permutation: torch.Tensor) -> bool:
    """Whether reordering the words of x (B, T, D) only reorders the output of fn."""
    ### BEGIN SOLUTION
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-4)
    ### END SOLUTION


# %% check="is_permutation_equivariant"
check("is_permutation_equivariant", is_permutation_equivariant)

# %% [markdown]
# The next cell runs your test on four layers.

# %%
predict("layers_that_ignore_order")

# %%
seed(0)
x, order = torch.randn(2, 5, 16), torch.tensor([2, 0, 3, 4, 1])
W_q, W_k, W_v = torch.randn(3, 16, 16) / 4
rnn = nn.RNN(16, 16, batch_first=True)
positions = torch.arange(5.0)[:, None]
layers = {
    "self-attention": lambda x: self_attention(x, W_q, W_k, W_v),
    "a linear layer, word by word": nn.Linear(16, 16),
    "a recurrent network": lambda x: rnn(x)[0],
    "self-attention, positions added": lambda x: self_attention(x + positions, W_q, W_k, W_v),
}
for name, layer in layers.items():
    print(f"{name:<34} {is_permutation_equivariant(layer, x, order)}")

# %% [markdown]
# For a list of pairs this blindness is a virtue, because *k4 a7* and *a7 k4* say the same. For a sentence it is a disaster. The last line of the output shows the way out of it. Add to each word a vector that depends on its position.
#
# ## The task: recall
#
# Now let training choose the vectors. `blocks.PairSlots` turns a batch of lists into words `x` of shape $(B, S + 1, D)$. At each position stands the sum of a letter's and a digit's embedding. The
# last position holds the query, a letter alone. It offers a key, too, so $S$ pairs make $S + 1$ keys. One layer of your self-attention reads these words, and a linear map reads the answer from one of its $S + 1$ outputs.
# Which one should that be?
#
# ### Exercise: model and training loop (about 20 minutes)
#
# Write `forward` around your own `self_attention`. Do not use `F.scaled_dot_product_attention` or `nn.MultiheadAttention`. The matrix of a linear layer is its `.weight`. Then write `train`, which takes batches until there are no more. Each batch has `keys` and
# `values` of shape $(B, S)$, and `query` and `answer` of shape $(B,)$. Call `batches.log(loss)` once for each batch. It records the loss and draws the curve.
#
# The judge asks about held-out lists, 500 in `check` and 2,000 more when your work is graded. For full marks, one measure has to reach its bar:
#
# | measure | bar |
# |---|--:|
# | right answers | 99 % |
#
# Reaching 50 % or 90 % earns part of the points.


# %% solution="self_attention_task"
class RecallModel(nn.Module):
    """Reads a list of pairs and a query, and scores the ten digits.

    `slots(width)` makes the layer that turns the three inputs into words, the query last.
    """

    def __init__(self, slots=blocks.PairSlots, width=64):
        super().__init__()
        self.slots = slots(width)
        self.W_q = nn.Linear(width, width, bias=False)
        self.W_k = nn.Linear(width, width, bias=False)
        self.W_v = nn.Linear(width, width, bias=False)
        self.read = nn.Linear(width, 10)

    def forward(self, keys, values, query):
        """keys (B, S), values (B, S), query (B,) -> logits (B, 10)."""
        ### BEGIN SOLUTION
        x = self.slots(keys, values, query)  # (B, S + 1, D)
        output = self_attention(x, self.W_q.weight, self.W_k.weight, self.W_v.weight)
        return self.read(output[:, -1])
        ### END SOLUTION


def train(model, batches):
    """Trains on `for keys, values, query, answer in batches`, and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for keys, values, query, answer in batches:
        loss = F.cross_entropy(model(keys, values, query), answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("self_attention_task", RecallModel, train)

# %% check="self_attention_task"
check("self_attention_task", record.model)

# %% [markdown]
# What has it learned? Take one list and ask for every letter in turn. Each row of the next picture is one question, and shows the attention weights of the last position. The column `?` is the question itself.

# %%
model = record.model
listed = data.load("recall", rows=1, seed=5).with_format("torch")[0]
keys, values = (listed[name].expand(8, -1).to(device()) for name in ("keys", "values"))
with torch.no_grad():
    x = model.slots(keys, values, keys[0])  # row i asks for the i-th letter
    _, weights = scaled_dot_product_attention(model.W_q(x), model.W_k(x), model.W_v(x))
shown = listed["text"].split()[:-1]
asked = [pair[0] + "?" for pair in shown]
show.self_attention.attention_map(weights[:, -1], asked, [*shown, "?"], "Learned, not chosen")

# %% [markdown]
# The diagonal is bright, so each question finds its pair. Most of the rest goes to the question itself. It matches its own letter as well, but it has no digit to tell. We gave the model none of these vectors. It learned them
# from the loss.
#
# Next come the baseline and one more model. The baseline is an RNN of the same width. It gets the same words and the same batches, and your own loop trains it. The third model is yours again, but its list is
# **flat**. Letters and digits alternate, each at a position of its own, as in a real text. (`variant` keeps the weights of both apart from those that are graded.)


# %%
class RecurrentRecall(nn.Module):
    """The same words through a recurrent network, which answers from its last hidden state."""

    def __init__(self, width=64):
        super().__init__()
        self.slots = blocks.PairSlots(width)
        self.rnn = nn.RNN(width, width, batch_first=True)
        self.read = nn.Linear(width, 10)

    def forward(self, keys, values, query):
        states, _ = self.rnn(self.slots(keys, values, query))
        return self.read(states[:, -1])


recurrent = fit("self_attention_task", RecurrentRecall, train, variant="recurrent")

# %%
flat = fit("self_attention_task", lambda: RecallModel(blocks.FlatSlots), train, variant="flat")


# %%
def accuracy(model, slots):
    """The share of right answers on a thousand new lists of `slots` pairs."""
    lists = data.load("recall", rows=1000, slots=slots, seed=1).with_format("torch")[:]
    asked = (lists[name].to(device()) for name in ("keys", "values", "query"))
    with torch.no_grad():
        return (model(*asked).argmax(-1).cpu() == lists["answer"]).float().mean().item()


models = {
    "self-attention": record.model,
    "self-attention, flat list": flat.model,
    "RNN": recurrent.model,
}
slots = [1, 2, 4, 8, 12, 16, 20, 26]
curves = {name: [accuracy(model, n) for n in slots] for name, model in models.items()}
show.self_attention.recall(slots, curves, trained_on=8)

# %% [markdown]
# Your layer never saw a list of 26 pairs in training, and answers it as well as one of eight. To look something up, it does not matter how much else is there. The RNN forgets, even on lists of the length it was trained on.
#
# And the flat list? Every letter and every digit is there, in full view of the query. Finding the letter again would be easy. But which digit stood *beside* it? The layer sees a set, and to it
# `a 7 q 0` and `a 0 q 7` are the same. All it can do is name the digit that occurs most often. So your layer can look anything up, but two things are missing. One is a sense of **position**. The other is a second
# look.
#
# <!-- needs: 07_multi_head_attention, 08_positional_encoding -->
# Topic 08 gives the words positions, and topic 07 ends with a second look.
#
# ## Play
#
# Here are four words in a plane. The left picture shows the query of one word among the keys of all. The right picture shows the values, and the diamond marks their mixture. Choose a word and move its query, its key and its value.
#
# Can you make "her" look at "cat"? Can you make every word look at "likes"? Can you get all four outputs onto one point
# without touching a value? Can you push an output outside the shape that the four values span?

# %%
show.self_attention.playground(scaled_dot_product_attention)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Your trained layer answers any list of pairs, in any order and of any length, and fails on the flat list. Explain both with the same property of self-attention.
# Then judge a friend's proposal. It adds a vector to each word of the flat list that says whether its position is odd or even. Would that be enough? Write four to six sentences.

# %% [markdown] question="self_attention_question"
# Self-attention is permutation equivariant. Its weights depend on what the words are and not on where they stand, so reordering the words reorders the outputs and does nothing else. In the list of
# pairs nothing is lost by that, because each position holds letter and digit together. The query finds the position by its letter and reads the digit there, however many other pairs there are and
# wherever they stand. In the flat list the pairing is held by order alone. So all lists with the same letters and digits look the same to the layer, and it can only name a frequent digit.
#
# Odd and even would not be enough. Odd positions hold the letters and even ones the digits, so the new vector says only what the embeddings say already. The layer would have to know which letter and
# which digit are *neighbours*. So each position, or at least each pair of positions, needs a vector of its own. Even then one layer must first bring the letter to its digit before another can look it up.

# %%
rubric("self_attention_question")

# %% [markdown]
# ## What you built
#
# Attention is a soft dictionary. Every word makes a query, a key and a value of itself. Every query is compared with every key, all at once, and returns a mixture of values. Any two words are one
# step apart, however long the text, and the price is $n^2$ comparisons.
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `softmax` | softmax, shifted to be safe | `torch.softmax` |
# | `scaled_dot_product_attention` | scaled dot-product attention | `F.scaled_dot_product_attention` |
# | `self_attention` | single-head self-attention | `nn.MultiheadAttention` with one head |
# | `attention_cost`, `crossover_length` | the quadratic cost of attention | section 4 of the paper |
# | `is_permutation_equivariant` | permutation equivariance | positional encodings, Vision Transformers |
#
# ## Going further
#
# - **Without the root.** What is the division by $\sqrt{D}$ worth? Train without it at width 64. Then train with `lambda: RecallModel(width=256)` and a learning rate of 0.001 (as a `variant`). We found 98 to 100 % for the first
#   and 80 to 95 % for the second. With the root, both reach 100 %.
# - **By hand.** Choose $W_q$, $W_k$, $W_v$ and the embeddings by hand so that one layer recalls perfectly, with no training at all. The heat map of the four letters above shows where to begin.
# - **Wrong, and it learns.** Let softmax run over the queries instead of the keys and train the task. The loss falls and the accuracy is perfect. A falling loss is no proof that a layer
#   is what you think it is. That is why every function here was checked on its own.
# - **A wider memory.** How wide must an RNN be to recall eight pairs? Four times the width and ten times the examples brought ours from 27 % to 28 %. What would an LSTM do, whose memory is a sum?
# - **Let PyTorch count.** `FlopCounterMode` from `torch.utils.flop_counter` counts what runs inside its `with` block, two operations for each multiplication. Does
#   `nn.TransformerEncoderLayer(2, 1, 8, batch_first=True)` take your 180 multiplications for three words?
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017). Section 3.2.1 is this notebook, and section 4 has its table. J. Ba and others,
#   [Using fast weights to attend to the recent past](https://arxiv.org/abs/1610.06258) (2016), let a recurrent network recall, by something that is nearly attention.
# - **Next.** One look brings home one mixture. With several heads, a word looks in several places at once, at no extra cost.
#
# <!-- needs: 07_multi_head_attention -->
# You build such heads in topic 07.
#
# **Now you can** write self-attention from a softmax and a few matrix products, say what it costs, and name what it cannot see. Run the cell below to see which notebook comes next.

# %%
progress()
