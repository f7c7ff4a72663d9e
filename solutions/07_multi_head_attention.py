# %% [markdown]
# # 7 Multi-head attention
#
# Imagine a playground. Every child wears a number, has a best friend, and has a rival. Stand next to one child and ask two things. *Which number does your friend wear? Which number does your rival wear?* The child looks at one, looks at the other, and answers.
#
# Self-attention with a single softmax cannot do that. It looks only once, so it brings home one blend of both numbers. The lectures ask, "What if we want to look in multiple places in the sentence at once?", and "for different reasons". Their answer is the last piece of the Transformer's attention. It is several small attentions side by side, called **heads**. Together they are as wide as one full attention. This is **multi-head attention**.
#
# **You will**
#
# - split words into heads and merge them again, and meet a mistake that raises no error
# - write the whole layer, and prove it equal to PyTorch's
# - count what eight heads cost, train two heads on the playground, and silence one of them to see what it was worth.
#
# **You need** scaled dot-product attention, `nn.Module` and a training loop in PyTorch. One fact from PyTorch helps. `reshape` keeps the numbers in their order and only cuts the rows anew. `transpose` exchanges two axes.
#
# <!-- needs: 02_cbow, 06_self_attention -->
# You wrote a training loop in topic 02 and scaled dot-product attention in topic 06.
#
# Five short exercises, one training task and one written question take about 100 minutes. Everything trains in seconds on a laptop. Are you stuck? `hint("split_heads")` gives a hint, and a stronger one each time you call it.

# %%
import copy

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show

# %% [markdown]
# ## One look, two questions

# %%
playgrounds = data.load("relations", rows=2).with_format("torch")
print(playgrounds[0]["text"].replace("   ", "\n"))
for number, (friend, rival) in enumerate(playgrounds[0]["answers"][:2].tolist(), 1):
    print(f"child {number}: the friend wears {friend}, the rival {rival}")

# %% [markdown]
# In the language of attention, each child is a word. Its number is its value, and its query must ask for two names. But one softmax gives one distribution over the children, so two of them must share it.
# Suppose that half of the weight goes to the friend and half to the rival, and that the values are one-hot numbers. The next cell prints what two children bring home.

# %%
numbers = torch.eye(10)
for friend, rival in ((7, 0), (0, 7)):
    heard = 0.5 * numbers[friend] + 0.5 * numbers[rival]
    print(f"friend {friend}, rival {rival}: heard", heard.tolist())

# %% [markdown]
# The two vectors are equal, but the answers are different. The vector says which two numbers are there. It does not say which of them is the friend's.
#
# With weights of 70 % and 30 % the two vectors would differ. But a linear layer that reads them always receives more of the first number than of the second. No matrix makes it prefer the second for *every* pair of numbers. Wider vectors do not help either, because there is still only one mixture.
#
# Two mixtures would do. One is for friends, and one is for rivals.
#
# **Dimensions.** A batch has $B$ sentences, each with $T$ queries and $S$ keys. A word has $D$ numbers (`d_model` or `width` in the code). There are $h$ heads, and each is $d = D/h$ wide.
#
# > <!-- needs: 03_rnn -->
# > The letter $h$ was a hidden state in topic 03.
#
# ## Heads share the width
#
# Begin with a small example. A sentence has two words, and their values have a width of 4.
#
# | | column 0 | column 1 | column 2 | column 3 |
# |---|---|---|---|---|
# | word 1 | 1 | 2 | 3 | 4 |
# | word 2 | 5 | 6 | 7 | 8 |
#
# Two heads share the four columns. Head 1 gets columns 0 and 1, and head 2 gets columns 2 and 3. A query comes. Head 1 puts all its weight on word 1, so it finds $(1, 2)$. Head 2 puts half on each word, so it finds $\tfrac12 (3, 4) + \tfrac12 (7, 8) = (5, 6)$. Side by side, the two outputs are $(1, 2, 5, 6)$, which is a vector of width 4 again.
#
# In general, each head $i$ has its own three matrices of shape $d \times D$. They are stored (out, in), and the lectures write the transposes. Each head attends with the narrow queries, keys and values that its matrices make. The outputs of all heads are put side by side, which gives $h \cdot d = D$ numbers. A last matrix $W_o$ mixes them.
#
# $$\text{head}_i = \text{softmax}\!\left(\frac{Q_i K_i^\top}{\sqrt{d}}\right) V_i, \qquad \text{Output} = [\text{head}_1; \dots; \text{head}_h]\, W_o^\top .$$
#
# You do not have to compute this head by head. Stack the query matrices of all heads on top of each other, and they are one $D \times D$ matrix $W_q$. The same works for $W_k$ and $W_v$. So you project all words once, and $X W_q^\top$ has the shape $(B, T, D)$. *Then* you cut. The first $d$ columns belong to the first head, and the next $d$ columns belong to the second.
#
# The lecture does this in two steps. It reshapes to $n \times h \times d/h$ and then transposes to $h \times n \times d/h$, and "now the head axis is like a batch axis". Its $n$ and $d$ are our $T$ and $D$. Scaled dot-product attention works on the result without a change.
#
# ### Exercise: `split_heads`, cut a word into heads (about 10 minutes)
#
# Raise a `ValueError` when the number of heads does not divide the width.


