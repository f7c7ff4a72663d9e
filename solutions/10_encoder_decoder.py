# %% [markdown]
# # 10 The Transformer
#
# *My tired bird is big.* In French: *mon oiseau fatigué est grand.* Say it word for word, and you get the order wrong; make the bird a hen (*ma poule fatiguée est grande*), and the endings, too. A translator has to read the
# whole sentence first, and then write another one, looking back and forth.
#
# Topic 05 did that with two recurrent networks and attention between them. Since then you have built attention that needs no recurrence (06), and given it several heads (07), places (08), and
# blinkers (09). What is left is to stack these parts and to put something between them, so that a tall stack can be trained. That machine is the **Transformer** of 2017, and nearly every
# language model since is one half of it or both.
#
# In this notebook you build all of it: layers, both towers, the loss, the learning rate, two ways to write. Then you teach it French, and watch where it looks.
#
# Ten exercises, one training task, one written question; about three and a half hours, the longest notebook of the course: a good place for a break is just before the task. Training takes under half a minute on a laptop. Stuck? `hint("layer_norm")` gives a hint, and a stronger one each time.

# %%
import math
import time
from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, progress, seed, show

# %% [markdown]
# ## Sentences
#
# The corpus `phrases` holds 20,000 English sentences and their French translations. They come from a small grammar, so every translation is known to be right, and for every word it is known where it came from.

# %%
pairs = data.load("phrases")
for row in pairs["train"].select(range(5)):
    print(f"{row['english']:<45} {row['french']}")

# %%
row = pairs["validation"][40]
show.encoder_decoder.alignment(row["english"], row["french"], row["alignment"])

# %% [markdown]
# Orange lines have left their place. Adjectives mostly step behind the noun (`grand`, `petit`, `vieux` and a few others do not), and agree with it, as verbs do with their subject. *Not* becomes two words around the verb, *him* moves in front of it, and `le`, `ne`, `je` lose
# their vowel before another. No single rule is hard. But each needs to know something that stands elsewhere.
#
# **Dimensions:** $B$ sentences in a batch, $T$ words of the target, $S$ words of the source, $D$ the width of a word's vector, $F$ the width inside the feed-forward sublayer, $h$ heads, $V$ words of the target's vocabulary.
#
# ## Keeping numbers in bounds
#
# Stack thirty layers, and a vector that grows by a tenth in each is seventeen times as long at the top. **Layer normalisation** brings each word's vector back: subtract its mean, divide by its standard deviation, over its *own* $D$ numbers and nobody else's.
#
# $$\text{LN}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta, \qquad \mu = \frac{1}{D}\sum_{i} x_i, \qquad \sigma^2 = \frac{1}{D}\sum_{i} (x_i - \mu)^2$$
#
# The vectors $\gamma$ and $\beta$ are learned: what was taken away can be given back where it helps. Why not over the batch, as in image networks? A word's vector would then depend on the other sentences that happen to be there, and on their padding.
#
# ### Exercise: `layer_norm` (about 10 minutes)
#
# Over the last axis, whatever stands before it. Note what $\sigma^2$ is divided by, and take $\mu$ off before you square, because words may lie far from zero.


# %% solution="layer_norm"
def layer_norm(
    x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, eps: float = 1e-5
) -> torch.Tensor:
    """x (..., D), gamma (D,), beta (D,) -> the same shape."""
    ### BEGIN SOLUTION
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, correction=0, keepdim=True)
    return gamma * (x - mean) / (variance + eps).sqrt() + beta
    ### END SOLUTION


# %% check="layer_norm"
check("layer_norm", layer_norm)

# %%
seed(0)
words = torch.randn(3, 64) * torch.tensor([[0.01], [1.0], [100.0]]) + 5
normed = layer_norm(words, torch.ones(64), torch.zeros(64))
for before, after in zip(words, normed):
    print(f"mean {before.mean():7.2f}, deviation {before.std(correction=0):6.2f}", end="   ->   ")
    print(f"mean {after.mean():5.2f}, deviation {after.std(correction=0):.2f}")

# %% [markdown]
# (The first falls a little short of 1: its variance was 0.0001, and beside that even $\varepsilon = 0.00001$ is felt.)
#
# ## Each word by itself
#
# Attention moves information *between* words. It mixes, and mixing is all it does: given the weights, its output is linear in the values. So between two attentions each word gets time to think alone, the same small network at every place:
#
# $$\text{FFN}(x) = W_2 \, \text{ReLU}(W_1 x + b_1) + b_2$$
#
# with $F$, the width inside, usually $4D$. That makes $8D^2$ weights, twice those of the attention beside it: two thirds of a layer.
#
# ### Exercise: `feed_forward` (about 5 minutes)


