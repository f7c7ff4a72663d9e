# %% [markdown]
# # 15 A language model of your own: GPT
#
# Here is an entry of a dictionary:
#
# ```
# nightjarrel (animal): a long-horned terrestrial fish of the family Sarcophilidae
# ```
#
# There is no such fish. A network of 1.5 million numbers made it up. It learned from WordNet's definitions, and its weights came with this course.
# At the end of this notebook your own code loads them, and you can ask for any word you like.
#
# The lecture shows a table of fourteen large language models. They differ in their norm, in their feed-forward network, in how
# they encode positions, and in whether heads share their keys and values. You will build one row of that table, count its parameters, load its weights, and let it write.
#
# **You will**
#
# - write the parts of a modern decoder: RMSNorm, SwiGLU and attention in groups
# - count the parameters of GPT-3, LLaMA and PaLM with one function
# - write a GPT with a cache, and three ways to choose the next token
# - train one on a play, and ask what a larger one would reach.
#
# **You need** the decoder of topic 10, causal masks (topic 09), RoPE (topic 08) and pieces of words (topic 13). Nine exercises, one training task and one written question take about 220 minutes. The reading takes another 70.
# Call `hint("rms_norm")` if you are stuck.

# %%
import time

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show
from course.data import grammar, language_model, play, wordnet

# %% [markdown]
# ## The whole picture
#
# A language model reads tokens, here the pieces of topic 13, and says how likely each token is to come next. A model that can do that can write. Draw a token, append it, and ask again.
#
# You trained a small GPT in topic 09 (`LanguageModel`) and built one of 2018 in topic 10 (`DecoderOnly`). Here you build one of today. GPT keeps the decoder of topic 10 alone. There is no source sentence, so there is no cross-attention, and what is left of a layer is causal self-attention and a feed-forward network.
# This is the decoder of 2017 beside the one that you will build. Nearly all of its parts are those of LLaMA (2023). In LLaMA each head still has its own keys. Llama 2 with 70 billion parameters began to share them, and Llama 3 does so in every size.
#
# | part | Transformer, 2017 | yours |
# |---|---|---|
# | norm | LayerNorm, behind each sublayer | RMSNorm, in front of it |
# | positions | sinusoids, added once | RoPE, inside every attention |
# | attention | every head has its own keys | groups of heads share them, as in Llama 3 |
# | feed-forward | ReLU | SwiGLU, with a gate |
# | biases | yes | none |
# | output | the embedding table again (tied) | tied in yours, its own table in LLaMA |
#
# Topic 10's `decode_greedy` hands the whole text to the decoder for every new word. To write 1,000 tokens, it reads $1 + 2 + \dots + 1000$ of them, which is 500,500.
# Yours will read each token once. It keeps the keys and values of what it has read in a **cache**.
#
# **Dimensions.** A batch has $B$ texts of $T$ tokens. With those in the cache there are $S$. A token has width $D$. An attention has $h$ heads of width $d$ and $g$ groups. The feed-forward network is $F$ wide inside, and the vocabulary has $V$ tokens. (In code, `F` is PyTorch's `functional`, so the classes call this width `d_ff`.)
#
# ## Two small parts
#
# **RMSNorm** takes the token $x = (3, 4)$. Its squares are 9 and 16, and their mean is 12.5. The root of that is 3.54. Each number is divided by it, so the token becomes $(0.849, 1.131)$. Then each number is multiplied by a learned factor of its own. With $\gamma = (2, 1)$ the result is $(1.697, 1.131)$. The small $\varepsilon$ keeps a token of zeros from being divided by 0.
# LayerNorm (topic 10) would first subtract the mean 3.5, so that the same token becomes $(-1, 1)$ before it is scaled, and add a shift at the end. RMSNorm does neither, and models train as well.
#
# $$\operatorname{RMSNorm}(x) = \gamma \cdot \frac{x}{\sqrt{\frac{1}{D} \sum_i x_i^2 + \varepsilon}}$$
#
# ### Exercise: `rms_norm` (about 10 minutes)
#
# The result has the shape and dtype of `x`. `gamma` has the same dtype, which may be half precision. Do not use `F.rms_norm`, `nn.RMSNorm`, `F.layer_norm` or `nn.LayerNorm`.