# %% solution="split_heads"
def split_heads(x: torch.Tensor, n_heads: int) -> torch.Tensor:
    """x (B, T, D) -> (B, h, T, D/h); head i gets the i-th share of neighbouring columns.

    Raises ValueError when n_heads does not divide D.
    """
    ### BEGIN SOLUTION
    B, T, D = x.shape
    if D % n_heads:
        raise ValueError(f"{n_heads} heads cannot share a width of {D}")
    return x.reshape(B, T, n_heads, D // n_heads).transpose(1, 2)
    ### END SOLUTION


# %% check="split_heads"
check("split_heads", split_heads)

# %% [markdown]
# Why does this take two steps? After all, `x.reshape(B, n_heads, T, D // n_heads)` gives the right shape in one. The next picture shows the numbers of one sentence. Each cell names the head that gets the number.

# %%
show.multi_head_attention.shares(split_heads)

# %% [markdown]
# On the right, each head gets whole *words*, and never sees the other words. The shape is right, no error is raised, and the loss even falls. You can miss this mistake for a long time.
#
# ### Exercise: `merge_heads`, put the heads together again (about 10 minutes)
#
# This is the way back. The same mistake is possible here.


# %% solution="merge_heads"
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """x (B, h, T, d) -> (B, T, h * d): the heads' outputs for each word side by side."""
    ### BEGIN SOLUTION
    return x.transpose(1, 2).flatten(2)
    ### END SOLUTION


# %% check="merge_heads"
check("merge_heads", merge_heads)

# %%
x = torch.arange(12.0).view(1, 2, 6)  # two words of width 6
print("two words:     ", x.tolist())
print("in three heads:", split_heads(x, 3).tolist())
print("merged:        ", merge_heads(split_heads(x, 3)).tolist())

# %% [markdown]
# Now you can write all of it. Project the words, split them, attend in every head, merge the outputs, and mix them with $W_o$. Two things are new.
#
# First, queries may come from **other words** than keys and values. `x_q` asks, and `x_kv` is asked. In self-attention they are the same. A decoder that writes a translation and looks at the source sentence needs the difference.
#
# Second, there may be a mask. It is a boolean tensor that broadcasts to $(B, h, T, S)$, which means that PyTorch repeats its axes of length 1. It is `True` where a query may look. Here is a small example. A query has equal scores for three keys, so its weights are $(\tfrac13, \tfrac13, \tfrac13)$. With the mask `[True, False, True]` they become $(\tfrac12, 0, \tfrac12)$. The masked key gets the weight 0, and the other keys share the weight as if it did not exist. A query that may look at no key gets only weights of zero. In this notebook, `mask` is mostly `None`.
#
# <!-- needs: 09_masking -->
# Topic 09 shows what masks are for.
#
# ### Exercise: `multi_head_attention` (about 25 minutes)
#
# Write it in two parts. `attend_in_heads` gets words that are projected already, and you will need it again for the layer. You may use `torch.softmax` from here on. Do not use `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or `blocks.MultiHeadAttention`, since they are the answer themselves. The matrices are stored `(out, in)`, as before. Raise a `ValueError` when the number of heads does not divide the width. Before you scale the scores, ask yourself how many products one score adds up.


# %% solution="multi_head_attention"
def attend_in_heads(q, k, v, n_heads, mask=None):
    """q (B, T, D), k and v (B, S, D) -> outputs (B, T, D), merged, and weights (B, h, T, S)."""
    ### BEGIN SOLUTION
    q, k, v = (split_heads(words, n_heads) for words in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5  # (B, h, T, S)
    if mask is None:
        weights = scores.softmax(-1)
    else:  # a very low score, and not -inf: a row of nothing but -inf would be NaN
        weights = scores.masked_fill(~mask, -1e30).softmax(-1).masked_fill(~mask, 0)
    return merge_heads(weights @ v), weights
    ### END SOLUTION


def multi_head_attention(
    x_q: torch.Tensor,
    x_kv: torch.Tensor,
    W_q: torch.Tensor,
    W_k: torch.Tensor,
    W_v: torch.Tensor,
    W_o: torch.Tensor,
    n_heads: int,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """x_q (B, T, D), x_kv (B, S, D), matrices (D, D) -> output (B, T, D), weights (B, h, T, S)."""
    ### BEGIN SOLUTION
    findings, weights = attend_in_heads(x_q @ W_q.T, x_kv @ W_k.T, x_kv @ W_v.T, n_heads, mask)
    return findings @ W_o.T, weights
    ### END SOLUTION


# %% check="multi_head_attention"
check("multi_head_attention", multi_head_attention)

# %% [markdown]
# Does that solve the playground if you choose the matrices by hand? Take four children. Each is a word of 16 numbers, which hold its name, its number, its friend's name and its rival's name, all one-hot. The first head asks for friends, and the second asks for rivals. Both compare with names and bring numbers.

# %%
children = torch.tensor([[0, 2, 1, 2], [1, 0, 3, 0], [2, 3, 1, 3], [3, 1, 2, 0]])
x = F.one_hot(children, 4).flatten(1).float()[None]  # (1, 4, 16): name, number, friend, rival
name, number, friend, rival = torch.eye(16).split(4)
nothing = torch.zeros(4, 16)  # a head has eight rows, and needs four of them

W_q = 20 * torch.cat([friend, nothing, rival, nothing])
W_k = torch.cat([name, nothing, name, nothing])
W_v = torch.cat([number, nothing, number, nothing])
output, weights = multi_head_attention(x, x, W_q, W_k, W_v, torch.eye(16), n_heads=2)
first, second = output[0].chunk(2, dim=-1)
print("friends wear", first.argmax(-1).tolist(), " rivals wear", second.argmax(-1).tolist())


# %%
def labels(names, numbers, friends, rivals):
    """Two lists for pictures: the children, and what each of them is asking."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    n, f, r = ([letters[i] for i in group] for group in (names, friends, rivals))
    shown = [f"{a}{b}" for a, b in zip(n, numbers)]
    return shown, [f"{a}: friend {b}, rival {c}" for a, b, c in zip(n, f, r)]


shown, asking = labels(*children.T.tolist())
relations = {"friend": children[:, 2].tolist(), "rival": children[:, 3].tolist()}
show.multi_head_attention.head_maps(weights[0], shown, asking, relations)

# %% [markdown]
# Each child now has two distributions and gets two separate answers. $W_o$ was the identity here, so it changed nothing. In general it takes the outputs of the heads, each in its own columns, and writes them where the next layer reads.
#
# ## The layer
#
# Now make it a layer, with biases. PyTorch has one called `nn.MultiheadAttention`. You can test yours against it. Copy its weights into your layer, and the outputs must agree.
#
# ### Exercise: `MultiHeadAttention`, the layer (about 20 minutes)
#
# `W_q`, `W_k`, `W_v` and `W_o` are `nn.Linear` layers of width $D$, with a bias unless `bias=False`. Do not use `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or `blocks.MultiHeadAttention`. Your `load_torch` copies the weights out of the `state_dict()` of an `nn.MultiheadAttention` of the same sizes. A `state_dict()` is a dictionary from the name of each parameter to its tensor. The next cell shows one. Look at the names, and find the tensor that stacks several matrices on top of each other.

# %%
theirs = nn.MultiheadAttention(6, num_heads=2, batch_first=True)
for name, tensor in theirs.state_dict().items():
    print(f"{name:<16} {tuple(tensor.shape)}")


# %% solution="MultiHeadAttention"
class MultiHeadAttention(nn.Module):
    """attend(x_q, x_kv, mask=None) -> output (B, T, D), weights (B, h, T, S).

    Raises ValueError when n_heads does not divide d_model.
    """

    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        ### BEGIN SOLUTION
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads cannot share a width of {d_model}")
        self.n_heads = n_heads
        layers = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))
        self.W_q, self.W_k, self.W_v, self.W_o = layers
        ### END SOLUTION

    def forward(self, x_q, x_kv, mask=None):
        ### BEGIN SOLUTION
        q, k, v = self.W_q(x_q), self.W_k(x_kv), self.W_v(x_kv)
        findings, weights = attend_in_heads(q, k, v, self.n_heads, mask)
        return self.W_o(findings), weights
        ### END SOLUTION

    def load_torch(self, state):
        """Takes over the weights of an nn.MultiheadAttention, given its state_dict()."""
        ### BEGIN SOLUTION
        own = {name.replace("out_proj", "W_o"): tensor for name, tensor in state.items()}
        for kind in ("weight", "bias"):
            if f"in_proj_{kind}" in own:
                for name, third in zip("qkv", own.pop(f"in_proj_{kind}").chunk(3)):
                    own[f"W_{name}.{kind}"] = third
        self.load_state_dict(own)
        ### END SOLUTION


# %% check="MultiHeadAttention"
check("MultiHeadAttention", MultiHeadAttention)

# %%
seed(0)
mine = MultiHeadAttention(6, n_heads=2)
mine.load_torch(theirs.state_dict())
x = torch.randn(3, 5, 6)
pairs = zip(mine(x, x), theirs(x, x, x, average_attn_weights=False))
for name, (ours, torchs) in zip(("output", "weights"), pairs):
    print(f"{name:<8} differ by at most {(ours - torchs).abs().max():.1e}")

# %% [markdown]
# Do more heads mean more parameters? Count them.
#
# ### Exercise: `multi_head_parameters`, how many parameters (about 5 minutes)
#
# Return the number of all parameters that such a layer learns, with biases if `bias` is true. Raise a `ValueError` for a layer that cannot be built.


# %% solution="multi_head_parameters"
def multi_head_parameters(d_model: int, n_heads: int, bias: bool) -> int:
    """The number of parameters of MultiHeadAttention(d_model, n_heads, bias)."""
    ### BEGIN SOLUTION
    if d_model % n_heads:
        raise ValueError(f"{n_heads} heads cannot share a width of {d_model}")
    return 4 * d_model * (d_model + bool(bias))
    ### END SOLUTION


# %% check="multi_head_parameters"
check("multi_head_parameters", multi_head_parameters)

# %% [markdown]
# What about the time? A head compares $T$ words with $T$ words, and each comparison multiplies $d$ pairs of numbers. So the scores of one head take $T^2 d$ multiplications, where $d$ is the width of that head. The next table is for a sentence of 70 words and the layer of *Attention is all you need* (2017), here called *the paper*. That layer is 512 wide. Predict one of its rows first.

# %%
predict("score_products_of_eight_heads")

# %%
print("heads   width of one   parameters     multiplications for the scores")
for heads in (1, 2, 4, 8, 16, 64, 512):
    d = 512 // heads
    count = multi_head_parameters(512, heads, bias=False)
    work = f"{heads:>3} × 70 × 70 × {d:>3} = {heads * 70 * 70 * d:,}"
    print(f"{heads:>5} {d:>14} {count:>12,}     {work}")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Neither of the last two columns changes. The paper gives the reason. Each head is narrower, so the total cost is that of one head of full width.
#
# </details>
#
# One question is left. How narrow can a head be and still find what it looks for? You will measure it.
#
# ## The task: friends and rivals
#
# Now go back to the children. There are eight on each playground, and their names, numbers, friends and rivals are drawn at random. `blocks.ChildSlots` makes one word of each child. The word is the sum of four embeddings, for its name, its number, its friend's name and its rival's name. One layer of your attention reads these words. A linear map then gives twenty logits for each child, ten for the friend's number and ten for the rival's. You never tell a head which of the two questions to answer.
#
# ### Exercise: model and training loop (about 20 minutes)
#
# Write `forward` around your layer. Do not use `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or `blocks.MultiHeadAttention`. Then write `train`, which takes batches until there are no more. Each batch has four tensors of shape $(B, S)$, and `answers` of shape $(B, S, 2)$, for the friend's number and the rival's. Let the loop take any number of questions, because later in this notebook it trains a model that answers a third one. Call `batches.log(loss)` once for each batch. It records the loss and draws the curve.
#
# The judge asks your trained model about playgrounds that it has never seen. For full marks, three measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | right numbers of friends | 98 % |
# | right numbers of rivals | 98 % |
# | right answers on playgrounds of 16 children | 95 % |


# %% solution="multi_head_attention_task"
class RelationsModel(nn.Module):
    """Reads a playground and answers two questions about each child."""

    def __init__(self, n_heads=2, width=64):
        super().__init__()
        self.slots = blocks.ChildSlots(width)
        self.attend = MultiHeadAttention(width, n_heads)
        self.read = nn.Linear(width, 20)

    def forward(self, names, numbers, friends, rivals):
        """Four times (B, S) -> logits (B, S, 2, 10)."""
        ### BEGIN SOLUTION
        x = self.slots(names, numbers, friends, rivals)  # (B, S, D)
        heard, _ = self.attend(x, x)
        return self.read(heard).unflatten(-1, (2, 10))
        ### END SOLUTION


def train(model, batches):
    """Trains on `for names, numbers, friends, rivals, answers in batches`, and logs each loss.

    The model gives logits (B, S, Q, 10) for answers (B, S, Q) to Q questions.
    """
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for *playground, answers in batches:
        logits = model(*playground)
        loss = F.cross_entropy(logits.flatten(0, 2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("multi_head_attention_task", RelationsModel, train)

# %% check="multi_head_attention_task"
check("multi_head_attention_task", record.model)

# %% [markdown]
# Here is one playground that was not in the training data. The picture shows the weights of both heads in percent. Circles mark friends, and squares mark rivals.

# %%
COLUMNS = "names", "numbers", "friends", "rivals"
new = data.load("relations", rows=1000, seed=1).with_format("torch")[:]
playground = [new[column].to(device()) for column in COLUMNS]
answers = new["answers"].to(device())
names, numbers, friends, rivals = playground
# meant[relation] is True where the column's child is the friend (or rival) of the row's child.
meant = {
    "friend": names[:, None] == friends[:, :, None],
    "rival": names[:, None] == rivals[:, :, None],
}

model = record.model
with torch.no_grad():
    x = model.slots(*playground)
    _, weights = model.attend(x, x)  # (1000, 2, 8, 8)
shown, asking = labels(*(column[0].tolist() for column in playground))
positions = {relation: who[0].int().argmax(-1).tolist() for relation, who in meant.items()}
show.multi_head_attention.head_maps(weights[0], shown, asking, positions)

# %% [markdown]
# The heads have divided the work, although nothing in your code told them to. Yours may have done it the other way round. Is it the same on every playground? The next cell takes a thousand of them, and measures how much of a head's attention goes to friends and how much to rivals.

# %%
rows = {}
for head in range(2):
    seen = [(weights[:, head] * who).sum(-1).mean().item() for who in meant.values()]
    rows[f"head {head + 1}"] = [*seen, 1 - sum(seen)]
show.multi_head_attention.by_relation(
    rows,
    ["friend", "rival", "any other child"],
    "Where does each head look?",
    "share of attention, %",
)

# %% [markdown]
# A head may look at a child, but does the model use what it finds? To see what a head is *worth*, silence it. In this model $d = 32$, so the output of head 1 stands in columns 0 to 31 when it meets $W_o$, and that of head 2 in columns 32 to 63. In general, head $i$ has columns $(i-1)\,d$ to $i d - 1$. Set those columns of $W_o$ to zero, and ask the questions again.


# %%
def accuracy(model, wanted=answers):
    """Return the share of right answers to each question, on 1,000 new playgrounds."""
    with torch.no_grad():
        right = model(*playground).argmax(-1) == wanted
    return right.float().mean((0, 1)).tolist()


def silenced(model, head, d=32):
    """Return a copy of the model with one head silenced: W_o ignores its columns."""
    model = copy.deepcopy(model)
    with torch.no_grad():
        model.attend.W_o.weight[:, head * d : (head + 1) * d] = 0
    return model


rows = {"both heads": accuracy(model)}
for head in range(2):
    rows[f"without head {head + 1}"] = accuracy(silenced(model, head))
show.multi_head_attention.by_relation(
    rows, ["friend", "rival"], "What is a head worth?", "right answers, %", dashed=0.1
)

# %% [markdown]
# Without the head that looks at friends, the model guesses the friends' numbers and still knows the rivals'. Without the other head it is the other way round. Each head does one job.
#
# ## One head, and many
#
# Now train the same model with one head, and then with more heads than it needs. The width, the number of parameters, the batches and your training loop stay as they are. Only the number of heads changes. The argument `variant` keeps these weights apart from the graded ones. Before you run it, predict what one head of the full width can do.

# %%
predict("questions_one_wide_head_answers")

# %%
heads = [1, 2, 8, 64]
found = {2: accuracy(record.model)}
for h in (1, 8, 64):
    variant = f"{h}_heads"
    other = fit(
        "multi_head_attention_task", lambda h=h: RelationsModel(n_heads=h), train, variant=variant
    )
    found[h] = accuracy(other.model)
curves = {
    "the higher of its two scores": [max(found[h]) for h in heads],
    "the lower of its two scores": [min(found[h]) for h in heads],
}
parameters = [multi_head_parameters(64, h, bias=True) for h in heads]
show.multi_head_attention.by_heads(heads, curves, parameters)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# One head learns one of the questions, and chance decides which. It answers that one in about nine cases of ten, and the other in about a quarter. Guessing gets a tenth. Yet it is twice as wide as each of the two heads, and the layer has just as many parameters. The head is not too small. It has only one softmax.
#
# Now look at the right end of the curves. In a layer of 64 heads each head has one column. Its query is a single number, and so is each key. Such a head cannot tell 26 names apart, but all 64 together still get four answers of five. Eight columns are plenty here. The paper's layers had 8 heads of 64 columns, and most models since then have kept to 64 or 128.
#
# </details>
#
# ## Heads in layers
#
# A third question is **which number does your friend's rival wear?** No single head can look there. A child knows its friend's name, but only the friend knows who its rival is. That takes two looks, one after the other, so it takes two layers. Each child keeps its own vector and adds what it hears. This sum is called a **residual connection**. Without it, the second layer would no longer know which child is which. Your own loop trains both models, on batches with three answers.


# %%
class Layers(nn.Module):
    """A stack of attention layers that answers three questions."""

    def __init__(self, n_layers, n_heads=2, width=64):
        super().__init__()
        self.slots = blocks.ChildSlots(width)
        self.layers = nn.ModuleList(MultiHeadAttention(width, n_heads) for _ in range(n_layers))
        self.read = nn.Linear(width, 30)

    def forward(self, *playground):
        return self.read(self.listen(*playground)[0]).unflatten(-1, (3, 10))

    def listen(self, *playground):
        """Return the words after the last layer, and the weights of each layer."""
        x, seen = self.slots(*playground), []
        for attend in self.layers:
            heard, weights = attend(x, x)
            x = x + heard
            seen.append(weights)
        return x, seen


# %%
def three(names, friends, answers):
    """Append the number of the friend's rival to the two answers: (B, S, 3)."""
    friend = (names[:, None] == friends[:, :, None]).int().argmax(-1)  # (B, S): where the friend is
    return torch.cat([answers, answers[..., 1].gather(1, friend)[..., None]], dim=-1)


class WithThird:
    """The same batches with a third answer for each child."""

    def __init__(self, batches):
        self.batches, self.log = batches, batches.log

    def __iter__(self):
        for *playground, answers in self.batches:
            yield *playground, three(playground[0], playground[2], answers)

    def __len__(self):
        return len(self.batches)


def train_on_three(model, batches):
    train(model, WithThird(batches))


stacks = {}
for n in (1, 2):
    stacks[n] = fit(
        "multi_head_attention_task", lambda n=n: Layers(n), train_on_three, variant=f"{n}_layers"
    ).model

# %%
all_three = three(names, friends, answers)
rows = {f"{n} layer{'s' * (n > 1)}": accuracy(stack, all_three) for n, stack in stacks.items()}
questions = ["friend", "rival", "friend's rival"]
show.multi_head_attention.by_relation(
    rows, questions, "One look, two looks", "right answers, %", dashed=0.1
)

# %% [markdown]
# The second layer makes the difference. One layer still gets a quarter of the third question right, without a second look. One time in seven the friend's rival is the child who asks, and one time in seven it is the child's own rival. So the number of either is a better guess than most.
#
# How does the number travel through two layers? There are two ways. In the first, each child learns its own rival's number, and then passes it on to the child that calls it a friend. In the second, each child learns from its friend *who* the rival is, and then looks at that rival directly. Another random start can find the other way. Which one did yours find?
#
# ## Play
#
# Choose a layer, a head and a child, and see what it looks at. Find the head of the second layer that answers the third question. Does it look at the friend or at the friend's rival? For that, what must the first layer have found, and which of its heads found it?

# %%
with torch.no_grad():
    _, seen = stacks[2].listen(*(column[:1] for column in playground))
seen = [weights[0].cpu() for weights in seen]  # for each layer (2, 8, 8)
show.multi_head_attention.explorer(seen, shown, asking)

# %% [markdown]
# Heads and layers together answer long questions about a *set* of children. Line the children up in another order. The answers come in that order, and are otherwise the same.

# %%
order = torch.tensor([5, 2, 7, 0, 3, 1, 6, 4], device=device())
with torch.no_grad():
    straight = stacks[2](*playground)[:, order]
    reordered = stacks[2](*(column[:, order] for column in playground))
print(f"the logits differ by at most {(straight - reordered).abs().max():.1e}")

# %% [markdown]
# On a playground, that is what you want. For *man eats small dinosaur* it is a fault, and more heads will not repair it.
#
# ## In your own words (about 10 minutes)
#
# One head of width 64 learned one of the two questions, and got only about a quarter of the other right. Two heads of width 32 learned both, with the same number of parameters. Why? Then a friend says, "More heads never cost anything, so I use as many as there are columns." What does your friend gain, and what does your friend give up?
# Write four to six sentences.

# %% [markdown] question="multi_head_attention_question"
# A head has one softmax, so for each child it has one distribution over the others and brings home one mixture of their values. If it looks at friend and rival at once, their numbers arrive added up, and a linear reader cannot tell which came from which child. If it looks at only one of them, the other question must be guessed. Training settles for that. Width does not matter here, because it lengthens the vectors that are mixed and there is still only one mixture. Two heads have two distributions, and each leaves its output in columns of its own, where the linear layer can read it.
#
# With as many heads as columns, parameters and multiplications are indeed the same. But every head has a single number for its query, its key and its value. A score is then a product of two numbers, which cannot tell 26 names apart, and the head brings home one number. There are many looks, and none of them is sharp. The friend has traded what each head can distinguish for the number of heads.

# %%
rubric("multi_head_attention_question")

# %% [markdown]
# ## What you built
#
# You built multi-head attention, the layer that PyTorch calls `nn.MultiheadAttention` and section 3.2.2 of *Attention is all you need* describes. With `x_q` and `x_kv` the same, it is self-attention. With two different sequences, it is cross-attention. Setting columns of $W_o$ to zero is called head ablation, or head pruning when the head is removed for good.
#
# Heads look in several places at once, and layers look one after the other. Heads share the width, so more of them add no parameters. Training divides the work among them. And a tensor of the right shape may still hold the wrong numbers, so splitting and merging needed checks of their own.
#
# ## Going further
#
# - **One head, better read.** Let a hidden layer with a ReLU read what **one** head has heard. Write `self.read = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 20))`. It answers one question as well as two heads do, and the other in 96 of 100 cases. The head looks at both children, and more at one of them. A linear layer cannot separate that mixture, but a hidden layer nearly can.
# - **Wrong, and it learns.** Wrong attention often learns, too. We measured more than 99 % on this task with the mean of the heads in place of merging. We measured the same with scores divided by $\sqrt{D}$ or not at all, and with $W_o$ left out. With the wrong reshape in `split_heads` it was 30 %. It was 49 % when `merge_heads` made the same mistake on the way back.
# - **Silence.** Give the model four heads. Silence them one by one, then two by two. Which work is done twice? P. Michel and others took many heads out of trained models and hardly noticed a difference, in [Are sixteen heads really better than one?](https://arxiv.org/abs/1905.10650) (2019). E. Voita and others looked at what the heads do that have to stay, in [Analyzing multi-head self-attention](https://arxiv.org/abs/1905.09418) (2019). They found heads for neighbours, for grammar and for rare words.
# - **Shared keys.** Each query head could share its keys and values with other heads. Then a model has less to store while it writes a text. How many parameters does that save? Read N. Shazeer, [Fast Transformer decoding: one write-head is all you need](https://arxiv.org/abs/1911.02150) (2019).
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017). Section 3.2.2 is this notebook. Rows (A) of table 3 are your picture of one head and many, for translation.
#
# <!-- needs: 08_positional_encoding -->
# - **Next.** However many heads and layers you use, the words are still a set. Topic 08 tells each word its position.
#
# **Now you can** split a layer's width into heads and merge them without mixing up the words, and say what a second head adds that no width can. Run the cell below to see which notebook comes next.

# %%
progress()
