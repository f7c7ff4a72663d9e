# %% [markdown]
# # 3 Recurrent networks
#
# An n-gram model looks at the world through a window. What lies outside has never happened. This notebook builds the
# oldest cure: a network with a **state**, which it hands to itself from one step to the next. You write the cell, run
# it along a sequence, and carry a gradient back through all of it by hand. Then you train one, and see how far its
# memory reaches.
#
# Seven short exercises, one training task, one written question; two to three hours. Stuck? `hint("rnn_cell")` gives a
# hint, and a stronger one each time.

# %%
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course import check, data, device, fit, hint, progress, seed, show
from course.data import parentheses

# %% [markdown]
# ## What a window cannot see
#
# The lecture's puzzle: parentheses in five colours. Tokens 0 to 4 open, 5 to 9 close, and $j$ closes $i$ when
# $i + j = 9$. Is a sequence balanced? Here each colour is printed as a bracket of its own.

# %%
corpus = data.load("parentheses", sequences=2000, lengths=(6, 16))
for row in corpus.select(range(8)):
    kind = "balanced" if row["label"] else "corrupted"
    print(f"{row['text']:<18} {kind}   {row['ids'][: row['length']].tolist()}")

# %% [markdown]
# The corrupted ones are balanced sequences in which two tokens changed places, chosen with care: no count of tokens has
# changed, and no two neighbours look wrong. Look at one: you cannot tell by *what* is there, only by the *order*, and
# often only by comparing two tokens that stand far apart.
#
# So give the n-gram model of topic 01 every advantage. Suppose it had read all the text there could ever be, and knew
# for certain which windows of $n$ tokens are possible. It calls a sequence corrupted when it sees an impossible window.
# How often is it right?


# %%
def best_window_accuracy(n: int, length: int) -> float:
    ids, lengths, labels = parentheses.examples(
        4000, (length, length), torch.Generator().manual_seed(0)
    )
    noticed = parentheses.window_sees(ids[labels == 0], lengths[labels == 0], n)
    return (1 + noticed.double().mean().item()) / 2  # it never accuses a balanced one


sizes = [1, 2, 3, 4, 6, 8, 10, 12]
accuracy = [[best_window_accuracy(n, length) for n in sizes] for length in (16, 48)]
show.rnn.windows((16, 48), sizes, accuracy)

# %% [markdown]
# Up to three tokens it might as well toss a coin. After that every further token buys less, and the price rises
# tenfold each time: a table for $n = 8$ has $10^8$ entries. Yet *you* solve the puzzle with a pencil: read left to right
# and keep a short note of what is still open. That note is what we are missing: a **state**.
#
# ## One cell
#
# A recurrent network keeps a vector $h$, its state. At each step it reads an input and its own last state, and makes the
# next state of both:
#
# $$h_t = \tanh(W_x\, x_t + W_h\, h_{t-1} + b)$$
#
# (The lecture writes $W_{xh}$ and $W_{hh}$.) Stored as in PyTorch, a weight has shape (out, in), and a batch of row
# vectors meets it as `x @ W.T`.
#
# **Dimensions:** $B$ sequences in a batch, $T$ steps, $D$ numbers in an input, $H$ numbers in the state, $V$ tokens.
#
# ### Exercise: `rnn_cell` (about 10 minutes)
#
# One step, for a batch. (PyTorch's own recurrent layers and cells would be the answer themselves, here and below.)


# %% solution="rnn_cell"
def rnn_cell(x: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    """The next state (B, H) from the input x (B, D) and the state h (B, H).

    W_x is (H, D), W_h is (H, H), b is (H,).
    """
    ### BEGIN SOLUTION
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)
    ### END SOLUTION


# %% check="rnn_cell"
check("rnn_cell", rnn_cell)

# %% [markdown]
# ## Unrolled in time
#
# Run the cell along a sequence, and the loop becomes a deep network: as many layers as there are steps, all of them
# with the *same* weights. That is why it reads sequences of any length.

# %%
show.rnn.unrolled()

