# %% [markdown]
# # 7 Multi-head attention
#
# A playground. Every child wears a number, has a best friend, and has a rival. Stand next to one of them and ask two things: *which number does your friend wear? And your rival?* The child looks at one, looks at the other, and answers.
#
# The attention of topic 06 cannot do that. It looks once, and if there are two to look at, it squints: what it brings home is a blend of both. The lectures ask, "What if we want to look in multiple places in the sentence at once?", and "for different reasons".
# Their answer is the last piece of the Transformer's attention: **several small attentions side by side**, called heads, that share the width of one.
#
# In this notebook you cut words into heads and put them together again (with a mistake lying in wait that is easily made and hardly noticed), find out that eight heads cost no more than one, and train two of them on the playground. Then you look at which head does what, and silence one.
#
# Five short exercises, one training task, one written question; about two hours, and everything trains in seconds on a laptop. Stuck? `hint("split_heads")` gives a hint, and a stronger one each time.

# %%
import copy

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, progress, seed, show

# %% [markdown]
# ## One look, two questions

# %%
playgrounds = data.load("relations", rows=2).with_format("torch")
print(playgrounds[0]["text"].replace("   ", "\n"))
for number, (friend, rival) in enumerate(playgrounds[0]["answers"][:2].tolist(), 1):
    print(f"child {number}: the friend wears {friend}, the rival {rival}")

# %% [markdown]
# In the language of topic 06: each child is a word, its number is what it tells whoever finds it, and it asks for two names. One softmax gives one distribution over the children, so to hear two of them, it must share itself between them.
# Suppose that half of the weight goes to the friend and half to the rival, and that values are numbers, one-hot. This is what two children bring home:

# %%
numbers = torch.eye(10)
for friend, rival in ((7, 0), (0, 7)):
    heard = 0.5 * numbers[friend] + 0.5 * numbers[rival]
    print(f"friend {friend}, rival {rival}: heard", heard.tolist())

# %% [markdown]
# The same vector for two different answers. Whoever reads it knows both numbers, and not which is whose. With 70 % and 30 % the two vectors would differ; but a linear layer that reads them hears the louder voice louder, and no matrix makes it prefer
# the softer one for *every* pair of numbers. Making the vectors wider does not help either. There is one mixture, and everything goes into it.
#
# Two mixtures would do: one for friends, one for rivals.
#
# **Dimensions:** $B$ sentences (or playgrounds) in a batch, $T$ queries, $S$ keys, $D$ the width of a word, $h$ heads, $d = D/h$ the width of one head.
#
# ## Heads share the width
#
# Each head $i$ has its own three matrices, $d \times D$ each (out, in; the lectures write the transposes), and attends with the narrow queries, keys and values that they make. What the heads find is put side by side, which is $h \cdot d = D$ numbers again, and a last matrix mixes them:
#
# $$\text{head}_i = \text{softmax}\!\left(\frac{Q_i K_i^\top}{\sqrt{d}}\right) V_i, \qquad \text{Output} = [\text{head}_1; \dots; \text{head}_h]\, W_o^\top .$$
#
# Nobody computes that head by head. Put the heads' matrices for the queries on top of each other, and they are one $D \times D$ matrix $W_q$, as before; likewise $W_k$ and $W_v$. So project all words once, $X W_q^\top$ of shape $(B, T, D)$, and *then* cut: the first $d$ columns belong to the first head, the next $d$ to the second. The lecture says it in a sentence:
# reshape to $n \times h \times d/h$, then transpose to $h \times n \times d/h$, and "now the head axis is like a batch axis" (its $n$ and $d$ are our $T$ and $D$). Every line of topic 06 works on it as it stands.
#
# ### Exercise: `split_heads`, cut a word into heads (about 10 minutes)
#
# `ValueError` when the heads do not divide the width.


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
# Why two steps, if `x.reshape(B, n_heads, T, D // n_heads)` gives the right shape in one? Here are the numbers of one sentence, and in each cell the head that gets it:

# %%
show.multi_head_attention.shares(split_heads)

# %% [markdown]
# On the right, a head gets some of the *words*, whole, and never sees the others. The shape is right, nothing complains, and the loss even falls: this mistake can go unnoticed for a long time.
#
# ### Exercise: `merge_heads`, put the heads together again (about 10 minutes)
#
# The way back. The same trap is waiting.