# %% solution="feed_forward"
def feed_forward(
    x: torch.Tensor, W1: torch.Tensor, b1: torch.Tensor, W2: torch.Tensor, b2: torch.Tensor
) -> torch.Tensor:
    """x (..., D), W1 (F, D), b1 (F,), W2 (D, F), b2 (D,) -> the same shape as x."""
    ### BEGIN SOLUTION
    return F.linear(F.relu(F.linear(x, W1, b1)), W2, b2)
    ### END SOLUTION


# %% check="feed_forward"
check("feed_forward", feed_forward)

# %% [markdown]
# ## A layer
#
# Attention and feed-forward are the two **sublayers** of a layer, and both get the same frame, *add and norm*. The sublayer's output is **added** to what was there (the residual of topic 09), so a sublayer only has to learn what to change, and gradients have a road to the bottom that nothing can block. And something is **normed**; *what* is normed has changed since 2017:
#
# $$\text{post (2017):} \quad x \leftarrow \text{LN}(x + \text{sublayer}(x)) \qquad\qquad \text{pre (since GPT-2):} \quad x \leftarrow x + \text{sublayer}(\text{LN}(x))$$
#
# In *post* the norm stands on the road itself, in *pre* beside it. The encoder's layer has two sublayers: self-attention with `norm1`, then feed-forward with `norm2`.
#
# ### Exercise: `EncoderLayer` (about 20 minutes)
#
# The constructor is given. What it makes:
#
# - `self.self_attention(x_q, x_kv, mask)` is the layer of topic 07, and returns output and weights (zeros for a sentence of padding alone);
# - `up` and `down` are the two linear maps of your `feed_forward`;
# - `norm1` and `norm2` are your layer norm as a module; `self.norm` says "post" or "pre";
# - `dropout` goes over each sublayer's output before you add it. In training it sets each number to zero with a small probability and enlarges the rest, so that no layer leans on a single one; in `eval()` it does nothing.


# %% solution="EncoderLayer"
class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with a residual road around it and a norm."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        self.self_attention = blocks.MultiHeadAttention(d_model, n_heads)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm = norm

    def forward(self, x, mask=None):
        """x (B, T, D), mask broadcastable to (B, h, T, T), True where one may look -> (B, T, D)."""
        ### BEGIN SOLUTION
        x = self.add_and_norm(x, lambda y: self.self_attention(y, y, mask)[0], self.norm1)
        return self.add_and_norm(x, lambda y: self.down(F.relu(self.up(y))), self.norm2)

    def add_and_norm(self, x, sublayer, norm):
        if self.norm == "pre":
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))
        ### END SOLUTION


# %% check="EncoderLayer"
check("EncoderLayer", EncoderLayer)

# %% [markdown]
# What do the norms do to a tall tower? Send words through 24 fresh layers of either kind, and once with the norms taken out.


# %%
def sizes_in_a_tower(kind, height=24, width=64):
    """Mean length of the words' vectors before the first layer and after each."""
    seed(0)
    x = torch.randn(8, 10, width)
    sizes = [x.norm(dim=-1).mean().item()]
    for _ in range(height):
        norm = "post" if kind == "post-norm" else "pre"
        layer = EncoderLayer(width, 4, 4 * width, dropout=0.0, norm=norm)
        for weight in (p for p in layer.parameters() if p.dim() > 1):
            nn.init.xavier_uniform_(weight)  # as in the paper's own code
        if kind == "no norm":
            layer.norm1 = layer.norm2 = nn.Identity()
        with torch.no_grad():
            x = layer(x)
        sizes.append(x.norm(dim=-1).mean().item())
    return sizes


sizes = {kind: sizes_in_a_tower(kind) for kind in ("no norm", "pre-norm", "post-norm")}
show.encoder_decoder.sizes_by_height(sizes)

# %% [markdown]
# Without norms the vectors explode. In *post* every layer brings them back to length $\sqrt{D}$. In *pre* they grow, but slowly: every sublayer reads a normed copy and adds about as much as the one before, and nothing on the road ever shrinks what is there. The same holds on the way back: gradients reach the bottom of a *pre* tower undiminished, which is why tall models use it. The price is that
# somebody has to norm the sum at the very top.
#
# ## A layer that writes
#
# The decoder's layer has a third sublayer in the middle. In order:
#
# 1. **masked self-attention** over what has been written so far, with `norm1`; the causal mask comes in as `tgt_mask`;
# 2. **cross-attention** to the encoder's output, the *memory*, with `norm2`. The words being written ask; keys and values come from the source. It is the attention of topic 05 with many heads;
# 3. feed-forward, with `norm3`.
#
# ### Exercise: `DecoderLayer` (about 20 minutes)
#
# The memory comes out of the encoder as it should be: pre-norm does not norm it once more.