# %% [markdown]
# ### Exercise: `rnn_forward` (about 10 minutes)
#
# Return every state $h_1, \dots, h_T$, and the last one once more by itself.


# %% solution="rnn_forward"
def rnn_forward(
    xs: Tensor, h0: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor
) -> tuple[Tensor, Tensor]:
    """All states (B, T, H) and the last (B, H), reading xs (B, T, D) from the state h0 (B, H)."""
    ### BEGIN SOLUTION
    h, states = h0, []
    for t in range(xs.shape[1]):
        h = rnn_cell(xs[:, t], h, W_x, W_h, b)
        states.append(h)
    return torch.stack(states, dim=1), h
    ### END SOLUTION


# %% check="rnn_forward"
check("rnn_forward", rnn_forward)

# %% [markdown]
# What does a state look like? Below, a network with random weights reads a sequence: one column a step, one row a unit.
# Nothing has been learned, and still each column depends on all that was read before it.

# %%
seed(3)
H = 24
W_x, W_h, b = torch.randn(H, 10), torch.randn(H, H) / H**0.5, 0.1 * torch.randn(H)
brackets = "([{}])<>«()»"
xs = F.one_hot(show.rnn.parse(brackets), 10).float()[None]  # (1, T, 10)
hs, _ = rnn_forward(xs, torch.zeros(1, H), W_x, W_h, b)
show.rnn.states(hs[0], list(brackets))

# %% [markdown]
# Now change the *first* token only, and follow the difference between the two runs. The state remembers as long as this
# difference is not lost.

# %%
other = F.one_hot(show.rnn.parse("<" + brackets[1:]), 10).float()[None]
memory = {}
for scale in (0.5, 0.9, 1.3):
    first, _ = rnn_forward(xs, torch.zeros(1, H), W_x, scale * W_h, b)
    second, _ = rnn_forward(other, torch.zeros(1, H), W_x, scale * W_h, b)
    memory[f"{scale} × $W_h$"] = (first - second).norm(dim=-1)[0].tolist()
show.rnn.fading(
    memory, "difference of the states", "How long is the first token remembered?", (1e-5, 30)
)

# %% [markdown]
# A weak $W_h$ forgets within a few steps, a strong one keeps the difference alive. What the network can *learn* is
# decided by the same matrix, on the way back.
#
# ## Back through time
#
# Training needs the gradient of a loss $L$ with respect to the weights. Nothing new is needed: the unrolled loop is an
# ordinary network, and we go back through it step by step. Let $L$ depend on the last state alone, and say we know
# $\partial L / \partial h_T$. Write $a_t = W_x x_t + W_h h_{t-1} + b$ for what goes into the tanh, and
# $\delta_t = \partial L / \partial a_t$. Since $\tanh'(a) = 1 - \tanh^2(a)$, and $\tanh(a_t)$ is the state $h_t$ itself,
#
# $$\delta_t = (1 - h_t^2) \odot \frac{\partial L}{\partial h_t}, \qquad
# \frac{\partial L}{\partial h_{t-1}} = W_h^\top\, \delta_t .$$
#
# The weights were used at every step, so their gradients are sums over the steps (and over the batch):
#
# $$\frac{\partial L}{\partial W_x} = \sum_t \delta_t\, x_t^\top, \qquad
# \frac{\partial L}{\partial W_h} = \sum_t \delta_t\, h_{t-1}^\top, \qquad
# \frac{\partial L}{\partial b} = \sum_t \delta_t .$$
#
# ### Exercise: `bptt` (about 30 minutes)
#
# Backpropagation through time, by hand, without autograd. Run forward once and keep the states; then walk back from $T$
# to $1$ with $\partial L / \partial h_t$ in your hand. Do it on paper for $T = 2$ first: most mistakes are about *which*
# state stands in which formula.


