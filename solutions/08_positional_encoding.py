# %% [markdown]
# # 8 Positional encoding
#
# *Man eats small dinosaur. Small dinosaur eats man.* The same four words, and two very different afternoons.
#
# Topic 06 ended with a theorem: self-attention is permutation equivariant. Turn the sentence round, and the words' new vectors come out in the other order, and otherwise
# unchanged. Heads do not help (topic 07), and neither do layers: attention sees a *set*. Whoever wants it to read must write on each word **where it stands**.
# (Without a mask, that is: one that hides the future already tells each word something of its place. Topic 09 comes back to it.)
#
# How? Counting is the obvious answer, and a poor one. In this notebook you build four better ones, from the waves of the first Transformer to the rotations inside today's language
# models, measure what each can do, and then send all of them to a place where they have never been: further along than anything they were trained on.
#
# Six short exercises, one training task, one written question; about two hours, and everything trains in seconds on a laptop. Stuck? `hint("sinusoidal")` gives a hint, and a stronger one each time.

# %%
import math

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, progress, seed, show

# %% [markdown]
# ## Two sentences, one set
#
# `blocks.MultiHeadAttention` is the layer of topic 07. It reads the dinosaur's sentence forwards and then turned round; below you see by how much each word's new vector differs.

# %%
seed(0)
words = ["man", "eats", "small", "dinosaur"]
embed, attend = nn.Embedding(4, 16), blocks.MultiHeadAttention(16, n_heads=2)
one = torch.tensor([0, 1, 2, 3])
other = torch.tensor([2, 3, 1, 0])  # small dinosaur eats man


def compare(marks=0.0):
    """How much each word's new vector depends on which of the two sentences it stands in."""
    with torch.no_grad():
        first, second = (
            attend(x, x)[0][0] for x in (embed(ids)[None] + marks for ids in (one, other))
        )
    for i, word in enumerate(words):
        change = (first[one.tolist().index(i)] - second[other.tolist().index(i)]).abs().max()
        print(f"{word:<10} changes by {change:.6f}")


compare()

# %% [markdown]
# Nothing, up to rounding. As far as this layer can tell, the man ate and the dinosaur ate, and nobody knows whom.
#
# **Dimensions:** $B$ sentences in a batch, $T$ places in each, $h$ heads, $D$ the width of a word's vector (of one head's share of it, in RoPE and ALiBi). Places are counted from 0 and called $t$ (where there are two, $t$ is the query's and $s$ the key's). A shift moves on by $k$ places; $q_t$ and $k_s$, with an index, are a query and a key.
#
# ## What a mark must do
#
# Give each place $t$ a vector $p_t$ as wide as a word, and add it to whatever word stands there. The lectures ask five things of such marks:
#
# - **unique**: no two places share one;
# - **bounded**: place 5,000 must not drown its word;
# - **deterministic**: place 7 is marked alike today and tomorrow;
# - **any length**: a longer text has more places, and the first ones keep their marks;
# - **relative**: "three places back" is one simple operation, the same wherever you stand.
#
# The number $t$ itself fails the second (and the last, in a way that you will measure). Divided by the length of the text it fails the fourth. Its binary digits come close: the last digit flips at every step, the one before it at every
# second, and so on, each half as fast as the one to its right. Now make the switches smooth. What flips back and forth smoothly is a wave, and what shows a wave without ambiguity is **the hand of a clock**: one number for how far it points to
# the right (the sine), one for how far up (the cosine).
#
# So: $D/2$ hands on $D/2$ clocks, the first a second hand, the last one slower than an hour hand. Pair $i$ holds columns $2i$ and $2i+1$:
#
# $$p_{t,\,2i} = \sin\!\left(\frac{t}{10000^{2i/D}}\right) \qquad p_{t,\,2i+1} = \cos\!\left(\frac{t}{10000^{2i/D}}\right), \qquad i = 0, \dots, D/2 - 1 .$$
#
# ### Exercise: `sinusoidal`, the table of waves (about 15 minutes)
#
# A table for `n_positions` places, which may be thousands. A sine without its cosine makes no clock: an odd width raises `ValueError`.


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
# The lecture prints the first five dimensions of the first five places. Its table is five numbers wide, so its clocks tick at $10000^{-2i/5}$: at the same speeds as every *second* clock of a table of width 10, and it ends in the middle of one.

