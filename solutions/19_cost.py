# %% [markdown]
# # 19 What attention costs, and what it need not cost
#
# A text of 8,192 tokens goes through one head of attention. The head makes a table of 67,108,864 scores, which is 268 MB. It computes a softmax, mixes the values, and throws the table away. There are perhaps a thousand heads in the model.
#
# Nothing in the result needs that table. In the first half of this notebook you compute the same result, to the last digit, and never hold more than a strip of it.
#
# The second half is about writing. A large model reads all of its weights to write one token, and then it reads them all again for the next. A small model can guess a few tokens, and the large one checks all guesses in a single reading. You will prove that nobody can tell the difference. Then you will find out where this saves time, and where it only saves readings.
#
# **You will**
#
# - compute attention block by block, exactly, as FlashAttention does
# - restrict attention to a window, and find out how far a stack of windows sees
# - write a cache that forgets, and T5's relative positions
# - say how long a step takes at least, on any machine
# - let a small model guess for a large one, and train the small one by distillation.
#
# **You need** attention, causal masks and a GPT with a cache.
#
# <!-- needs: 06_self_attention, 09_masking, 15_gpt -->
# They are in topics 06, 09 and 15.
#
# Nine exercises, one training task and one written question take about 195 minutes. The reading takes another 70. Call `hint("merge_blocks")` if you are stuck.

# %%
import time

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show
from course.data import definitions, language_model, wordnet

# %% [markdown]
# ## The whole picture
#
# | what costs | what it need not cost | you write |
# |---|---|---|
# | a table of all scores | a strip of it, block by block | `merge_blocks`, `blockwise_attention` |
# | a look at every token before | a look at the last $w$ | `window_mask`, `reach` |
# | a cache that grows with the text | a cache of $w$ keys | `RollingCache` |
# | a vector for each position | a number for each kind of distance | `relative_buckets` |
# | a reading of all weights for every token | one reading for several tokens | `step_time`, `accept_draft`, `distillation_loss` |
#
# Only the first and the last row give the same result as before. The others change the model, so it must be trained with them.
#
# **Dimensions.** A batch has $B$ texts of $T$ tokens, with $S$ keys. An attention has $h$ heads. Queries and keys of a head have width $d$, and values $d_v$. The vocabulary has $V$ tokens.
#
# ## Softmax in two blocks
#
# A query meets four keys. The exponentials of its scores are 1, 1, 4 and 2, and the values are 6, 2, 3 and 5. The result is their weighted mean, $(6 + 2 + 12 + 10) / 8 = 3.75$.
#
# Now read two keys, and then the other two. From each block, keep three numbers. $m$ is the largest score. $\ell$ is the sum of all $e^{s - m}$, and $o$ is the sum of all $e^{s - m} v$, which is *not* divided.
#
# | block | scores | $m$ | $\ell$ | $o$ |
# |---|---|---|---|---|
# | first | $0, 0$ | $0$ | $1 + 1 = 2$ | $6 + 2 = 8$ |
# | second | $\log 4, \log 2$ | $\log 4$ | $1 + \tfrac12 = 1.5$ | $3 + 2.5 = 5.5$ |
# | both | | $\log 4$ | $\tfrac14 \cdot 2 + 1.5 = 2$ | $\tfrac14 \cdot 8 + 5.5 = 7.5$ |
#
# The largest score has moved from 0 to $\log 4$, so all that was measured against 0 shrinks by $e^{0 - \log 4} = \tfrac14$. At the end $o / \ell = 7.5 / 2 = 3.75$, as before. The logarithm of the sum of all exponentials is $m + \log \ell = \log 4 + \log 2 = \log 8$.
#
# $$m = \max(m_1, m_2), \qquad \ell = e^{m_1 - m}\, \ell_1 + e^{m_2 - m}\, \ell_2, \qquad o = e^{m_1 - m}\, o_1 + e^{m_2 - m}\, o_2$$
#
# M. Milakov and N. Gimelshein (2018) called this **online softmax**. The order of the blocks does not matter, and neither does their grouping.
#
# ### Exercise: `merge_blocks` (about 15 minutes)
#
# Each block is a tuple of $m$ with shape `(...)`, $\ell$ with shape `(...)` and $o$ with shape `(..., dv)`, and so is the result. A block that holds nothing is $(-\infty, 0, 0)$. Two of them give such a block again, without NaN, also in the gradient. The judge looks at gradients of $o / \ell$ and $m + \log \ell$ only, so you may cut the maximum from the graph.


# %% solution="merge_blocks"
def merge_blocks(first, second):
    """Two blocks (m (...), l (...), o (..., dv)) -> the block of both."""
    ### BEGIN SOLUTION
    (m1, l1, o1), (m2, l2, o2) = first, second
    m = torch.maximum(m1, m2).detach()
    top = torch.where(m == -torch.inf, 0.0, m)  # -inf - -inf would be NaN
    a, b = (m1 - top).exp(), (m2 - top).exp()
    return m, a * l1 + b * l2, a[..., None] * o1 + b[..., None] * o2
    ### END SOLUTION


# %% check="merge_blocks"
check("merge_blocks", merge_blocks)

# %%
first = torch.tensor([0.0]), torch.tensor([2.0]), torch.tensor([[8.0]])
second = torch.tensor([4.0]).log(), torch.tensor([1.5]), torch.tensor([[5.5]])
m, total, out = merge_blocks(first, second)
print(f"m = {m.item():.3f}, l = {total.item():.3f}, o = {out.item():.3f}")
print(f"mean {(out / total).item():.2f}, exp(m + log l) = {(m + total.log()).exp().item():.0f}")

# %% [markdown]
# ## Attention, block by block
#
# Begin with the block that holds nothing. For each block of keys, compute its scores, make its three numbers, and merge. Divide once, at the end. For 8,192 tokens and blocks of 128 keys, a strip of scores has 1,048,576 numbers, which is a 64th of the table.
#
# T. Dao and others (2022) built **FlashAttention** on this. On a graphics card the strips stay in the small, fast memory beside the arithmetic units, and the table never travels to the large, slow one. They saved mostly the travelling.
#
# ### Exercise: `blockwise_attention` (about 25 minutes)
#
# Scores are divided by $\sqrt{d}$. Each block has `block` keys, and the last one may have fewer. Return the result $(B, h, T, d_v)$ and the logarithm of each query's sum of exponentials, $(B, h, T)$, called its log-sum-exp.
#
# With `causal=True`, the last query stands at the last key, because new tokens stand at the end of a text. So query $t$ sees the keys up to $t + S - T$. FlashAttention does so since version 2.1. Its older versions and PyTorch's `is_causal` begin in the upper left corner instead. A query that sees nothing, which happens for $T > S$, gets zeros and $-\infty$, and gradients of 0.
#
# Scores of $-90{,}000$ are scores, so no finite number can stand for $-\infty$. A `block` below 1 is a `ValueError`. The judge counts what you make, once for $T = S = 384$ and once for 96 queries of 1,536 keys, with blocks of 16 and without a graph. No tensor may have more than $4 \cdot T \cdot 16$ numbers, and a mask counts as well. All that exists at the same time must stay below a third of the table. Do not use `F.scaled_dot_product_attention`, `nn.MultiheadAttention` or `F.multi_head_attention_forward`.