# %% solution="bptt"
def bptt(
    xs: Tensor, h0: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, grad_h_T: Tensor
) -> dict[str, Tensor]:
    """Gradients {"W_x", "W_h", "b", "h0"} of a loss with gradient grad_h_T (B, H) at the end.

    xs is (B, T, D), h0 (B, H); each gradient has the shape of what it belongs to.
    """
    ### BEGIN SOLUTION
    hs, _ = rnn_forward(xs, h0, W_x, W_h, b)
    grad_W_x, grad_W_h, grad_b = torch.zeros_like(W_x), torch.zeros_like(W_h), torch.zeros_like(b)
    grad_h = grad_h_T
    for t in reversed(range(xs.shape[1])):
        h_before = hs[:, t - 1] if t > 0 else h0
        delta = (1 - hs[:, t] ** 2) * grad_h
        grad_W_x += delta.T @ xs[:, t]
        grad_W_h += delta.T @ h_before
        grad_b += delta.sum(dim=0)
        grad_h = delta @ W_h
    return {"W_x": grad_W_x, "W_h": grad_W_h, "b": grad_b, "h0": grad_h}
    ### END SOLUTION


# %% check="bptt"
check("bptt", bptt)

# %% [markdown]
# You have just written what `loss.backward()` does. Compare:

# %%
weights = [w.clone().requires_grad_() for w in (W_x, W_h, b)]
_, h_T = rnn_forward(xs, torch.zeros(1, H), *weights)
h_T.sum().backward()
by_hand = bptt(xs, torch.zeros(1, H), W_x, W_h, b, torch.ones(1, H))
for name, w in zip(("W_x", "W_h", "b"), weights, strict=True):
    print(f"{name}: largest difference from autograd {(by_hand[name] - w.grad).abs().max():.1e}")

# %% [markdown]
# ## It vanishes, it explodes
#
# Look at the way back once more: from step $T$ to step $0$ the gradient is multiplied $T$ times by $W_h^\top$ (and by
# $1 - h^2 \le 1$). Multiply by the same matrix again and again, and in the end the absolute value of its largest
# eigenvalue decides: the **spectral radius** $\rho$. What is left of the gradient after $T$ steps? The inputs are zero
# here, so that tanh has slope one and $W_h$ alone acts.

# %%
curves = {
    f"ρ = {radius}": show.rnn.gradient_norms(bptt, radius) for radius in (0.6, 0.9, 1.0, 1.2, 1.5)
}
show.rnn.fading(curves, show.rnn.COMES_BACK, "What is left of the gradient?", (1e-10, 1e8))

# %% [markdown]
# Straight lines on a logarithmic axis: exponentials. Below one the gradient **vanishes**: with $\rho = 0.6$ less than a
# billionth of it is left after 40 steps, and no step of learning hears of the beginning. Above one it **explodes**.
# There is no comfortable middle, only a narrow path.
#
# Move the sliders. With large inputs the units saturate, $1 - h^2$ goes to zero, and even a large radius no longer
# helps: the gradient dies in the tanh before it can explode. (Tab goes from slider to slider, arrow keys move them.)

# %%
show.rnn.turn_the_radius(bptt)

# %% [markdown]
# Nothing simple helps against vanishing: topic 04 will change the cell itself. Against exploding there is a plain remedy:
# if all gradients *together* are longer than $c$ (`max_norm` below), shorten them to $c$, and keep their direction
# (Pascanu et al. 2013):
#
# $$\lVert g \rVert = \sqrt{\textstyle\sum_i \lVert g_i \rVert^2}, \qquad
# g_i \leftarrow g_i \cdot \min\!\left(1, \frac{c}{\lVert g \rVert}\right).$$
#
# ### Exercise: `clip_grad_norm` (about 10 minutes)
#
# One norm over all tensors of the list, one factor for all. Return the new gradients, and the norm as it was *before*.
# Where all gradients are zero, they stay zero, and the norm is zero too. (`nn.utils.clip_grad_norm_` would be the answer
# itself.)


# %% solution="clip_grad_norm"
def clip_grad_norm(grads: list[Tensor], max_norm: float) -> tuple[list[Tensor], float]:
    """The gradients, scaled to a common norm of at most max_norm, and their norm before."""
    ### BEGIN SOLUTION
    total = sum(float((grad**2).sum()) for grad in grads) ** 0.5
    scale = min(1.0, max_norm / total) if total > 0 else 1.0
    return [grad * scale for grad in grads], total
    ### END SOLUTION


