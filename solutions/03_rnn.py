# %% [markdown]
# # 3 Recurrent networks
#
# Cut a slit three characters wide into a sheet of paper. Slide it over these two texts, one step at a time.
#
# ```
# (<{}>)[{}]
# (<{}>][{})
# ```
#
# Whatever you see through the slit could stand in a balanced text. Now take the paper away. In the second text, `]` closes a parenthesis that `(` opened.
#
# An n-gram model never takes the paper away, because it sees a window of $n$ tokens and nothing else. This notebook gives a network a memory. It keeps a vector, the **hidden state**, and hands it
# from each step to the next. Such a network is called a **recurrent neural network** (RNN).
#
# **You will**
#
# - write a recurrent cell, run it along a sequence, and carry a gradient back through time by hand
# - see gradients vanish and explode, and clip those that explode
# - train one network to read parentheses and another to write them, and measure where both fail.
#
# **You need** the idea of an n-gram, the softmax, and a training loop in PyTorch. Two facts from mathematics help. The derivative of $\tanh$ is $1 - \tanh^2$, and the chain rule multiplies derivatives.
#
# <!-- needs: 01_markov_ngrams, 02_cbow -->
# You met n-grams in topic 01, and softmax and the training loop in topic 02.
#
# Seven short exercises, one training task and one written question take about 140 minutes. Are you stuck? `hint("rnn_cell")` gives a hint, and a stronger one each time you call it. Twice `predict` asks
# you to guess a result before you see it. Your guess earns no points and costs none.

# %%
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course import check, data, device, fit, hint, predict, progress, rubric, seed, show
from course.data import parentheses

# %% [markdown]
# ## What a window cannot see
#
# The lecture's puzzle has parentheses in five colours. Tokens 0 to 4 open and tokens 5 to 9 close. Token $j$ closes token $i$ when $i + j = 9$. Is a sequence balanced? We print each colour as a
# bracket of its own.

# %%
corpus = data.load("parentheses", sequences=2000, lengths=(6, 16))
for row in corpus.select(range(8)):
    kind = "balanced" if row["label"] else "corrupted"
    print(f"{row['text']:<18} {kind}   {row['ids'][: row['length']].tolist()}")

# %% [markdown]
# A corrupted sequence is a balanced one in which two tokens changed places. The two are chosen with care. No count of tokens changes, and no two neighbours look wrong. So it does not help to know
# *which* tokens are there. You need their *order*, and often you have to compare two tokens that stand far apart.
#
# Let us give an n-gram model every advantage. Suppose that it has read all the text there could ever be, and knows exactly which windows of $n$ tokens are possible. It calls a sequence
# corrupted when it sees an impossible window. How often is it right?


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
# With up to three tokens the model does no better than a coin, and with four it is right about three times in four. Longer windows help less and less, and each further token multiplies the size of the table by ten. A table for $n = 8$ has $10^8$ entries.
#
# Yet *you* can solve the puzzle with a pencil. You read from left to right and keep a short note of what is still open. The network needs such a note too, and its hidden state is the place for it.
#
# ## One cell
#
# Start with a state of a single number. A cell reads an input $x$ and its own last state $h$. It weights the input with 1 and the state with 0.5, adds the two, and takes the $\tanh$ of the sum. The state
# starts at 0, and the inputs are 1, 0, 0.
#
# | step | input | last state | weighted sum | next state |
# |--:|--:|--:|--:|--:|
# | 1 | 1 | 0 | 1 · 1 + 0.5 · 0 = 1 | tanh(1) = 0.762 |
# | 2 | 0 | 0.762 | 1 · 0 + 0.5 · 0.762 = 0.381 | tanh(0.381) = 0.363 |
# | 3 | 0 | 0.363 | 1 · 0 + 0.5 · 0.363 = 0.182 | tanh(0.182) = 0.180 |
#
# The only signal came at step 1. Two steps later there is still a trace of it in the state. For vectors the weights become matrices, and a bias $b$ is added.
#
# $$h_t = \tanh(W_x\, x_t + W_h\, h_{t-1} + b)$$
#
# The lecture calls the matrices $W_{xh}$ and $W_{hh}$. PyTorch stores a weight in the shape (out, in). A batch has one sequence in each row, so you multiply it as `x @ W.T`.
#
# **Dimensions.** A batch has $B$ sequences of $T$ steps. An input has $D$ numbers and a hidden state has $H$. The vocabulary has $V$ tokens.
#
# ### Exercise: `rnn_cell` (about 10 minutes)
#
# Write one step for a batch. Do not use `nn.RNN` or `nn.RNNCell`, since they are the answer themselves.


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
# Run the cell along a sequence, and the loop becomes a deep network. It has as many layers as there are steps, and all of them share the *same* weights. That is why it can read sequences of any length.