# %%
lecture = sinusoidal(5, 10)[:, [0, 1, 4, 5, 8]].T
print("        t =", "".join(f"{t:>8}" for t in range(5)))
for number, row in enumerate(lecture, 1):
    print(f"dimension {number}", "".join(f"{value:8.3f}" for value in row))

# %%
show.positional_encoding.clocks(sinusoidal, places=[0, 1, 2, 3, 10, 100], d_model=8)

# %% [markdown]
# At place 0 all hands stand at twelve. The first moves on by one radian a step, the second by a tenth of it, and so on. To know the place, read all the clocks: the slow ones say roughly where you are, the fast ones exactly. As a picture, with many clocks:

# %%
show.positional_encoding.heat_map(sinusoidal(128, 64))

# %% [markdown]
# And the two sentences?

# %%
compare(marks=sinusoidal(4, 16))

# %% [markdown]
# Who eats is no longer who is eaten. Adding looks rough (does the mark not spoil the word?), but in a wide space two vectors of different kinds hardly disturb each other, and the layer's matrices can learn to read one and overlook the other.
#
# ## One step on is one turn
#
# One lecture writes its wish as $P(t + t') = M^{t'} P(t)$: a matrix that takes *every* place to the next. Clocks have one. Wait a minute, and each hand has turned by its own fixed angle, **whatever time it was**. For one pair, the addition theorems put it like this:
#
# $$\begin{pmatrix} \sin((t+k)\,w) \\ \cos((t+k)\,w) \end{pmatrix} = \begin{pmatrix} \;?\; & \;?\; \\ \;?\; & \;?\; \end{pmatrix} \begin{pmatrix} \sin(t w) \\ \cos(t w) \end{pmatrix}, \qquad w = 10000^{-2i/D} .$$
#
# ### Exercise: `shift_matrix`, the matrix that moves on (about 15 minutes)
#
# Fill in the four numbers (they may depend on $k$ and $w$, not on $t$), and put one such block for each pair along the diagonal of $M_k$. Negative offsets go back.


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
    print(
        f"from place {t:>2} to {t + 5:>2}: off by {(M @ table[t] - table[t + 5]).abs().max():.6f}"
    )
print(f"M.T @ M is the identity, off by {(M.T @ M - torch.eye(64)).abs().max():.6f}")

# %% [markdown]
# $M$ turns the vectors and does nothing else to them. This is why the waves are there. A head that wants to look five places back needs $q_t \cdot k_s$ large exactly where $s = t - 5$; with $W_q$ and $W_k$ linear maps, it only has to learn this one matrix, once, for all places.
#
# And since turns change no angle between two vectors, the dot product $p_t \cdot p_s$ depends on the distance $s - t$ alone:

# %%
show.positional_encoding.distances(sinusoidal(128, 64), places=[16, 48, 96])

# %% [markdown]
# Neighbours are alike, distant places are not, and the three curves are one. It is symmetric, too: by itself this product says how far, and not in which direction.
#
# ## Five wishes, measured
#
# Do not take the lectures' word for it. Measure. An encoding is a function `encode(n, d)` that gives the marks of the first `n` places, `(n, d)`.
#
# ### Exercise: `order_properties`, what an encoding is good for (about 20 minutes)
#
# Return a dictionary of five booleans. `n` is larger than `2 * d`, and every encoding you will meet has a property clearly or lacks it clearly, so any sensible tolerance will do.
#
# - `unique`: no two of the `n` vectors are the same, neighbours or not;
# - `bounded`: no value is much larger in size than 1;
# - `deterministic`: asked twice, `encode(n, d)` answers the same;
# - `any_length`: `encode(2 * n, d)` begins with `encode(n, d)`. An encoding that has run out of places raises `ValueError`, and then the answer is `False`;
# - `relative`: **one** matrix takes the vector of each place to that of the next, with no constant added. (Its $k$-th power then goes on by $k$.) Of all matrices, `torch.linalg.pinv(A) @ B` is the one that takes the rows of `A` nearest to the rows of `B`.


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
# Now for the candidates, in double precision: `pinv` deserves it.