# %% solution="merge_heads"
def merge_heads(x: torch.Tensor) -> torch.Tensor:
    """x (B, h, T, d) -> (B, T, h * d): the heads' findings for each word side by side."""
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
# ## Attention in every head
#
# Now all of it: project, split, attend in every head, merge, mix. Two things are new since topic 06.
#
# Queries may come from **other words** than keys and values: `x_q` asks, `x_kv` is asked. In self-attention they are the same; a translation that looks at its source (topic 10) needs the difference.
#
# And there may be a **mask**: a boolean tensor that broadcasts to $(B, h, T, S)$, `True` where a query may look. What is forbidden gets the weight 0, and the rest shares the whole attention as if the forbidden keys did not exist. A query that may look at nothing at all gets weights of zero. (What masks are for is topic 09. Until then `mask` is mostly `None`.)
#
# ### Exercise: `multi_head_attention` (about 25 minutes)
#
# In two parts. `attend_in_heads` gets words that are projected already; you will need it again for the layer. `torch.softmax` is allowed from here on, torch's ready-made attention is not. The matrices are stored `(out, in)`, as ever, and heads that do not divide the width are a `ValueError`, as in `split_heads`. And how many products does one score add up?


# %% solution="multi_head_attention"
def attend_in_heads(q, k, v, n_heads, mask=None):
    """q (B, T, D), k and v (B, S, D) -> findings (B, T, D), merged, and weights (B, h, T, S)."""
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
# Does that solve the playground, if somebody chooses the matrices? Four children, and for each a word of 16 numbers: its name, its number, its friend's name and its rival's name, all one-hot. The first head asks for friends, the second for rivals; both look at names and bring numbers.

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
marks = {"friend": children[:, 2].tolist(), "rival": children[:, 3].tolist()}
show.multi_head_attention.head_maps(weights[0], shown, asking, marks)

# %% [markdown]
# Two distributions for each child, and two answers that do not touch. ($W_o$ had nothing to do here. In general it takes what the heads have found, each in its own columns, and writes it wherever the next layer wants to read it.)
#
# ## The layer
#
# As a layer, with biases. torch has had one for years, `nn.MultiheadAttention`, and yours can prove itself against it: take over its weights, and everything must agree.
#
# ### Exercise: `MultiHeadAttention`, the layer (about 20 minutes)
#
# `W_q`, `W_k`, `W_v` and `W_o` are `nn.Linear` layers of width $D$, with a bias unless `bias=False`. `load_torch` copies the weights out of the `state_dict()` of an `nn.MultiheadAttention` of the same sizes. Look at one to see what it calls them, and what it has put on top of what:

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
# ## What it costs
#
# More heads, more to learn? Count.
#
# ### Exercise: `multi_head_parameters`, how many parameters (about 5 minutes)
#
# All numbers that such a layer learns, with biases if `bias` is true. `ValueError` for a layer that cannot be built.


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
# And the time? Topic 06 counted the multiplications for comparing all words with each other: the number of words squared, times their width. (There $d$ was the full width. Here it is a head's.) For the layer of the paper, 512 wide, and a sentence of 70 words:

# %%
print("heads   width of one   parameters     multiplications for the scores")
for heads in (1, 2, 4, 8, 16, 64, 512):
    d = 512 // heads
    count = multi_head_parameters(512, heads, bias=False)
    work = f"{heads:>3} × 70 × 70 × {d:>3} = {heads * 70 * 70 * d:,}"
    print(f"{heads:>5} {d:>14} {count:>12,}     {work}")

# %% [markdown]
# Neither of the last two columns changes. The paper says so: because each head is narrower, the total cost is that of one head of full width. So heads are free, and the only question is how narrow one can be and still find what it looks for. You will measure it.
#
# ## The task: friends and rivals
#
# Back to the children, eight on each playground, their names, numbers, friends and rivals drawn by lot. `blocks.ChildSlots` makes a word of each child: the sum of four embeddings, for its name, its number, the name of its friend, the name of its rival. One layer of your attention reads them, and a linear map reads
# off twenty scores for each child: ten for the friend's number, ten for the rival's. Nothing tells the heads which of them is to do what.
#
# ### Exercise: model and training loop (about 20 minutes)
#
# Write `forward` around your layer, and `train`, which takes batches until there are no more: four tensors of shape $(B, S)$, and `answers` $(B, S, Q)$, here with $Q = 2$: the friend's number and the rival's. `batches.log(loss)` draws the curve. (Let the loop take any $Q$: further down it trains a model that is asked a third question.) Full marks for 98 % of each question on new playgrounds, and 95 % on larger ones.


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

    The model gives logits (B, S, Q, 10) for answers (B, S, Q).
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
# ## Which head does what?
#
# One playground that nobody has seen in training, and the weights of both heads, in percent. Circles mark friends, squares rivals.