# %% check="clip_grad_norm"
check("clip_grad_norm", clip_grad_norm)

# %% [markdown]
# Now you can train a network without autograd. The task: read 15 inputs, and at the end say what the *first* one was.
# The network starts with $\rho \approx 2$, and takes plain gradient steps; one run clips, the other does not.


# %%
def remember_the_first(
    max_norm: float, steps: int = 300, T: int = 15
) -> tuple[list[float], list[float]]:
    g = torch.Generator().manual_seed(0)
    weights = [
        torch.randn(32, 2, generator=g),
        2 * torch.randn(32, 32, generator=g) / 32**0.5,
        torch.zeros(32),
    ]
    h0, losses, norms = torch.zeros(16, 32), [], []
    for _ in range(steps):
        xs = 0.3 * torch.randn(16, T, 2, generator=g)
        xs[:, 0] = 1.6 * torch.rand(16, 2, generator=g) - 0.8
        _, h_T = rnn_forward(xs, h0, *weights)
        error = F.pad(h_T[:, :2] - xs[:, 0], (0, 30))  # two units must say what the first input was
        gradients = bptt(xs, h0, *weights, 2 * error / 16)
        clipped, norm = clip_grad_norm([gradients[name] for name in ("W_x", "W_h", "b")], max_norm)
        weights = [w - 0.3 * grad for w, grad in zip(weights, clipped, strict=True)]
        losses.append(float((error**2).sum(dim=1).mean()))
        norms.append(norm)
    return losses, norms


runs = {"clipped at 1": remember_the_first(1.0), "not clipped": remember_the_first(float("inf"))}
show.rnn.clipping(runs, 1.0)

# %% [markdown]
# Without clipping, a few huge steps throw the weights so far out that the units saturate. The explosion *caused* a
# vanishing: from then on hardly any gradient comes back, and the run is lost. (When it happens differs from machine to
# machine, since an explosion magnifies even the last digit of every number. On some the run comes back to life for a few
# steps, and explodes once more.) With clipping, gradients several times too long keep coming, and the loss goes down all
# the same.
#
# ## Elman's network reads parentheses
#
# Elman (1990) put a readout on the state. The lecture's version uses ReLU in the recurrence, starts from $h_0 = 0$, and
# classifies by the last state:
#
# $$h_t = \mathrm{ReLU}(W_x x_t + W_h h_{t-1} + b), \qquad y = W_y h_T + b_y ,$$
#
# with $x_t$ the one-hot vector of a token (so $W_x x_t$ is simply a column of $W_x$: an embedding does the same).
#
# A batch holds sequences of different lengths, filled up with zeros on the right. Mind that 0 is also a token, `(`: only
# `lengths` says where a sequence ends.
#
# ### Exercise: `ElmanClassifier` (about 20 minutes)
#
# Build what you need in the constructor, and return logits from the state at each sequence's **last real token**.
# PyTorch's own recurrent layers are not allowed here; `nn.Linear` and `nn.Embedding` are.