# %%
show.rnn.unrolled()

# %% [markdown]
# ### Exercise: `rnn_forward` (about 10 minutes)
#
# Run your cell along the sequences. Return all hidden states $h_1, \dots, h_T$, and the last one once more by itself. Do not use `nn.RNN` or `nn.RNNCell`.


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
# What does a hidden state look like? Below, a network with random weights reads a sequence. Each token enters as a **one-hot vector**, with a 1 at the token's number and 0 elsewhere, which
# `F.one_hot` makes. In the picture, each column is a step and each row is a **unit**, one number of the state. The network has learned nothing, and still each column depends on everything it has read
# so far.

# %%
seed(3)
H = 24
W_x, W_h, b = torch.randn(H, 10), torch.randn(H, H) / H**0.5, 0.1 * torch.randn(H)
brackets = "([{}])<>«()»"
xs = F.one_hot(show.rnn.parse(brackets), 10).float()[None]  # (1, T, 10)
hs, _ = rnn_forward(xs, torch.zeros(1, H), W_x, W_h, b)
show.rnn.states(hs[0], list(brackets))

# %% [markdown]
# Now change only the *first* token and run the network again. The plot follows the difference between the two runs. The state remembers the first token for as long as this difference can be measured.

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
# With a weak $W_h$ the network forgets within a few steps. A strong $W_h$ keeps the difference alive. The same matrix also decides what the network can *learn*, because the gradient has to pass through it
# on its way back.
#
# ## Back through time
#
# Training needs the gradient of a loss $L$ with respect to the weights. The unrolled loop is an ordinary network, so the chain rule takes us back through it, one step at a time.
#
# Take the small cell again, with the inputs 1 and 0. Its states were $h_1 = 0.762$ and $h_2 = 0.363$. Suppose that $\partial L / \partial h_2 = 1$, and walk back.
#
# - At step 2 the $\tanh$ has the slope $1 - 0.363^2 = 0.868$. So the gradient before the $\tanh$ is $\delta_2 = 0.868 \cdot 1 = 0.868$.
# - The weight 0.5 carries it to the state before, so $\partial L / \partial h_1 = 0.5 \cdot 0.868 = 0.434$.
# - At step 1 the slope is $1 - 0.762^2 = 0.420$. So $\delta_1 = 0.420 \cdot 0.434 = 0.182$, and $\partial L / \partial h_0 = 0.5 \cdot 0.182 = 0.091$.
#
# Each weight was used at both steps, so its gradient is a sum of two terms. For the weight of the state this is $0.868 \cdot 0.762 + 0.182 \cdot 0 = 0.661$. For the weight of the input it is
# $0.868 \cdot 0 + 0.182 \cdot 1 = 0.182$. For the bias it is $0.868 + 0.182 = 1.050$.
#
# Now for vectors. Let $L$ depend on the last state alone, and suppose that we know $\partial L / \partial h_T$. Write $a_t = W_x x_t + W_h h_{t-1} + b$ for the input of the $\tanh$, and
# $\delta_t = \partial L / \partial a_t$. The $\tanh$ of $a_t$ is the state $h_t$ itself, so its slope is $1 - h_t^2$.
#
# $$\delta_t = (1 - h_t^2) \odot \frac{\partial L}{\partial h_t}, \qquad
# \frac{\partial L}{\partial h_{t-1}} = W_h^\top\, \delta_t .$$
#
# The sign $\odot$ multiplies two vectors number by number. The gradients of the weights are sums over the steps, and over the sequences of the batch.
#
# $$\frac{\partial L}{\partial W_x} = \sum_t \delta_t\, x_t^\top, \qquad
# \frac{\partial L}{\partial W_h} = \sum_t \delta_t\, h_{t-1}^\top, \qquad
# \frac{\partial L}{\partial b} = \sum_t \delta_t .$$
#
# ### Exercise: `bptt` (about 30 minutes)
#
# Write **backpropagation through time** (BPTT) by hand, without autograd. Run forward once and keep the states. Then walk back from $T$ to $1$ and carry $\partial L / \partial h_t$ along. Most mistakes
# are about *which* state stands in which formula, so check your code on the two steps above. Do not use `backward`, `enable_grad`, `torch.autograd` or `torch.func`.


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
# You have just written what `loss.backward()` does. Compare the two.

