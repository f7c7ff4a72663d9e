# %% [markdown]
# # 8 Positional encoding
#
# *Man eats small dinosaur. Small dinosaur eats man.* The same four words, and two very different afternoons.
#
# Self-attention cannot tell the two apart. It is permutation equivariant, so a sentence in another order gives the same outputs in that other order. More heads or more layers do not change this,
# because attention sees a *set* of words. If a model is to read a sentence, each word must say **where it stands**.
# (A mask that hides the future already tells each word something about its position.)
#
# Counting the words is the obvious answer, and a poor one. In this notebook you build four better answers, from the sinusoids of the original Transformer (2017) to the rotations inside today's language models.
#
# **You will**
#
# - build four positional encodings, namely sinusoidal, learned, rotary (RoPE) and ALiBi
# - measure what an encoding can express, and put RoPE into an attention layer yourself
# - train with each encoding on lists of 16 letters, and test on lists of up to 128
#
# **You need** self-attention (topic 06), its heads (topic 07) and the addition formulas $\sin(a + b) = \sin a \cos b + \cos a \sin b$ and $\cos(a + b) = \cos a \cos b - \sin a \sin b$.
#
# **Time.** Six short exercises, one training task and one written question take about 140 minutes. Reading and experiments take another hour and a half. Everything trains in seconds on a laptop. If you are stuck, `hint("sinusoidal")` gives a hint, and a stronger one each time.

# %%
import math

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show

# %% [markdown]
# ## Two sentences, one set
#
# `blocks.MultiHeadAttention` reads the dinosaur's sentence in both orders. The cell prints how much each word's output differs.

# %%
seed(0)
words = ["man", "eats", "small", "dinosaur"]
embed, attend = nn.Embedding(4, 16), blocks.MultiHeadAttention(16, n_heads=2)
one = torch.tensor([0, 1, 2, 3])
other = torch.tensor([2, 3, 1, 0])  # small dinosaur eats man


def compare(encoding=0.0):
    """How much each word's output depends on which of the two sentences it stands in."""
    with torch.no_grad():
        first, second = (
            attend(x, x)[0][0] for x in (embed(ids)[None] + encoding for ids in (one, other))
        )
    for i, word in enumerate(words):
        change = (first[one.tolist().index(i)] - second[other.tolist().index(i)]).abs().max()
        print(f"{word:<10} changes by {change:.6f}")


compare()

# %% [markdown]
# Nothing changes, up to rounding. The layer cannot tell who ate whom.
#
# **Dimensions.** $B$ sentences in a batch, $T$ positions in each, $h$ heads, $D$ the width of a word's vector, $d = D/h$ the width of one head. Positions are counted from 0.
# A query stands at position $t$ and a key at position $s$, and their vectors are $q_t$ and $k_s$. Without an index, $k$ is the number of positions by which a shift moves on.
#
# ## What a positional encoding must do
#
# Give each position $t$ a vector $p_t$ that is as wide as a word, and add it to the word that stands there. This vector is the **positional encoding** of $t$. The lectures ask five things of it.
#
# - **Unique.** No two positions share a vector.
# - **Bounded.** The vector of position 5,000 must not be far larger than its word.
# - **Deterministic.** Position 7 gets the same vector today and tomorrow.
# - **Any length.** A longer text has more positions, and the first ones keep their vectors.
# - **Relative.** "Three positions back" is one simple operation, and it is the same everywhere.
#
# The number $t$ itself is not bounded, and it is not relative either, as you will measure. Divided by the length of the text, it changes as the text grows. Here are the binary digits of $t$ for the first nine positions:

# %%
for t in range(9):
    print(f"position {t}:", *f"{t:04b}")