# %% solution="ElmanClassifier"
class ElmanClassifier(nn.Module):
    """Classifies a sequence by the state after its last real token."""

    def __init__(self, vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.vocab_size = vocab_size
        self.from_input = nn.Linear(vocab_size, hidden)
        self.from_state = nn.Linear(hidden, hidden, bias=False)
        self.to_classes = nn.Linear(hidden, classes)
        ### END SOLUTION

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, classes) for ids (B, T), the first lengths (B,) tokens of each real."""
        ### BEGIN SOLUTION
        inputs = self.from_input(F.one_hot(ids, self.vocab_size).to(self.from_input.weight.dtype))
        h, states = torch.zeros_like(inputs[:, 0]), []
        for t in range(ids.shape[1]):
            h = torch.relu(inputs[:, t] + self.from_state(h))
            states.append(h)
        last = torch.stack(states, dim=1)[torch.arange(len(ids)), lengths - 1]
        return self.to_classes(last)
        ### END SOLUTION


# %% check="ElmanClassifier"
check("ElmanClassifier", ElmanClassifier)

# %% [markdown]
# ## Writing, one token after another
#
# A recurrent network that predicts the *next* token can write: read the start, draw a token from its prediction, feed
# it back in, draw the next. The **temperature** $\tau$ of topic 01 divides the logits before the softmax (the same as
# $p^{1/\tau}$, normalised): near zero it always takes the likeliest token, above one it becomes adventurous.
#
# ### Exercise: `generate` (about 15 minutes)
#
# `step(token, h)` takes a LongTensor of shape (1,) and a state; it returns logits (1, V) and the new state. Return the
# tokens you drew, without the start. All chance comes from `generator`.


# %% solution="generate"
def generate(
    step, h0: Tensor, start: int, length: int, temperature: float, generator: torch.Generator
) -> Tensor:
    """LongTensor (length,): each token drawn from softmax(logits / temperature) and read next."""
    ### BEGIN SOLUTION
    token, h, written = torch.tensor([start]), h0, []
    for _ in range(length):
        logits, h = step(token, h)
        probabilities = torch.softmax(logits[0] / temperature, dim=-1)
        token = torch.multinomial(probabilities, 1, generator=generator)
        written.append(token)
    return torch.cat(written)
    ### END SOLUTION


# %% check="generate"
check("generate", generate)

# %% [markdown]
# Let a network write parentheses. This one is built on your `rnn_cell` and `rnn_forward`; token 10 stands for the start.


# %%
class Writer(nn.Module):
    """Predicts the next token: logits (B, T, 10) for ids (B, T)."""

    def __init__(self, hidden: int = 64) -> None:
        super().__init__()
        self.W_x = nn.Parameter(0.3 * torch.randn(hidden, 11))
        self.W_h = nn.Parameter(torch.randn(hidden, hidden) / hidden**0.5)
        self.b = nn.Parameter(torch.zeros(hidden))
        self.read = nn.Linear(hidden, 10)

    def forward(self, ids: Tensor) -> Tensor:
        xs = F.one_hot(ids, 11).float()
        hs, _ = rnn_forward(xs, xs.new_zeros(len(xs), len(self.b)), self.W_x, self.W_h, self.b)
        return self.read(hs)

    def step(self, token: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        h = rnn_cell(F.one_hot(token, 11).float(), h, self.W_x, self.W_h, self.b)
        return self.read(h), h


# %% [markdown]
# It is trained as language models are: at every position it reads the *true* token before, whatever it would have said
# itself. That is called **teacher forcing**.

# %%
seed(0)
writer = Writer()
optimizer = torch.optim.Adam(writer.parameters(), lr=3e-3)
sequences = parentheses.balanced(torch.full((32_000,), 24), torch.Generator().manual_seed(1))
for batch in F.pad(sequences, (1, 0), value=10).split(64):
    loss = F.cross_entropy(writer(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with torch.no_grad():
    for temperature in (0.3, 0.7, 1.0, 2.0):
        ids = generate(
            writer.step, torch.zeros(1, 64), 10, 24, temperature, torch.Generator().manual_seed(5)
        )
        print(f"temperature {temperature}: {parentheses.text(ids)}")

# %% [markdown]
# It closes what it opened most of the time, and more so when it is cold. But there is a catch. In training it always
# read true tokens; when it writes, it reads its own. Let it read a thousand true sequences, and name the next token at
# every place; then let it write a thousand of its own. How many of these tokens are impossible, that is, close what is
# not open?


# %%
def impossible(tokens: Tensor, read: Tensor) -> list[float]:
    """The share of tokens (n, 24), place by place, that close what is not open in what was read."""
    wrong = (tokens >= 5) & (tokens + parentheses.still_open(read) != 9)
    return wrong.double().mean(dim=0).tolist()


truth = parentheses.balanced(torch.full((1000,), 24), torch.Generator().manual_seed(2))
none, chance = torch.zeros(1, 64), torch.Generator().manual_seed(1)
seed(1)
with torch.no_grad():
    logits = writer(F.pad(truth, (1, 0), value=10))[:, :-1]
    named = torch.distributions.Categorical(logits=logits).sample()
    own = torch.stack([generate(writer.step, none, 10, 24, 1.0, chance) for _ in range(1000)])
show.rnn.drifting(
    {"after a true beginning": impossible(named, truth), "after its own": impossible(own, own)}
)

# %% [markdown]
# The two begin together and drift apart. One slip of its own leads into a region that it never saw in training, where
# the next slip is likelier. This is **exposure bias**.
#
# One remedy is to let it taste its own tokens already in training: *scheduled sampling* (Bengio et al. 2015). At each
# position a coin decides: with probability $p$ the model reads the teacher's token, else its own. At the beginning of
# training $p$ is 1, and then it falls.
#
# ### Exercise: `scheduled_inputs` (about 10 minutes)
#
# Every position of every sequence gets a coin toss of its own. All chance comes from `generator`.


# %% solution="scheduled_inputs"
def scheduled_inputs(targets: Tensor, own: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """At each position of (B, T), on a draw of its own: targets with probability p, else own."""
    ### BEGIN SOLUTION
    coins = torch.rand(targets.shape, generator=generator)
    return torch.where(coins < p, targets, own)
    ### END SOLUTION


# %% check="scheduled_inputs"
check("scheduled_inputs", scheduled_inputs)

# %% [markdown]
# Now mix: at each place your function chooses between the teacher's token and the one that the writer itself would say
# there, and the writer reads the choice. Below each line, `^` marks where it is not the teacher's.

# %%
teacher = parentheses.balanced(torch.tensor([24]), torch.Generator().manual_seed(6))[0]
for p in (1.0, 0.75, 0.5, 0.0):
    mixed = show.rnn.mixed(scheduled_inputs, writer.step, none, 10, teacher, p)
    print(f"p = {p:<5} {parentheses.text(mixed)}")
    print("          " + "".join("^" if other else " " for other in mixed != teacher))

# %% [markdown]
# Read the middle lines. The writer's own tokens answer what it has read; the teacher's do not, for they go on with a
# text of which it has read only a part. So parentheses lose their partner, and the target that comes next has little to
# do with what was read. Huszár (2015) showed that scheduled sampling can indeed pull a model away from the true
# distribution. It helps where the model's own token does as well as the teacher's, as one word often does for another.
#
# ## The task: train a reader (about 25 minutes)
#
# Train your `ElmanClassifier` on coloured parentheses of 6 to 16 tokens. `fit` builds your model, hands it to your
# function `train` together with the batches, and keeps the weights in `checkpoints/`. The batches end when the budget
# is spent: 150,000 sequences on a CPU (about 15 seconds), more on a GPU.
#
# Write the loop: logits, loss, backward, clip, step. Give each loss to `batches.log` and watch the curve. To clip with
# your own function, take each parameter's `.grad` and put the clipped one in its place. What you may change: width,
# optimiser, learning rate, the norm at which you clip.
#
# At grading the model reads sequences it has never seen, of the same lengths, and their padding is **not** zero but
# random tokens. For all points it must be right on 85 % of them; 77 % and 65 % earn a part each.


# %% solution="rnn_task"
def reader() -> nn.Module:
    """The model to train: 10 tokens, 2 classes (1 is balanced)."""
    ### BEGIN SOLUTION
    return ElmanClassifier(10, 64, 2)
    ### END SOLUTION


def train(model: nn.Module, batches) -> None:
    """Trains the model; each batch is ids (B, T), lengths (B,), labels (B,)."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for ids, lengths, labels in batches:
        loss = F.cross_entropy(model(ids, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        clipped, _ = clip_grad_norm([parameter.grad for parameter in model.parameters()], 1.0)
        for parameter, grad in zip(model.parameters(), clipped, strict=True):
            parameter.grad = grad
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("rnn_task", reader, train)

# %% check="rnn_task"
check("rnn_task", record.model)

# %% [markdown]
# ## Where it fails
#
# Nine out of ten is far from chance. But did it learn the *rule*? The rule holds at any length. Ask it.


# %%
@torch.no_grad()
def accuracy_at(length: int) -> float:
    ids, lengths, labels = parentheses.examples(
        1000, (length, length), torch.Generator().manual_seed(9)
    )
    logits = record.model(ids.to(device()), lengths.to(device())).cpu()
    return (logits.argmax(dim=1) == labels).double().mean().item()


lengths = [6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64]
curves = {"Elman": [accuracy_at(length) for length in lengths]}
curves["best window of 4"] = [best_window_accuracy(4, length) for length in lengths]
show.rnn.accuracy_by_length(lengths, curves)

# %% [markdown]
# Within the lengths of training it is good, though worse towards their end. Beyond, it falls back to the coin, below
# what even a narrow window knows. It built no stack: 64 numbers, rewritten at each step, hold a few open parentheses,
# and it was never shown more.
#
# Watch it read. After every token the network says how sure it is that what it has read so far is balanced. Full dots
# stand where the question makes sense: after an even number of tokens, the last of which closes. The hollow ones show
# what it says when asked in the middle of something, which never happened in training: there it may say anything. (And
# after four tokens, where it should say no, it may well be wrong: it never met a sequence of fewer than six.)

# %%
show.rnn.reading(record.model.cpu(), show.rnn.parse("([{}])<>«()»"))

# %% [markdown]
# Try sequences of your own. Where is it fooled: by depth, by length, or by how long a colour has to be kept?

# %%
show.rnn.watch_it_read(record.model)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Your network fails on sequences of 64 tokens. Someone says: *"Of course: the gradient vanishes."* Give one reason from
# your figures why this cannot be the whole story, name another cause, and describe an experiment (what you would train,
# what you would plot) whose outcome would tell the two apart. Five to ten sentences.

# %% [markdown] question="rnn_question"
# The network was trained on sequences of at most 16 tokens, so no gradient ever had to travel further than 16 steps,
# and at those lengths it learned well. Failing at 64 is a matter of what the trained network *computes* there, not of a
# gradient that was lost: with the weights fixed there is no gradient at all. Another cause is the state itself. To be
# right, it has to hold the colours of all open parentheses in order; with depth $d$ there are $5^d$ possibilities, and
# the network only ever met the few depths of short sequences. Its code for a stack need not go on working deeper down,
# and small errors of each step add up over many.
#
# Experiment: train the same network on sequences of 32 to 64 tokens, and plot accuracy against the distance of the
# exchanged pair, separately for small and for large depth. If the gradient is to blame, accuracy falls with distance
# even where the nesting is shallow, and more hidden units do not help. If capacity is to blame, it falls with depth at
# equal distance, and a wider state moves the limit. (In truth both play a part, which is why topic 04 gates the state.)

# %% [markdown]
# ## What to take with you
#
# A recurrent network rewrites a memory of fixed size at every step, always with the same weights. So it reads sequences
# of any length; and so the gradient is multiplied by the same matrix at every step on its way back, and vanishes or
# explodes. Clipping mends the explosion. When such a network writes, it reads its own words, which it never did while it
# was taught.
#
# ## Going further
#
# - **Try it.** Initialise $W_h$ with the identity (Le, Jaitly and Hinton 2015) and train again. Train on lengths that
#   grow during training. Train `Writer` with `scheduled_inputs` and $p = 0.95$: does the drift become smaller?
# - **Read.** J. Elman, *Finding Structure in Time* (1990): a network that discovers word classes by predicting the next
#   word. R. Pascanu, T. Mikolov, Y. Bengio, *On the difficulty of training recurrent neural networks* (2013).
#   A. Karpathy, [The Unreasonable Effectiveness of Recurrent Neural Networks](https://karpathy.github.io/2015/05/21/rnn-effectiveness/)
#   (2015). F. Huszár, [How (not) to train your generative model](https://arxiv.org/abs/1511.05101) (2015).
# - **Next.** The state was overwritten at every step. Topic 04 gives the network gates, with which it decides what to
#   keep.

# %%
progress()
