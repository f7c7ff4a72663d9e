# %% [markdown]
# # 17 Without the square: linear attention, RWKV, state spaces, experts
#
# Read this sentence once, look away, and say what it was about. You did not keep its words. You kept a summary, and it will not grow much while you read on.
#
# A Transformer keeps everything. For each new token it looks at the keys of all tokens before it, so the whole text costs the square of its length.
#
# <!-- needs: 06_self_attention -->
# Topic 06 ended there, with texts of 100,000 words.
#
# <!-- needs: 16_bert -->
# The BERT of topic 16 has the same cost.
#
# The layers of this notebook keep a summary of a fixed size instead. You will measure what that saves, on your own machine, and find out what it costs.
#
# **You will**
#
# - turn attention into a recurrence by moving one pair of brackets
# - build a state space model, and let each token decide how much is remembered, as Mamba does
# - compute a recurrence over 1,000 steps in ten passes
# - train a model on short texts and test it on texts four times as long
# - write RWKV's average, and the router of a layer in which a few of many experts work on each token.
#
# **You need** gates, attention and causal masks.
#
# <!-- needs: 04_lstm_gru, 06_self_attention, 09_masking -->
# They are in topics 04, 06 and 09.
#
# Nine exercises, one training task and one written question take about 155 minutes. The reading takes another hour. Call `hint("linear_attention")` if you are stuck.

# %%
import time

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, device, fit, hint, predict, progress, rubric, seed, show
from course.data import copying

# %% [markdown]
# ## The whole picture
#
# | layer | what it keeps of $T$ tokens | how it forgets |
# |---|---|---|
# | softmax attention | $T$ keys and $T$ values | never |
# | linear attention | one matrix and one vector | never |
# | RWKV | two numbers a channel | at a rate that each channel learns |
# | state space model | $N$ numbers a channel | at a rate that each state learns |
# | selective scan (Mamba) | $N$ numbers a channel | at a rate that each token decides |
#
# Below the first row, every layer computes the same kind of step. It multiplies a **state** by a factor and adds something:
#
# $$h_t = a_t\, h_{t-1} + b_t$$
#
# An LSTM has such a step for its cell, but its gates read the old output, so each step must wait for the one before. Here $a_t$ and $b_t$ come from the token alone. The step is **linear** in the state, and this is why it can be computed for many tokens at once. To compute all states of such a recurrence is called a **scan**.
#
# **Dimensions.** A batch has $B$ texts of $T$ tokens. Queries and keys have width $D$, and values $D_v$. A layer has $D$ channels, which are the numbers of a token's vector. In a state space model each channel has $N$ numbers of state.
#
# ## Attention with the brackets moved
#
# Attention gives token $j$ the weight $\exp(q \cdot k_j / \sqrt D)$. What if the weight were a plain product $\phi(q) \cdot \phi(k_j)$, with some function $\phi$ that is never negative? Then the query can be taken out of the sum:
#
# $$\sum_{j \le t} \big(\phi(q_t) \cdot \phi(k_j)\big)\, v_j = \phi(q_t)^\top S_t \qquad \text{with } S_t = \sum_{j \le t} \phi(k_j)\, v_j^\top$$
#
# $S_t$ is a matrix of $D \times D_v$ numbers, however long the text is. The weights must still be divided by their sum. For this we keep a second, smaller sum, $z_t = \sum_{j \le t} \phi(k_j)$:
#
# $$\text{out}_t = \frac{\phi(q_t)^\top S_t}{\phi(q_t) \cdot z_t}$$
#
# We take $\phi(x) = \text{elu}(x) + 1$, which is $x + 1$ for positive numbers and $e^x$ for negative ones. Here are three tokens with $D = 2$ and values of one number. For the first query, $\phi(q) = (1, 1)$, so the output is $(1 \cdot 8 + 1 \cdot 4) / (1 \cdot 2 + 1 \cdot 1) = 12 / 3 = 4$.
#
# | $q$ | $k$ | $v$ | $\phi(k)$ | $S$ | $z$ | $\phi(q)$ | out |
# |---|---|---|---|---|---|---|---|
# | $(0, 0)$ | $(1, 0)$ | 4 | $(2, 1)$ | $(8, 4)$ | $(2, 1)$ | $(1, 1)$ | 4 |
# | $(0, 1)$ | $(0, 1)$ | 1 | $(1, 2)$ | $(9, 6)$ | $(3, 3)$ | $(1, 2)$ | 2.333 |
# | $(1, 0)$ | $(0, 0)$ | 10 | $(1, 1)$ | $(19, 16)$ | $(4, 4)$ | $(2, 1)$ | 4.5 |
#
# ### Exercise: `linear_attention` (about 15 minutes)
#
# Write the causal layer for whole texts. A token sees itself and everything before it. There is no $1/\sqrt D$. You may add up $S$ and $z$ with `cumsum`, or make the matrix of weights and mask it. Both are right, and they are expensive in different ways. You may add at most $10^{-6}$ to the divisor, or keep it from falling below $10^{-6}$. A larger bound changes the result where $\phi$ is small. Do not use `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or `F.multi_head_attention_forward`.