# %%
COLUMNS = "names", "numbers", "friends", "rivals"
new = data.load("relations", rows=1000, seed=1).with_format("torch")[:]
playground = [new[column].to(device()) for column in COLUMNS]
answers = new["answers"].to(device())
names, numbers, friends, rivals = playground
# For each child, which of the others is meant: (1000, 8, 8), one True in each row.
meant = {
    "friend": names[:, None] == friends[:, :, None],
    "rival": names[:, None] == rivals[:, :, None],
}

model = record.model
with torch.no_grad():
    x = model.slots(*playground)
    _, weights = model.attend(x, x)  # (1000, 2, 8, 8)
shown, asking = labels(*(column[0].tolist() for column in playground))
places = {relation: who[0].int().argmax(-1).tolist() for relation, who in meant.items()}
show.multi_head_attention.head_maps(weights[0], shown, asking, places)

# %% [markdown]
# Nobody told them, and they have divided the work. (Yours may have done it the other way round.) Is it the same on every playground? Over a thousand of them, how much of a head's attention goes to friends, and how much to rivals?

# %%
rows = {}
for head in range(2):
    seen = [(weights[:, head] * who).sum(-1).mean().item() for who in meant.values()]
    rows[f"head {head + 1}"] = [*seen, 1 - sum(seen)]
show.multi_head_attention.by_relation(
    rows, ["friend", "rival", "anybody else"], "Where does each head look?", "share of attention, %"
)

# %% [markdown]
# Looking is not yet using. To see what a head is *worth*, silence it: what head $i$ has found stands in columns $(i-1)\,d$ to $i d - 1$ when it meets $W_o$, so set those columns of $W_o$ to zero and ask again.


# %%
def accuracy(model, wanted=answers):
    """The share of right answers to each question, on a thousand new playgrounds."""
    with torch.no_grad():
        right = model(*playground).argmax(-1) == wanted
    return right.float().mean((0, 1)).tolist()


def silenced(model, head, d=32):
    """A copy of the model in which nobody listens to one head."""
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
# Without the head that looks at friends, friends' numbers are guessed and rivals' are known, and the other way round. Each head does one job, and no more than that.
#
# ## One head, and many
#
# Now the same model with one head, then with more than it needs. Width, number of parameters, batches and your training loop stay as they are; only how many heads share the width changes. (`variant` keeps their weights apart from those that are graded.)

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
    "the question it answers better": [max(found[h]) for h in heads],
    "the other question": [min(found[h]) for h in heads],
}
parameters = [multi_head_parameters(64, h, bias=True) for h in heads]
show.multi_head_attention.by_heads(heads, curves, parameters)

# %% [markdown]
# One head learns one of the questions (which one is chance) and does little better than guessing at the other, although it is twice as wide as either of the two heads and has just as many numbers to learn. It is not too small. It has one softmax.
#
# And to the right? In a layer of 64 heads each has one column: its query is a single number, and so is each key. With that alone a head cannot tell 26 names apart; all 64 together still get four answers of five. Eight columns are plenty here. The paper's layers had 8 heads of 64 columns, and most models since then have kept to 64 or 128.
#
# ## Heads in layers
#
# A third question: **which number does your friend's rival wear?** No head can look there. A child knows its friend's name, and who the friend's rival is, only the friend knows: two looks, one after the other. So take two layers. Each child keeps what it has, and adds what it hears (that sum is all you need for now; topic 10 says why it is there). Your own loop trains them, on batches with three answers.


# %%
class Layers(nn.Module):
    """Layers of attention, one on what the other has heard, for three questions."""

    def __init__(self, n_layers, n_heads=2, width=64):
        super().__init__()
        self.slots = blocks.ChildSlots(width)
        self.layers = nn.ModuleList(MultiHeadAttention(width, n_heads) for _ in range(n_layers))
        self.read = nn.Linear(width, 30)

    def forward(self, *playground):
        return self.read(self.listen(*playground)[0]).unflatten(-1, (3, 10))

    def listen(self, *playground):
        """Words after the last layer, and the weights of each layer."""
        x, seen = self.slots(*playground), []
        for attend in self.layers:
            heard, weights = attend(x, x)
            x = x + heard
            seen.append(weights)
        return x, seen


# %%
def three(names, friends, answers):
    """The two answers, and as a third what my friend would say about the rival: (B, S, 3)."""
    friend = (names[:, None] == friends[:, :, None]).int().argmax(-1)  # (B, S): the friend's place
    return torch.cat([answers, answers[..., 1].gather(1, friend)[..., None]], dim=-1)