# %% solution="DecoderLayer"
class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, feed-forward, each with a road around it."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        self.self_attention = blocks.MultiHeadAttention(d_model, n_heads)
        self.cross_attention = blocks.MultiHeadAttention(d_model, n_heads)
        self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm = norm

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        """x (B, T, D), memory (B, S, D), masks to (B, h, T, T) and (B, h, T, S) -> (B, T, D)."""
        ### BEGIN SOLUTION
        x = self.add_and_norm(x, lambda y: self.self_attention(y, y, tgt_mask)[0], self.norm1)
        x = self.add_and_norm(x, lambda y: self.cross_attention(y, memory, src_mask)[0], self.norm2)
        return self.add_and_norm(x, lambda y: self.down(F.relu(self.up(y))), self.norm3)

    def add_and_norm(self, x, sublayer, norm):
        if self.norm == "pre":
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))
        ### END SOLUTION


# %% check="DecoderLayer"
check("DecoderLayer", DecoderLayer)

# %% [markdown]
# ## Three architectures
#
# The lecture calls them A, B and C. They differ in little more than who may look at whom:
#
# - **A, decoder only** (GPT): one text, each word sees itself and those before it. It writes.
# - **B, encoder only** (BERT): one text, every word sees every word. It reads.
# - **C, encoder and decoder** (the Transformer of 2017, T5): one text is read, another is written, and every word that is written sees the whole source.
#
# And nobody ever looks *at* padding.
#
# ### Exercise: `architecture_masks`, who sees whom (about 15 minutes)
#
# Return a dictionary with the keys `encoder_self`, `decoder_self` and `cross`: boolean masks that broadcast to $(B, h, T, S)$, True where one may look, and `None` where the architecture has no such attention. `kind` is "encoder", "decoder" or "encoder-decoder". A pure decoder's text has the lengths `src_lengths`. A text is as long as the longest sentence of its batch, so $T$ and $S$ follow from the lengths. What a padded word itself looks at does not matter.


# %% solution="architecture_masks"
def architecture_masks(
    kind: str, src_lengths: torch.Tensor, tgt_lengths: torch.Tensor | None = None
) -> dict[str, torch.Tensor | None]:
    """Masks for lengths (B,); the keys are encoder_self, decoder_self and cross."""
    ### BEGIN SOLUTION
    masks = {"encoder_self": None, "decoder_self": None, "cross": None}

    def real(lengths):  # (B, 1, 1, T)
        places = torch.arange(int(lengths.max()), device=lengths.device)
        return (places < lengths[:, None])[:, None, None]

    written = tgt_lengths if kind == "encoder-decoder" else src_lengths
    if kind != "decoder":
        masks["encoder_self"] = real(src_lengths)
    if kind != "encoder":
        T = int(written.max())
        below = torch.ones(T, T, dtype=torch.bool, device=written.device).tril()
        masks["decoder_self"] = real(written) & below
    if kind == "encoder-decoder":
        masks["cross"] = real(src_lengths)
    return masks
    ### END SOLUTION


# %% check="architecture_masks"
check("architecture_masks", architecture_masks)

# %%
show.encoder_decoder.architectures(architecture_masks)

# %% [markdown]
# A dot means that the row may look at the column; the last columns are padding. Everything else about A and B you have built already, so you can count them. The lectures say that GPT has 117 million parameters and BERT-Base 110 million. Do they?


# %%
def layer_parameters(D, inner):
    """One encoder layer: four matrices of attention, up, down, all with biases; two norms."""
    return 4 * (D * D + D) + (inner * D + inner) + (D * inner + D) + 2 * (2 * D)


D, inner, depth, positions = 768, 4 * 768, 12, 512
assert layer_parameters(D, inner) == sum(p.numel() for p in EncoderLayer(D, 12, inner).parameters())

tower = depth * layer_parameters(D, inner)
gpt = (40_478 + positions) * D + tower  # words, places; the output reuses the words' embedding
segments, norm, pooler = 2 * D, 2 * D, D * D + D
bert = (30_522 + positions) * D + segments + norm + tower + pooler
print(f"the tower of either  {tower:>11,}")
print(f"GPT                  {gpt:>11,}")
print(f"BERT-Base            {bert:>11,}")