# %% [markdown]
# The last digit flips at every step, and each other digit half as often as its neighbour on the right. These rows are unique and bounded, but not relative. From 0 to 1 a single digit flips, and from 7 to 8 all four of them do.
#
# So replace each digit, which jumps between 0 and 1, by a **sinusoid**, which swings smoothly between −1 and 1. One sinusoid is ambiguous, because it passes each height on its way up and again on its way down. The sine and the cosine of an angle together are not.
# Draw them as **the hand of a clock**, which starts upright. The sine says how far the hand points to the right, and the cosine how far it points up.
#
# Take $D/2$ clocks, each with one hand. Hand $i$ turns by its own angle $w_i$ at each step, which is called its **frequency**. For $D = 4$, the first hand turns by $w_0 = 1$ radian at each step, and the second one by $w_1 = 1/100$:
#
# | position | first angle | sine | cosine | second angle | sine | cosine |
# |---|---|---|---|---|---|---|
# | 0 | 0 | 0 | 1 | 0 | 0 | 1 |
# | 1 | 1 | 0.841 | 0.540 | 0.01 | 0.010 | 1.000 |
# | 2 | 2 | 0.909 | −0.416 | 0.02 | 0.020 | 1.000 |
# | 3 | 3 | 0.141 | −0.990 | 0.03 | 0.030 | 1.000 |
#
# So $p_3 = (0.141, -0.990, 0.030, 1.000)$. In general, pair $i$ consists of columns $2i$ and $2i+1$, and each pair turns more slowly than the one before it:
#
# $$p_{t,\,2i} = \sin(t\,w_i) \qquad p_{t,\,2i+1} = \cos(t\,w_i), \qquad w_i = \frac{1}{10000^{2i/D}}, \qquad i = 0, \dots, D/2 - 1 .$$
#
# ### Exercise: `sinusoidal`, the table of sines and cosines (about 20 minutes)
#
# Return the table, with one row for each of `n_positions` positions. A sine without its cosine makes no clock, so an odd width raises `ValueError`. Do not use `blocks.sinusoids`, since it is the answer itself.


# %% solution="sinusoidal"
def sinusoidal(n_positions: int, d_model: int) -> torch.Tensor:
    """Position vectors (n_positions, d_model): sines in the even columns, cosines in the odd ones.

    Raises ValueError when d_model is odd.
    """
    ### BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"{d_model} columns cannot be paired")
    slowness = 10000 ** (torch.arange(0, d_model, 2) / d_model)  # (D/2,)
    angles = torch.arange(n_positions)[:, None] / slowness  # (n, D/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    ### END SOLUTION


# %% check="sinusoidal"
check("sinusoidal", sinusoidal)

# %% [markdown]
# The lecture prints such a table of width 5, with exponents $2i/5$. In a table of width 10 every second pair has these exponents, so the first cell below picks their columns. The picture after it shows the clocks of a table of width 8. Which of them moves clearly between 10 and 100 and hardly before?

# %%
lecture = sinusoidal(5, 10)[:, [0, 1, 4, 5, 8]].T
print("        t =", "".join(f"{t:>8}" for t in range(5)))
for number, row in enumerate(lecture, 1):
    print(f"dimension {number}", "".join(f"{value:8.3f}" for value in row))

# %%
show.positional_encoding.clocks(sinusoidal, positions=[0, 1, 2, 3, 10, 100], d_model=8)

# %% [markdown]
# To know the position, read all the clocks. The slow ones say roughly where you are, and the fast ones say exactly.
#
# The next picture shows a table of 32 clocks, with one row for each position. From which column on does almost nothing change within 128 positions?

# %%
show.positional_encoding.heat_map(sinusoidal(128, 64))

# %% [markdown]
# ## Does the position spoil the word?
#
# Back to the two sentences:

# %%
compare(encoding=sinusoidal(4, 16))

# %% [markdown]
# Now the outputs differ. But word and position share the same $D$ numbers, and a sum does not show its parts. How can attention tell them apart?
#
# Let the word $x$ stand at position $t$ and the word $y$ at position $s$. Attention compares them by their dot product, and that has four parts:
#
# $$(x + p_t) \cdot (y + p_s) = x \cdot y \;+\; x \cdot p_s \;+\; p_t \cdot y \;+\; p_t \cdot p_s .$$
#
# The first part compares the words, and the last one compares the positions. The two in the middle compare a word with a position, which means nothing. Here are all four for vectors so small that you can check them by hand:

# %%
x, y = torch.tensor([1.0, -1.0, 2.0, 0.0]), torch.tensor([2.0, 0.0, 1.0, 1.0])
p_0, p_1 = sinusoidal(2, 4)
print("p_0 =", p_0.tolist(), " p_1 =", [round(value, 2) for value in p_1.tolist()])
print(f"word · word          {x @ y:5.2f}")
print(f"word · position      {x @ p_1:5.2f}")
print(f"position · word      {p_0 @ y:5.2f}")
print(f"position · position  {p_0 @ p_1:5.2f}")
print(f"sum                  {(x + p_0) @ (y + p_1):5.2f}")

# %% [markdown]
# With four numbers, the two parts in the middle are not small. Now make the vectors wider. Words are random vectors with mean 0 and variance 1, and the same word stands at two neighbouring positions. The typical size of a product is its root mean square over a thousand words.

# %%
predict("size_of_word_times_position")