# %% solution="blockwise_attention"
def blockwise_attention(q, k, v, block, causal=False):
    """q (B, h, T, d), k (B, h, S, d), v (B, h, S, dv) -> out (B, h, T, dv), lse (B, h, T)."""
    ### BEGIN SOLUTION
    if block < 1:
        raise ValueError(f"a block has one key at least, not {block}")
    T, S = q.shape[2], k.shape[2]
    places = torch.arange(S - T, S, device=q.device)[:, None]  # where the queries stand
    zeros = q.new_zeros(q.shape[:3])
    read = zeros - torch.inf, zeros, q.new_zeros(*q.shape[:3], v.shape[3])
    for begin in range(0, S, block):
        some = slice(begin, begin + block)
        scores = q @ k[:, :, some].mT / q.shape[3] ** 0.5  # (B, h, T, block)
        if causal:
            keys = torch.arange(S, device=q.device)[some]
            scores = scores.masked_fill(keys > places, -torch.inf)
        m = scores.detach().amax(-1)
        weights = (scores - torch.where(m == -torch.inf, 0.0, m)[..., None]).exp()
        read = merge_blocks(read, (m, weights.sum(-1), weights @ v[:, :, some]))
    m, total, out = read
    total = torch.where(total == 0, 1.0, total)  # a query that saw nothing
    return out / total[..., None], m + total.log()
    ### END SOLUTION


# %% check="blockwise_attention"
check("blockwise_attention", blockwise_attention)

# %% [markdown]
# How far is it from attention with a table, and how long do both take? On a processor a table that no longer fits into its fast memory is slow, too.


# %%
def table_attention(q, k, v):
    """Causal attention as usual: all scores at once."""
    scores = q @ k.mT / q.shape[3] ** 0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -torch.inf).softmax(-1) @ v


def milliseconds(function, *args, times=3):
    """The shortest of a few runs, on one thread."""
    found = []
    with blocks.one_thread(), torch.no_grad():
        for _ in range(times):
            began = time.perf_counter()
            function(*args)
            found.append(1000 * (time.perf_counter() - began))
    return min(found)


print("tokens   table, ms   blocks of 128, ms   largest difference")
for T in (512, 1024, 2048):
    q, k, v = torch.randn(3, 1, 1, T, 32, generator=torch.Generator().manual_seed(T))
    off = (blockwise_attention(q, k, v, 128, True)[0] - table_attention(q, k, v)).abs().max()
    slow, fast = (
        milliseconds(table_attention, q, k, v),
        milliseconds(blockwise_attention, q, k, v, 128, True),
    )
    print(f"{T:>6} {slow:>11.1f} {fast:>19.1f} {off.item():>20.0e}")

# %% [markdown]
# Both agree, but for rounding. The clock depends on your machine, and on what else it does. For short texts the table wins, because many small steps in Python cost more than they save. On a quiet core ours took 38 ms with the table and 24 ms with blocks for 2,048 tokens, and 217 and 93 ms for 4,096. Where we left out the blocks that no query sees, 4,096 tokens took 47 ms. That was reading. What happens in training?

# %%
predict("memory_of_blocks_in_training")


# %%
def kept_for_the_backward_pass(function, *args):
    """The bytes of all tensors that autograd keeps."""
    memories = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        memories[storage.data_ptr()] = storage
        return tensor

    leaves = [x.clone().requires_grad_() if torch.is_tensor(x) else x for x in args]
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = function(*leaves)
    kept = sum(storage.nbytes() for storage in memories.values())
    del result  # its graph had to live until we had counted
    return kept


q, k, v = torch.randn(3, 1, 1, 2048, 32, generator=torch.Generator().manual_seed(0))
for name, function, more in (
    ("a table", table_attention, ()),
    ("blocks of 128", blockwise_attention, (128, True)),
):
    print(f"{name:<14} {kept_for_the_backward_pass(function, q, k, v, *more) / 1e6:6.1f} MB")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# The blocks keep at least as much as the table. To find the gradient of a product, autograd needs both of its factors, and so it keeps every block's weights until the backward pass comes. All blocks together are the table. If your code takes one step more than ours between scores and weights, it keeps twice as much.
#
# FlashAttention therefore throws the blocks away in training as well. Its backward pass computes each block's scores a second time. With the log-sum-exp of each query it has the final weights at once, $e^{s - \text{lse}}$, without a maximum and without merging. This is what your second result is for. It costs more arithmetic and saves memory, as gradient checkpointing does.
#
# </details>
#
# ## A window
#
# Blocks cost less memory, but still $T \cdot S$ products. Most tokens look mostly at their neighbours, so let them see only those. A **sliding window** of 3 lets a query see its own key and two before it:
#
# | query | keys that it sees |
# |---|---|
# | 0 | 0 |
# | 1 | 0, 1 |
# | 2 | 0, 1, 2 |
# | 3 | 1, 2, 3 |
# | 4 | 2, 3, 4 |
#
# Without the causal rule, Longformer (I. Beltagy and others, 2020) looks to both sides. It also makes some tokens **global**. They see all others, and all others see them.
#
# ### Exercise: `window_mask` (about 10 minutes)
#
# Return a boolean mask $(T, T)$, True where a query (row) sees a key (column). A causal query sees `window` keys, *its own included*, as in Mistral. To both sides, a key is seen if $|i - j| <$ `window`, so the whole window has $2w - 1$ keys. (Longformer's published $w$ counts both sides without the middle, so it is $2(w - 1)$ in our numbers. Transformers 4.x, FlashAttention and vLLM did not always agree on whether the own key counts.)
#
# The first `n_global` tokens see all and are seen by all, but a causal mask stays causal. A `window` below 1 is a `ValueError`.


# %% solution="window_mask"
def window_mask(T: int, window: int, n_global: int = 0, causal: bool = True) -> torch.Tensor:
    """Who sees whom: (T, T) bool, True where allowed."""
    ### BEGIN SOLUTION
    if window < 1:
        raise ValueError(f"a window has one key at least, not {window}")
    i = torch.arange(T)
    behind = i[:, None] - i
    is_global = i < n_global
    seen = (behind.abs() < window) | is_global | is_global[:, None]
    return seen & (behind >= 0) if causal else seen
    ### END SOLUTION


# %% check="window_mask"
check("window_mask", window_mask)

# %%
print(window_mask(6, 3).int())

# %% [markdown]
# ### How far a stack of windows sees
#
# In the second layer, token 4 looks at tokens 2 and 3, which have looked at 0 and 1 in the first. So it hears of all five. A window of 3 reaches 3, 5, 7 and 9 tokens in one to four layers, which is $L (w - 1) + 1$ in $L$ layers. This is the receptive field of topic 14, with a dilation of 1. Mistral has 32 layers with windows of 4,096, so its last token can hear of 131,041.
#
# ### Exercise: `reach` (about 10 minutes)
#
# Return for each output $i$ (row) and each input $j$ (column) whether $j$ can change $i$ after `layers` layers with this mask. A residual connection carries each token on, even where the mask hides it from itself. With 0 layers, each output hears of its own input alone. The judge asks for 300 tokens and 60 layers, where the number of ways from $j$ to $i$ is too large for a float.