# %% solution="linear_attention"
def linear_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """q and k (B, T, D), v (B, T, Dv) -> (B, T, Dv)."""
    ### BEGIN SOLUTION
    q, k = F.elu(q) + 1, F.elu(k) + 1
    S = (k[..., :, None] * v[..., None, :]).cumsum(1)  # (B, T, D, Dv)
    z = k.cumsum(1)  # (B, T, D)
    return torch.einsum("btd,btde->bte", q, S) / (q * z).sum(-1, keepdim=True)
    ### END SOLUTION


# %% check="linear_attention"
check("linear_attention", linear_attention)

# %%
q = torch.tensor([[[0.0, 0], [0, 1], [1, 0]]])
k = torch.tensor([[[1.0, 0], [0, 1], [0, 0]]])
v = torch.tensor([[[4.0], [1.0], [10.0]]])
print(linear_attention(q, k, v).flatten())

# %% [markdown]
# When the model writes, tokens come one by one. Then $S$ and $z$ are all that it has to keep.
#
# ### Exercise: `linear_attention_step` (about 10 minutes)
#
# Read one token. `state` is the pair $(S, z)$, and it holds zeros before the first token. Return `(out, (S, z))`, with the new $S$ and $z$. Leave the old state as it is, because two texts may go on from it. Gradients flow through the state. As before, you may add at most $10^{-6}$ to the divisor.


# %% solution="linear_attention_step"
def linear_attention_step(state, q, k, v):
    """state (S (B, D, Dv), z (B, D)), q and k (B, D), v (B, Dv) -> (out (B, Dv), state)."""
    ### BEGIN SOLUTION
    S, z = state
    q, k = F.elu(q) + 1, F.elu(k) + 1
    S = S + k[:, :, None] * v[:, None, :]
    z = z + k
    out = torch.einsum("bd,bde->be", q, S) / (q * z).sum(-1, keepdim=True)
    return out, (S, z)
    ### END SOLUTION


# %% check="linear_attention_step"
check("linear_attention_step", linear_attention_step)

# %%
state = torch.zeros(1, 2, 1), torch.zeros(1, 2)
for t in range(3):
    out, state = linear_attention_step(state, q[:, t], k[:, t], v[:, t])
    S, z = state
    print(f"S = {S.flatten().tolist()}  z = {z.flatten().tolist()}  out = {out.item():.3f}")

# %% [markdown]
# ## A state that fades
#
# Linear attention never forgets. After a long text, $S$ is a sum of thousands of products, and one token is a drop in it. So let the state fade.
#
# A **state space model** comes from physics. A number $h$ changes in continuous time, as $h'(t) = a\, h(t) + b\, x(t)$. With $a < 0$ it fades, and the input $x$ pushes it. Tokens come in steps, so we need to know what happens to $h$ during a step of length $\delta$ in which $x$ stays the same.
# Holding $x$ constant is called **zero-order hold**. With it, the equation can be solved exactly:
#
# $$\bar a = e^{\delta a}, \qquad \bar b = \frac{e^{\delta a} - 1}{a}\, b, \qquad h_t = \bar a\, h_{t-1} + \bar b\, x_t$$
#
# Take $a = -1$, $b = 1$ and $\delta = \ln 2$. Then $\bar a = e^{-\ln 2} = \tfrac12$, and $\bar b = (\tfrac12 - 1) / (-1) = \tfrac12$. Euler's simpler rule, $\bar b = \delta b$, would give 0.693. It ignores that an input from early in a step has faded a little by the end of the step.
#
# ### Exercise: `discretise` (about 10 minutes)
#
# Return $\bar a$ and $\bar b$ for $N$ rates `a`, all below 0, and $N$ numbers `b`. They share one step `delta`.


# %% solution="discretise"
def discretise(a: torch.Tensor, b: torch.Tensor, delta: float) -> tuple[torch.Tensor, torch.Tensor]:
    """a below 0 and b, both (N,), and a step delta -> a_bar and b_bar (N,)."""
    ### BEGIN SOLUTION
    a_bar = torch.exp(delta * a)
    return a_bar, (a_bar - 1) / a * b
    ### END SOLUTION


# %% check="discretise"
check("discretise", discretise)