# %%
weights = [w.clone().requires_grad_() for w in (W_x, W_h, b)]
_, h_T = rnn_forward(xs, torch.zeros(1, H), *weights)
h_T.sum().backward()
by_hand = bptt(xs, torch.zeros(1, H), W_x, W_h, b, torch.ones(1, H))
for name, w in zip(("W_x", "W_h", "b"), weights, strict=True):
    print(f"{name}: largest difference from autograd {(by_hand[name] - w.grad).abs().max():.1e}")

# %% [markdown]
# ## Vanishing and exploding gradients
#
# On its way from step $T$ to step $0$ the gradient is multiplied $T$ times by $W_h^\top$. What does a repeated multiplication do to a vector? Take the matrix with the rows (0.5, 0.4) and (0.4, 0.5), and start
# from the vector (1, 0), whose length is 1.
#
# | multiplications | 1 | 2 | 3 | 4 |
# |---|--:|--:|--:|--:|
# | length | 0.640 | 0.573 | 0.516 | 0.464 |
# | length, divided by the one before | 0.640 | 0.895 | 0.900 | 0.900 |
#
# Soon every multiplication shrinks the vector by the same factor. The eigenvalues of the matrix are 0.9 and 0.1, and the factor is the larger one. The largest absolute value of the eigenvalues is called the **spectral
# radius** $\rho$.
#
# How much of the gradient is left after $T$ steps? In the next cell all inputs are zero. Then $\tanh$ has the slope one and $W_h$ acts alone.

# %%
curves = {
    f"ρ = {radius}": show.rnn.gradient_norms(bptt, radius) for radius in (0.6, 0.9, 1.0, 1.2, 1.5)
}
show.rnn.fading(curves, show.rnn.COMES_BACK, "What is left of the gradient?", (1e-10, 1e8))

# %% [markdown]
# The axis is logarithmic and the lines are straight, so the gradient shrinks or grows exponentially. Below $\rho = 1$ it **vanishes**. With $\rho = 0.6$ less than a billionth is left after 40 steps, and
# training learns nothing from the beginning of the sequence. Above $\rho = 1$ it **explodes**. Only a narrow range lies between the two.
#
# Now move the sliders. Large inputs **saturate** the units. There $\tanh$ is flat and close to 1 or −1, so the slope $1 - h^2$ is close to zero. Then even a large radius no longer helps, because the
# gradient dies in the $\tanh$ before it can explode. The Tab key moves between the sliders, and the arrow keys change them.

# %%
show.rnn.turn_the_radius(bptt)