# %% solution="reach"
def reach(mask: torch.Tensor, layers: int) -> torch.Tensor:
    """mask (T, T) bool -> (T, T) bool: may input j change output i?"""
    ### BEGIN SOLUTION
    reached = torch.eye(len(mask), dtype=torch.bool)
    one_layer = (mask | reached).float()
    for _ in range(layers):
        reached = one_layer @ reached.float() > 0
    return reached
    ### END SOLUTION


# %% check="reach"
check("reach", reach)

# %% [markdown]
# Now make the first token global, in a causal mask. How far does the last of 40 tokens see then?

# %%
predict("reach_beside_a_global_token")

# %%
masks = {
    "a window of 3, causal": window_mask(40, 3),
    "with a global token, causal": window_mask(40, 3, 1),
    "with a global token, both sides": window_mask(40, 3, 1, causal=False),
}
for name, mask in masks.items():
    counts = [int(reach(mask, layers)[-1].sum()) for layers in (1, 2, 3, 4)]
    print(f"{name:<32} {counts}")
show.cost.reaches({name: reach(mask, 3) for name, mask in masks.items()})

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Without the causal rule, two layers are enough for any length. After the first layer the global token has heard of all tokens, and in the second it tells all of them, like a post office.
#
# Under a causal mask it is only one more key. The first token sees nothing but itself, so it has nothing to pass on. Language models keep it anyway, for another reason. Attention that finds nothing has to go somewhere, and in trained models much of it goes to the first token (G. Xiao and others, 2023, who call it an attention sink).
#
# </details>
#
# ## A cache that forgets
#
# With a window of $w$, a new token needs the last $w - 1$ keys and its own. So the cache need not grow. For Mistral 7B, a token's keys and values take 131,072 bytes. A window of 4,096 takes 537 MB, and a text of 32,768 tokens would take 4.29 GB.
#
# Take $w = 3$ and a prompt of five tokens. Its queries stand at 0 to 4, and each needs its own window. So all five keys come back, with the positions 0 to 4. After that the cache keeps 3 and 4. One new token comes, at position 5:
#
# | update | positions that come back | kept for later |
# |---|---|---|
# | a prompt of 5 | 0, 1, 2, 3, 4 | 3, 4 |
# | 1 token | 3, 4, 5 | 4, 5 |
# | 1 token | 4, 5, 6 | 5, 6 |
#
# ### Exercise: `RollingCache` (about 25 minutes)
#
# `RollingCache(window)` has one method, `update(k, v)`. It takes the keys $(B, g, T, d)$ and values $(B, g, T, d_v)$ of new tokens, in $g$ groups of heads (topic 15). It returns the keys $(B, g, S, d)$, the values $(B, g, S, d_v)$ and the positions $(S,)$ that the new queries may need, their own included. Positions are whole numbers, counted from the beginning of the text. $S$ is $T$ plus as many older tokens as there are, at most `window - 1`. The order is up to you, as long as the three agree.
#
# What you have returned must not change later. What you keep may hold at most the memory of two windows, and a view counts with all that it is a view of. For `k[:, :, -2:]` of a prompt of 30,000 tokens, all 30,000 stay in memory. A `window` below 1 is a `ValueError`.


# %% solution="RollingCache"
class RollingCache:
    """The keys and values that a window of `window` keys still needs."""

    ### BEGIN SOLUTION
    def __init__(self, window: int):
        if window < 1:
            raise ValueError(f"a window has one key at least, not {window}")
        self.window, self.read, self.kept = window, 0, None

    def update(self, k, v):
        self.read += k.shape[2]
        if self.kept is not None:
            k, v = torch.cat([self.kept[0], k], dim=2), torch.cat([self.kept[1], v], dim=2)
        S = k.shape[2]
        first = max(S - (self.window - 1), 0)
        self.kept = k[:, :, first:].clone(), v[:, :, first:].clone()
        return k, v, torch.arange(self.read - S, self.read, device=k.device)

    ### END SOLUTION


# %% check="RollingCache"
check("RollingCache", RollingCache)

# %% [markdown]
# The law is that attention out of the cache, in pieces of any size, is attention under `window_mask`. The next cell reads eleven tokens in pieces of 4, 1, 5 and 1.

# %%
q, k, v = torch.randn(3, 1, 2, 11, 4, generator=torch.Generator().manual_seed(0)).double()
whole = F.scaled_dot_product_attention(q, k, v, attn_mask=window_mask(11, 3))
cache = RollingCache(3)


def attended(places):
    """What the queries at these places get out of the cache."""
    keys, values, at = cache.update(k[:, :, places], v[:, :, places])
    behind = places[:, None] - at  # how far each key lies behind each query
    seen = (behind >= 0) & (behind < 3)
    return F.scaled_dot_product_attention(q[:, :, places], keys, values, attn_mask=seen)


pieces = [attended(places) for places in torch.arange(11).split([4, 1, 5, 1])]
print(f"largest difference {(torch.cat(pieces, 2) - whole).abs().max().item():.0e}")

# %% [markdown]
# ## Positions by distance
#
# RoPE turns queries and keys by their positions, and ALiBi subtracts something that grows with the distance. T5 (C. Raffel and others, 2020) has a third way. It adds a learned number to each score, which depends on the distance from the query to the key. Near distances have a number each. Far ones share numbers, because it hardly matters whether a word stands 60 or 70 tokens away.
#
# The distances are sorted into **buckets**. T5's encoder has 32. Sixteen are for keys before the query, and sixteen for keys behind it. Of each sixteen, eight hold one distance each, 0 to 7. The others get wider and wider, up to 128 and beyond:
#
# | distance | 7 | 8 | 11 | 12 | 20 | 23 | 40 | 70 | 128 and more |
# |---|---|---|---|---|---|---|---|---|---|
# | bucket of a key before the query | 7 | 8 | 8 | 9 | 10 | 11 | 12 | 14 | 15 |
# | bucket of a key behind the query | 23 | 24 | 24 | 25 | 26 | 27 | 28 | 30 | 31 |
#
# Let a side have $n$ buckets, of which $e$ are exact, and let $r_{\max}$ be the distance from which all share the last one, here 128. A distance $r \ge e$ has the bucket
#
# $$\min\left(n - 1,\; e + \left\lfloor \frac{\log (r / e)}{\log (r_{\max} / e)} \cdot (n - e) \right\rfloor\right)$$
#
# For 12 tokens this is $8 + \lfloor \frac{\log 1.5}{\log 16} \cdot 8 \rfloor = 8 + \lfloor 1.17 \rfloor = 9$. At 16, 32 and 64 the fraction is a whole number, and rounding decides which side of it your code gets. No check asks there.
#
# ### Exercise: `relative_buckets` (about 20 minutes)
#
# `distance` holds whole numbers, *key minus query*, so keys before the query are negative. With `bidirectional=True`, the first half of all buckets is for distances of 0 and below, and the second half for those above. With `False` all `n_buckets` look back, and every key behind the query is in bucket 0. Half of the buckets of a side are exact. In the formula, `max_distance` is $r_{\max}$. Return int64 of the same shape.