# %% [markdown]
# One number fades too simply, so a channel has $N$ of them, each with its own rate. The output is a weighted sum of the new states, $y_t = c \cdot h_t$.
#
# Let $\bar a = \bar b = \tfrac12$ and $c = 4$, and send in $x = (1, 0, 2, 0)$. The states are $\tfrac12$, $\tfrac14$, $\tfrac18 + 1 = 1.125$ and 0.5625. The outputs are 2, 1, 4.5 and 2.25.
#
# ### Exercise: `ssm_scan` (about 10 minutes)
#
# Run the recurrence from $h = 0$ over a batch of sequences.


# %% solution="ssm_scan"
def ssm_scan(
    a_bar: torch.Tensor, b_bar: torch.Tensor, c: torch.Tensor, x: torch.Tensor
) -> torch.Tensor:
    """a_bar, b_bar and c (N,), x (B, T) -> y (B, T)."""
    ### BEGIN SOLUTION
    h = x.new_zeros(len(x), len(a_bar))
    ys = []
    for x_t in x.unbind(1):
        h = a_bar * h + b_bar * x_t[:, None]
        ys.append(h @ c)
    return torch.stack(ys, 1)
    ### END SOLUTION


# %% check="ssm_scan"
check("ssm_scan", ssm_scan)

# %% [markdown]
# What does a single 1 leave behind? After $j$ steps it is $K_j = \sum_n c_n \bar a_n^j \bar b_n$. Every input leaves such a trace, and the output is the sum of all traces. That is a causal convolution (topic 14) with the kernel $K$. So the same layer can be computed as a recurrence or as a convolution, which is fast on a GPU.


# %%
def ssm_kernel(a_bar, b_bar, c, T):
    """K_0 ... K_{T-1}."""
    return (c * b_bar) @ a_bar[:, None] ** torch.arange(T)


system = *discretise(-torch.tensor([0.2, 1.0, 4.0]), torch.ones(3), 0.5), torch.tensor([1.0, -2, 3])
x = torch.randn(1, 40)
kernel = ssm_kernel(*system, 40)
convolved = F.conv1d(F.pad(x, (39, 0))[None], kernel.flip(0)[None, None])[0]
print("largest difference:", (convolved - ssm_scan(*system, x)).abs().max().item())

# %% [markdown]
# ## Let the token decide
#
# This layer has one kernel for every text. It fades by the same factor at each step, whatever the token is. But a comma should not make you forget a name.
#
# Mamba lets the step depend on the token. Each token comes with its own $\Delta_t$, $B_t$ and $C_t$, which take the places of $\delta$, $b$ and $c$. Linear maps compute them from the token, and a softplus keeps $\Delta_t$ above 0. (In shapes, $B$ is still the number of texts.) A token with $\Delta_t = 0$ leaves the state as it is. A large $\Delta_t$ lets the old state fade and writes the token into it. So $\Delta$ does the work of an LSTM's forget gate and input gate together.
#
# Take one channel with one state, $A = -1$, $B = 1/\ln 2$, $C = 1$ and $x = (4, 9, 9, 2)$. The two nines are noise. With $\Delta = \ln 2$ for every token, the state is halved and $x$ is added. If noise gets $\Delta = 0$, the state is kept.
#
# | | 4 | 9 | 9 | 2 |
# |---|---|---|---|---|
# | $\Delta = \ln 2$ for all | 4 | $2 + 9 = 11$ | $5.5 + 9 = 14.5$ | $7.25 + 2 = 9.25$ |
# | $\Delta = (\ln 2, 0, 0, \ln 2)$ | 4 | 4 | 4 | $2 + 2 = 4$ |
#
# For channel $i$ and state $n$ one step is
#
# $$h_t[i, n] = e^{\Delta_t[i]\, A[i, n]}\; h_{t-1}[i, n] + \Delta_t[i]\; B_t[n]\; x_t[i], \qquad y_t[i] = \sum_n C_t[n]\; h_t[i, n]$$
#
# **This is not zero-order hold.** Only $A$ is discretised exactly. $B$ is multiplied by $\Delta$, which is Euler's rule, the one that `discretise` had to avoid. The paper's equation 4 prints zero-order hold for both, but its released code multiplies $B$ by $\Delta$ alone. For small steps the two hardly differ. We follow the code.
#
# ### Exercise: `selective_scan` (about 20 minutes)
#
# Use `delta` and `A` as they are. No number of `delta` is below 0, and all of `A` are. Loop over the tokens, take them apart with `x.unbind(1)`, and compute the factors of each step within the loop. Dividing by a product of all factors looks tempting, but such products **underflow**, which means that they are rounded to 0. The result has the dtype of `x`. You may compute in float32 inside, as Mamba's code does.


# %% solution="selective_scan"
def selective_scan(x, delta, A, B, C):
    """x and delta (B, T, D), A (D, N), B and C (B, T, N) -> y (B, T, D)."""
    ### BEGIN SOLUTION
    h = x.new_zeros(len(x), *A.shape)  # (B, D, N)
    ys = []
    for x_t, d_t, B_t, C_t in zip(x.unbind(1), delta.unbind(1), B.unbind(1), C.unbind(1)):
        h = (d_t[:, :, None] * A).exp() * h + (d_t * x_t)[:, :, None] * B_t[:, None, :]
        ys.append((h * C_t[:, None, :]).sum(-1))
    return torch.stack(ys, 1)
    ### END SOLUTION