# %%
seed(0)
widths = [4, 64, 512]
names = ["word · word", "word · position", "position · word", "position · position"]
sizes = {name: [] for name in names}
for D in widths:
    word, p = torch.randn(1000, D), sinusoidal(1001, D)
    here, after = p[:-1], p[1:]  # positions t and t + 1
    pairs = [(word, word), (word, after), (here, word), (here, after)]
    for name, (a, b) in zip(names, pairs):
        products = (a * b).sum(-1)  # a thousand dot products
        sizes[name].append(products.square().mean().sqrt().item())
    print(f"D = {D:>3}:", ", ".join(f"{name} {sizes[name][-1]:.1f}" for name in names))
show.positional_encoding.four_products(widths, sizes)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# A word times itself is a sum of $D$ squares, so it grows like $D$. Neighbouring positions have similar vectors, and their product grows like $D/2$. A word and a position have nothing in common. The $D$ terms of their product have random signs and nearly cancel, so it grows only like
# $\sqrt{D}$. At $D = 512$ it is 3 % of the first bar.
#
# In a wide space, two vectors of different kinds are nearly at right angles and hardly disturb each other. The layer's matrices can learn to read one of them and to overlook the other.
#
# </details>
#
# ## One step on is one rotation
#
# The lecture writes $P(t)$ for our $p_t$, and asks for a matrix $M$ with $P(t + t') = M^{t'} P(t)$. In words, **one** matrix takes *every* position to the next, and its power $M^k$ moves on by $k$ positions. Clocks have such a matrix. Wait a minute, and each hand has turned by its own fixed angle, **whatever time it was**.
#
# Take a hand that makes a quarter turn at each step. Its sine and cosine are $(0, 1)$ at first, then $(1, 0)$, $(0, -1)$, $(-1, 0)$, and again $(0, 1)$. One matrix makes all of these steps, of which here are two:
#
# $$\begin{pmatrix} 0 & 1 \\ -1 & 0 \end{pmatrix} \begin{pmatrix} 0 \\ 1 \end{pmatrix} = \begin{pmatrix} 1 \\ 0 \end{pmatrix} \qquad \begin{pmatrix} 0 & 1 \\ -1 & 0 \end{pmatrix} \begin{pmatrix} 1 \\ 0 \end{pmatrix} = \begin{pmatrix} 0 \\ -1 \end{pmatrix} .$$
#
# For pair $i$ and a shift by $k$ positions, the addition formulas give such a matrix, too:
#
# $$\begin{pmatrix} \sin((t+k)\,w_i) \\ \cos((t+k)\,w_i) \end{pmatrix} = \begin{pmatrix} \;?\; & \;?\; \\ \;?\; & \;?\; \end{pmatrix} \begin{pmatrix} \sin(t\,w_i) \\ \cos(t\,w_i) \end{pmatrix} .$$
#
# ### Exercise: `shift_matrix`, the matrix that moves on (about 15 minutes)
#
# Find the four numbers. They may depend on $k$ and $w_i$, but not on $t$. Put one such block for each pair along the diagonal of a matrix $M_k$, which is the power $M^k$, and zeros elsewhere. A negative offset moves back.


# %% solution="shift_matrix"
def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
    """M (D, D) with sinusoidal(n, D)[t + offset] = M @ sinusoidal(n, D)[t] for every t.

    Raises ValueError when d_model is odd.
    """
    ### BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"{d_model} columns cannot be paired")
    w = 10000 ** (-torch.arange(0, d_model, 2) / d_model)  # (D/2,)
    c, s = (offset * w).cos(), (offset * w).sin()
    turns = torch.stack([c, s, -s, c], dim=-1).unflatten(-1, (2, 2))  # (D/2, 2, 2)
    return torch.block_diag(*turns)
    ### END SOLUTION


# %% check="shift_matrix"
check("shift_matrix", shift_matrix)

# %%
table, M = sinusoidal(100, 64), shift_matrix(5, 64)
for t in (0, 30, 90):
    off = (M @ table[t] - table[t + 5]).abs().max()
    print(f"from position {t:>2} to {t + 5:>2}: off by {off:.6f}")
print(f"M.T @ M is the identity, off by {(M.T @ M - torch.eye(64)).abs().max():.6f}")

# %% [markdown]
# $M$ rotates the vectors and does nothing else to them. This is why the original Transformer uses sinusoids. A head that looks five positions back needs $q_t \cdot k_s$ to be large exactly where $s = t - 5$. If $W_k$ keeps $p_s$ and $W_q$ learns the one matrix $M_{-5}$, then $q_t = p_{t-5}$ at every $t$.
#
# A rotation also keeps the angle between two vectors. So the dot product $p_t \cdot p_s$ depends on the distance $s - t$ alone:

# %%
show.positional_encoding.dot_products(sinusoidal(128, 64), positions=[16, 48, 96])