# %% [markdown]
# They do: 116.5 and 109.5 million. The two towers are built alike, twelve layers of one size; what tells GPT from BERT is a triangle. (BERT adds vectors for first and second sentence, one more norm, and a layer that reads the first word; GPT has the larger vocabulary.)
#
# ## The whole machine
#
# Architecture C, from the bottom to the top, for `model(src, tgt_in)`:
#
# - words become vectors: embedding **times $\sqrt{D}$**, plus the waves of topic 08, then dropout. Embeddings are born with numbers of size $1/\sqrt{D}$, waves have size 1: without the factor the place would drown the word;
# - the source climbs the encoder's layers, each with `src_mask`;
# - the target climbs the decoder's, each with the *finished* memory, with `tgt_mask` for itself and `src_mask` for the source;
# - pre-norm ends each tower with one more norm (`encoder_norm`, `decoder_norm`; in post-norm they do nothing);
# - scores for the next word: dot products with the target's embeddings, the same numbers once more (**tied weights**). A word is said when the vector points to where it lives.
#
# Masks that are not given are made here: `src_mask` hides padding, which may stand anywhere in a source or be all of it, and `tgt_mask` hides the future (padding stands behind a sentence, and is hidden by that already). Those that are given are used as they are. Here are the parts:


# %%
class Parts(nn.Module):
    """Its parts; pad, sos and eos are ids, max_len the most words that it reads or writes."""

    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers,
                 dropout=0.1, norm="post", pad=0, sos=1, eos=2, max_len=64):  # fmt: skip
        super().__init__()
        self.pad, self.sos, self.eos, self.max_len = pad, sos, eos, max_len
        self.src_embed = nn.Embedding(src_vocab, d_model)
        self.tgt_embed = nn.Embedding(tgt_vocab, d_model)
        for embed in (self.src_embed, self.tgt_embed):
            nn.init.normal_(embed.weight, std=d_model**-0.5)
        self.register_buffer("positions", blocks.waves(max_len, d_model), persistent=False)
        sizes = (d_model, n_heads, d_ff, dropout, norm)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.dropout = nn.Dropout(dropout)


# %% [markdown]
# ### Exercise: `Transformer` (about 30 minutes)
#
# Put them together.


# %% solution="Transformer"
class Transformer(Parts):
    """model(src (B, S), tgt_in (B, T)) -> logits (B, T, V) for the next word at every place."""

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        ### BEGIN SOLUTION
        if src_mask is None:
            src_mask = (src != self.pad)[:, None, None]  # (B, 1, 1, S)
        if tgt_mask is None:
            T = tgt_in.shape[1]
            below = torch.ones(T, T, dtype=torch.bool, device=src.device).tril()
            tgt_mask = (tgt_in != self.pad)[:, None, None] & below  # (B, 1, T, T)
        memory, x = self.place(src, self.src_embed), self.place(tgt_in, self.tgt_embed)
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        memory = self.encoder_norm(memory)
        for layer in self.decoder:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder_norm(x) @ self.tgt_embed.weight.T

    def place(self, ids, embed):
        x = embed(ids) * math.sqrt(embed.embedding_dim)  # (B, T, D)
        return self.dropout(x + self.positions[: ids.shape[1]])
        ### END SOLUTION


# %% check="Transformer"
check("Transformer", Transformer)

# %% [markdown]
# ## What to learn from
#
# While it learns, the decoder reads the *right* translation, one place late (`shift_right` of topic 05): at place $t$ it sees the words before $t$ and has to guess word $t$. Thanks to the causal mask all $T$ guesses of a sentence happen at once, in one pass. A recurrent decoder has to take them one after the other.
#
# The paper softens the loss. A one-hot target asks for a probability of 1, which softmax only reaches with infinite scores; so the model goes on shouting long after it is right. **Label smoothing** gives away a share $\varepsilon$ of the target, evenly to all $V$ words, the right one included ($[k = y]$ is 1 for the right word, else 0):
#
# $$q_k = (1 - \varepsilon)\,[k = y] + \frac{\varepsilon}{V}, \qquad L = -\sum_k q_k \log p_k .$$
#
# ### Exercise: `label_smoothing_loss` (about 15 minutes)
#
# The mean over the real tokens of the whole batch. `F.cross_entropy` can do all of this, so here it is not allowed.


# %% solution="label_smoothing_loss"
def label_smoothing_loss(
    logits: torch.Tensor, targets: torch.Tensor, epsilon: float, mask: torch.Tensor
) -> torch.Tensor:
    """logits (B, T, V), targets (B, T), mask (B, T) True for real tokens -> one number."""
    ### BEGIN SOLUTION
    log_p = F.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, targets[..., None])[..., 0]  # (B, T)
    losses = -(1 - epsilon) * right - epsilon * log_p.mean(-1)
    return losses[mask].mean()
    ### END SOLUTION


# %% check="label_smoothing_loss"
check("label_smoothing_loss", label_smoothing_loss)