# %% solution="relative_buckets"
def relative_buckets(
    distance: torch.Tensor,
    n_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> torch.Tensor:
    """Distances (...), key minus query -> buckets (...)."""
    ### BEGIN SOLUTION
    first = torch.zeros_like(distance)
    if bidirectional:
        n_buckets //= 2
        first, far = (distance > 0) * n_buckets, distance.abs()
    else:
        far = (-distance).clamp(min=0)
    exact = n_buckets // 2
    share = (far.clamp(min=1) / exact).log() / torch.tensor(max_distance / exact).log()
    coarse = exact + (share * (n_buckets - exact)).long()
    return first + torch.where(far < exact, far, coarse.clamp(max=n_buckets - 1))
    ### END SOLUTION


# %% check="relative_buckets"
check("relative_buckets", relative_buckets)

# %% [markdown]
# The rest is a lookup. A table of 32 buckets and 8 heads holds a number for each bucket and head, which is 256 numbers for the whole model. T5 learns it, and all layers share it. (T5 does not divide its scores by $\sqrt{d}$. It starts with smaller weights instead.)

# %%
places = torch.arange(7)
distance = places - places[:, None]  # key minus query
table = torch.randn(32, 8, generator=torch.Generator().manual_seed(0))
bias = table[relative_buckets(distance)].permute(2, 0, 1)  # (h, T, S), added to the scores
print(relative_buckets(distance))
print(
    bias.shape, "and equal along each diagonal:", bool((bias[:, 1:, 1:] == bias[:, :-1, :-1]).all())
)

# %% [markdown]
# ### More variants that the lectures name
#
# You can try each of these with what you have written. None is graded.
#
# | variant | what it changes | with your code |
# |---|---|---|
# | relative positions (P. Shaw and others, 2018) | a learned *vector* for each distance, added to the keys | a table of vectors by clipped distance in place of numbers by bucket |
# | Transformer-XL (Z. Dai and others, 2019) | scores from content and from distance apart, and a memory of the segment before | `RollingCache` without a gradient, and a bias by distance |
# | Sparse Transformer, BigBird (2019, 2020) | a window with every $k$-th key, or with random ones | another mask, and `reach` |
# | prefix decoders (T5, U-PaLM) | the tokens of the prompt see each other in both directions | the mask below |
# | GeGLU (N. Shazeer, 2020) | GELU in place of SiLU in the gated feed-forward network | `F.gelu` in `swiglu` |
# | gated convolutions (Y. Dauphin and others, 2017) | a causal convolution, times the sigmoid of a second one | two convolutions and a product |
# | DeepNorm (H. Wang and others, 2022) | the residual stream is multiplied by a constant above 1 before it is added and normalised | a factor in `x + found` |
# | DistilBERT (V. Sanh and others, 2019) | half of BERT's layers, trained on BERT's probabilities | `distillation_loss`, below |

# %%
T, prompt = 7, 3
prefix_mask = window_mask(T, T) | (torch.arange(T) < prompt)  # everybody sees the whole prompt
print(prefix_mask.int())
gate, up = torch.tensor([-2.0, 0.0, 2.0]), torch.ones(3)
print("SwiGLU", F.silu(gate) * up, " GeGLU", F.gelu(gate) * up)

# %% [markdown]
# ## How long does a step take?
#
# A machine reads numbers from its memory, and it computes with them. Both happen at the same time, so a step takes as long as the slower of the two. S. Williams and others (2009) call this the **roofline**.
#
# Take a small model. It has 100 parameters of 2 bytes, 2 layers of width 8, and keys of width 4, because pairs of heads share them. Three texts have 4 tokens in the cache, and each gets 2 new ones. The first new token sees 5 keys and the second one 6, which makes 11 pairs.
#
# | | counted | in all |
# |---|---|---|
# | operations with the weights | $3$ texts $\cdot\; 2 \cdot 100$ parameters $\cdot\; 2$ tokens | 1,200 |
# | operations of attention | $3$ texts $\cdot\; 4 \cdot 2$ layers $\cdot\; 8$ wide $\cdot\; 11$ pairs | 2,112 |
# | bytes of the weights | $2 \cdot 100$, *once for all texts* | 200 |
# | bytes of the caches | $2 \cdot 3$ texts $\cdot\; 2$ (keys and values) $\cdot\; 2$ layers $\cdot\; 4$ wide $\cdot\; 6$ tokens | 576 |
#
# These are 3,312 operations and 776 bytes. A machine with 1,000 operations and 100 bytes a second needs 3.312 s to compute and 7.76 s to read. So the step takes 7.76 s, and the bound is its memory.
#
# ### Exercise: `step_time` (about 20 minutes)
#
# `model` is a dict with `parameters`, `layers`, `width`, `kv_width` (the width of a layer's keys, all heads together) and `bytes` (of a number). `machine` is a dict with `operations` and `bytes` a second. Each of `batch` texts gets `new` tokens behind `cached` ones. Every new token sees all tokens before it and itself. A weight takes two operations a token, and a pair of a query and a key takes four for each number of the width, two in its score and two in its value.
#
# Return a dict with `operations`, `bytes`, `seconds` and `bound`, which is `"compute"` or `"memory"`. The weights are read once for all texts, and the cache is read once for each, with the new tokens in it. (We count the whole embedding as read. A step needs only a few rows of it.)


# %% solution="step_time"
def step_time(model: dict, machine: dict, batch: int, new: int, cached: int = 0) -> dict:
    """The shortest time of one pass: operations, bytes, seconds, and the bound that holds."""
    ### BEGIN SOLUTION
    pairs = new * cached + new * (new + 1) / 2
    attention = 4 * model["layers"] * model["width"] * pairs
    operations = batch * (2 * model["parameters"] * new + attention)
    cache = batch * 2 * model["layers"] * model["kv_width"] * (cached + new)
    read = model["bytes"] * (model["parameters"] + cache)
    compute, memory = operations / machine["operations"], read / machine["bytes"]
    bound = "compute" if compute > memory else "memory"
    return {
        "operations": operations,
        "bytes": read,
        "seconds": max(compute, memory),
        "bound": bound,
    }
    ### END SOLUTION


# %% check="step_time"
check("step_time", step_time)

# %%
LLAMA = {
    "parameters": 6.738e9,
    "layers": 32,
    "width": 4096,
    "kv_width": 4096,
    "bytes": 2,
}  # LLaMA 7B
CARD = {"operations": 312e12, "bytes": 2e12}  # about an A100
print("texts   new   cached        ms   bound")
for batch, new, cached in (
    (1, 2048, 0),
    (1, 1, 1000),
    (1, 5, 1000),
    (64, 1, 1000),
    (150, 1, 0),
    (160, 1, 0),
    (256, 1, 0),
):
    step = step_time(LLAMA, CARD, batch, new, cached)
    print(f"{batch:>5} {new:>5} {cached:>8} {1000 * step['seconds']:>9.3f}   {step['bound']}")

# %% [markdown]
# To read a prompt of 2,048 tokens takes 92 ms, and the arithmetic decides. To write *one* token behind a thousand takes 7 ms, and the memory decides. In that time the card reads 13.5 GB of weights, and half a gigabyte of cache, and it computes next to nothing. **Five tokens take as long as one**, because the weights are read once for all of them.
#
# So a service answers many people at once. From 156 texts on, the arithmetic decides while there is no cache. With a thousand tokens in each cache it is the caches that are read, 33.6 of 47.1 GB for 64 texts. That is why a smaller cache matters.
#
# But you are one person, and you wait for one text. Where should the other four tokens come from?
#
# ## Guess and check
#
# A small model guesses the next four tokens, one after the other. The large model reads all four in a single pass, and so it says at each place what *it* would have thought likely. Then some guesses stay. Y. Leviathan and others (2023) and C. Chen and others (2023) found the rule by which the text is distributed exactly as if the large model had written it alone. It is called **speculative sampling**.
#
# At some place the large model says $p = (0.5, 0.3, 0.2)$, and the small one $q = (0.2, 0.5, 0.3)$. The guess $x$ was drawn from $q$, and it stays with probability $\min(1, p(x) / q(x))$:
#
# | token | guessed, $q$ | stays with | guessed and stays, $\min(p, q)$ | still missing, $p - q$ if above 0 |
# |---|---|---|---|---|
# | 0 | 0.2 | 1 | 0.2 | 0.3 |
# | 1 | 0.5 | 0.6 | 0.3 | 0 |
# | 2 | 0.3 | 0.667 | 0.2 | 0 |
#
# Seven of ten guesses stay, and $\sum_x \min(p, q) = 0.7$ is all that the two distributions have in common. Token 0 has come too seldom, and only token 0. So in place of a refused guess, draw from what is missing, $\max(p - q, 0)$, divided by its sum. Here this is always token 0. Altogether token 0 comes with probability $0.2 + 0.3 = 0.5$, token 1 with 0.3 and token 2 with 0.2. **That is $p$, whatever $q$ was.** A poor $q$ costs time, and it never changes the text.
#
# Behind a refused guess nothing may stay, because all later guesses were made for another text. If all $n$ guesses stay, the large model has also said what comes after them, so one more token is drawn from there. A pass gives between 1 and $n + 1$ tokens.
#
# ### Exercise: `accept_draft` (about 25 minutes)
#
# `p` is $(n + 1, V)$, the large model's probabilities at the places of the $n$ guesses and at the one behind them. `q` is $(n, V)$, and `draft` holds the guesses $(n,)$. `uniforms` are $n + 1$ numbers from $[0, 1)$. Guess $i$ stays if `uniforms[i] * q < p` at this token, strictly. The *last* number chooses the token behind those that stay, also if a guess was refused early. The weights are what is missing after a refusal, and else the last row of `p`. Take the first token at which their cumulated sum exceeds this number times their total.
#
# Return the accepted guesses and this token, int64 $(a + 1,)$. No token of probability 0 may come, not even for a uniform number of 0. With $n = 0$ this is plain sampling.
#
# | `draft` | `uniforms` | result |
# |---|---|---|
# | 1, 1 | 0.5, 0.9, 0.5 | 1, 1, 2: both stay, and the third row of `p` gives token 2 |
# | 1, 1 | 0.7, 0.1, 0.5 | 0: the first is refused, as $0.7 \cdot 0.5$ is above 0.3 |
# | 0, 0 | 0.3, 0.5, 0.1 | 0, 1: the second is refused, and token 1 was missing |
#
# The first rows of `p` and `q` are those of the example above. The second row of `p` is $(0.1, 0.6, 0.3)$ with $q = (0.5, 0.25, 0.25)$, and the third row is $(0.2, 0.2, 0.6)$.


# %% solution="accept_draft"
def accept_draft(
    p: torch.Tensor, q: torch.Tensor, draft: torch.Tensor, uniforms: torch.Tensor
) -> torch.Tensor:
    """p (n + 1, V), q (n, V), draft (n,), uniforms (n + 1,) -> tokens (a + 1,)."""
    ### BEGIN SOLUTION
    n = len(draft)
    each = torch.arange(n)
    stays = uniforms[:n] * q[each, draft] < p[each, draft]
    a = int(stays.long().cumprod(0).sum())  # guesses before the first refusal
    weights = (p[a] - q[a]).clamp(min=0) if a < n else p[n]
    if not weights.any():  # p and q differ by rounding alone
        weights = p[a]
    up_to = weights.cumsum(0)
    token = torch.searchsorted(up_to, (uniforms[n] * up_to[-1])[None], right=True)
    return torch.cat([draft[:a], token.clamp(max=int(weights.nonzero().max()))])
    ### END SOLUTION


# %% check="accept_draft"
check("accept_draft", accept_draft)

# %%
p = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
q = torch.tensor([[0.2, 0.5, 0.3], [0.5, 0.25, 0.25]])
generator = torch.Generator().manual_seed(0)


def first_token():
    """The first token of one draft that is checked."""
    guesses = torch.multinomial(q, 1, generator=generator).squeeze(1)
    return accept_draft(p, q, guesses, torch.rand(3, generator=generator))[0].item()


first = [first_token() for _ in range(4000)]
print("the first token came", [round(first.count(token) / 4000, 3) for token in range(3)])

# %% [markdown]
# ## A small model that agrees
#
# The better $q$ agrees with $p$, the more guesses stay. So train a small model on what the large one *says*, and not on texts. At each place the large one gives $V$ probabilities. A text has only one token there. This is **distillation** (G. Hinton and others, 2015). The large model is called the **teacher**, and the small one the **student**.
#
# Take a teacher that says $p = (0.8, 0.2)$, and a student that says $q = (\tfrac12, \tfrac12)$. Their divergence is $\text{KL}(p \,\|\, q) = \sum_x p(x) \log \frac{p(x)}{q(x)} = 0.8 \log 1.6 + 0.2 \log 0.4 = 0.193$. Both logits may be divided by a temperature before the softmax. In this section $T$ is the temperature, not the number of tokens. At $T = 2$ the teacher says $(\tfrac23, \tfrac13)$, and the divergence is 0.057. A higher temperature shows more of what the teacher thinks of unlikely tokens, but its gradients become smaller by $T^2$. So the loss is multiplied by $T^2$:
#
# $$L = T^2 \cdot \text{mean over all positions of } \text{KL}(p_T \,\|\, q_T)$$
#
# | $T$ | 1 | 2 | 10 |
# |---|---|---|---|
# | loss | 0.193 | 0.227 | 0.240 |
# | gradient of the first logit of the student, with $T^2$ | −0.3 | −0.333 | −0.346 |
# | the same without $T^2$ | −0.3 | −0.083 | −0.0035 |
#
# ### Exercise: `distillation_loss` (about 15 minutes)
#
# Both logits are `(..., V)`. The mean runs over all positions, whatever their axes. No gradient may reach the teacher, whose logits may be $-\infty$. Then $p$ is 0, and $0 \log 0$ is 0. A temperature of 0 or below is a `ValueError`.


# %% solution="distillation_loss"
def distillation_loss(
    student: torch.Tensor, teacher: torch.Tensor, temperature: float = 1.0
) -> torch.Tensor:
    """Logits (..., V) of both -> T² times the mean KL(teacher || student)."""
    ### BEGIN SOLUTION
    if temperature <= 0:
        raise ValueError(f"a temperature is above 0, not {temperature}")
    log_q = (student / temperature).log_softmax(-1)
    log_p = (teacher.detach() / temperature).log_softmax(-1)
    p = log_p.exp()
    terms = torch.where(p > 0, p * (log_p - log_q), 0.0)
    return temperature**2 * terms.sum(-1).mean()
    ### END SOLUTION


# %% check="distillation_loss"
check("distillation_loss", distillation_loss)

# %%
teacher = torch.tensor([0.8, 0.2], dtype=torch.float64).log()
for T in (1.0, 2.0, 10.0, 10_000.0):
    student = torch.zeros_like(teacher).requires_grad_()
    loss = distillation_loss(student, teacher, T)
    loss.backward()
    print(f"T = {T:>7,.0f}: loss {loss.item():.3f}, gradient {student.grad[0].item():.3f}")
centred = teacher - teacher.mean()
print(f"half the mean square of the centred difference: {0.5 * centred.square().mean().item():.3f}")

# %% [markdown]
# For a large $T$ the loss becomes half the mean squared difference of the logits, each centred at 0. Hinton and others derive this in their paper.
#
# ## Train a draft of your dictionary
#
# <!-- needs: 15_gpt -->
# The teacher is topic 15's dictionary, with 1.5 million weights. Its weights come with this course.
#
# <!-- without: 15_gpt -->
# The teacher is a small GPT of 1.5 million weights, which invents definitions such as `blorbel (plant): a tropical tree`. It was trained on WordNet, and its weights come with this course.
#
# The draft, which is given, has 56,384 weights, 27 times fewer. It sees the last eight tokens. Each is embedded in 24 numbers and multiplied with a matrix of its place, which is a causal convolution. Then comes a small layer of the kind $x + W\,\text{silu}(x)$, a norm, and logits with the table of embeddings again. It needs no cache.


# %%
class Draft(nn.Module):
    """Guesses from the last eight tokens: ids (B, T) -> logits (B, T, V)."""

    def __init__(self, vocab, d_model=24, reads=8):
        super().__init__()
        self.reads = reads
        self.words = nn.Embedding(vocab, d_model)
        self.places = nn.Conv1d(d_model, d_model, reads, bias=False)
        self.mix = nn.Linear(d_model, d_model, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocab))
        nn.init.normal_(self.words.weight, std=d_model**-0.5)

    def forward(self, ids):
        x = F.pad(self.words(ids).mT, (self.reads - 1, 0))  # zeros before the text
        x = self.places(x).mT  # (B, T, D)
        x = x + self.mix(F.silu(x))
        x = x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
        return x @ self.words.weight.T + self.bias