# %% [markdown]
# Neighbours are alike, distant positions are not, and on the right the three curves are one. The curve is symmetric, so this product tells how far away a position is, but not in which direction.
#
# ## The five properties, measured
#
# An encoding is a function `encode(n, d)`. It returns the vectors of the first `n` positions, a tensor `(n, d)`.
#
# ### Exercise: `order_properties`, what an encoding is good for (about 25 minutes)
#
# Return a dictionary of five booleans. `n` is larger than `2 * d`. Every encoding you will meet clearly has a property or clearly lacks it, so a tolerance of 1e-4 will do.
#
# - `unique` means that no two of the `n` vectors are the same, whether they are neighbours or not.
# - `bounded` means that no value is much larger in size than 1.
# - `deterministic` means that `encode(n, d)` returns the same when it is called again.
# - `any_length` means that `encode(2 * n, d)` begins with `encode(n, d)`. An encoding that has run out of positions raises `ValueError`, and then the answer is `False`.
# - `relative` means that **one** matrix takes the vector of each position to that of the next, with no constant added. To find it, put the vectors of all positions but the last into the rows of `A`, and their successors into the rows of `B`. The least squares solution `X = torch.linalg.pinv(A) @ B` brings `A @ X` as near to `B` as any matrix can.


# %% solution="order_properties"
def order_properties(encode, n: int, d: int) -> dict[str, bool]:
    """The five properties of encode(n, d) -> (n, d), by name."""
    ### BEGIN SOLUTION
    marks = encode(n, d)
    try:
        longer = encode(2 * n, d)
        begins_the_same = torch.allclose(longer[:n], marks, atol=1e-5)
    except ValueError:
        begins_the_same = False
    apart = (marks[:, None] - marks).abs().amax(-1) + torch.eye(n)  # (n, n)
    before, after = marks[:-1], marks[1:]
    step = torch.linalg.pinv(before) @ after  # (d, d)
    return {
        "unique": bool(apart.min() > 1e-4),
        "bounded": bool(marks.abs().max() < 3),
        "deterministic": torch.equal(encode(n, d), marks),
        "any_length": begins_the_same,
        "relative": torch.allclose(before @ step, after, atol=1e-3),
    }
    ### END SOLUTION


# %% check="order_properties"
check("order_properties", order_properties)

# %% [markdown]
# Here are the candidates, in double precision because `pinv` needs it.


# %%
def count(n, d):
    return torch.arange(n).double()[:, None].expand(n, d)


def binary_digits(n, d):
    return (torch.arange(n)[:, None] >> torch.arange(d)).remainder(2).double()


stored = torch.rand(40, 8).double()


def from_a_table(n, d):
    if n > len(stored):
        raise ValueError("no more positions")
    return stored[:n, :d]


candidates = {
    "t": count,
    "t / length": lambda n, d: count(n, d) / n,
    "binary digits of t": binary_digits,
    "new random numbers": lambda n, d: torch.rand(n, d).double(),
    "one sine, period 12": lambda n, d: (count(n, d) * math.pi / 6).sin(),
    "a table of 40 positions": from_a_table,
    "powers of 0.9 and 0.8": lambda n, d: (
        torch.tensor([0.9, 0.8]).double().repeat(d // 2) ** count(n, d)
    ),
    "sinusoidal": lambda n, d: sinusoidal(n, d).double(),
}
found = {name: order_properties(encode, 24, 8) for name, encode in candidates.items()}
show.positional_encoding.properties(found)

# %% [markdown]
# The sinusoidal encoding has all five properties. So do the powers, it seems. $0.9^t$ is relative, because $M$ multiplies it by 0.9 at each step. But after a few hundred positions every vector is nearly zero. Added to a word, such a vector changes nothing. This is why the lecture wants $M$ to be *norm preserving*, so that it never changes a length. A rotation is such a matrix.
#
# ## Or simply learn them
#
# BERT and GPT-2, two well-known Transformers of 2018 and 2019, use something simpler, **learned positional embeddings**. A table holds one vector for each of 512 positions (1,024 in GPT-2). The vectors start at random and are trained like the embedding of a word.
#
# A small table has three positions, with the vectors $(0.1, -0.2)$, $(0.0, 0.3)$ and $(0.2, 0.1)$. A sentence of two words, $(1, 1)$ and $(2, 0)$, becomes $(1.1, 0.8)$ and $(2.0, 0.3)$. The third vector is left over, and a sentence of four words finds no fourth one. The picture above shows this price, in the row of the table of 40 positions.
#
# ### Exercise: `LearnedPositions` (about 10 minutes)
#
# `forward` adds the vectors of positions 0 to T − 1 to every sentence of `x`. The optimizer must be able to change the table, and at the start no two of its vectors may be alike. Raise `ValueError` when there are more words than positions.


# %% solution="LearnedPositions"
class LearnedPositions(nn.Module):
    """A learned vector for each of max_len positions: x (B, T, D) -> x + positions[:T].

    Raises ValueError when T is larger than max_len.
    """

    def __init__(self, max_len, d_model):
        super().__init__()
        ### BEGIN SOLUTION
        self.max_len = max_len
        self.places = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.places.weight, std=0.02)
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        if x.shape[1] > self.max_len:
            raise ValueError(f"{x.shape[1]} words for {self.max_len} places")
        return x + self.places(torch.arange(x.shape[1], device=x.device))
        ### END SOLUTION