class WithThird:
    """The same batches, with three answers for each child."""

    def __init__(self, batches):
        self.batches, self.log = batches, batches.log

    def __iter__(self):
        for *playground, answers in self.batches:
            yield *playground, three(playground[0], playground[2], answers)


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
# The second look makes the difference. (One layer's quarter of the third question is no look: one time in seven the friend's rival is the child who asks, one time in seven its own rival, and either's number is a better guess than most.)
#
# How does the number travel, though? There are two ways. Either each child first learns its own rival's number, and is then asked for it by whoever calls it a friend. Or everybody first learns from the friend *who* the rival is, and then looks at that child directly. Training with other random numbers finds one or the other. Which one did yours find?
#
# ## Play
#
# Choose a layer, a head and a child, and see where it looks. Find the head of the second layer that answers the third question. Whom does it look at, the friend or the friend's rival? What, then, must the first layer have brought, and which of its heads brings it?

# %%
with torch.no_grad():
    _, seen = stacks[2].listen(*(column[:1] for column in playground))
seen = [weights[0].cpu() for weights in seen]  # for each layer (2, 8, 8)
show.multi_head_attention.explorer(seen, shown, asking)

# %% [markdown]
# Heads and layers together answer long questions about a *set* of children. Line them up in another order, and the answers come in that order and are otherwise the same:

# %%
order = torch.tensor([5, 2, 7, 0, 3, 1, 6, 4], device=device())
with torch.no_grad():
    straight = stacks[2](*playground)[:, order]
    reordered = stacks[2](*(column[:, order] for column in playground))
print(f"the scores differ by at most {(straight - reordered).abs().max():.1e}")

# %% [markdown]
# On a playground that is as it should be. For *man eats small dinosaur* it is not, and no number of heads will mend it. That is topic 08.
#
# ## In your own words (about 10 minutes)
#
# One head of width 64 learned one of the two questions and hardly more than guessed at the other; two heads of width 32 learned both, with the same number of parameters. Why? Then: a friend says, "More heads never cost anything, so I use as many as there are columns." What do they get, and what do they give up?
# Four to six sentences.

# %% [markdown] question="multi_head_attention_question"
# A head has one softmax, so for each child it has one distribution over the others and brings home one mixture of their values. If it looks at friend and rival at once, their numbers arrive added up, and a linear reader cannot tell which came from whom (and always hears the one with the larger weight
# best); if it looks at one of them only, the other question must be guessed, and that is what training settles for. Width does not matter for this: it lengthens the vectors that are mixed, and there is still only one mixture. Two heads are two distributions, and each leaves its finding in columns of its own, where the reader finds it.
#
# With as many heads as columns, parameters and multiplications are indeed the same, but every head has a single number for its query, its key and its value. A score is then a product of two numbers, which can say "large" or "small" and cannot tell 26 names apart, and what a head brings home is one number. There are many looks, and none of
# them is sharp. The friend has traded what each head can distinguish for the number of heads.

# %% [markdown]
# ## What to take with you
#
# Heads look in several places at once, layers look one after the other. Heads share the width, so they cost nothing, and training divides the work among them. And a tensor of the right shape may still hold the wrong numbers: split and merge were worth a check of their own.
#
# ## Going further
#
# - **One head, better read.** Let a hidden layer with a ReLU read what **one** head has heard: `self.read = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 20))`. It answers one question as well as two heads do and the other in 96 of 100 cases: the head looks at both children, more at one of them, and what a linear layer cannot take apart, a hidden layer nearly can.
# - **Wrong, and it learns.** As in topic 06, wrong attention often learns, too. With the mean of the heads in place of their merging, with scores divided by $\sqrt{D}$ or not at all, with $W_o$ left out, we measured more than 99 % on this task. With the reshape of the first picture in `split_heads` it was 30 %, and 49 % when `merge_heads` made the same mistake on the way back.
# - **Silence.** Give the model four heads and silence them one by one, then two by two. Which work is done twice? P. Michel and others, [Are sixteen heads really better than one?](https://arxiv.org/abs/1905.10650) (2019), took many heads out of trained models and hardly noticed a difference. E. Voita and others,
#   [Analyzing multi-head self-attention](https://arxiv.org/abs/1905.09418) (2019), looked at what those heads do that have to stay: neighbours, grammar, rare words.
# - **Shared keys.** Each query head could share its keys and values with other heads, so that less has to be kept while a text is written. How many parameters does that save? N. Shazeer, [Fast Transformer decoding: one write-head is all you need](https://arxiv.org/abs/1911.02150) (2019).
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017): section 3.2.2 is this notebook, and table 3, rows (A), is your picture of one head and many, for translation.
# - **Next.** However many heads and layers, the words are still a set. Topic 08 tells each of them where it stands.

# %%
progress()