# %% check="selective_scan"
check("selective_scan", selective_scan)

# %%
x, one = torch.tensor([4.0, 9, 9, 2]).reshape(1, 4, 1), torch.ones(1, 4, 1)
log2 = torch.tensor(2.0).log()
for steps in (torch.ones(4), torch.tensor([1.0, 0, 0, 1])):
    delta = log2 * steps.reshape(1, 4, 1)
    print(selective_scan(x, delta, -torch.ones(1, 1), one / log2, one).flatten())

# %% [markdown]
# ## A thousand steps in ten passes
#
# The kernel is gone, since every text has other factors. Must we go step by step? Two steps in a row are again one step:
#
# $$a'(a\, h + b) + b' = (a' a)\, h + (a' b + b')$$
#
# So join each position with the one before it, all positions at once. Then every position holds two steps. Join it with the position two before, and it holds four. Here are five positions with $a = (\tfrac12, \tfrac12, 1, 0, \tfrac12)$ and $b = (8, 4, 0, 6, 2)$.
#
# | | $a$ | $b$ |
# |---|---|---|
# | before the first pass | $\tfrac12, \tfrac12, 1, 0, \tfrac12$ | 8, 4, 0, 6, 2 |
# | after the pass with shift 1 | $\tfrac12, \tfrac14, \tfrac12, 0, 0$ | 8, 8, 4, 6, 5 |
# | after shift 2 | $\tfrac12, \tfrac14, \tfrac14, 0, 0$ | 8, 8, 8, 6, 5 |
# | after shift 4 | (no longer needed) | 8, 8, 8, 6, 5 |
#
# In the first pass, position 1 becomes $\tfrac12 \cdot 8 + 4 = 8$, and its factor $\tfrac12 \cdot \tfrac12 = \tfrac14$. Position 0 has none before it, so it stays. With $h_0 = 0$ before the text, $b$ holds the states at the end.
#
# ### Exercise: `prefix_scan` (about 20 minutes)
#
# Write it for any $T \ge 1$ and factors of any sign, 0 included. `check` counts the operations for 1,000 positions and allows 600, so a loop over positions takes too many. Leave `a` and `b` as they are. Do not use `associative_scan`.