# %% check="LearnedPositions"
check("LearnedPositions", LearnedPositions)

# %% [markdown]
# ## Rotate, do not add
#
# Added encodings go through $W_q$ and $W_k$ together with their words, and the layer must *learn* to make "how far apart" out of all four parts of the dot product. Could the distance be built in?
#
# Turn the query itself. Take the numbers of $q$ two by two, so that each pair is a hand with some length and direction, and **rotate** pair $i$ by the angle $t\,w_i$. Rotate the key in the same way by its own position $s$.
# The dot product of two hands depends on their lengths and on the angle between them. A rotation leaves the lengths alone. The angle between them changes by $t\,w_i - s\,w_i$. So the product depends on the distance $t - s$ alone.
#
# These hands turn anticlockwise, which changes nothing about distances. Take one pair that makes a quarter turn at each step, and let both $q$ and $k$ be $(1, 0)$ before they are rotated:
#
# | $t$ | $s$ | $t - s$ | rotated $q$ | rotated $k$ | dot product |
# |---|---|---|---|---|---|
# | 1 | 1 | 0 | $(0, 1)$ | $(0, 1)$ | 1 |
# | 2 | 1 | 1 | $(-1, 0)$ | $(0, 1)$ | 0 |
# | 3 | 2 | 1 | $(0, -1)$ | $(-1, 0)$ | 0 |
# | 3 | 1 | 2 | $(0, -1)$ | $(0, 1)$ | −1 |
# | 4 | 2 | 2 | $(1, 0)$ | $(-1, 0)$ | −1 |
#
# This is **RoPE**, rotary position embedding, and nearly every language model of today uses it. The lecture's matrix, for pair $i$ and position $t$, is
#
# $$\begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} = \begin{pmatrix} \cos t w_i & -\sin t w_i \\ \sin t w_i & \cos t w_i \end{pmatrix} \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}, \qquad w_i = \text{base}^{-2i/d} .$$
#
# Values are not rotated, because the content of a word does not depend on where it stands.
#
# ### Exercise: `rope` (about 30 minutes)
#
# Rotate queries or keys of all heads at once, `(B, h, T, d)`. Columns 0 and 1 make a pair, and columns 2 and 3 make the next. The `positions` are $0, \dots, T-1$ unless the caller passes others, and they may be fractions, or in the thousands. Return a new tensor with the `dtype` of `x`, on its device. An odd width raises `ValueError`.


# %% solution="rope"
def rope(
    x: torch.Tensor, positions: torch.Tensor | None = None, base: float = 10000.0
) -> torch.Tensor:
    """Rotate each pair of x (B, h, T, d) by the angle of its position.

    positions (T,) may be None, which means 0, 1, ..., T - 1.

    Raises ValueError when d is odd.
    """
    ### BEGIN SOLUTION
    T, d = x.shape[-2:]
    if d % 2:
        raise ValueError(f"no pairs in a width of {d}")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    speeds = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.double) / d)
    angles = positions[:, None] * speeds  # (T, d/2)
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2)
    ### END SOLUTION


# %% check="rope"
check("rope", rope)

# %% [markdown]
# Here are the scores of one query and one key at every pair of positions in a text of 40. On the left, sinusoidal encodings are *added* to both. On the right, both are rotated.

# %%
seed(1)
q, k = torch.randn(2, 1, 1, 1, 32).expand(-1, -1, -1, 40, -1)  # the same two at 40 positions
encodings = sinusoidal(40, 32)
added, rotated = (q + encodings) @ (k + encodings).mT, rope(q) @ rope(k).mT
show.positional_encoding.score_maps({"sinusoidal, added": added[0, 0], "RoPE": rotated[0, 0]})