# %% solution="rms_norm"
def rms_norm(x: torch.Tensor, gamma: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """Tokens (..., D) divided by the root of their mean square, times gamma (D,)."""
    ### BEGIN SOLUTION
    return gamma * x / (x.square().mean(-1, keepdim=True) + eps).sqrt()
    ### END SOLUTION


# %% check="rms_norm"
check("rms_norm", rms_norm)

# %%
print(rms_norm(torch.tensor([3.0, 4.0]), torch.ones(2)))
print(rms_norm(torch.tensor([30.0, 40.0]), torch.ones(2)), "from ten times as much")

# %% [markdown]
# **SwiGLU** is a feed-forward network with a gate. Unlike the gates of an LSTM, this one may exceed 1. Two matrices lead up to width $F$. The product with $W_{gate}$ goes through SiLU, which is $z \cdot \sigma(z)$ with the sigmoid $\sigma$, and says how far each of the $F$ numbers is let through.
# The product with $W_{up}$ says what is let through. Take $D = F = 1$, $x = 1$ and all weights 1. The gate is $1 \cdot \sigma(1) = 0.731$, what goes up is 1, and the result is 0.731. For $x = 2$ the gate is $2 \cdot \sigma(2) = 1.762$,
# what goes up is 2, and the result is 3.523.
#
# $$\text{swiglu}(x) = W_{down} \big(\text{silu}(W_{gate}\, x) \odot W_{up}\, x\big)$$
#
# The name comes from Swish, which is $z \cdot \sigma(\beta z)$ (P. Ramachandran and others, 2017). SiLU is Swish with $\beta = 1$. A product of two linear maps, one of them behind an activation function, is a gated linear unit, or GLU. N. Shazeer (2020) tried several such functions, and with Swish it is SwiGLU.
#
# ### Exercise: `swiglu` (about 10 minutes)
#
# Weights are stored as `(out, in)`, as everywhere in this course. You may use `F.silu`.


# %% solution="swiglu"
def swiglu(
    x: torch.Tensor, W_gate: torch.Tensor, W_up: torch.Tensor, W_down: torch.Tensor
) -> torch.Tensor:
    """x (..., D), W_gate and W_up (F, D), W_down (D, F) -> (..., D)."""
    ### BEGIN SOLUTION
    return (F.silu(x @ W_gate.T) * (x @ W_up.T)) @ W_down.T
    ### END SOLUTION


# %% check="swiglu"
check("swiglu", swiglu)

# %% [markdown]
# ## Heads that share
#
# The cache holds a key and a value for every token, in every layer and every head. Heads need queries of their own to ask different questions, but several heads can search the same keys.
# With four heads and two groups, heads 0 and 1 read group 0, and heads 2 and 3 read group 1. If a text has a single key, with the value 5 in group 0 and 7 in group 1, then the four heads find 5, 5, 7 and 7. In general, head $i$ reads group $\lfloor i \,/\, (h/g) \rfloor$. With $g = h$ this is multi-head attention (topic 07). With $g = 1$ it is called
# multi-query attention, and PaLM has it. What does sharing save?

# %%
predict("cache_of_a_large_model")


# %%
def cache_bytes(tokens, layers, groups, d_head, bytes_each=2):
    """Keys and values of all tokens, in all layers."""
    return tokens * layers * groups * d_head * 2 * bytes_each


for groups in (64, 8, 1):
    print(
        f"{groups:>2} groups: {cache_bytes(4000, 80, groups, 128) / 1e9:6.2f} GB for 4,000 tokens"
    )

# %% [markdown]
# ### Exercise: `grouped_attention` (about 25 minutes)
#
# Scores are divided by $\sqrt{d}$. The mask is boolean and broadcasts to $(B, h, T, S)$. It is True where a query may look, and `None` allows everything. A query that may look at nothing gets zeros.
# Raise a `ValueError` if the groups do not divide the heads. Do not use `F.scaled_dot_product_attention`, `F.multi_head_attention_forward` or `nn.MultiheadAttention`.


# %% solution="grouped_attention"
def grouped_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
) -> torch.Tensor:
    """q (B, h, T, d), k and v (B, g, S, d) -> (B, h, T, d)."""
    ### BEGIN SOLUTION
    h, g = q.shape[1], k.shape[1]
    if h % g:
        raise ValueError(f"{g} groups cannot be shared by {h} heads equally")
    k, v = k.repeat_interleave(h // g, dim=1), v.repeat_interleave(h // g, dim=1)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B, h, T, S)
    if mask is None:
        return scores.softmax(-1) @ v
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(-1).masked_fill(~mask, 0.0) @ v
    ### END SOLUTION


# %% check="grouped_attention"
check("grouped_attention", grouped_attention)

# %% [markdown]
# ## Count before you build
#
# How many numbers does such a model learn? Take a small one: $V = 10$, $D = 4$, two layers, two heads of width $d = 2$, one group, $F = 6$, a gate, no biases, and tied embeddings.
#
# | part | matrices | numbers |
# |---|---|---|
# | embedding | $10 \times 4$ | 40 |
# | attention, a layer | $W_q$ and $W_o$: $4 \times 4$ each, $W_k$ and $W_v$: $2 \times 4$ each | 48 |
# | feed-forward, a layer | $W_{gate}$, $W_{up}$ and $W_{down}$: $6 \times 4$ each | 72 |
# | norms, a layer | two $\gamma$ of width 4 | 8 |
# | norm at the end | one $\gamma$ | 4 |
# | **in all** | $40 + 2 \cdot (48 + 72 + 8) + 4$ | **300** |
#
# ### Exercise: `decoder_parameters` (about 20 minutes)
#
# Write the formula. `bias=True` means a bias for every matrix but the embeddings, and a shift for every norm. `gated=False` leaves out $W_{gate}$. `tied=False` adds a second table of $V$ rows for the output, which has no bias either, and `positions` is the number of learned positional embeddings.
# The heads need not fill the width. PaLM has 48 heads of width 256, which is 12,288 in all, in a width of 18,432.


# %% solution="decoder_parameters"
def decoder_parameters(
    V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions=0
) -> int:
    """How many numbers a decoder learns."""
    ### BEGIN SOLUTION
    wide, shared = heads * d_head, groups * d_head
    attention = 2 * D * wide + 2 * D * shared + bias * (wide + 2 * shared + D)
    up = 2 if gated else 1
    feed_forward = (up + 1) * D * F + bias * (up * F + D)
    norm = D * (1 + bias)
    tables = (1 if tied else 2) * V * D + positions * D
    return tables + layers * (attention + feed_forward + 2 * norm) + norm
    ### END SOLUTION


# %% check="decoder_parameters"
check("decoder_parameters", decoder_parameters)

# %% [markdown]
# The next cell counts six models of the lecture's table. The lecture gives no $V$ and $F$, so they stand in the cell. Where weights were published, it also prints by how much your count differs from them.

# %%
TABLE = {  # V, D, layers, heads, groups, d_head, F, gated, bias, tied, positions
    "GPT-1": (40478, 768, 12, 12, 12, 64, 3072, False, True, True, 512),
    "GPT-3": (50257, 12288, 96, 96, 96, 128, 49152, False, True, True, 2048),
    "BLOOM": (250880, 14336, 70, 112, 112, 128, 57344, False, True, True),
    "LLaMA 65B": (32000, 8192, 80, 64, 64, 128, 22016, True, False, False),
    "PaLM": (256000, 18432, 118, 48, 1, 256, 73728, True, False, True),
    "Mistral 7B": (32000, 4096, 32, 32, 8, 128, 14336, True, False, False),
}
WEIGHTS = {  # numbers in the files that were published
    "GPT-1": 116_534_784,
    "BLOOM": 176_247_271_424,
    "LLaMA 65B": 65_285_660_672,
    "Mistral 7B": 7_241_732_096,
}
parts = {}
for name, row in TABLE.items():
    V, D, layers, heads, groups, d, inner, gated, *rest = row
    attention = layers * 2 * D * d * (heads + groups)
    total = decoder_parameters(*row)
    parts[name] = {
        "attention": attention,
        "feed-forward": layers * (2 + gated) * D * inner,
        "embeddings": total - attention - layers * (2 + gated) * D * inner,
    }
    off = f"   {total - WEIGHTS[name]:+,}" if name in WEIGHTS else ""
    print(f"{name:<10} {total:>17,}{off}")
show.gpt.shares(parts)

# %% [markdown]
# The weights of GPT-3 and PaLM were not published. Their papers say 174.6 and 540.35 billion. Mistral's count is right to the last number. So is LLaMA's, although its paper prints 65.2 billion. The lecture's table ticks "bias" for LLaMA, but with biases
# you would get 65.294 billion.
#
# Two counts are off, and the difference says why. GPT-1 has 1,536 numbers fewer. That is $2 \cdot 768$, one norm with its shift. GPT-1 still puts its norms behind the sublayers, as in 2017, and has none at the end. BLOOM has 28,672 more, which is $2 \cdot 14{,}336$. It has one more norm, right behind the embeddings. So your count has found two norms that no table mentions.
#
# In the picture, norms and biases are counted with the embeddings. About two thirds of a large model, or more, are its feed-forward networks. This completes the cost account of topic 06. For each token, GPT-3 multiplies once for each of its $1.7 \cdot 10^{11}$ weights.
# Attention to 2,048 tokens adds $96 \cdot 2 \cdot 2048 \cdot 12288 = 4.8 \cdot 10^9$ multiplications, which is 3 % of that. At this width the square of the length outweighs the rest only from 74,000 tokens on, and most texts are shorter.
#
# ## The model, and its cache
#
# The next cell gives you the weights and no computation. Their names are those under which the weights of this course are published. Their initial standard deviation is $1/\sqrt{D}$, so that logits begin near 1 in size.


# %%
class RMSNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return rms_norm(x, self.weight)


class GPTLayer(nn.Module):
    """The weights of one layer. GPT.forward, further down, computes with them."""

    def __init__(self, d_model, n_heads, n_groups, d_ff):
        super().__init__()
        if d_model % (2 * n_heads) or n_heads % n_groups:
            raise ValueError(f"{n_heads} heads in {n_groups} groups do not fit {d_model}")
        self.n_heads = n_heads
        shared = n_groups * (d_model // n_heads)
        self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, shared, bias=False)
        self.W_v = nn.Linear(d_model, shared, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, d_ff, bias=False)
        self.W_up = nn.Linear(d_model, d_ff, bias=False)
        self.W_down = nn.Linear(d_ff, d_model, bias=False)


# %%
class GPTWeights(nn.Module):
    """All weights of a GPT. `load_published` copies published ones into them."""

    def __init__(self, vocab, d_model, n_layers, n_heads, n_groups, d_ff):
        super().__init__()
        self.words = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList(
            GPTLayer(d_model, n_heads, n_groups, d_ff) for _ in range(n_layers)
        )
        self.norm = RMSNorm(d_model)
        for weight in self.parameters():
            if weight.ndim == 2:
                nn.init.normal_(weight, std=d_model**-0.5)

    def embed(self, ids):
        return self.words(ids)

    def load_published(self, state):
        self.load_state_dict(state)
        return self


# %% [markdown]
# ### Attention with a cache
#
# Suppose the model has read four tokens, and three new ones come. They stand at positions 4, 5 and 6, not 0, 1 and 2, so their queries and keys are rotated by 4, 5 and 6. There are seven keys, four from the cache and three new ones.
# Which keys may each new token see?
#
# | | key 0 | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|---|
# | token 4 | ✓ | ✓ | ✓ | ✓ | ✓ | | |
# | token 5 | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | |
# | token 6 | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
#
# The diagonal ends in the lower right corner. `torch.ones(3, 7).tril()` puts it in the upper left one, and then token 4 would see a single key. `tril` takes a second argument for this.
#
# ### Exercise: `cached_attention` (about 30 minutes)
#
# This is the attention of one layer:
#
# $$\text{found} = \text{attention}\big(\text{rope}(y W_q^\top),\ \text{rope}(y W_k^\top),\ y W_v^\top\big) \, W_o^\top$$
#
# `y` $(B, T, D)$ are the new tokens, behind their norm. $W_q$ and $W_o$ have the shape $(D, D)$, and $W_k$ and $W_v$ have $(g \cdot d, D)$. `past` is what your function returned beside its result for the tokens before, or `None` at the beginning of a text.
# Return what is found, $(B, T, D)$, and the `past` of the next call. What it looks like is up to you. A pair of keys and values, each $(B, g, S, d)$, will do. Never change a `past` that you were given, because two texts may go on from the same one.
# `blocks.rope(x, positions)` is topic 08's RoPE for $x$ of shape $(B, h, T, d)$ and positions of shape $(T)$. Use your `grouped_attention`. As there, do not use `F.scaled_dot_product_attention`, `F.multi_head_attention_forward` or `nn.MultiheadAttention`, and do not use `blocks.GPT` either.


# %% solution="cached_attention"
def cached_attention(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    """y (B, T, D) behind a past -> what its tokens find (B, T, D), and the past of what follows."""
    ### BEGIN SOLUTION
    d_head = y.shape[-1] // n_heads
    q, k, v = ((y @ W.T).unflatten(-1, (-1, d_head)).transpose(1, 2) for W in (W_q, W_k, W_v))
    T, known = y.shape[1], 0 if past is None else past[0].shape[2]
    positions = torch.arange(known, known + T, device=y.device)
    q, k = blocks.rope(q, positions), blocks.rope(k, positions)
    if past is not None:
        k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
    mask = torch.ones(T, known + T, dtype=torch.bool, device=y.device).tril(known)
    found = grouped_attention(q, k, v, mask)  # (B, h, T, d)
    return found.transpose(1, 2).flatten(2) @ W_o.T, (k, v)
    ### END SOLUTION


# %% check="cached_attention"
check("cached_attention", cached_attention)

# %% [markdown]
# ### The layer, and the stack
#
# A layer reads the residual stream twice, each time through a norm:
#
# $$x \leftarrow x + \text{attention}\big(\text{norm}_1(x)\big)$$
# $$x \leftarrow x + \text{swiglu}\big(\text{norm}_2(x)\big)$$
#
# After the last layer comes one more norm. The logits are the dot products with the embedding table, `self.words.weight`. So one table is the input and the output, and a step of training moves both.
#
# ### Exercise: `GPT` (about 30 minutes)
#
# Write `forward(ids, cache=None)`, which returns the logits $(B, T, V)$ and a new cache. Use your `cached_attention` with the weights of each layer, such as `layer.W_q.weight`, and with `layer.n_heads`. Each layer has a past of its own. A list of them will do as a cache. Again, never change a cache that you were given.
# `ids` may also be vectors $(B, T, D)$, which take the place of embeddings. (A model that reads pictures gets their patches in this way.) As before, do not use `F.scaled_dot_product_attention`, `F.multi_head_attention_forward`, `nn.MultiheadAttention` or `blocks.GPT`.


# %% solution="GPT"
class GPT(GPTWeights):
    """model(ids (B, T), cache) -> logits (B, T, V), cache."""

    def forward(self, ids, cache=None):
        ### BEGIN SOLUTION
        x = ids if ids.is_floating_point() else self.embed(ids)
        present = []
        for i, layer in enumerate(self.layers):
            matrices = (W.weight for W in (layer.W_q, layer.W_k, layer.W_v, layer.W_o))
            past = None if cache is None else cache[i]
            found, kept = cached_attention(layer.norm1(x), *matrices, layer.n_heads, past)
            x = x + found
            weights = layer.W_gate.weight, layer.W_up.weight, layer.W_down.weight
            x = x + swiglu(layer.norm2(x), *weights)
            present.append(kept)
        return self.norm(x) @ self.words.weight.T, present
        ### END SOLUTION


# %% check="GPT"
check("GPT", GPT)

# %% [markdown]
# ## Weights from elsewhere
#
# The weights of your model are noise so far. The next cell loads ours. They were trained on WordNet's definitions, in the form `word (kind): definition`, cut into tokens from a vocabulary of 2,048. Token 0, `wordnet.END`, stands between two lines.

# %%
dictionary = GPT(**wordnet.SIZES).load_published(wordnet.weights()).eval()
line = "blorbel (plant): a tropical tree with yellow flowers"
ids = torch.tensor([[wordnet.END, *wordnet.encode(line), wordnet.END]])
with torch.no_grad():
    logits, _ = dictionary(ids[:, :-1])
log_p = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze()
print([wordnet.decode([token]) for token in ids[0, 1:-1].tolist()])
print(f"{-log_p.sum().item():.2f} nats for the whole line")

# %% [markdown]
# Our own code gives 48.18 nats for this line. If yours gives the same, your model computes what ours does, down to the last rotation.
#
# ## Choose the next token
#
# Which token do you take? Say that four tokens have the probabilities 0.5, 0.3, 0.15 and 0.05.
#
# - **Temperature** (topic 01) divides the logits. At $\tfrac12$ each probability is squared, before all are normalised again.
# - **Top-k** keeps the $k$ likeliest tokens. With $k = 2$ the first two stay, and normalised again they have 0.625 and 0.375.
# - **Top-p** keeps the fewest tokens, likeliest first, whose probabilities add up to at least $p$. For $p = 0.6$ the first has 0.5, which is not enough. So the second one stays, too, and again 0.625 and 0.375 are left.

# %%
predict("likeliest_of_four_at_half_the_temperature")

# %%
logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
for temperature in (2.0, 1.0, 0.5, 0.1):
    p = (logits / temperature).softmax(0)
    print(f"temperature {temperature:>3}:  " + "  ".join(f"{share:.3f}" for share in p))

# %% [markdown]
# The order of the three matters, and libraries differ. Ours divides by the temperature, then takes top-k, then normalises, then takes top-p.
#
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# At temperature $\tfrac12$ the first token has 0.685, and it reaches $p = 0.6$ alone. If top-p came first, two tokens would stay, with 0.735 and 0.265.
#
# </details>
#
# ### Exercise: `next_token` (about 30 minutes)
#
# Draw a token for each row of `logits`, with `generator`. Each row is cut by itself. A temperature of 0 takes the likeliest, however close the second is. `None` leaves a step out, and a `top_k` above $V$ keeps everything. With 0.5, 0.25 and 0.25, the first token reaches $p = 0.5$ and stays alone. If several tokens are equally likely at the edge of a cut, any of them may stay.


# %% solution="next_token"
def next_token(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """logits (B, V) -> ids (B,)."""
    ### BEGIN SOLUTION
    if temperature == 0:
        return logits.argmax(-1)
    logits = logits / temperature
    if top_k is not None:
        least = logits.topk(min(top_k, logits.shape[-1])).values[:, -1:]
        logits = logits.masked_fill(logits < least, -torch.inf)
    p = logits.softmax(-1)
    if top_p is not None:
        likeliest, tokens = p.sort(-1, descending=True)
        before = likeliest.cumsum(-1) - likeliest
        kept = likeliest.masked_fill(before >= top_p, 0.0)
        p = torch.zeros_like(p).scatter(-1, tokens, kept)
    return torch.multinomial(p, 1, generator=generator).squeeze(-1)
    ### END SOLUTION


# %% check="next_token"
check("next_token", next_token)

# %% [markdown]
# ### Exercise: `generate_text` (about 15 minutes)
#
# Let the model write `n` tokens for each text. First hand over the **prompt**, the whole text that it should continue. From then on, hand over the one new token of every text and the cache that came back. So the model is called exactly `n` times. Return the new tokens, without the prompt.
# `how` holds the settings of `next_token`.


# %% solution="generate_text"
def generate_text(model, ids, n, generator, **how):
    """ids (B, T) -> the next n tokens of each text, (B, n)."""
    ### BEGIN SOLUTION
    read, cache, written = ids, None, []
    for _ in range(n):
        with torch.no_grad():
            logits, cache = model(read, cache)
        read = next_token(logits[:, -1], generator=generator, **how)[:, None]
        written.append(read)
    return torch.cat(written, dim=1)
    ### END SOLUTION


# %% check="generate_text"
check("generate_text", generate_text)

# %% [markdown]
# ## A dictionary of words that do not exist
#
# First read its **model card**. It says how the weights were made and what they are not fit for. The model repeats what WordNet says of people, and some of that is offensive.

# %%
print(wordnet.card())

# %% [markdown]
# Now ask it for a word that does not exist. If you put in a name, yours or that of a friend, the answer may be an insult. It means nothing, because the model knows nobody.


# %%
def define(word, kind, number=0, **how):
    """A definition; another number gives another one."""
    how = {"temperature": 0.7, "top_p": 0.9} | how
    generator = torch.Generator().manual_seed(number)
    tokens = generate_text(dictionary, wordnet.prompt(word, kind), 60, generator, **how)
    return f"{word} ({kind}):{wordnet.decode(tokens[0].tolist())}"


for word, kind in [
    ("blorbel", "plant"),
    ("snorkfish", "animal"),
    ("quibblement", "act"),
    ("neuralist", "person"),
    ("overgrok", "verb"),
    ("Mount Zibble", "place"),
]:
    print(define(word, kind))

# %% [markdown]
# `wordnet.KINDS` lists the kinds. How good is it? Models with different tokenisers are compared in bits per byte (topic 13), which is the whole surprise in bits divided by the number of bytes. Here is what each needs for definitions that it has not seen:
#
# | model | bits per byte |
# |---|---|
# | topic 01's best n-gram over bytes, with $n = 7$ | 1.64 |
# | a bigram over the same pieces of words | 1.92 |
# | a trigram over them | 1.54 |
# | this GPT | **1.26** |
#
# Does the kind matter? Here is one word as three kinds, and then as a food at three temperatures.

# %%
for kind in ("food", "feeling", "made thing"):
    print(define("flimmer", kind, temperature=0))
for temperature in (0.3, 0.7, 1.5):
    how = {"temperature": temperature, "top_p": 1.0}
    print(f"{temperature}:", define("flimmer", "food", number=1, **how))

# %% [markdown]
# The kind decides nearly everything. At a temperature of 0 the model takes the likeliest token each time and may never leave a phrase, as the food shows. At 1.5 it rambles. In between, it is at its best. The word itself hardly matters, but its ending does. A word in *-ist* is a person who believes or does something. The model knows patterns of definitions.
# It knows nothing of blorbels, and little of the world. It puts Mount Zibble in Georgia "on the Mediterranean", a sea that Georgia does not touch.
#
# ## The task: a play
#
# Training our dictionary took 50 minutes on one core. The next model learns in 20 seconds, from a text whose truth is known. It is a **play**. Two people speak, and a coin decides who speaks next. Each has a surname that is new in every text. What they say is a sentence of the grammar of topic 02.
#
# Eight people take turns in the leading parts. Put names of people that you know into `cast`. The model sees the same tokens as before, and you see your names.

# %%
cast = "Ada Boris Chloe Dara Emil Farid Greta Hugo"  # eight first names of your own
cast = dict(zip(play.SPEAKERS, cast.split()))
seed(0)
texts = play.draw(200, torch.Generator().manual_seed(1))
print(play.decode(texts[0], cast))
truth = play.next_token(texts[:40, :-1])
surprise = -truth.gather(-1, texts[:40, 1:, None]).log()
print(f"\nThe best possible loss is {surprise.mean().item():.2f} nats a token.")

# %% [markdown]
# The first time that somebody speaks, Boris say, no model can know his surname. The second time, a reader who looks back knows it for certain. To find it, a model must search the text for the speaker's name and read what stood *behind* it. One head can mark each token
# with the one before it, and a head of the next layer can then find "the token behind Boris". The second of the two is called an **induction head**, and it needs the first. You will see whether your model has such a pair.
#
# ### Exercise: the training loop (about 20 minutes)
#
# Write `train`. A batch is a tuple `(ids,)` with `ids` $(8, 65)$, so 64 tokens of each text are read and 64 are predicted. The budget is 12,000 texts (48,000 on a GPU). Choose an optimizer, and let its learning rate fall to zero over all `len(batches)` batches. Call `batches.log(loss)` once in each step. The model is the one that you built. As in `GPT`, do not use `blocks.GPT`, `F.scaled_dot_product_attention`, `F.multi_head_attention_forward` or `nn.MultiheadAttention`. For full marks, one measure has to reach its bar:
#
# | measure | bar |
# |---|---|
# | loss on the words of the sentences | at most 0.1 nats a word above the grammar |
#
# Losses of up to 0.25 and 0.6 above the grammar earn part of the points. Surnames earn none. You will see below what the model makes of them.


# %% solution="gpt_task"
def train(model, batches):
    """Trains on `for (ids,) in batches`, ids (B, 65), and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3)
    steps = len(batches)
    for step, (ids,) in enumerate(batches):
        optimizer.param_groups[0]["lr"] = 8e-3 * (1 - step / steps)
        logits, _ = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("gpt_task", lambda: GPT(len(play.words()), 64, 2, 4, 2, 128), train)

# %% check="gpt_task"
check("gpt_task", record.model)

# %% [markdown]
# Let it write a play for your cast. Do people keep their surnames?

# %%
start = texts[:1, :1].to(device())  # the full stop in front of every text
generator = torch.Generator(device()).manual_seed(1)
written = generate_text(record.model, start, 63, generator, temperature=0.8)
print(play.decode(written[0], cast))

# %% [markdown]
# Does it look back? The next cell asks for the probability of the right surname, the first time that a person speaks, the second time, and so on. Of all lines it takes those before which the other person has spoken, and it asks for that person's surname as well.


# %%
@torch.no_grad()
def surname_odds(model):
    """Mean probabilities of the right surname and the other one's, each time a person speaks."""
    logits, _ = model(texts[:, :-1].to(device()))
    p = logits.softmax(-1).cpu()
    right, other = ([[] for _ in range(5)] for _ in range(2))
    for row, text in enumerate(texts.tolist()):
        names, times = {}, {}
        for place, surname in enumerate(text[1:]):
            if play.words()[surname] in play.SURNAMES:
                speaker = text[place]
                times[speaker] = times.get(speaker, 0) + 1
                others = [name for person, name in names.items() if person != speaker]
                if others and times[speaker] <= len(right):
                    right[times[speaker] - 1].append(p[row, place, surname].item())
                    other[times[speaker] - 1].append(p[row, place, others[0]].item())
                names[speaker] = surname
    return ([sum(some) / len(some) for some in found] for found in (right, other))


show.gpt.surnames(*surname_odds(record.model), guess=1 / len(play.SURNAMES))

# %% [markdown]
# The first blue bar can only be a guess. Ours rose to about a half afterwards, so our model does look back. But its orange bars are as high. It knows which two surnames stand in the text, and tosses a coin between them. It copies, and it does not ask whose name it is. From the blue bars alone we would have said that it has learned induction.
# With induction, blue rises to 1 and orange falls to 0.
#
# Two heads can do that. In layer 1, one looks from each surname to the name before it. In layer 2, one looks from the second *Boris* to the surname that was marked with the first. Where do yours look? If the values of an attention are the identity matrix, its result is the weights themselves. So your own functions can tell.


# %%
@torch.no_grad()
def attention_maps(model, ids):
    """ids (1, T) -> for each layer (h, T, T): how much each token looks at each."""
    x, T, maps = model.embed(ids), ids.shape[1], []
    see, mask = torch.eye(T, device=ids.device), torch.ones_like(ids[0]).expand(T, T).tril().bool()
    for layer in model.layers:
        y = layer.norm1(x)
        matrices = [W.weight for W in (layer.W_q, layer.W_k, layer.W_v, layer.W_o)]
        q, k = (
            blocks.rope((y @ W.T).unflatten(-1, (-1, W.shape[1] // layer.n_heads)).transpose(1, 2))
            for W in matrices[:2]
        )
        maps.append(grouped_attention(q, k, see.expand(*k.shape[:2], T, T), mask)[0])
        x = x + cached_attention(y, *matrices, layer.n_heads)[0]
        weights = layer.W_gate.weight, layer.W_up.weight, layer.W_down.weight
        x = x + swiglu(layer.norm2(x), *weights)
    return maps


scene = [".", "Boris", "Marsh:", "the", "cook", "sings"]
scene += [".", "Greta", "Vale:", "the", "dog", "sleeps", ".", "Boris"]
ids = torch.tensor([[play.words().index(word) for word in scene]], device=device())
shown = [cast.get(word, word) for word in scene]
marks, finds = [(2, 1), (8, 7)], [(13, 2)]  # surnames and their names, the second Boris and Marsh
show.gpt.two_heads(attention_maps(record.model, ids), shown, [marks, finds])

# %% [markdown]
# Of each layer you see the head that looks most where the orange frames are. In a model with induction, all frames are bright. In our layer 1 one head looks from surnames to names, but from *Vale* it looks to Boris more than to Greta. Our layer 2 has nothing in its frame. The coin is tossed in layer 1 already, where another head looks from the second *Boris* to both surnames, with 0.63 and 0.37.
#
# Either half of induction is of use only with the other, so a model gets no reward on the way to it. In language models it comes suddenly (C. Olsson and others, 2022). Our play pays 0.04 nats a token for it, and after 32,000 texts ours still tossed its coin. All that time the loss on the sentences was excellent. A mean loss hides what a model cannot do.
#
# So give your model the first half as a present. The next one adds half of the vector of the token before to each token. Then *Marsh* is marked with *Boris* from the beginning, and only the finding is left to learn.


# %%
class Marked(GPT):
    """A GPT in which each token carries half of the one before it. It reads whole texts."""

    def embed(self, ids):
        x = self.words(ids)
        return x + F.pad(x[:, :-1], (0, 0, 1, 0)) / 2

    def forward(self, ids, cache=None):
        return super().forward(self.embed(ids), cache)


marked = fit(
    "gpt_task", lambda: Marked(len(play.words()), 64, 2, 4, 2, 128), train, variant="marked"
)
show.gpt.surnames(*surname_odds(marked.model), guess=1 / len(play.SURNAMES))

# %%
show.gpt.two_heads(attention_maps(marked.model, ids), shown, [finds, finds])

# %% [markdown]
# Now blue rises to 0.99, and orange stays as low as a guess. Ours told the surnames apart after 4,000 texts already. In layer 1, one head looks from the second *Boris* to *Marsh* with 0.97 of its attention. Nothing has changed but half a vector, so it was the first half of induction that was missing.
# C. Olsson and others mixed the keys of neighbouring tokens in small models, and called these **smeared keys**. Models of two layers then learned induction earlier, and even those of one layer learned it.
#
# ## What would longer training reach?
#
# The loss of language models falls with their size, with the text that they read, and with the computation. It falls by a law, and people plan trainings of months with it. Here are three losses: 3.5 after 10,000 texts, 3.0 after 40,000 and 2.75 after 160,000. Each time there are four times as many texts, and the drop halves, from 0.5 to 0.25.
# The next drops would be 0.125 and 0.0625, so all further ones add up to 0.25, and the loss never falls below $2.75 - 0.25 = 2.5$. A drop that halves when the number of texts $N$ quadruples goes with $1/\sqrt{N}$. At $N = 10{,}000$ the loss is $3.5 - 2.5 = 1$ above its floor, and $\sqrt{N} = 100$, so $A = 100$:
#
# $$L(N) = E + \frac{A}{N^\alpha} = 2.5 + \frac{100}{N^{0.5}}$$
#
# $E$ is the floor, which is left at the end. If the model is large enough, it is the entropy of the language (topic 09). The law has the same form for the number of parameters $P$, if the text is long enough. In this notebook $N$ always counts text, in texts or in tokens, and $D$ is the width.
#
# ### Exercise: `fit_power_law` (about 20 minutes)
#
# Find $E$, $A$ and $\alpha$ from three or more numbers $N$ and their losses. Any method is fine that takes a few seconds at most. The judge asks for four fits and waits 20 seconds for all of them. For a given $\alpha$ the law is a straight line in $N^{-\alpha}$, so least squares gives $E$ and $A$, and only $\alpha$ has to be searched for. Search it finely, from 0.05 to 2. It has to come within 2 % of the right one, and $A$ within 14 %. $E$ may be wrong by 2 % of the difference between the largest and the smallest loss.


# %% solution="fit_power_law"
def fit_power_law(N: torch.Tensor, losses: torch.Tensor) -> dict[str, float]:
    """N (M,) and losses (M,) -> {"E": ..., "A": ..., "alpha": ...}."""
    ### BEGIN SOLUTION
    N, losses = N.double(), losses.double()
    best = None
    for alpha in torch.arange(0.05, 2.0, 0.001).tolist():
        columns = torch.stack([torch.ones_like(N), (N / N[0]) ** -alpha], dim=1)
        line = torch.linalg.lstsq(columns, losses[:, None]).solution
        error = (columns @ line - losses[:, None]).square().sum().item()
        if best is None or error < best[0]:
            best = error, line[0].item(), line[1].item() * N[0].item() ** alpha, alpha
    return {"E": best[1], "A": best[2], "alpha": best[3]}
    ### END SOLUTION


# %% check="fit_power_law"
check("fit_power_law", fit_power_law)

# %% [markdown]
# We trained the play's model on 1,600 to 25,600 texts, four times each. `play.RUNS` holds the mean losses on words of new texts. What would it reach with endless training? The grammar knows.

# %%
N, losses = (torch.tensor(column, dtype=torch.float64) for column in zip(*play.RUNS))
law = fit_power_law(N[:3], losses[:3])
print({name: round(value, 3) for name, value in law.items()})
for texts_read, loss in play.RUNS:
    told = law["E"] + law["A"] / texts_read ** law["alpha"]
    print(f"{texts_read:>6,} texts: {told:.3f} by the law, {loss:.3f} measured")
show.gpt.scaling(N, losses, law, play.ENTROPY, fitted=3)

# %% [markdown]
# From the three cheapest trainings, the law predicts the two others, which took two and four times as many texts as the third. It says 2.622 and 2.607, and we measured 2.626 and 2.615. Its floor is 2.598, and the entropy of these words is 2.604. The farther it looks ahead, the more it hopes for. Fitted to all five, it has a floor of 2.606.
# It does not hold for fewer than about a thousand texts.
#
# An exponent of 1.5 is that of a toy. The grammar is small, and the model is close to all that there is to learn. From 9,000 parameters on, the words gain nothing more. For real language J. Kaplan and others (2020) found that the loss falls with $P^{-0.076}$ for $P$ parameters and with $N^{-0.095}$ for $N$ tokens, without a floor. J. Hoffmann and others (2022) fitted a floor and both terms at once, and called their model Chinchilla:
#
# $$L(P, N) = 1.69 + \frac{406.4}{P^{0.34}} + \frac{410.7}{N^{0.28}}$$
#
# (Both papers write $N$ for the parameters and $D$ for the tokens.) So ten times as many parameters make the second term 2.2 times smaller. Training takes about $6PN$ operations, which are a multiplication and an addition for each parameter and token on the way forward, and twice as many on the way back. For a given $6PN$, how large should the model be? Chinchilla's answer is about twenty tokens for each parameter. It has 70 billion parameters and read 1.4 trillion tokens. GPT-3 had read fewer than two a parameter.
# People now train small models on far more than twenty, because a small model is cheaper each time somebody uses it. Our dictionary read 24 tokens a parameter.
#
# ## Play
#
# Type the beginning of a definition. The grey bars are the model's probabilities for the next token. The orange ones are what your `next_token` draws. The small picture shows how the cache grows with the text, for one group, two and four.
#
# Which top-p leaves a single token? Can you find a text after which the model is nearly certain? What does top-k = 1 do to the temperature?

# %%
show.gpt.sampler(dictionary, next_token)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Your dictionary defines *blorbel* without hesitation. A friend says: "So it understands how words are built, and it only needs more data to tell the truth." Say what the model has learned, and how you can tell. Then say which of its errors more data or a larger model would mend, and which they
# would not. Write five to eight sentences.

# %% [markdown] question="gpt_question"
# The model has learned which pieces of words follow each other in definitions. It writes the form of a definition, with a genus and a difference, and it matches the kind: a plant gets flowers, a person does something. From the spelling it takes endings, such as *-ist*. I can tell because the same word gets another
# definition with every seed, and because the kind decides more than the word.
#
# More data or more parameters would mend grammar, contradictions within a line, and facts about words that occur in the data, since all of these lower the loss. They would not make the definition of *blorbel* true, because there is nothing to be true to. The loss rewards what is likely to stand in a dictionary, and never asks whether the word exists. A model that says "there is no such word" would need
# examples of that answer, or another goal.

# %%
rubric("gpt_question")

# %% [markdown]
# ## The finale: your code runs a real language model (about 10 minutes, nothing is graded)
#
# Your dictionary is small, and your code can do more. It holds every part of [SmolLM2-135M-Instruct](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct), a language model that Hugging Face trained on 2 trillion tokens and then to answer questions. Your class loads it without a change.
#
# With `download=True` in its brackets, the next cell gets the weights once, a download of 93 MB. Without them, each cell below shows what we saw. With them, this notebook takes up to 1.2 GB of memory.

# %%
real = data.load_language_model()


# %% [markdown]
# Two numbers differ. The model was trained with RoPE at a base of 100,000, and `blocks.rope`, which your code calls, takes 10,000. The class below changes that number and nothing else. (If your code has a `rope` of its own, give that one the base.) The other number is the norms' $\varepsilon$, which was $10^{-5}$ in training and is $10^{-6}$ in your code. It stays, because no logit moves by more than 0.05 for it.
#
# A chat is a text like any other. `real.chat(question)` puts your question between token 1, which begins a turn, and token 2, which ends one, and then begins the turn of the assistant. In front it puts a turn of the system, which you did not write. The model was trained with that sentence.
#
# So the assistant is your `generate_text`, which goes on with such a text. It always writes all `n` tokens, and `real.answer` cuts them at token 2 afterwards. So a short answer takes as long as a long one. An answer that is still unfinished ends in …. The next cell shows all 40 tokens, and then the answer.


# %%
class Assistant(GPT):
    """Your GPT, with the base of RoPE that these weights were trained with."""

    base = 100_000

    def forward(self, ids, cache=None):
        with blocks.rope_base(self.base):
            return super().forward(ids, cache)


def ask(question, n=40, number=0, **how):
    if not real:
        return "There are no weights here. data.load_language_model(download=True) downloads them."
    generator = torch.Generator().manual_seed(number)
    return real.answer(generate_text(assistant, real.chat(question), n, generator, **how))


if real:
    assistant = real.fill(Assistant(49152, 576, 30, 9, 3, 1536))
    asked = real.chat("What is the capital of France?")
    tokens = generate_text(assistant, asked, 40, torch.Generator(), temperature=0)
    print(f"THE CHAT:\n{real.decode(asked[0].tolist())}")
    print(f"40 TOKENS:\n{real.decode(tokens[0].tolist())}")
    print(f"THE ANSWER:\n{real.answer(tokens)}")
else:
    print(language_model.seen("15_answer"))

# %% [markdown]
# The answer is there at once. Then the model ends its turn, opens another chat and plays the user itself. It was trained on whole chats, so it goes on with chats.
#
# It knows things. Nobody told your code anything about France, so where is Paris? It is somewhere in the weights. How many are there, by your formula and in the file?

# %%
count = decoder_parameters(49152, 576, 30, 9, 3, 64, 1536, True, False, True)
published = 134_515_008
print(f"{count:,} parameters, which differs from the file by {count - published:+,}")
print(f"{2e12 / count:,.0f} tokens of text for each parameter")

# %% [markdown]
# Chinchilla's twenty tokens a parameter are the best use of one training. This model read more than 700 times as many, because a small model is cheap each time somebody uses it.
#
# Here is one question at three temperatures. Do you remember what a blorbel is?

# %%
if real:
    for temperature in (0, 0.7, 1.5):
        print(f"{temperature}:", ask("What is a blorbel?", temperature=temperature), "\n")
else:
    print(language_model.seen("15_temperatures"))

# %% [markdown]
# Ours wrote *blerbel* at a temperature of 0. At 0.7 it made up a German word and a bear, and at 1.5 it fell apart. At no temperature did it say that it does not know the word.
#
# How much does your cache save? Without it, the model reads the whole chat again for each token.


# %%
def without_cache(ids, cache=None):
    everything = ids if cache is None else torch.cat([cache, ids], dim=1)
    return assistant(everything)[0], everything


def tokens_a_second(model):
    began = time.perf_counter()
    generate_text(model, real.chat("Who are you?"), 20, torch.Generator(), temperature=0)
    return 20 / (time.perf_counter() - began)


if real:
    print(f"{tokens_a_second(assistant):.1f} tokens a second with the cache")
    print(f"{tokens_a_second(without_cache):.1f} tokens a second without the cache")
else:
    print(language_model.seen("15_cache"))

# %% [markdown]
# Why a base of 100,000? Head width is 64, so RoPE has 32 pairs, and pair $i$ turns by $\text{base}^{-i/32}$ radians a token. This model reads up to 8,192 tokens. With a base of 10,000, 7 of the pairs turn less than once over that length, and with 100,000 there are 12.
# Only a pair that has not come round yet tells far from near without doubt. So people raise the base when texts get longer. But the weights are made for one base. The next cell lets the model read your dictionary's model card with four of them, 40 tokens at a time behind the cache, which takes 10 seconds or more. The text itself gets harder at its end, so compare the numbers in a column.


# %%
def nats(model, ids):
    """The surprise of each token of one text, from the second on: ids (1, T) -> (T - 1,)."""
    found, cache = [], None
    with torch.no_grad():
        for read, next_ids in zip(ids[:, :-1].split(40, 1), ids[:, 1:].split(40, 1)):
            logits, cache = model(read, cache)
            found.append(-logits.log_softmax(-1).gather(-1, next_ids[..., None]).flatten())
    return torch.cat(found)


if real:
    card_ids = torch.tensor([[0, *real.encode(wordnet.card())[:800]]])
    print("nats a token, of the first 200, the second 200 and so on")
    try:
        for assistant.base in (1_000, 10_000, 100_000, 10_000_000):
            quarters = [f"{part.mean():5.2f}" for part in nats(assistant, card_ids).split(200)]
            print(f"base {assistant.base:>10,}: ", "  ".join(quarters))
    finally:
        assistant.base = 100_000
else:
    print(language_model.seen("15_base"))

# %% [markdown]
# Every other base does harm, a larger one, too. At 10,000 the harm is 0.05 to 0.23 nats, and it does not grow with the distance. At 1,000 it grows to 4.9 nats. A smaller base turns the slow pairs faster, and at 1,000 they soon reach angles that the weights never saw in training. Most of the harm comes from these. We gave that base to the 12 slow pairs alone, and the last 200 tokens cost 8.77 nats instead of 4.15. When these pairs did not turn at all, they cost 4.24. At 10,000 no pair turns farther over 800 tokens than it does over 8,192 with its own base.
#
# And induction? Twenty random tokens, read twice in a row, make no sense. Nothing in the first reading can be foreseen. At the second one a model can look back. Token 0 begins the text, for both models.


# %%
def two_readings(model, vocab):
    once = torch.randint(17, vocab, (1, 20), generator=torch.Generator().manual_seed(0))
    found = nats(model, torch.cat([torch.zeros(1, 1, dtype=torch.long), once, once], dim=1))
    return f"{found[:20].mean():.1f} nats a token, then {found[20:].mean():.1f}"


if real:
    print("dictionary:", two_readings(dictionary, 2048))
    print("assistant: ", two_readings(assistant, 49152))
else:
    print(language_model.seen("15_induction"))

# %% [markdown]
# At the first reading both do far worse than a guess, which costs $\log 2048 = 7.6$ and $\log 49152 = 10.8$ nats. They expect text, and random tokens contradict what they expect. At the second reading the dictionary gains little, because looking back seldom pays in a list of definitions. The assistant read 2 trillion tokens, and names, quotations and lines of code come again in them. Its loss falls to 2.1, so it probably has both halves of induction. To be sure, you would have to look at its heads, as topic 20 does. Your play's model needed help with the first half.
#
# Here are three more questions. `print(language_model.card())` shows ten others that we asked, with all answers.

# %%
if real:
    for question in ("Why is the sky blue?", "What is 17 times 3?", "Who wrote Hamlet?"):
        print(f"{question}\n{ask(question, temperature=0.2, top_p=0.9)}\n")
else:
    print(language_model.seen("15_questions"))

# %% [markdown]
# Now put a question that you know the answer to in the place of the one below.

# %%
print(ask("What is a tokeniser?", temperature=0.2, top_p=0.9))

# %% [markdown]
# It is fluent, and sometimes right about what many people wrote down. Of the ten questions on its card, which we did not choose, it knew the capital of the Philippines, and it reckoned, spelled and translated wrongly. It is wrong without hesitation. Ours made Shakespeare a son of the Bard, in perfect English. Models with a thousand times as many parameters have the same parts. You wrote each of them, and you checked it.

# %% [markdown]
# ## What you built
#
# A GPT predicts the next token, and it writes by doing so again and again. Its layers are RMSNorm, grouped attention with RoPE and SwiGLU. A cache keeps keys and values, so each token is read once.
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `rms_norm` | RMSNorm | `nn.RMSNorm` |
# | `swiglu` | SwiGLU, a gated feed-forward network | `LlamaMLP` in `transformers` |
# | `grouped_attention` | grouped-query attention | `enable_gqa=True` in `F.scaled_dot_product_attention` |
# | `decoder_parameters` | parameter count | every model card |
# | `cached_attention` | causal self-attention with a KV cache | `past_key_values` in `transformers` |
# | `GPT` | decoder-only Transformer | `LlamaForCausalLM` |
# | `next_token` | temperature, top-k and nucleus sampling | `model.generate(top_p=...)` |
# | `fit_power_law` | scaling law | the Chinchilla paper |
#
# ## Going further
#
# - **Another order.** Exchange two lines of `next_token`, so that top-p comes before the temperature. Read ten definitions of each kind. Can you tell them apart?
# - **Without a cache.** Write 200 tokens with and without it, and measure the seconds. At which length does the cache pay?
# - **Another seed.** `fit` sets a seed of its own before it builds the model, so `seed(...)` in front of it changes nothing. Write a function that calls `seed(7)` and then returns the model, and hand it to `fit` with `variant="seed7"`. Are the surnames told apart, and which heads look back?
# - **Start at 0.02.** Train the play from weights of standard deviation 0.02, as GPT-2 does, with `variant="small"`. What becomes of the surnames?
# - **Read.** H. Touvron and others, [LLaMA](https://arxiv.org/abs/2302.13971) (2023), section 2.2, is this notebook's list of parts. J. Hoffmann and others, [Training compute-optimal large language models](https://arxiv.org/abs/2203.15556) (2022),
#   fit the law with a second term for the data. A. Holtzman and others, [The curious case of neural text degeneration](https://arxiv.org/abs/1904.09751) (2020), invented top-p. C. Olsson and others,
#   [In-context learning and induction heads](https://arxiv.org/abs/2209.11895) (2022), watched induction appear.
#
# <!-- needs: 16_bert -->
# - **Next.** A GPT sees only the words before. Topic 16 trains a model that sees both sides, and teaches it a task from fifty labels.
#
# <!-- needs: 18_assistant -->
# - **An assistant.** A GPT goes on with your text. Topic 18 makes an assistant of this one, by chats, pictures and what people prefer.
#
# <!-- without: 18_assistant -->
# - **An assistant.** A GPT goes on with your text. To make an assistant of it, people train it further, on questions with good answers and on what readers prefer. L. Ouyang and others,
#   [Training language models to follow instructions](https://arxiv.org/abs/2203.02155) (2022), tell how.
#
# **Now you can** build a GPT with a cache, choose how it picks its next token, and tell its fluency from knowledge. Run the cell below to see which notebook comes next.

# %%
progress()