# %% solution="prefix_scan"
def prefix_scan(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """h_t = a_t h_{t-1} + b_t from h = 0: a and b (B, T, N) -> all h (B, T, N)."""
    ### BEGIN SOLUTION
    shift = 1
    while shift < a.shape[1]:
        b = torch.cat([b[:, :shift], a[:, shift:] * b[:, :-shift] + b[:, shift:]], dim=1)
        a = torch.cat([a[:, :shift], a[:, shift:] * a[:, :-shift]], dim=1)
        shift *= 2
    return b
    ### END SOLUTION


# %% check="prefix_scan"
check("prefix_scan", prefix_scan)

# %% [markdown]
# Is it faster? It multiplies more, but it makes few and large operations. The next cell times three ways, forward and backward, for one long text and for a batch of short ones. Two of them are loops, and they differ in how they take a position out of a tensor.


# %%
def by_index(a, b):
    h, states = 0.0, []
    for t in range(a.shape[1]):
        h = a[:, t] * h + b[:, t]
        states.append(h)
    return torch.stack(states, 1)


def by_unbind(a, b):
    h, states = 0.0, []
    for a_t, b_t in zip(a.unbind(1), b.unbind(1)):
        h = a_t * h + b_t
        states.append(h)
    return torch.stack(states, 1)


for B, T, N in ((1, 512, 256), (32, 64, 256)):
    a, b = (torch.rand(B, T, N, requires_grad=True) for _ in range(2))
    for scan in (by_index, by_unbind, prefix_scan):
        scan(a, b).sum().backward()
        begun = time.perf_counter()
        scan(a, b).sum().backward()
        took = 1000 * (time.perf_counter() - begun)
        print(f"batch {B:>2}, length {T:>3}: {scan.__name__:<11} {took:7.1f} ms")

# %% [markdown]
# `a[:, t]` is the slow one. In the backward pass, the gradient of each slice is a whole tensor of zeros with one position filled in, so $T$ slices cost $T^2$. `unbind` gives all positions at once and has one gradient. For one long text the passes may win. For many short ones they lose, because a processor with a few cores is busy anyway. On a GPU they win earlier. Mamba's own scan is a program for GPUs that never writes the states to the large memory.
#
# ## The task: copy what matters
#
# Three letters stand at random positions among noise. At the end stand three tokens, the *askers*. They ask for the first letter, the second and the third.

# %%
ids, targets = copying.draw(2, 24, torch.Generator().manual_seed(0))
for row, right in zip(ids, targets):
    print(copying.text(row), "  ->  ", *(copying.LETTERS[letter] for letter in right))

# %% [markdown]
# Here is the model. Each token becomes a vector, and one selective scan reads them. Only the outputs at the askers are used. The initial values matter. With Mamba's own, only a ten-thousandth of the output depends on the text before, which is fine for a deep model and long training. Ours begins with steps from 0.01 to 0.3, and with rates from 0.1 to 4.


# %%
class SelectiveLayer(nn.Module):
    """A selective scan whose steps, writes and reads are linear in the token."""

    def __init__(self, width, n_state):
        super().__init__()
        self.W_B = nn.Linear(width, n_state, bias=False)
        self.W_C = nn.Linear(width, n_state, bias=False)
        self.W_delta = nn.Linear(width, width)
        rates = torch.logspace(-1, 0.602, n_state)  # 0.1 to 4
        self.log_rate = nn.Parameter(rates.log().repeat(width, 1))
        steps = 0.01 * 30 ** torch.rand(width)  # 0.01 to 0.3
        with torch.no_grad():
            self.W_delta.bias.copy_(torch.expm1(steps).log())  # softplus gives the steps back
            self.W_B.weight.normal_(std=width**-0.5)
            self.W_C.weight.normal_(std=width**-0.5)

    def steps(self, x):
        return F.softplus(self.W_delta(x))

    def forward(self, x):
        A = -self.log_rate.exp()
        return selective_scan(x, self.steps(x), A, self.W_B(x), self.W_C(x))


# %%
class Copier(nn.Module):
    """ids (B, T + 3) -> logits (B, 3, 8), one row for each asker."""

    def __init__(self, width=32, n_state=4):
        super().__init__()
        self.embed = nn.Embedding(copying.TOKENS, width)
        self.layer = SelectiveLayer(width, n_state)
        self.norm = nn.LayerNorm(width)
        self.read = nn.Sequential(
            nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, len(copying.LETTERS))
        )

    def forward(self, ids):
        y = self.layer(self.embed(ids))
        return self.read(self.norm(y[:, -copying.ASKED :]))


# %% [markdown]
# ### Exercise: the training loop (about 20 minutes)
#
# Write `train`. A batch holds `ids` of shape $(32, T + 3)$ and `targets` of shape $(32, 3)$. The length $T$ is between 8 and 64, another one in each batch. The budget is 28,800 texts, which makes 900 batches (four times as many on a GPU). `len(batches)` says how many there are. Use cross-entropy on all three letters. We took AdamW with a learning rate that rises to 0.01 and falls to zero (`torch.optim.lr_scheduler.OneCycleLR`), and clipped gradients to a norm of 1 with `nn.utils.clip_grad_norm_`. It took about 10 seconds on one core. Call `batches.log(loss)` once in each step.
#
# For full marks, one measure has to reach its bar:
#
# | measure | bar |
# |---|--:|
# | letters that are right in texts of **256** positions, four times the longest of training | 87 % |
#
# With 60 % you get a part of the points. Ours got 97 to 99 %, depending on the seed.