# %% [markdown]
# The right map has stripes, because on every diagonal the distance is the same, and so is the score. The left map has the stripe of "near" as well. On top of it lie crosses and bands that say "at position 12", whether or not that matters.
#
# ## RoPE inside attention
#
# Now put `rope` inside a layer. Below is scaled dot-product attention for all heads at once. The same word stands at all 40 positions. The cell prints the scores of
# three queries for keys that stand 1, 3 and 7 positions back.
#
# 1. Run the cell as it is. Nothing tells the positions apart, so all nine scores agree.
# 2. Use your `rope` where the comment stands, on whatever has to be rotated, and run it again. Each column should now hold one number three times, and the three columns should differ.
# 3. Rotate the queries alone. Why does each *row* now hold one number? Then take the rotations out and add `sinusoidal(40, 16)` to `x`. Does any row or column still hold one number?


# %%
def attention(q, k, v):
    """q, k and v (B, h, T, d) -> output (B, h, T, d), scores (B, h, T, T)."""
    # your turn
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return scores.softmax(-1) @ v, scores


seed(2)
x = torch.randn(16).expand(1, 40, 16)  # (B, T, D)
matrices = torch.randn(3, 16, 16) / 4  # W_q, W_k and W_v
q, k, v = ((x @ W.T)[:, None] for W in matrices)  # one head: (B, 1, T, d)
output, scores = attention(q, k, v)
print("query at     1 back    3 back    7 back")
for t in (10, 20, 30):
    print(f"{t:>8}  ", *(f"{scores[0, 0, t, t - back]:9.4f}" for back in (1, 3, 7)))

# %% [markdown]
# All keys are alike here, so a score with the queries alone rotated depends on $t$ and not on $s$.
#
# The next picture shows the four pairs of one query and one key. The key was chosen so that the query finds it three positions back. Move the key, and all hands turn, but the score stays. Move the distance, and the score changes. At which other distance do the hands stand nearly as they do at 3? Which pairs could tell these two distances apart?

# %%
show.positional_encoding.turning_pairs(rope)

# %% [markdown]
# ## Or subtract the distance
#
# **ALiBi** leaves words, queries and keys alone and **subtracts the distance from the score**. The further back a key stands, the less it counts.
#
# A head with slope 1/2 reads four words, and its last query gives all four keys the same score of 2. The distances are 3, 2, 1 and 0, so the scores become 0.5, 1, 1.5 and 2. After softmax the weights are 0.10, 0.17, 0.28 and 0.46.
#
# Each head $i = 1, \dots, h$ has its own slope $m_i$, so that some heads look near and others far:
#
# $$e_{ts} = \frac{q_t \cdot k_s}{\sqrt{d}} - m_i\,(t - s) \quad \text{for } s \le t, \qquad m_i = 2^{-8i/h} .$$
#
# A key of the future ($s > t$) gets $-\infty$, and softmax turns this into a weight of exactly 0. ALiBi was made for language models, which must not look ahead. It learns nothing, and it exists at any length.
#
# ### Exercise: `alibi_bias` (about 10 minutes)
#
# Return what is added to the scores of all heads. For a head with slope 1/2, the last row of $T = 4$ is −1.5, −1, −0.5, 0.


# %% solution="alibi_bias"
def alibi_bias(n_heads: int, T: int) -> torch.Tensor:
    """What is added to the scores, (h, T, T): row t for the query, column s for the key."""
    ### BEGIN SOLUTION
    m = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    t = torch.arange(T)
    back = t[:, None] - t  # (T, T)
    return torch.where(back >= 0, -m[:, None, None] * back, -math.inf)
    ### END SOLUTION


# %% check="alibi_bias"
check("alibi_bias", alibi_bias)

# %% [markdown]
# If all scores were equal, ALiBi alone would set the weights. Which of the eight heads still see a key 20 positions back?

# %%
show.positional_encoding.alibi_weights(alibi_bias(8, 40))

# %% [markdown]
# ## The task: an echo
#
# You hear letters, and at each one you say the letter that came **three positions before**. A recurrent network does it easily. Attention without positions cannot.

# %%
heard = data.load("order", rows=2, length=16)
for row in heard:
    print("heard", row["heard"], "\nsaid ", row["said"], "\n")