# %%
target, real = torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1, dtype=torch.bool)
print("lead of the right score    2      4      6      8     12     20")
for epsilon in (0.0, 0.1):
    leads = [
        label_smoothing_loss(lead * F.one_hot(target, 251).float(), target, epsilon, real)
        for lead in (2, 4, 6, 8, 12, 20)
    ]
    print(f"loss, epsilon = {epsilon}     ", "  ".join(f"{loss:.3f}" for loss in leads))

# %% [markdown]
# Without smoothing, a larger lead is always better. With it there is a best lead, near 8, and more confidence *costs*. (It also means that the loss no longer goes to zero: remember that when you look at the curve.)
#
# ## A learning rate that warms up
#
# Equation 3 of the paper: the rate rises in a straight line for a number of steps, and then falls like $1/\sqrt{\text{step}}$.
#
# $$\text{rate} = D^{-1/2} \cdot \min\!\left(\text{step}^{-1/2},\; \text{step} \cdot \text{warmup}^{-3/2}\right)$$
#
# Why begin slowly? In a fresh post-norm tower the layers at the top get large gradients (Xiong and others measured it in 2020), and Adam needs some steps to find out how large gradients usually are. A big step in the wrong direction at the very start is hard to undo.
#
# ### Exercise: `warmup_schedule` (about 5 minutes)


# %% solution="warmup_schedule"
def warmup_schedule(step: int, d_model: int, warmup: int) -> float:
    """The learning rate of step 1, 2, 3, ..."""
    ### BEGIN SOLUTION
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    ### END SOLUTION


# %% check="warmup_schedule"
check("warmup_schedule", warmup_schedule)

# %%
show.encoder_decoder.schedule(warmup_schedule, d_model=512, warmup=4000, steps=30_000)

# %% [markdown]
# ## Writing
#
# A trained model scores the next word. To write a whole sentence, begin with `sos` and let it read its own words: choose the most likely next word, put it behind the others, ask again, until it says `eos`. That is **greedy decoding**.
#
# ### Exercise: `decode_greedy` (about 20 minutes)
#
# For a whole batch, without gradients. Ask the model by calling it, `model(src, words_so_far)`, and take `sos`, `eos`, `pad` and `max_len` (the most words a sentence may have, `eos` included) from its attributes: `model.sos` and so on. The model makes its own masks, and uses a mask of yours as it is. A sentence that has ended gets nothing but `pad`; the batch may end when all have, and does at `max_len`.


# %% solution="decode_greedy"
@torch.no_grad()
def decode_greedy(model, src: torch.Tensor) -> torch.Tensor:
    """src (B, S) -> ids (B, L) of the likeliest words: no sos, eos at the end, then pad."""
    ### BEGIN SOLUTION
    said = torch.full((len(src), 1), model.sos, device=src.device)
    ended = torch.zeros(len(src), dtype=torch.bool, device=src.device)
    while said.shape[1] <= model.max_len and not ended.all():
        word = model(src, said)[:, -1].argmax(-1)
        word = torch.where(ended, model.pad, word)
        said = torch.cat([said, word[:, None]], dim=1)
        ended = ended | (word == model.eos)
    return said[:, 1:]
    ### END SOLUTION


# %% check="decode_greedy"
check("decode_greedy", decode_greedy)

# %% [markdown]
# ## The task: English to French
#
# A batch is `src`, `tgt`: ids $(B, S)$ and $(B, T)$, each sentence with `eos` at its end and padding (0) behind it; `tgt` has no `sos`. This is one:

# %%
batch = next(data.stream("encoder_decoder_task", torch.Generator().manual_seed(0)))
for name, ids in zip(("src", "tgt"), batch):
    print(f"{name} {tuple(ids.shape)}, its first sentence {ids[0].tolist()}")

# %% [markdown]
# And this is the model; it has about as many parameters as the recurrent one that it will be compared with.


# %%
def build_model(norm="pre", dropout=0.0):
    vocabularies = (len(data.phrases.vocabulary(name)) for name in ("english", "french"))
    sizes = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2}
    return Transformer(*vocabularies, **sizes, dropout=dropout, norm=norm, max_len=24)


# %% [markdown]
# ### Exercise: training (about 20 minutes)
#
# Write the loop: shift the target, compute the smoothed loss ($\varepsilon = 0.1$, as in the paper) over real words (`eos` is one), set the rate of every step (`optimizer.param_groups[0]["lr"] = ...`), and step. There are 625 steps (on a GPU ten times as many); 250 are a good warm-up. The paper's Adam has `betas=(0.9, 0.98)` and `eps=1e-9`. Log each loss.
#
# Full marks when at least 70 % of new sentences, which the grader draws, are right to the last word, with a BLEU of 0.8 or more (explained below). The grader lets your model write, one word after the other.