# %% solution="linear_time_task"
def train(model, batches):
    """Trains on `for ids, targets in batches`, and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=len(batches))
    for ids, targets in batches:
        loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        batches.log(loss)
    ### END SOLUTION


# %%
seed(0)
record = fit("linear_time_task", Copier, train)

# %% check="linear_time_task"
check("linear_time_task", record.model)

# %% [markdown]
# Before you look at longer texts, predict what becomes of a model whose step is the same for all tokens.

# %%
predict("steps_that_never_change")

# %%
fixed = copying.CONSTANT_STEP  # what our model with a constant step reaches, by positions
model, right = record.model, []
for places in fixed:
    ids, targets = copying.draw(300, places, torch.Generator().manual_seed(places))
    with torch.no_grad():
        said = model(ids.to(device())).argmax(-1).cpu()
    right.append((said == targets).float().mean().item())
curves = {"your model": right, "a constant step": list(fixed.values())}
show.linear_time.lengths(list(fixed), curves, trained=64)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# With a constant step, the state fades a little at each position, so it tells how many positions ago a letter came. Among random noise that does not tell whether it was the first or the second. Yours should fall much less, because its state hardly fades during noise.
#
# </details>
#
# The next picture shows the mean $\Delta$ that your model gives to each token. Which tokens should get a small one?

# %%
tokens = torch.arange(copying.TOKENS, device=device())
with torch.no_grad():
    steps = model.layer.steps(model.embed(tokens)).mean(-1).cpu()
show.linear_time.steps_by_token(steps)

# %% [markdown]
# Noise gets the smallest step, and letters get a large one. You never told the model which tokens are noise.
#
# A GRU of the same width solves this task about as well, because its gates read the token, too. But it must be computed step by step. A *linear* recurrence need not be, and it solves the task if its $\Delta$ depends on the token.
#
# ## What it saves, on your machine
#
# The next cell reads one more token after a text of 64 to 8,192 tokens, with width 64. Attention keeps all keys and values, linear attention keeps $S$ and $z$, and the scan keeps 16 numbers a channel.


# %%
def attention_step(cache, q):
    keys, values = cache
    return (q @ keys.T / 8).softmax(-1) @ values


def scan_step(h, factor, written):
    return (factor * h + written).sum(-1)


def microseconds(step, *inputs, times=101):
    """The median, so that what else your machine does hardly counts."""
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        step(*inputs)
        took.append(1e6 * (time.perf_counter() - begun))
    return sorted(took)[times // 2]


# %%
D, N = 64, 16
token, state, h = torch.randn(1, D), (torch.ones(1, D, D), torch.ones(1, D)), torch.rand(D, N)
lengths = [64 * 2**i for i in range(8)]
took = {"attention": [], "linear attention": [], "scan": []}
with torch.no_grad(), blocks.one_thread():
    for T in lengths:
        cache = torch.randn(T, D), torch.randn(T, D)
        took["attention"].append(microseconds(attention_step, cache, token))
        linear = microseconds(linear_attention_step, state, token, token, token)
        took["linear attention"].append(linear)
        took["scan"].append(microseconds(scan_step, h, h, h))
kept = {
    "attention": [4 * 2 * T * D for T in lengths],
    "linear attention": [4 * (D * D + D)] * len(lengths),
    "scan": [4 * D * N] * len(lengths),
}
show.linear_time.costs(lengths, took, kept)

# %% [markdown]
# The flat lines are the point of this notebook. On our machine attention was faster than linear attention up to 2,000 tokens, and slower from there on. After 8,192 tokens, attention keeps 4,194,304 bytes in each layer, linear attention keeps 16,640, and the scan 4,096. That saving is also the price. What those 4,096 bytes do not hold is gone.
#
# The whole text at once is another matter. With `cumsum`, `linear_attention` makes $T \cdot D \cdot D_v$ numbers, which is more than $T^2$ until $T$ exceeds $D \cdot D_v$. Good implementations cut the text into chunks and use the matrix within each of them.
#
# ## RWKV
#
# RWKV is a weighted mean of values, as attention is, but it has no queries. Each token has a key, each channel has a rate $w \ge 0$ at which old weights fade, and the present token gets a **bonus** $u$:
#
# $$\text{wkv}_t = \frac{\sum_{i<t} e^{k_i - (t-1-i)\, w}\, v_i + e^{u + k_t}\, v_t}{\sum_{i<t} e^{k_i - (t-1-i)\, w} + e^{u + k_t}}$$
#
# Take $k = 0$ for all tokens, $w = \ln 2$ and $u = \ln 3$, so the present token weighs 3, the one before it 1, and those before that $\tfrac12$ and $\tfrac14$. The values are 4, 8, 0 and 6.
#
# | $t$ | weights | wkv |
# |---|---|---|
# | 0 | 3 | 4 |
# | 1 | 1, 3 | $(4 + 24) / 4 = 7$ |
# | 2 | ½, 1, 3 | $(2 + 8 + 0) / 4.5 = 2.222$ |
# | 3 | ¼, ½, 1, 3 | $(1 + 4 + 0 + 18) / 4.75 = 4.842$ |
#
# Both sums fade by $e^{-w}$ in each step, so two numbers a channel are enough. But $e^{k}$ overflows for a key of 100 in float32. The remedy is softmax's. Keep the largest exponent so far as a third number $m$, and keep both sums divided by $e^m$. When a larger one comes, scale them down. One maximum for the whole text will not do, because the first weights would underflow to 0 over 0.
#
# ### Exercise: `wkv` (about 20 minutes)
#
# Keys may lie anywhere between $-1000$ and $1000$. `w` is the rate itself. (Published weights hold its logarithm, as `time_decay`.) You may loop over tokens or make a $T \times T$ softmax for each channel.


# %% solution="wkv"
def wkv(k: torch.Tensor, v: torch.Tensor, w: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """k and v (B, T, D), w and u (D,) -> (B, T, D)."""
    ### BEGIN SOLUTION
    total = count = torch.zeros_like(k[:, 0])  # with the values, and without, over exp(m)
    m = torch.full_like(total, -torch.inf)
    outs = []
    for k_t, v_t in zip(k.unbind(1), v.unbind(1)):
        high = torch.maximum(m, u + k_t).detach()
        past, now = (m - high).exp(), (u + k_t - high).exp()
        outs.append((past * total + now * v_t) / (past * count + now))
        faded = m - w
        m = torch.maximum(faded, k_t).detach()
        past, now = (faded - m).exp(), (k_t - m).exp()
        total, count = past * total + now * v_t, past * count + now
    return torch.stack(outs, 1)
    ### END SOLUTION


# %% check="wkv"
check("wkv", wkv)

# %% [markdown]
# The rest of RWKV's layer is short. Each token is mixed with the one before it, which is called *token shift*. Linear maps of such mixtures make $k$, $v$ and a third vector $r$, and the sigmoid $\sigma(r_t)$ gates the mean. Models with 14 billion parameters were trained in this way.
#
# ## A mixture of experts
#
# All layers so far save work along the text. The feed-forward network costs the same for each token, and in large models it is the greater part. A **mixture of experts** has many such networks and a **router**, which is a linear map to one logit for each of $E$ experts. Only the $k$ best work on a token.
#
# For the logits $(2, 1, 0, -1)$ and $k = 2$, experts 0 and 1 are chosen. Softmax over 2 and 1 gives the weights 0.731 and 0.269, and the token gets $0.731\, f_0(x) + 0.269\, f_1(x)$. This is the rule of a model called Mixtral.
#
# ### Exercise: `route` (about 10 minutes)
#
# Return the weights and the numbers of the chosen experts, best first. Both have the shape $(N, k)$ for $N$ tokens, for $k = 1$ as well. The weights have the dtype of `logits`. They must be right for logits in the hundreds, too. If you divide by a sum, you may add at most $10^{-6}$ to it. Of experts with equal logits, you may choose any.


# %% solution="route"
def route(logits: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """logits (N, E) -> weights (N, k) that sum to one, experts (N, k), int64."""
    ### BEGIN SOLUTION
    chosen, experts = logits.topk(k, dim=-1)
    return chosen.softmax(-1), experts
    ### END SOLUTION


# %% check="route"
check("route", route)

# %%
predict("gradient_of_a_single_expert")

# %%
logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]], requires_grad=True)
outputs = torch.tensor([5.0, -1.0, 2.0, 0.5])  # what four experts say to one token
for k in (1, 2):
    weights, experts = route(logits, k)
    mixed = (weights * outputs[experts]).sum()
    print(f"k = {k}: gradient of the logits", torch.autograd.grad(mixed, logits)[0][0])

# %% [markdown]
# An expert that happens to be chosen often is trained often, gets better, and is chosen more. Soon a few experts do all the work. So one adds a small loss, which is large when a few experts get most of the tokens, and most of the probability as well:
#
# $$\text{balance} = E \sum_e f_e\, P_e$$
#
# $f_e$ is expert $e$'s share of all $N \cdot k$ choices, and $P_e$ is its mean probability, from the softmax over all $E$ logits. Take four tokens, two experts and $k = 1$. Three tokens have the probabilities $(0.9, 0.1)$ and go to expert 0. One has $(0.4, 0.6)$ and goes to expert 1.
# Then $f = (0.75, 0.25)$ and $P = (0.775, 0.225)$, so the loss is $2 \cdot (0.581 + 0.056) = 1.275$. An even spread gives 1. If all tokens were sure of one expert, it would be 2.
#
# ### Exercise: `balance_loss` (about 10 minutes)
#
# The chosen experts are handed in, and need not be the likeliest. A count has no gradient, so the loss teaches through $P$.


# %% solution="balance_loss"
def balance_loss(logits: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
    """logits (N, E), experts (N, k) -> scalar."""
    ### BEGIN SOLUTION
    E = logits.shape[-1]
    f = F.one_hot(experts, E).to(logits.dtype).mean((0, 1))
    return E * (f * logits.softmax(-1).mean(0)).sum()
    ### END SOLUTION


# %% check="balance_loss"
check("balance_loss", balance_loss)

# %% [markdown]
# Here is the whole layer. Each expert gets its tokens and no others. The cell behind it then lowers the balance loss and nothing else, so watch the shares become even.


# %%
class Experts(nn.Module):
    def __init__(self, width, inner, n_experts, k):
        super().__init__()
        self.k = k
        self.router = nn.Linear(width, n_experts, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
            for _ in range(n_experts)
        )

    def forward(self, x):
        logits = self.router(x)
        weights, chosen = route(logits, self.k)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            token, place = (chosen == e).nonzero(as_tuple=True)
            out = out.index_add(0, token, weights[token, place, None] * expert(x[token]))
        return out, balance_loss(logits, chosen)


seed(0)
layer = Experts(64, 256, n_experts=8, k=2)
held = sum(p.numel() for p in layer.experts.parameters())
print(f"{held:,} numbers in the experts, {held * 2 // 8:,} of them for a token")

# %%
x = torch.randn(500, 64) + 1  # tokens that have something in common
optimizer = torch.optim.SGD(layer.router.parameters(), lr=0.1)
for step in range(101):
    _, balance = layer(x)
    if step % 50 == 0:
        _, chosen = route(layer.router(x), 2)
        shares = torch.bincount(chosen.flatten(), minlength=8) / chosen.numel()
        print(f"step {step:>3}: balance {balance.item():.2f}, shares of the experts in %:", end=" ")
        print((100 * shares).round().int().tolist())
    optimizer.zero_grad()
    balance.backward()
    optimizer.step()

# %% [markdown]
# In a real training the balance loss is added to the loss of the task, with a small factor such as 0.01.
#
# Mixtral has eight experts in each layer and uses two. It holds 47 billion parameters, and 13 billion work on a token. That saves time and no memory, since the next token may need any of the experts.
#
# ## Play
#
# Type a text with up to three letters from a to h. Everything else is noise. The bars are the model's $\Delta$, averaged over the channels. Below, each row of the heat map is one channel of the state.
#
# Put more noise after each letter. How long does the first letter last? Which rows change when a letter comes, and what do the askers do to the state? Write four letters, and see which ones the model finds.

# %%
show.linear_time.watch_the_state(model, selective_scan)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A friend has contracts of 100,000 words and asks questions about them after the model has read them. She wants to put a selective scan in the place of attention, because it is "the same thing, only faster". What does she gain, and what does she lose? For which questions will her model do, and what would you build? Write four to six sentences.

# %% [markdown] question="linear_time_question"
# She gains time and memory. Each word costs the same, and the state has a fixed size, while attention would keep keys and values of 100,000 words and look at all of them for every new one. She loses the words themselves. The state must decide what to keep when a word is read, and at that time nobody knows the question. A few thousand numbers cannot hold 100,000 words, so a clause that seemed unimportant is gone.
#
# It will do for questions whose kind is known in advance, such as who the parties are, or for a summary, because training can teach what to keep. For "what does the third clause on page 40 say?" it will not. I would build a model with mostly scans and a few layers of attention, or put the question in front of the contract, so that the state knows what to look for.

# %%
rubric("linear_time_question")

# %% [markdown]
# ## What you built
#
# You wrote four layers that read a text with a state of a fixed size, a scan of few passes, and the routing for a layer of experts.
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `linear_attention`, `linear_attention_step` | linear attention, kernel feature map | RetNet, Gated DeltaNet |
# | `discretise`, `ssm_scan` | zero-order hold, linear state space model | S4, S4D |
# | `selective_scan` | selective state space model, S6 | `MambaModel` in `transformers` |
# | `prefix_scan` | parallel scan (Hillis and Steele) | `jax.lax.associative_scan` |
# | `wkv` | RWKV-4's time mixing | `RwkvModel` in `transformers` |
# | `route`, `balance_loss` | top-k routing, load-balancing loss | Mixtral, Switch, DeepSeek |
#
# ## Going further
#
# - **More letters.** Set `copying.ASKED, copying.TOKENS = 4, 13`, and train `lambda: Copier(n_state=8)` with `variant="four letters"`. Ours then found 88 to 98 % at 256 positions, depending on the seed. Does a larger `n_state` help?
# - **Odds and evens.** `prefix_scan` makes about $T \log_2 T$ joins. Join pairs, scan half as many, and fill in the others, and about $2T$ joins are enough. G. Blelloch, *Prefix sums and their applications* (1990), tells how.
# - **Read.** A. Katharopoulos and others, [Transformers are RNNs](https://arxiv.org/abs/2006.16236) (2020). A. Gu and T. Dao, [Mamba](https://arxiv.org/abs/2312.00752) (2023), sections 2 and 3. B. Peng and others, [RWKV](https://arxiv.org/abs/2305.13048) (2023). W. Fedus and others, [Switch Transformers](https://arxiv.org/abs/2101.03961) (2022), and A. Jiang and others, [Mixtral of experts](https://arxiv.org/abs/2401.04088) (2024).
# - **Mix them.** Several large models have a layer of attention after every few scans. Which of the two would find the second occurrence of a name, and which carries the topic of a text?
#
# <!-- needs: 06_self_attention -->
# - **Recall.** Give the pairs of topic 06 to your model. How many pairs does a state of 128 numbers hold? S. Arora and others, [Zoology](https://arxiv.org/abs/2312.04927) (2023), found that this is where such models fall behind attention.
#
# <!-- needs: 18_assistant -->
# - **Next.** Whether with attention or with a state, a language model only goes on with a text. Topic 18 makes an assistant of one.
#
# **Now you can** write layers that read a long text with a state of fixed size, compute them in a few parallel passes, and say what such a state forgets. Run the cell below to see which notebook comes next.

# %%
progress()