# %% [markdown]
# Against vanishing gradients there is no simple remedy, because the cell itself has to change. Against exploding gradients there is one, called **gradient clipping** (Pascanu et al. 2013). If all gradients
# *together* are longer than $c$, we shorten them to the length $c$ and keep their direction.
#
# Suppose that the gradients of two weights are (2, 0) and (1, 2). Together they have the length $\sqrt{4 + 0 + 1 + 4} = 3$. With $c = 1.5$ both are halved, which gives (1, 0) and (0.5, 1). With $c = 5$ they stay as
# they are. In the exercise $c$ is called `max_norm`.
#
# $$\lVert g \rVert = \sqrt{\textstyle\sum_i \lVert g_i \rVert^2}, \qquad
# g_i \leftarrow g_i \cdot \min\!\left(1, \frac{c}{\lVert g \rVert}\right).$$
#
# ### Exercise: `clip_grad_norm` (about 10 minutes)
#
# Compute one norm over all tensors of the list, and one factor for all. Return the new gradients, and the norm as it was *before* clipping. If all gradients are zero, they stay zero, and the norm is zero
# too. Do not use `nn.utils.clip_grad_norm_` or its two halves, `get_total_norm` and `clip_grads_with_norm_`, since they are the answer themselves.


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
# Now you can train a network without autograd. It reads 15 inputs, and at the end it has to say what the *first* one was. It starts with $\rho \approx 2$ and takes plain gradient steps. One run clips
# its gradients and the other does not.


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
# Without clipping, a few huge steps throw the weights so far that the units saturate. The explosion *caused* a vanishing gradient. From then on hardly any gradient comes back, and the run is lost. With
# clipping, the gradients are still several times too long, but the loss goes down all the same.
#
# Your curve may look different, because an explosion magnifies even the last digit of every number. On some machines the lost run comes back to life for a few steps and then explodes once more.
#
# ## Elman's network reads parentheses
#
# Elman (1990) put a linear layer on top of the hidden state, called a **readout**. The lecture's version uses the **ReLU** in the recurrence, which replaces negative numbers by 0. It starts from
# $h_0 = 0$, and classifies by the last state.
#
# $$h_t = \mathrm{ReLU}(W_x x_t + W_h h_{t-1} + b), \qquad y = W_y h_T + b_y$$
#
# Here $x_t$ is the one-hot vector of a token. So $W_x x_t$ is one column of $W_x$. `nn.Embedding`, a table with one learned row for each token, computes the same.
#
# A batch holds sequences of different lengths, so the shorter ones are filled up with zeros on the right. This is called **padding**. The text `()` in a batch of width 4 is stored as 0, 9, 0, 0, and
# its length is 2. You have to read its logits from $h_2$, not from $h_4$. Note that 0 is also the token `(`. Only `lengths` says where a sequence ends.
#
# ### Exercise: `ElmanClassifier` (about 20 minutes)
#
# The constructor is given. Its layers hold the weights of the two formulas. `from_input` is $W_x$ with the bias $b$, `from_state` is $W_h$, and `to_classes` is $W_y$ with the bias $b_y$. The judge puts
# numbers of its own into them, so keep their names.
#
# `fit` trains on a GPU where there is one. So make each new tensor where its inputs are, for example with `torch.zeros(2, 3, device=ids.device)`. The same holds in all later topics.
#
# Return logits from the hidden state at each sequence's **last real token**. Do not use `nn.RNN`, `nn.LSTM`, `nn.GRU` or their cells.