# %% [markdown]
# The texts are 1,024 of 64 tokens that the dictionary wrote itself. The next cell lets it read them once, which takes a few seconds, and keeps its logits in half precision, which takes 268 MB.


# %%
@torch.no_grad()
def says(model, ids):
    """Logits (B, T, V) of a GPT, 32 texts at a time, in half precision."""
    return torch.cat([model(some)[0].half() for some in ids.split(32)])


dictionary = blocks.GPT(**wordnet.SIZES)
dictionary.load_state_dict(wordnet.weights())
dictionary.eval()
texts = definitions.texts()
with blocks.one_thread():
    known = says(dictionary, texts)
print(wordnet.decode(texts[0, 1:].tolist()))
print(known.shape, f"{known.numel() * 2 / 1e6:.0f} MB")

# %% [markdown]
# ### Exercise: `cost_task` (about 20 minutes)
#
# Write the loop. A batch has the rows of eight texts, so that `known[rows]` is what the dictionary says to them, and their ids. On a GPU, both lie there and `known` stays on the CPU. The budget is 12,000 texts (48,000 on a GPU), which makes `len(batches)` = 1,500 steps. The draft and the dictionary have both read tokens 1 to $t$ at place $t$, so their logits are compared where they stand. Use your `distillation_loss` at temperature 1, and make its inputs float32.
#
# We took Adam with `betas=(0.9, 0.99)` and a learning rate that rises to 0.03 in the first tenth of the steps and then falls to 0, which `torch.optim.lr_scheduler.OneCycleLR` does. We clipped the gradient's norm at 1. It took half a minute on one busy core. With a rate of 0.001 the loss falls too slowly.
#
# The judge computes the share of guesses that stay, $\sum_x \min(p, q)$, on texts that the draft has not seen. The check passes from 34 %, and full marks need 40 % at grading.