# %% [markdown]
# There is nothing to say at the first three positions. Their target is −100, and `F.cross_entropy` leaves such targets out by itself.
#
# Training lists have 16 letters. **Your model will be graded on longer ones, too**, so choose well among the encodings you have built. `self.attend` works with all of them, and returns output and weights.
#
# - `self.attend(x, x)` knows no positions, and what you add to `x` before is up to you.
# - With `rotate=`, a function of queries or keys `(B, h, T, d)`, it applies that function to both, as you did by hand.
# - With `score_bias=`, a tensor that broadcasts to `(B, h, T, T)`, it adds that tensor to its scores.
#
# The model's `__init__` is given. It starts the letter embeddings at a tenth of PyTorch's usual size, which makes training more reliable.
#
# ### Exercise: model and training loop (about 20 minutes)
#
# Write `forward`, and write `train`, which takes batches until there are no more. A batch is `ids` and `targets`, both $(B, T)$, and the logits are $(B, T, 26)$. Adam with a learning rate of 0.003 works well. After each step, call `batches.log(loss)`, and `fit` draws the training curve from it.
#
# **How it is scored.** The judge draws new lists and counts the letters that are right, without the first three positions. For full marks, three measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | right letters, on lists of 16 | 99 % |
# | right letters, on lists of 32 | 90 % |
# | right letters, on lists of 64 | 80 % |
#
# Each bar earns its own part of the points. `check` tries lists of 16 letters only.


# %% solution="positional_encoding_task"
class EchoModel(nn.Module):
    """Hears letters and says, at every position, which one came three positions before."""

    def __init__(self, width=64, n_heads=1):
        super().__init__()
        self.letters = nn.Embedding(26, width)
        nn.init.normal_(self.letters.weight, std=0.1)
        self.attend = blocks.MultiHeadAttention(width, n_heads)
        self.read = nn.Linear(width, 26)

    def forward(self, ids):
        """ids (B, T) -> logits (B, T, 26)."""
        ### BEGIN SOLUTION
        x = self.letters(ids)  # (B, T, D)
        echo, _ = self.attend(x, x, rotate=rope)
        return self.read(echo)
        ### END SOLUTION


def train(model, batches):
    """Trains on `for ids, targets in batches`, both (B, T), and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for ids, targets in batches:
        loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("positional_encoding_task", EchoModel, train)

# %% check="positional_encoding_task"
check("positional_encoding_task", record.model)

# %% [markdown]
# ## Train short, test long
#
# Now train five models, one with each encoding and one with none as the baseline. All have the same width, the same batches and your own training loop. ALiBi gets eight heads with eight slopes, and the other models have one head. (`variant` keeps their weights apart from those that are graded.)


# %%
class EncodedEcho(EchoModel):
    """The echo model with one of four encodings, or with none."""

    def __init__(self, encoding):
        super().__init__(n_heads=8 if encoding == "ALiBi" else 1)
        self.encoding, self.table = encoding, LearnedPositions(128, 64)

    def echo(self, ids):
        """The attention's output (B, T, D) and its weights (B, h, T, T)."""
        x, options = self.letters(ids), {}
        if self.encoding == "sinusoidal":
            x = x + sinusoidal(*x.shape[1:]).to(x)
        elif self.encoding == "learned":
            x = self.table(x)
        elif self.encoding == "RoPE":
            options["rotate"] = rope
        elif self.encoding == "ALiBi":
            options["score_bias"] = alibi_bias(8, x.shape[1])
        return self.attend(x, x, **options)

    def forward(self, ids):
        return self.read(self.echo(ids)[0])


# %%
models = {}
for name in ["none", "learned", "sinusoidal", "RoPE", "ALiBi"]:
    models[name] = fit(
        "positional_encoding_task",
        lambda name=name: EncodedEcho(name),
        train,
        variant=name.lower(),
    ).model

# %%
predict("accuracy_beyond_trained_length")


# %%
def accuracy(model, length):
    """The share of right letters in 200 new lists, the first three positions left out."""
    lists = data.load("order", rows=200, length=length, seed=1).with_format("torch")[:]
    ids, targets = lists["ids"].to(device()), lists["targets"].to(device())
    with torch.no_grad():
        right = model(ids).argmax(-1) == targets
    return right[targets >= 0].float().mean().item()


at = [8, 16, 24, 32, 64, 128]
curves = {name: [accuracy(model, length) for length in at] for name, model in models.items()}
show.positional_encoding.accuracy_by_length(curves, at, trained_on=16)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Up to the dashed line three encodings are perfect. Beyond it, they differ.
#
# - **Learned.** Training has reached only the first 16 of 128 rows. These positions are right in a long list, and the rest is noise.
# - **Sinusoidal.** Its vectors exist at every position, and one matrix *could* read them. But nothing forced the layer to learn that matrix. Sixteen positions can be told apart in many ways, and training found another.
# - **RoPE.** What it learned about "three back" is about a distance, and at position 60 three back is still three back. But a long list also holds distances that no short list has. At some of them the hands may stand nearly as they do at three, and then your curve bends down
#   in the end. With letter embeddings of PyTorch's usual size, about one training run in 25 is perfect at 16 letters and falls short at 64.
# - **ALiBi.** On short lists it is hardly better than no encoding, but it is **equally good at every length**. Its bias only falls with the distance, so it cannot point at the third position and pass over the second. It names one of the last few letters.
#   In a language model, nearby words matter most, and there the same blur is a strength.
#
# </details>
#
# Here is who attends to whom in 32 letters. For ALiBi, the map is the mean of its heads. The dotted lines mark the end of what was trained.