# %% solution="ElmanClassifier"
class ElmanClassifier(nn.Module):
    """Classifies a sequence by the state after its last real token."""

    def __init__(self, vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.from_input = nn.Linear(vocab_size, hidden)
        self.from_state = nn.Linear(hidden, hidden, bias=False)
        self.to_classes = nn.Linear(hidden, classes)

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
# A recurrent network that predicts the *next* token can also write. It reads a start token, samples a token from its prediction, reads that token, and samples again.
#
# A temperature $\tau$ makes the writer bolder or more careful. It divides the logits before the softmax. Here are three logits, 2, 1 and 0, at three temperatures.
#
# | temperature | probabilities |
# |--:|---|
# | 0.5 | 0.867, 0.117, 0.016 |
# | 1 | 0.665, 0.245, 0.090 |
# | 2 | 0.506, 0.307, 0.186 |
#
# Near zero the likeliest token is almost always sampled. Above one the unlikely tokens gain.
#
# <!-- needs: 01_markov_ngrams -->
# In topic 01 you raised probabilities to the power $1/\tau$, which gives the same.
#
# ### Exercise: `generate` (about 15 minutes)
#
# `step(token, h)` takes a LongTensor of shape (1,) and a hidden state. It returns logits (1, V) and the new state. Return the tokens that you sampled, without the start token. Use `generator` for all
# randomness.


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
# Let a network write parentheses. This one is built from your `rnn_cell` and `rnn_forward`. Token 10 is the start token.


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
# We train it as language models are trained. At every position it reads the *true* token before, whatever it would have predicted itself. This is called **teacher forcing**. `F.cross_entropy` is
# PyTorch's cross-entropy loss. It wants logits (N, V) and targets (N,), so `flatten` joins sequences and steps.

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
# Most of the time the writer closes what it opened, and a low temperature makes it more careful. But there is a catch. In training it always read true tokens. When it writes, it reads its own.
#
# We measure what that costs. First the writer reads a thousand true sequences and samples the next token at every position. Then it writes a thousand sequences of its own. How many of these tokens are
# impossible? A token is impossible if it closes a parenthesis that is not open.


# %%
def impossible(tokens: Tensor, read: Tensor) -> list[float]:
    """The share of tokens (n, 24) at each position that close what is not open in what was read."""
    wrong = (tokens >= 5) & (tokens + parentheses.still_open(read) != 9)
    return wrong.double().mean(dim=0).tolist()


@torch.no_grad()
def impossible_tokens(model: Writer) -> tuple[list[float], list[float]]:
    """The shares after a true beginning, and after the model's own tokens."""
    none, chance = torch.zeros(1, 64), torch.Generator().manual_seed(1)
    seed(1)
    truth = parentheses.balanced(torch.full((1000,), 24), torch.Generator().manual_seed(2))
    logits = model(F.pad(truth, (1, 0), value=10))[:, :-1]
    named = torch.distributions.Categorical(logits=logits).sample()
    own = torch.stack([generate(model.step, none, 10, 24, 1.0, chance) for _ in range(1000)])
    return impossible(named, truth), impossible(own, own)


after_truth, after_own = impossible_tokens(writer)
show.rnn.drifting({"after a true beginning": after_truth, "after its own tokens": after_own})

# %% [markdown]
# The two curves begin together and drift apart. After one mistake of its own, the writer has read a text unlike all those it saw in training, and there the next mistake is likelier. This is called **exposure bias**.
#
# Should the writer get used to its own tokens while it trains? **Scheduled sampling** (Bengio et al. 2015) tries that. At each position a coin decides. With probability $p$ the model reads the teacher's
# token, and otherwise its own. Training begins with $p = 1$, and $p$ falls from there.
#
# For example, let the teacher's tokens be 0, 1, 8, 9 and the model's own 0, 2, 8, 7. If the coins say teacher, own, teacher, own, the model reads 0, 2, 8, 7.
#
# ### Exercise: `scheduled_inputs` (about 10 minutes)
#
# Toss a separate coin for every position of every sequence. Use `generator` for all randomness.


# %% solution="scheduled_inputs"
def scheduled_inputs(targets: Tensor, own: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """Toss a coin for each position of (B, T): targets with probability p, else own."""
    ### BEGIN SOLUTION
    coins = torch.rand(targets.shape, generator=generator)
    return torch.where(coins < p, targets, own)
    ### END SOLUTION


# %% check="scheduled_inputs"
check("scheduled_inputs", scheduled_inputs)

# %% [markdown]
# Now mix the two. At each position your function chooses between the teacher's token and the token that the writer itself would say there. The writer reads the chosen one. Below each line, `^` marks a
# token that differs from the teacher's.

# %%
teacher = parentheses.balanced(torch.tensor([24]), torch.Generator().manual_seed(6))[0]
for p in (1.0, 0.75, 0.5, 0.0):
    mixed = show.rnn.mixed(scheduled_inputs, writer.step, torch.zeros(1, 64), 10, teacher, p)
    print(f"p = {p:<5} {parentheses.text(mixed)}")
    print("          " + "".join("^" if other else " " for other in mixed != teacher))

# %% [markdown]
# Read the middle lines. Each of the writer's own tokens fits what the writer has read so far. The teacher's tokens come from another text, and they no longer fit. What does a writer learn from such lines? We train
# a second one with $p = 0.9$ all the time, on the same sequences.


# %%
def loss_with_own_tokens(model: Writer, batch: Tensor, p: float, g: torch.Generator) -> Tensor:
    """The mean loss when the model reads each true token with probability p, else its own."""
    token, h, losses = torch.full((len(batch),), 10), torch.zeros(len(batch), 64), []
    for target in batch.split(1, dim=1):  # (B, 1), one position after another
        logits, h = model.step(token, h)
        losses.append(F.cross_entropy(logits, target[:, 0]))
        own = torch.softmax(logits.detach(), dim=-1).multinomial(1, generator=g)
        token = scheduled_inputs(target, own, p, g)[:, 0]
    return torch.stack(losses).mean()


seed(0)
second, chance = Writer(), torch.Generator().manual_seed(3)
optimizer = torch.optim.Adam(second.parameters(), lr=3e-3)
for batch in sequences.split(64):
    loss = loss_with_own_tokens(second, batch, 0.9, chance)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# %%
predict("own_tokens_in_training")

# %%
show.rnn.scheduled_sampling({1.0: (after_truth, after_own), 0.9: impossible_tokens(second)})

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# The second writer does worse, after a true beginning and after its own tokens. We tried three seeds. When it reads its own tokens, 38 to 45 % of its tokens at the last position are impossible. For the first
# writer it was 24 to 31 %. Of the texts that the second writer writes, about one in a hundred is balanced. The first writer balances about one in ten.
#
# The replaced tokens leave parentheses without a partner, and the next target has little to do with what the writer read. Huszár (2015) showed that scheduled sampling can pull a model away from the
# true distribution. It helps where the model's own token is as good as the teacher's, for example one of two synonyms.
#
# </details>
#
# ## The task: train a reader (about 25 minutes)
#
# Train your `ElmanClassifier` on coloured parentheses of 6 to 16 tokens. `fit` builds your model and hands it to your function `train` together with the batches. Afterwards it saves the weights in
# `checkpoints/`. The batches end when the budget is spent. On a CPU that is 150,000 sequences, which take about 15 seconds. On a GPU the budget is larger.
#
# Each batch has `ids` of shape $(B, T)$, and `lengths` and `labels` of shape $(B,)$. In the loop, compute logits, loss and gradients. Then clip the gradients and take a step. Call `batches.log(loss)`
# once for each batch. It records the loss and draws the curve.
#
# To clip with your own function, take each parameter's `.grad` and put the clipped one in its place. You may change the width, the optimizer, the learning rate, and the norm at which you clip.
# Do not use `nn.RNN`, `nn.LSTM`, `nn.GRU` or their cells.
#
# At grading the model reads new sequences of the same lengths. Their padding is **not** zero but random tokens. For full marks, one measure has to reach its bar:
#
# | measure | bar |
# |---|--:|
# | sequences that the model classifies correctly | 85 % |
#
# Reaching 65 % or 77 % earns part of the points.


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
# ## Longer sequences
#
# Nine right answers out of ten are far from chance. But did your reader learn the *rule*? The rule holds at any length, so ask it about longer sequences.

# %%
predict("accuracy_beyond_training_lengths")


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
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Within the lengths of training the reader is good, though less so near the longest ones. Beyond them it falls back to the level of a coin, below what even a narrow window knows. It did not build a
# **stack**, a pile of open parentheses from which the last one in is the first one out. It has a fixed set of numbers, rewrites them at each step, and has only ever practised with a few open
# parentheses.
#
# </details>
#
# Watch it read. After every token the network says how sure it is that the text so far is balanced. Full dots stand where training could have asked, after an even number of tokens with a closing one
# last. At hollow dots training never asked, so do not trust them. The answer after four tokens may be wrong as well, because no training sequence was shorter than six.

# %%
show.rnn.reading(record.model.cpu(), show.rnn.parse("([{}])<>«()»"))

# %% [markdown]
# Try sequences of your own. What fools it? It may be the depth, the length, or the distance between the two tokens of a pair.

# %%
show.rnn.watch_it_read(record.model)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Your network fails on sequences of 64 tokens. Someone says, *"Of course, the gradient vanishes."* Give one reason from your figures why this cannot be the whole story. Name another cause. Describe an
# experiment whose outcome would tell the two apart, and say what you would train and what you would plot. Write five to ten sentences.

# %% [markdown] question="rnn_question"
# The network was trained on sequences of at most 16 tokens, so no gradient ever had to travel further than 16 steps, and at those lengths it learned well. Its failure at 64 comes from what the trained network
# *computes* there. With the weights fixed there is no gradient at all. Another cause is the hidden state itself. To be right, it has to hold the colours of all open parentheses in order. With depth $d$ there are
# $5^d$ possibilities, and the network only met the few depths of short sequences. Its code for a stack need not go on working deeper down, and the small errors of each step add up over many.
#
# As an experiment, I would train the same network on sequences of 32 to 64 tokens. I would plot accuracy against the distance of the exchanged pair, separately for small and for large depth. If the gradient is to
# blame, accuracy falls with distance even where the nesting is shallow, and more hidden units do not help. If capacity is to blame, accuracy falls with depth at equal distance, and a wider state moves the limit. In
# truth both play a part, and gates in the cell help against both.

# %%
rubric("rnn_question")

# %% [markdown]
# ## What you built
#
# | you wrote | the field calls it | in PyTorch |
# |---|---|---|
# | `rnn_cell`, `rnn_forward` | a simple or Elman RNN | `nn.RNNCell`, `nn.RNN` |
# | `bptt` | backpropagation through time | `loss.backward()` |
# | `clip_grad_norm` | gradient clipping by the global norm | `nn.utils.clip_grad_norm_` |
# | `ElmanClassifier` | sequence classification with an RNN | `nn.RNN` and `nn.Linear` |
# | `generate` | autoregressive sampling with a temperature | a loop like yours |
# | `scheduled_inputs` | scheduled sampling (Bengio et al. 2015) | a loop like yours |
#
# A recurrent network rewrites a memory of fixed size at every step, always with the same weights. So it can read sequences of any length. For the same reason its gradient is multiplied by the same matrix at
# every step on the way back, and it vanishes or explodes. Clipping prevents the explosion. When the network writes, it reads its own tokens, which it never did under teacher forcing.
#
# ## Going further
#
# - **Try it.** Initialise $W_h$ with the identity (Le, Jaitly and Hinton 2015) and train again. Train on lengths that grow during training. Train the second writer with a $p$ that starts at 1 and falls.
# - **Read.** J. Elman, *Finding Structure in Time* (1990) describes a network that discovers word classes while it predicts the next word. R. Pascanu, T. Mikolov and Y. Bengio wrote *On the difficulty of training
#   recurrent neural networks* (2013). A. Karpathy wrote [The Unreasonable Effectiveness of Recurrent Neural Networks](https://karpathy.github.io/2015/05/21/rnn-effectiveness/) (2015). F. Huszár wrote
#   [How (not) to train your generative model](https://arxiv.org/abs/1511.05101) (2015).
# - **Next.** This network overwrites its state at every step. With gates, a network decides what to keep.
#
# <!-- needs: 04_lstm_gru -->
# You build gates in topic 04.
#
# <!-- needs: 14_hidden_states -->
# Topic 14 has a state that is known by its probabilities, and layers that hear half a second at once, without a recurrence.
#
# **Now you can** write a recurrent network down to its gradient, keep that gradient from exploding, and say at which lengths not to trust the network. Run the cell below to see which notebook comes next.

# %%
progress()