# %% solution="encoder_decoder_task"
def train(model, batches):
    """Trains on `for src, tgt in batches`, and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    width = model.tgt_embed.embedding_dim
    for step, (src, tgt) in enumerate(batches, start=1):
        optimizer.param_groups[0]["lr"] = warmup_schedule(step, width, warmup=250)
        tgt_in = torch.cat([torch.full_like(tgt[:, :1], model.sos), tgt[:, :-1]], dim=1)
        loss = label_smoothing_loss(model(src, tgt_in), tgt, 0.1, tgt != model.pad)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("encoder_decoder_task", build_model, train)

# %% check="encoder_decoder_task"
check("encoder_decoder_task", record.model)

# %% [markdown]
# The curve flattens somewhat below 1 and not near 0: that is the price of smoothing. (In the table above the least was 0.88.) And what does the model say?

# %%
model = record.model
held_out = pairs["validation"].select(range(300))
english = [line.split() for line in held_out["english"]]
french = [line.split() for line in held_out["french"]]
src = data.phrases.encode(english, "english").to(device())
said = [data.phrases.decode(ids, "french") for ids in decode_greedy(model, src)]
for i in range(6):
    print(" ".join(english[i]))
    print("   ", " ".join(said[i]))
    if said[i] != french[i]:
        print("    it should be:", " ".join(french[i]))

# %% [markdown]
# All or nothing is a hard judge: one wrong ending, and the sentence counts as lost. Translations are usually measured by **BLEU**: of all runs of one word in the output, what share is in the expected sentence, too? Of all runs of two, three, four? Take the geometric mean, and
# lower it if the output is shorter than it should be; otherwise it would pay to say only what is certain.


# %%
def bleu(said, expected):
    """BLEU of many sentences (lists of words), between 0 and 1."""

    def runs(words, n):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    logs = []
    for n in (1, 2, 3, 4):
        found = sum((runs(a, n) & runs(b, n)).total() for a, b in zip(said, expected))
        if not found:
            return 0.0
        logs.append(math.log(found / sum(runs(a, n).total() for a in said)))
    shortness = sum(map(len, expected)) / sum(map(len, said))
    return math.exp(sum(logs) / 4 + min(0, 1 - shortness))


def right(said, expected):
    return sum(a == b for a, b in zip(said, expected)) / len(expected)


print(f"faultless {right(said, french):.1%}, BLEU {bleu(said, french):.3f}")

# %% [markdown]
# ## Against topic 05
#
# The rival: `blocks.AttentionSeq2Seq`, two GRUs with attention between them. Same batches, same number of steps, and the same loss: torch's own `cross_entropy` can smooth, too, and leaves out the padding here.


# %%
def build_recurrent(attention=64):
    vocabularies = (len(data.phrases.vocabulary(name)) for name in ("english", "french"))
    return blocks.AttentionSeq2Seq(*vocabularies, embed=64, hidden=112, attention=attention)


def train_recurrent(model, batches):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for src, tgt in batches:
        logits = model(src, (src != 0).sum(1), tgt)
        logits, targets = logits.flatten(0, 1), tgt.flatten()
        loss = F.cross_entropy(logits, targets, ignore_index=0, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        batches.log(loss)


recurrent = fit("encoder_decoder_task", build_recurrent, train_recurrent, variant="recurrent")


# %%
def translate_recurrent(model, src):
    return model.decode_greedy(src, (src != 0).sum(1), max_len=24)[0]


translations = {}
print("                    parameters   training   writing   faultless    BLEU")
for name, trained, decode in (
    ("Transformer", record, decode_greedy),
    ("GRUs, attention", recurrent, translate_recurrent),
):
    began = time.perf_counter()
    ids = decode(trained.model, src)
    writing = time.perf_counter() - began
    words = translations[name] = [data.phrases.decode(row, "french") for row in ids]
    size = sum(p.numel() for p in trained.model.parameters())
    print(f"{name:<18} {size:>11,} {trained.seconds:>8.1f} s {writing:>7.2f} s", end="")
    print(f" {right(words, french):>11.1%} {bleu(words, french):>7.3f}")

# %%
lengths = ["3-5", "6-7", "8-9", "10-12", "13 or more"]
limits = [(0, 5), (6, 7), (8, 9), (10, 12), (13, 99)]
curves = {}
for name, words in translations.items():
    rows = [[i for i, e in enumerate(english) if low <= len(e) <= high] for low, high in limits]
    curves[name] = [right([words[i] for i in r], [french[i] for i in r]) for r in rows]
show.encoder_decoder.by_length(lengths, curves)

# %% [markdown]
# Read the table from left to right. The two are equally large, take times of the same order to train, and end close together: in some trainings the recurrent pair is ahead, in others the Transformer. Was it worth it?
#
# Here, no. Nine words a sentence and 20,000 sentences are home ground for a GRU: that one word follows another is built into it, while the Transformer has to learn what a place is, and the places that only long sentences reach are seldom practised. It gives all that up for one thing: **no step waits for another**. To train on a sentence of $T$ words, a recurrent pair takes $S + T$ steps, one after the other;
# the Transformer takes as many as it has layers. On one core everything has to queue anyway. On a GPU, with texts of thousands of words and layers a hundred times as wide, it decides what can be trained at all.
#
# *Writing* is slower, ten times and more, because `decode_greedy` computes everything again for each new word, where a GRU just goes on from its state. That can be mended: see the question at the end.
#
# ## Where it looks
#
# Each French word was said while looking somewhere. The weights of the cross-attention, the mean of the heads, for one sentence:

# %%
sentence = show.encoder_decoder.EXAMPLES[0].split()
source = data.phrases.encode([sentence], "english").to(device())
ids = decode_greedy(model, source)
weights = show.encoder_decoder.looks(model, source, ids)  # (layers, 1, h, T, S)
said_words = [*data.phrases.decode(ids[0], "french"), "(end)"]
show.encoder_decoder.cross_maps(weights[:, 0], said_words, [*sentence, "(end)"])

# %% [markdown]
# Follow the diagonal, and find where it breaks: `chat` is said from *cat*, and only then `noir` from *black*; the second `le` looks at *him*, before the verb; `pas` looks at *not*. An adjective often glances at its noun as well, for that decides its ending. (Yours may divide the work between the layers in another way.)
#
# Nobody told it which word comes from which. The grammar knows. How often is the word that is looked at most the right one?

# %%
hits, total = Counter(), 0
for english_words, row in zip(english[:100], held_out.select(range(100))):
    src_ids = data.phrases.encode([english_words], "english").to(device())
    tgt_ids = data.phrases.encode([row["french"].split()], "french").to(device())
    looked = show.encoder_decoder.looks(model, src_ids, tgt_ids).mean(2).argmax(-1)[:, 0]
    for layer, places in enumerate(looked, start=1):
        hits[layer] += sum(int(p) == gold for p, gold in zip(places, row["alignment"]))
    total += len(row["alignment"])
for layer, found in hits.items():
    print(f"layer {layer}: {found / total:.0%} of the words look at where they come from")

# %% [markdown]
# ## Several hypotheses at once
#
# Greedy decoding never takes anything back. **Beam search** keeps the `beam` best beginnings instead of one. At each step every open one is continued by every word, log-probabilities are added up, and the best `beam` stay. What ends in `eos` is finished and set aside. At the end the finished ones are compared by
#
# $$\frac{\log p(y_1, \dots, y_n \mid \text{source})}{n^{\alpha}}, \qquad \alpha = \texttt{length\_penalty},$$
#
# with `eos` counted in $n$. Each further word makes $\log p$ smaller, so with $\alpha = 0$ short sentences have an unfair advantage; $\alpha = 1$ compares means.
#
# ### Exercise: `decode_beam`, beam search (about 30 minutes)
#
# The ids come in the same form as from `decode_greedy`. A score may be $-\infty$, and such a word is never said. If nothing has finished at `max_len`, the best open hypothesis is the answer. A beam of 1 must say what greedy decoding says; and a beam that is wide enough for all hypotheses (it may be wider than the vocabulary) must find the best of all. A loop over sentences is fine.


# %% solution="decode_beam"
@torch.no_grad()
def decode_beam(model, src: torch.Tensor, beam: int, length_penalty: float = 1.0) -> torch.Tensor:
    """src (B, S) -> ids (B, L) of the best hypotheses: no sos, eos at the end, then pad."""
    ### BEGIN SOLUTION
    found = [search(model, one[None], beam, length_penalty) for one in src]
    return nn.utils.rnn.pad_sequence(found, batch_first=True, padding_value=model.pad)


def search(model, src, beam, length_penalty):
    """The best words for one sentence (1, S)."""
    said = torch.full((1, 1), model.sos, device=src.device)  # open hypotheses (K, 1 + n)
    scores = torch.zeros(1, device=src.device)
    finished = []
    while said.shape[1] <= model.max_len and len(said) > 0:
        log_p = model(src.expand(len(said), -1), said)[:, -1].log_softmax(-1)  # (K, V)
        total = (scores[:, None] + log_p).flatten()
        scores, best = total.topk(min(beam - len(finished), len(total)))
        before, word = best // log_p.shape[1], best % log_p.shape[1]
        said = torch.cat([said[before], word[:, None]], dim=1)
        ended = word == model.eos
        finished += zip(scores[ended].tolist(), said[ended][:, 1:])
        said, scores = said[~ended], scores[~ended]
    finished = finished or list(zip(scores.tolist(), said[:, 1:]))
    return max(finished, key=lambda one: one[0] / len(one[1]) ** length_penalty)[1]
    ### END SOLUTION


# %% check="decode_beam"
check("decode_beam", decode_beam)

# %%
few, expected = src[:40], french[:40]
for beam in (1, 4):
    began = time.perf_counter()
    ids = decode_beam(model, few, beam)
    words = [data.phrases.decode(row, "french") for row in ids]
    print(f"beam {beam}: {right(words, expected):.1%} faultless, BLEU {bleu(words, expected):.3f}",
          f"in {time.perf_counter() - began:.1f} s")  # fmt: skip

# %% [markdown]
# Hardly a difference, for four times the work (of which the clock does not show all, because the four are computed side by side). A sentence of this corpus has one right translation, and a model that knows it is sure of it.
#
# In real translation many good sentences share the probability, and a beam of four to six is worth about 0.01 of BLEU (papers count in hundredths and say "one point"). Very wide beams make things worse again: the most probable sentence of all is often a short and empty one. Hence the penalty.
#
# ## Play
#
# Type a sentence, or take one of the examples. Then choose a French word, and see which English ones it was said from. Questions to try: what does `ne` look at? What does an adjective look at, besides itself: where does its ending come from? Say something that the grammar would never say.

# %%
show.encoder_decoder.translator(model, decode_greedy)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A lecture says: *Transformer decoders can be parallelised only during training.* Explain why, and which mask makes it possible. Then: somebody forgets that mask in training. What will the loss look like, and what the translations? And while a sentence is written, which of the numbers that are computed for every new word
# have been computed before? Five to eight sentences.

# %% [markdown] question="encoder_decoder_question"
# In training the whole target is known, so all places can be computed at once: place t reads the right words before t, and the causal mask keeps it from seeing word t itself and what follows. When the model writes, word t does not exist until it has been chosen, and choosing it needs the result for all words before: one step has to wait for the other.
#
# Without the mask, the decoder finds the word it should guess in its own input, one place further on, and learns to copy it. The loss falls faster and lower than an honest one, towards nothing (with smoothing: towards the least that is possible), and looks better. But when it writes there is nothing ahead to copy, so the translations are nonsense: the commonest sign is a wonderful loss and useless output.
#
# While writing, the encoder's output never changes, nor do the keys and values that the cross-attention makes of it. Because of the causal mask, earlier words never see later ones, so their vectors in every layer, and with them their keys and values, stay as they were. Only the last word's row is new; keeping the rest (a key-value cache) saves nearly all of the work.

# %% [markdown]
# ## What to take with you
#
# Attention moves information between words, the feed-forward network works on each word alone, and a road runs past both, with a norm on it or beside it. A decoder's layer adds a look at the source, and a triangle. Who may look at whom is all that tells a GPT from a BERT, and both from the machine that you have built.
#
# ## Going further
#
# - **No causal mask.** Leave out the causal mask, and train (as a `variant`). Ours had the lower loss at every stage, and not one sentence right. Then leave out the places, `self.positions`, instead: 57 % of the sentences were right all the same. Who tells the decoder where it is?
# - **No attention.** `fit(..., lambda: build_recurrent(attention=0), train_recurrent, variant="no attention")`: two GRUs with nothing but a state between them. Four sentences in ten survive.
# - **Norms and warm-up.** `build_model(norm="post")`, as in 2017; and either norm without a warm-up, at a constant rate of 0.001. Which combination suffers? R. Xiong and others,
#   [On layer normalization in the Transformer architecture](https://arxiv.org/abs/2002.04745) (2020), explain it.
# - **A cache.** Keep the keys and values of the words that have been said (a *cache*), so that each step of `decode_greedy` computes one row only. How much faster is it at 24 words?
# - **Find the mistake.** One lecture makes its target mask from `(cible != 0).unsqueeze(1).unsqueeze(3)`, and a triangle. Print its shape. Which words does it hide, those that look or those that are looked at? Why does nobody notice?
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017): with this notebook behind you, you can read every line of sections 3 and 5.
#   R. Müller and others, [When does label smoothing help?](https://arxiv.org/abs/1906.02629) (2019).
# - **Next.** Your encoder never asked what its words are. Topic 11 feeds it with pieces of images.

# %%
progress()