# %%
ids = data.load("order", rows=1, length=32, seed=2).with_format("torch")[:]["ids"].to(device())
with torch.no_grad():
    maps = {name: model.echo(ids)[1][0].mean(0) for name, model in models.items()}
show.positional_encoding.attention_maps(maps, trained_on=16)

# %% [markdown]
# ## Play
#
# You see the sinusoidal table with one position marked, how many positions each pair needs for a full turn, and the dot product of the marked position with all others. How many pairs make a full turn within 64 positions, and what are the others good for? With which width does the dot product first single out position 20 clearly? What becomes of the table at $D = 2$, and where does it *nearly* repeat?

# %%
show.positional_encoding.explorer(sinusoidal)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Your RoPE model was trained on lists of 16 letters, and it echoes lists of 64. The model with the learned table does not. Explain both by what each encoding says about position 20. Then suppose that all five models have to say their list *backwards*, with one layer of attention as above.
# Which of the five could manage it on lists of 16, and would RoPE be among them? Write four to six sentences.

# %% [markdown] question="positional_encoding_question"
# The learned table says about position 20 whatever its row held before training. No list of 16 letters ever used that row, so no gradient ever reached it. RoPE says nothing about position 20 at all. It only rotates query and key
# so that their score depends on how far apart they are. The distance of three occurs in every training list, so what was learned about it holds between positions 17 and 20 as it does between 2 and 5.
#
# To say a list of 16 backwards, position $t$ must look at position $15 - t$. The distance is different for every $t$, so the query has to know where it stands itself. Learned and sinusoidal encodings tell it, and they would do (on that length only, since the end moves with the length).
# RoPE tells distances and no positions. In one layer nothing in the query at position 3 distinguishes it from the one at position 4, so it cannot know how far to look. Neither can ALiBi, which may not even look ahead, nor of course a model without positions.

# %%
rubric("positional_encoding_question")

# %% [markdown]
# ## What you built
#
# Attention knows of order only what you tell it, and you have told it in four ways. Before you believe that a model has understood, test it on lengths that it has never seen.
#
# | you built | the field's name | where you meet it next |
# |---|---|---|
# | `sinusoidal` | sinusoidal positional encoding | Vaswani and others, 2017, and every copy of that Transformer |
# | `shift_matrix` | rotation matrix | the same paper, section 3.5 |
# | `LearnedPositions` | learned (absolute) positional embeddings | BERT's `position_embeddings` and GPT-2's `wpe` in `transformers`, and the Vision Transformer |
# | `rope` | rotary position embedding, RoPE | `apply_rotary_pos_emb` in the Llama model of `transformers`, which pairs column $i$ with column $i + d/2$ |
# | `alibi_bias` | attention with linear biases, ALiBi | `build_alibi_tensor` in the BLOOM model of `transformers` |
# | longer lists | length generalisation | Kazemnejad and others, 2023 |
#
# ## Going further
#
# - **Other orders.** Test your answer to the question. `data.load("order", task="reverse")` has the same lists with other targets, and so has `task="sort"`. A loop of your own over `course.data.order.draw` trains them in seconds.
# - **More heads.** Give the RoPE model 2, 4, 8 or 16 heads instead of one. Which of these still hold at 64 letters? Look at the map of each head in a list of 64. Which distances does it take for "three back"?
# - **Start anywhere.** Train the sinusoidal model on lists that begin at a random position, by adding rows 50 to 65 one time and 300 to 315 the next. Does it learn the matrix now?
# - **Stretch it.** Language models trained with RoPE on 4,000 words are stretched to 32,000 by dividing all positions by 8 before the rotation ("position interpolation"). Your `rope` takes fractions for positions, so try it with your model, and look at the map of weights.
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017), section 3.5.
#   J. Su and others, [RoFormer](https://arxiv.org/abs/2104.09864) (2021).
#   O. Press and others, [Train short, test long](https://arxiv.org/abs/2108.12409) (2022), recommend ALiBi.
#   A. Kazemnejad and others, [The impact of positional encoding on length generalization](https://arxiv.org/abs/2305.19466) (2023), compare most of ours.
#
# <!-- needs: 09_masking -->
# - **Next.** A model that has to guess the next word must not see it. Topic 09 hides it.
#
# **Now you can** tell attention the order of its words in four ways, and say which of them hold at lengths that the model has never seen. Run the cell below to see which notebook comes next.

# %%
progress()