# %% solution="cost_task"
def train(model, batches):
    """Trains on `for rows, ids in batches`, rows (8,) and ids (8, 64), and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 0.03, total_steps=len(batches), pct_start=0.1
    )
    for rows, ids in batches:
        teacher = known[rows.cpu()].to(ids.device).float()
        loss = distillation_loss(model(ids), teacher)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("cost_task", lambda: Draft(len(wordnet.pieces())), train)

# %% check="cost_task"
check("cost_task", record.model)

# %% [markdown]
# You can compute the same share yourself, exactly, and compare it with tables that were counted as in topic 01.


# %%
def frequencies(texts, V):
    """Probabilities (V,) of each token."""
    counts = torch.bincount(texts.flatten(), minlength=V).float() + 0.1
    return counts / counts.sum()


def bigram_table(texts, V):
    """Probabilities (V, V) of the token after each, mixed with how frequent tokens are."""
    pairs = texts[:, :-1].flatten() * V + texts[:, 1:].flatten()
    counts = torch.bincount(pairs, minlength=V * V).view(V, V) + 5 * frequencies(texts, V)
    return counts / counts.sum(1, keepdim=True)


def share(p, q):
    """The share of guesses from q that stay: distributions (..., V) -> a number."""
    return torch.minimum(p, q).sum(-1).mean().item()


V, draft = len(wordnet.pieces()), record.model.cpu()
usual, bigrams = frequencies(texts, V), bigram_table(texts, V)
unseen = definitions.held_out()
with torch.no_grad(), blocks.one_thread():
    logits, guessed = says(dictionary, unseen).float(), draft(unseen)
p = logits.softmax(-1)
print(f"frequencies   {share(p, usual.expand_as(p)):.3f}")
print(f"bigram table  {share(p, bigrams[unseen]):.3f}")
print(f"your draft    {share(p, guessed.softmax(-1)):.3f}")

# %% [markdown]
# How many tokens does a pass give? Say that 0.42 of the guesses stay. With one guess a pass gives $1 + 0.42 = 1.42$ tokens on average. A second guess counts only if the first one stays, so it adds $0.42^2 = 0.18$ to make 1.60. With three and four guesses they are 1.67 and 1.70, and never more than 1.72. When $\alpha$ is the share that stays and all places are alike, $n$ guesses give this many tokens a pass:
#
# $$1 + \alpha + \alpha^2 + \dots + \alpha^n = \frac{1 - \alpha^{n+1}}{1 - \alpha}$$
#
# At a lower temperature both models are surer of themselves. What becomes of the share?

# %%
predict("share_at_a_lower_temperature")

# %%
for T in (1.0, 0.7, 0.5, 0.3):
    print(f"both at {T}: {share((logits / T).softmax(-1), (guessed / T).softmax(-1)):.3f}")
print(f"the draft at 0.85, the dictionary at 1: {share(p, (guessed / 0.85).softmax(-1)):.3f}")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# The share falls a little. At a low temperature each model puts nearly everything on its favourite. In places where the favourites agree the share rises to 1, and elsewhere it falls to 0.
#
# The last line is worth remembering. A small model that was trained by KL is too flat, because it is punished hardest where it rules out what the teacher thinks possible. Read at 0.85, the same draft has more in common with its teacher. The share and KL are two measures of agreement. They are related ($1 - \sum \min(p, q) \le \sqrt{\text{KL}/2}$, which is Pinsker's inequality), but the best for one is not the best for the other.
#
# </details>
#
# ## The dictionary writes with drafts
#
# Now put it together. `write` lets any function guess. It calls the dictionary on the last token and the guesses behind it, lets your `accept_draft` decide, and cuts the cache back to the tokens that are in the text.


# %%
@torch.no_grad()
def write(model, guess, ids, length, n, generator, temperature=1.0):
    """Go on with ids (1, T) by `length` tokens, n guesses a pass: the tokens (length,), passes."""
    logits, cache = model(ids[:, :-1])  # the last token is read with the first guesses
    text, passes = ids[0], 0
    while len(text) < ids.shape[1] + length:
        guesses, q = guess(text, n, generator)
        logits, cache = model(torch.cat([text[-1:], guesses])[None], cache)
        p = (logits[0] / temperature).softmax(-1)
        uniforms = torch.rand(len(guesses) + 1, generator=generator)
        text = torch.cat([text, accept_draft(p, q, guesses, uniforms)])
        cache = [(k[:, :, : len(text) - 1], v[:, :, : len(text) - 1]) for k, v in cache]
        passes += 1
    return text[ids.shape[1] :][:length], passes


def no_guess(text, n, generator):
    """Plain sampling."""
    return text[:0], torch.zeros(0, V)


def guess_with(following):
    """A guesser of `following(text)`, the probabilities (V,) of the next token."""

    def guess(text, n, generator):
        found = []
        for _ in range(n):
            found.append(following(text))
            text = torch.cat([text, torch.multinomial(found[-1], 1, generator=generator)])
        return text[len(text) - n :], torch.stack(found)

    return guess


by_table = guess_with(lambda text: bigrams[text[-1]])
by_draft = guess_with(lambda text: draft(text[None, -8:])[0, -1].softmax(-1))

# %%
LENGTH = 400
prompt = wordnet.prompt("blorbel", "plant")
print("guesser         guesses   passes   tokens a pass   tokens a second")
with blocks.one_thread():
    for name, guess, n in (
        ("nobody", no_guess, 0),
        ("bigram table", by_table, 1),
        ("bigram table", by_table, 3),
        ("your draft", by_draft, 1),
        ("your draft", by_draft, 3),
    ):
        began = time.perf_counter()
        written, passes = write(
            dictionary, guess, prompt, LENGTH, n, torch.Generator().manual_seed(1)
        )
        speed = LENGTH / (time.perf_counter() - began)
        print(f"{name:<15} {n:>7} {passes:>8} {LENGTH / passes:>15.2f} {speed:>17.0f}")
print("\n" + wordnet.decode(written.tolist()))

# %% [markdown]
# The passes become fewer, as promised, and they are the same on every machine. The seconds are not. On a quiet core ours wrote about 940 tokens a second alone, 7 % more with one guess of the table, 13 % fewer with one guess of the draft, and 19 % fewer with three. At home nothing is gained. Which numbers decide? A round takes $n$ guesses and one pass over $n + 1$ tokens.

# %%
cache = dictionary(prompt)[1]
some = torch.arange(5)[None]
with blocks.one_thread(), torch.no_grad():
    for T in (1, 2, 3, 5):
        print(f"a pass over {T}: {milliseconds(dictionary, some[:, :T], cache, times=30):.2f} ms")
    text, generator = prompt[0], torch.Generator()
    print(f"a guess of the table: {milliseconds(by_table, text, 1, generator, times=30):.2f} ms")
    print(f"a guess of the draft: {milliseconds(by_draft, text, 1, generator, times=30):.2f} ms")

# %% [markdown]
# The dictionary has 1.5 million weights, and most of its one or two milliseconds are spent in Python and in calls of torch. So a guess is not cheap beside it, and five tokens take longer than one. On a quiet core a pass over one token took 1.05 ms, one over five about 1.4 times as long, and a guess of the draft 0.09 ms.
#
# For a model of 6.7 billion weights, your `step_time` said 7.000 ms for one token and 7.001 ms for five. There a guess costs next to nothing, and 1.7 tokens a pass are nearly 1.7 times the speed. **Drafts save readings of the large model. Whether that saves time depends on what a reading costs.**
#
# ### Nobody can tell the difference
#
# Are the words distributed as before? The law says so, and it can be counted. The next cell draws the first token behind `blorbel (plant):` 10,000 times. The right column must agree with the left one, and the guesses in the middle need not.

# %%
with torch.no_grad():
    p = dictionary(prompt)[0][:, -1].softmax(-1)  # (1, V)
    q = draft(prompt)[:, -1].softmax(-1)
generator, tokens, kept = torch.Generator().manual_seed(0), [], 0
both = torch.cat([p, p])  # the row behind the guess does not matter for the first token
guesses = torch.multinomial(q[0], 10_000, replacement=True, generator=generator)
uniforms = torch.rand(10_000, 2, generator=generator)
for one, pair in zip(guesses.split(1), uniforms):
    result = accept_draft(both, q, one, pair)
    tokens.append(result[0].item())
    kept += len(result) == 2
print("token          dictionary   draft   written")
for token in p[0].topk(5).indices.tolist():
    values = p[0, token].item(), q[0, token].item(), tokens.count(token) / 10_000
    print(f"{wordnet.decode([token])!r:<14} {values[0]:>10.3f} {values[1]:>7.3f} {values[2]:>9.3f}")
print(f"{kept / 10_000:.3f} of the guesses stayed, and {share(p, q):.3f} should")

# %% [markdown]
# Ten thousand draws are enough to see an error of a hundredth. The mean surprise of a written text would not show it. From one text of 1,200 tokens to the next, it differs by more than a tenth of a nat.
#
# ## Play
#
# The dictionary writes a definition, and your draft guesses. Grey tokens come from the dictionary alone, green guesses have stayed, and a refused guess is crossed out in front of its correction. Choose a place, and see $p$, $q$ and what they share.
#
# How many guesses still pay? Which temperature of the draft lets most of them stay? Where in a definition do guesses stay most often, and where never?

# %%
show.cost.guesses(dictionary, draft, accept_draft)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A friend hears that a small model writes a third of your dictionary's text. "So the text is a third worse," she says, "or at least a third of the way towards the small model." Is she right? Say how each written token is distributed and why, what a poor small model does cost, and how you could convince her. Write four to six sentences.

# %% [markdown] question="cost_question"
# She is not right. Every token follows the large model's distribution exactly, whoever guessed it. A guess stays with probability $\min(1, p/q)$, so each token comes from accepted guesses with probability $\min(p, q)$. What is then missing for $p$ is $\max(p - q, 0)$, and refused guesses are replaced from just that. Both together are $p$, for every $q$.
#
# A poor small model only makes more guesses be refused, so the large one has to be called more often. It costs time, and the text is as good as before. I would show her 10,000 first tokens. The shares of the written ones agree with the large model's, while those of the guesses do not.

# %%
rubric("cost_question")

# %% [markdown]
# ## The finale: guesses for a real language model (about 10 minutes, nothing is graded)
#
# Your dictionary was too fast for drafts. [SmolLM2-135M-Instruct](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct) by Hugging Face has 135 million weights, which is 90 times as many, and it answers questions. With `download=True` in its brackets, the next cell gets them once, a download of 93 MB. Without them, each cell below shows what we saw.

# %%
real = data.load_language_model()

# %% [markdown]
# Your draft cuts text into other tokens, so it cannot guess for this model. But a table can always be counted, even from the text itself. If the last two tokens have come before in this chat, guess what followed them then. No model is needed, and it is called **prompt lookup**. A guess without a doubt is a $q$ with a single 1.
#
# First the price list. How long does a pass take over one token, and over several?


# %%
def lookup(text, n, generator):
    """Up to n tokens that followed the last two when they came before: guesses (k,), q (k, V)."""
    ids = text.tolist()
    found = []
    for begin in range(len(ids) - 3, -1, -1):
        if ids[begin : begin + 2] == ids[-2:]:
            found = ids[begin + 2 : begin + 2 + n]
            break
    guesses = torch.tensor(found, dtype=torch.long)
    return guesses, F.one_hot(guesses, 49152).float()


if real:
    assistant = real.fill(blocks.GPT(**real.sizes)).eval()
    with torch.no_grad(), blocks.rope_base(real.base), blocks.one_thread():
        cache = assistant(real.chat("Who are you?"))[1]
        for T in (1, 2, 3, 5):
            ids = torch.arange(100, 100 + T)[None]
            print(f"a pass over {T}: {milliseconds(assistant, ids, cache):.0f} ms")
else:
    print(language_model.seen("19_passes"))

# %% [markdown]
# Ours ran on one core of another machine, so compare its milliseconds with each other and not with yours. Five tokens cost 1.6 times as much as one, and not five times.
#
# Now let it answer two questions. In one answer much of the question comes again, and in the other it does not. The temperature is 0.01, so there is practically no chance in the text, and it should be the same with guesses and without.

# %%
REPEATS = (
    "Repeat this list and add a fruit: apples, pears, plums, cherries, apricots, peaches, "
    "strawberries, raspberries, blackberries."
)
OPEN = "Why is the sky blue?"
if real:
    print("question      guesses   passes   tokens a pass   seconds   the same text")
    for name, question in (("a list", REPEATS), ("the sky", OPEN)):
        plain = None
        for n in (0, 4):
            generator = torch.Generator().manual_seed(0)
            began = time.perf_counter()
            with blocks.rope_base(real.base), blocks.one_thread():
                chat = real.chat(question)
                written, passes = write(assistant, lookup, chat, 40, n, generator, 0.01)
            seconds = time.perf_counter() - began
            plain = written if plain is None else plain
            same = bool((plain == written).all())
            print(f"{name:<14} {n:>6} {passes:>8} {40 / passes:>15.2f} {seconds:>9.1f}   {same}")
    print("\n" + real.answer(written[None]))
else:
    print(language_model.seen("19_lookup"))

# %% [markdown]
# The list took half of the passes, and ours took 1.9 seconds in place of 2.7. In the answer about the sky no two tokens in a row had come before, so there was nothing to guess, and 40 passes were needed with and without. (The difference between its two times is noise.) In both cases the text is the same.
#
# So for this model guesses do save time, if they cost nothing and some of them stay. People use prompt lookup where answers repeat their questions, for summaries, corrected texts and changed programs. For other texts they train a small model with the same tokens, as you did.
#
# ## What you built
#
# You computed attention without its table, restricted it to windows, and let a small model write for a large one.
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `merge_blocks` | online softmax | ring attention, flash decoding |
# | `blockwise_attention` | FlashAttention, forward pass | `F.scaled_dot_product_attention` |
# | `window_mask`, `reach` | sliding-window attention, receptive field | Longformer, Mistral, Gemma |
# | `RollingCache` | rolling buffer cache | `sliding_window` in `transformers` |
# | `relative_buckets` | T5's relative position bias | `T5Attention` |
# | `step_time` | roofline model, arithmetic intensity | every serving system |
# | `accept_draft` | speculative sampling, speculative decoding | `assistant_model=` in `model.generate` |
# | `distillation_loss` | knowledge distillation | DistilBERT, Gemma |
#
# ## Going further
#
# - **Skip hidden blocks.** Under a causal mask, a block of later keys need not be computed. Cut the queries into blocks, too, and measure how much faster it becomes.
# - **The backward pass.** Write a `torch.autograd.Function` that keeps only `out` and the log-sum-exp, and computes the blocks again. How many bytes does it keep?
# - **Another loss.** Train the draft with $1 - \sum \min(p, q)$ itself. Is the share higher?
# - **A tree of guesses.** Guess two tokens for each place, and let the large model check all paths in one pass. Which mask does it need?
# - **Read.** T. Dao and others, [FlashAttention](https://arxiv.org/abs/2205.14135) (2022). I. Beltagy and others, [Longformer](https://arxiv.org/abs/2004.05150) (2020). A. Jiang and others, [Mistral 7B](https://arxiv.org/abs/2310.06825) (2023). C. Raffel and others, [T5](https://arxiv.org/abs/1910.10683) (2020). Y. Leviathan and others, [Fast inference from Transformers via speculative decoding](https://arxiv.org/abs/2211.17192) (2023). G. Hinton and others, [Distilling the knowledge in a neural network](https://arxiv.org/abs/1503.02531) (2015).
#
# - **Next.** You know what a model costs and what it says. Topic 20 opens one, and finds the heads that do a piece of its work.
#
# **Now you can** say what attention costs in memory, in time and in readings, which of these costs can be saved without changing the result, and how you know. Run the cell below to see which notebook comes next.

# %%
progress()