# %%
def count(n, d):
    return torch.arange(n).double()[:, None].expand(n, d)


def digits(n, d):
    return (torch.arange(n)[:, None] >> torch.arange(d)).remainder(2).double()


known = torch.rand(40, 8).double()


def from_a_table(n, d):
    if n > len(known):
        raise ValueError("no more places")
    return known[:n, :d]


candidates = {
    "t": count,
    "t / length": lambda n, d: count(n, d) / n,
    "binary digits of t": digits,
    "dice": lambda n, d: torch.rand(n, d).double(),
    "one wave of 12 places": lambda n, d: torch.stack(
        [count(n, d)[:, 0] * math.pi / 6] * d, 1
    ).sin(),
    "a table of 40 places": from_a_table,
    "powers of 0.9 and 0.8": lambda n, d: (
        torch.tensor([0.9, 0.8]).double().repeat(d // 2) ** count(n, d)
    ),
    "clocks": lambda n, d: sinusoidal(n, d).double(),
}
found = {name: order_properties(encode, 24, 8) for name, encode in candidates.items()}
show.positional_encoding.requirements(found)

# %% [markdown]
# The clocks have it all. So do the powers, it seems, and they are worth a second look: $0.9^t$ is as relative as can be ($M$ multiplies by 0.9), but after a few hundred places every mark is nearly zero, and added to a word it changes nothing that a computer can
# hold. That is why the lecture wants $M$ to be *norm preserving*, with eigenvalues of size 1: a matrix that neither blows up nor dies away when you apply it a thousand times. Such a matrix turns.
#
# ## Or simply learn them
#
# BERT and GPT-2 (language models; topics 09 and 10 say how they differ) did something humbler: a table with one vector for each of 512 (or 1,024) places, random at first, trained like the embedding of a word. Nothing is asked of the vectors; whatever helps will be found.
# The price is in the picture above, in the row of the table of 40 places.
#
# ### Exercise: `LearnedPositions` (about 10 minutes)
#
# `forward` adds to every sentence of `x` the vectors of places 0 to T − 1. Do not start from a table in which all places are alike, and raise `ValueError` when the words outnumber the places.


# %% solution="LearnedPositions"
class LearnedPositions(nn.Module):
    """A learned vector for each of max_len places: x (B, T, D) -> x + positions[:T].

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
# ## Turn, do not add
#
# Look again at what attention does with marks: it takes dot products, $q_t \cdot k_s$. With added marks, $(x_t + p_t)$ and $(x_s + p_s)$ go through $W_q$ and $W_k$, and the product has four parts; the layer must *learn* to make
# "how far apart" out of them. Could the distance be built in?
#
# Put the query on the clock. Take the numbers of $q$ two by two, each pair a hand of some length and direction, and **turn** hand $i$ by the angle $t\,w_i$. Turn the key by the angle of *its* place $s$. A dot product sees two hands' lengths, which a turn leaves alone,
# and the angle between them, which has changed by $(t - s)\,w_i$. The places themselves are gone; the distance remains. This is RoPE, rotary position embedding, and nearly every language model of today uses it. The lecture's matrix, for pair $i$ and place $t$:
#
# $$\begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} = \begin{pmatrix} \cos t w_i & -\sin t w_i \\ \sin t w_i & \cos t w_i \end{pmatrix} \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}, \qquad w_i = \text{base}^{-2i/D} .$$
#
# Values are not turned: a word says the same thing wherever it is heard from.
#
# ### Exercise: `rope` (about 20 minutes)
#
# For queries or keys of all heads at once, `(B, h, T, D)`, with $D$ the width of a head. Pairs are neighbours: columns 0 and 1, columns 2 and 3, and so on. The `positions` are $0, \dots, T-1$ unless the caller names others; places may be fractions, and they may lie in the thousands. Keep the type of `x`; an odd width raises `ValueError`.


# %% solution="rope"
def rope(
    x: torch.Tensor, positions: torch.Tensor | None = None, base: float = 10000.0
) -> torch.Tensor:
    """Turn each pair of x (B, h, T, D) by its place's angle.

    positions (T,) are the places, None for 0, 1, ..., T - 1.

    Raises ValueError when D is odd.
    """
    ### BEGIN SOLUTION
    T, D = x.shape[-2:]
    if D % 2:
        raise ValueError(f"no pairs in a width of {D}")
    if positions is None:
        positions = torch.arange(T, device=x.device)
    speeds = base ** (-torch.arange(0, D, 2, device=x.device, dtype=torch.double) / D)
    angles = positions[:, None] * speeds  # (T, D/2)
    c, s = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2)
    ### END SOLUTION


# %% check="rope"
check("rope", rope)

# %% [markdown]
# One query, one key, and every pair of places in a text of 40. On the left both have the waves *added*; on the right both are turned.

# %%
seed(1)
q, k = torch.randn(2, 1, 1, 1, 32).expand(-1, -1, -1, 40, -1)  # the same two vectors at 40 places
waves = sinusoidal(40, 32)
added, turned = (q + waves) @ (k + waves).mT, rope(q) @ rope(k).mT
show.positional_encoding.scores({"added waves": added[0, 0], "RoPE": turned[0, 0]})

# %% [markdown]
# Right: stripes. Along every diagonal the score is the same (up to rounding), because along a diagonal the distance is the same. Left: the stripe of "near" is there, and on top of it crosses and bands that say "at place 12", whether or not anybody asked.
#
# ## Or a plain ruler
#
# The third idea is the shortest. Leave words, queries and keys alone, and **subtract the distance from the score**: the further back a key, the less it counts. Each head $i = 1, \dots, h$ has its own slope, so that some heads are short-sighted and others see far:
#
# $$e_{ts} = \frac{q_t \cdot k_s}{\sqrt{D}} - m_i\,(t - s) \quad \text{for } s \le t, \qquad m_i = 2^{-8i/h} .$$
#
# A key of the future ($s > t$) gets $-\infty$, which softmax turns into a weight of exactly 0: ALiBi was made for language models, which must not look ahead (more on that in topic 09). It has nothing to learn and nothing to run out of.
#
# ### Exercise: `alibi_bias` (about 10 minutes)


# %% solution="alibi_bias"
def alibi_bias(n_heads: int, T: int) -> torch.Tensor:
    """What is added to the scores, (h, T, T): row t is the query's place, column s the key's."""
    ### BEGIN SOLUTION
    m = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    t = torch.arange(T)
    back = t[:, None] - t  # (T, T)
    return torch.where(back >= 0, -m[:, None, None] * back, -math.inf)
    ### END SOLUTION


# %% check="alibi_bias"
check("alibi_bias", alibi_bias)

# %%
show.positional_encoding.slopes(alibi_bias(8, 40))

# %% [markdown]
# ## The task: an echo
#
# A game that is about nothing but order. You hear letters, and at each one you say the letter that came **three places before**. A child can do it after some practice, a recurrent network does it easily, and attention without positions cannot, by the theorem above.

# %%
heard = data.load("order", rows=2, length=16)
for row in heard:
    print("heard", row["heard"], "\nsaid ", row["said"], "\n")

# %% [markdown]
# The first three places have nothing to say. Their target is −100, which `F.cross_entropy` leaves out by itself.
#
# Training lists have 16 letters. **You will be asked about longer ones**: full marks for 99 % on new lists of 16 letters, 90 % on lists of 32 and 80 % on lists of 64. So choose well among the encodings you have built. `self.attend` helps with all of them, and returns output and weights:
#
# - `self.attend(x, x)` knows no places; what you add to `x` beforehand is up to you;
# - with `rotate=`, a function of queries or keys `(B, h, T, D)`, it applies that to both;
# - with `score_bias=`, a tensor that broadcasts to `(B, h, T, T)`, it adds that to its scores.
#
# The model's `__init__` is given. It starts the letters at a tenth of PyTorch's usual size, so that at first what stands where is not drowned by which letter it is.
#
# ### Exercise: model and training loop (about 20 minutes)


# %% solution="positional_encoding_task"
class EchoModel(nn.Module):
    """Hears letters and says, at every place, which one came three places before."""

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
# Now all of them, and none for comparison: five models of one width, the same batches, your own training loop. ALiBi gets eight heads, since one slope is no choice; the others have one. (`variant` keeps their weights apart from those that are graded.)


# %%
class Marked(EchoModel):
    """The echo model with one of five ways to tell places apart."""

    def __init__(self, way):
        super().__init__(n_heads=8 if way == "ALiBi" else 1)
        self.way, self.table = way, LearnedPositions(128, 64)

    def echo(self, ids):
        """The attention's output (B, T, D) and its weights (B, h, T, T)."""
        x, options = self.letters(ids), {}
        if self.way == "sinusoidal":
            x = x + sinusoidal(*x.shape[1:]).to(x)
        elif self.way == "learned":
            x = self.table(x)
        elif self.way == "RoPE":
            options["rotate"] = rope
        elif self.way == "ALiBi":
            options["score_bias"] = alibi_bias(8, x.shape[1])
        return self.attend(x, x, **options)

    def forward(self, ids):
        return self.read(self.echo(ids)[0])


# %%
ways = ["none", "learned", "sinusoidal", "RoPE", "ALiBi"]
marked = {}
for way in ways:
    marked[way] = fit(
        "positional_encoding_task", lambda way=way: Marked(way), train, variant=way.lower()
    ).model


# %%
def accuracy(model, length):
    """The share of right letters in 200 new lists, the silent places left out."""
    lists = data.load("order", rows=200, length=length, seed=1).with_format("torch")[:]
    ids, targets = lists["ids"].to(device()), lists["targets"].to(device())
    with torch.no_grad():
        right = model(ids).argmax(-1) == targets
    return right[targets >= 0].float().mean().item()


at = [8, 16, 24, 32, 64, 128]
curves = {way: [accuracy(model, length) for length in at] for way, model in marked.items()}
show.positional_encoding.lengths(curves, at, trained_on=16)

# %% [markdown]
# Up to the dashed line three encodings are perfect, and one would never guess that they differ. Beyond it:
#
# - **learned**: the table has 128 rows, but nobody has trained the last 112. The first 16 places of a long list are right, and the rest is noise.
# - **sinusoidal**: its marks exist at every place, and *could* be read by one matrix. But nothing made the layer learn that matrix; sixteen places can be told apart in many ways, and it found another.
# - **RoPE**: whatever it learned about "three back", it learned about a distance, and at place 60 three back is three back. It is not magic: a long list also holds distances that no short one has, and at some of them the hands may happen to stand nearly as they do
#   at three. If your curve bends down in the end, it has met them. That is why the letters start small: at PyTorch's usual size about one start in twenty-five is perfect at 16 letters and falls short at 64.
# - **ALiBi**: hardly better than none on short lists, and **equally good at every length**. It knows near from far, so it names one of the last few letters; a ruler that only ever falls cannot point at the third place and pass over the second. An echo is the worst that could be asked
#   of it. In a language model, where nearby words matter most and no single place does, the same blur is a strength.
#
# A glance at who looks at whom, in a list of 32 letters (for ALiBi the mean of its heads). The dotted lines mark the end of what was trained:

# %%
ids = data.load("order", rows=1, length=32, seed=2).with_format("torch")[:]["ids"].to(device())
with torch.no_grad():
    maps = {way: model.echo(ids)[1][0].mean(0) for way, model in marked.items()}
show.positional_encoding.looks(maps, trained_on=16)

# %% [markdown]
# ## Play
#
# The table with one place marked, how many places each pair needs for a full turn, and the dot product of that place with all others. Drag the length, the width and the place. Questions to try: how many clocks make a full turn within 64 places, and what are the others good for? With which width does the dot product first single out place 20 clearly? What becomes of the table at $D = 2$, and where does it *nearly* repeat?

# %%
show.positional_encoding.explorer(sinusoidal)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Your RoPE model echoes lists of 64 letters, though it was trained on 16; the learned table does not. Explain both by what each encoding says about place 20. Then: the same model is to say its list *backwards*, with one layer of attention as above.
# Which of the five ways could manage it on lists of 16, and would RoPE be among them? Four to six sentences.

# %% [markdown] question="positional_encoding_question"
# The learned table says about place 20 whatever its row held before training: no list of 16 letters ever used that row, so no gradient ever reached it, and its random numbers point attention nowhere in particular. RoPE says nothing about place 20 at all. It only turns query and key
# so that their score depends on how far apart they are, and the distance of three occurs in every training list; what was learned about it holds between places 17 and 20 as it does between 2 and 5.
#
# To say a list of 16 backwards, place $t$ must look at place $15 - t$: the distance to look over is different for every $t$, so the query has to know where it stands itself. Learned and sinusoidal marks tell it, and would do (on that length only, since the end moves with the length).
# RoPE tells distances and no places: in one layer nothing in the query at place 3 distinguishes it from the one at place 4, so it cannot know how far to look. Neither can ALiBi, which may not even look ahead, nor of course a model without positions.

# %% [markdown]
# ## What to take with you
#
# Attention knows of order only what it is told. Waves give each place a mark, of which one step on is one turn; rotations put the turn into the score itself; a ruler takes the distance off the score; a table leaves it all to training. On the lengths of training three of
# them cannot be told apart. Go where a model has never been before you believe that it has understood.
#
# ## Going further
#
# - **Other orders.** Test your prediction: `data.load("order", task="reverse")` and `task="sort"` are the same lists with other targets. A loop of your own over `course.data.order.draw` trains them in seconds.
# - **More heads.** Give the RoPE model 2, 4, 8 or 16 heads instead of one. Some of these still hold at 64 letters, others do not, and fewer clocks a head are not always worse. Look at the map of each head in a list of 64: which distances does it take for "three back"?
# - **Start anywhere.** Train the sinusoidal model on lists that begin at a random place, by adding rows 50 to 65 one time and 300 to 315 the next. Does it learn the matrix now?
# - **A hill of two slopes.** Press, Smith and Lewis recommend ALiBi all the same. Change the delay to 1 and give it eight heads: the difference of two falling curves is a hill. How far out can such a hill stand?
# - **Stretch it.** Language models trained with RoPE on 4,000 words are stretched to 32,000 by dividing all positions by 8 before turning ("position interpolation"). Your `rope` takes fractions for places: try it with your model, and look at the map of weights.
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017), section 3.5; J. Su and others, [RoFormer](https://arxiv.org/abs/2104.09864) (2021);
#   O. Press and others, [Train short, test long](https://arxiv.org/abs/2108.12409) (2022). A. Kazemnejad and others, [The impact of positional encoding on length generalization](https://arxiv.org/abs/2305.19466) (2023), compares most of ours and finds surprises.
# - **Next.** Now every word sees every other, and knows where it stands: too much, if it is to guess the word after it. Topic 09 covers what must not be seen.

# %%
progress()
