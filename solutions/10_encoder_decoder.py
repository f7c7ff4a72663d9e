# %% [markdown]
# # 10 The Transformer
#
# *My tired bird is big.* In French this is *mon oiseau fatigué est grand*. Try a word-for-word translation, and the order is wrong. Make the bird a hen (*ma poule fatiguée est grande*), and three more words change. So a translator reads the whole sentence first, then writes another one, and looks back and forth between the two.
#
# Two recurrent networks with attention between them can do that. Here you do it without recurrence. You stack attention layers, and add residual connections and norms, without which a deep stack is hard to train. The result is the Transformer. It comes from *Attention is all you need* (2017), which this notebook calls *the paper*. Nearly every language model since then is one half of it or both.
#
# **You will**
#
# - build the parts of a Transformer, and assemble three architectures from the same layers,
# - train one to translate English to French, and let it write with greedy decoding and beam search,
# - measure what it gains over a recurrent network, and what it pays.
#
# **You need** an encoder and a decoder with attention (topic 05), multi-head attention (topic 07), sinusoidal positional encodings (topic 08), and the causal mask and the padding mask (topic 09). `True` in a mask means "may be looked at".
#
# There are ten exercises, one training task and one written question. They take about 200 minutes. Reading takes most of another hour, so take a break just before the task. Each of the two trainings takes under half a minute on a laptop. When you are stuck, `hint("layer_norm")` gives a hint, and a stronger one each time.

# %%
import math
import time
from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show

# %% [markdown]
# ## The whole picture
#
# This is the machine that you will have at the end. Come back to it whenever you ask where a part belongs.

# %%
show.encoder_decoder.whole_picture()

# %% [markdown]
# The **encoder** on the left reads the source sentence. The **decoder** on the right writes the target, and each of its words looks at the encoder's output through **cross-attention**. Both are stacks of equal layers. Each box is a **sublayer**.
#
# Follow one of the two thick lines from the bottom to the top. It is the residual stream of topic 09, and it carries one vector for each word. At the bottom this is the word's embedding plus its position. Every sublayer *reads* the vectors from the stream and *adds* its results to them.
#
# Here is one word with three numbers, in an encoder of one layer:
#
# | | vector |
# |---|---|
# | embedding plus position | (1, 2, 3) |
# | self-attention reads it and adds (0.5, 0, −1) | (1.5, 2, 2) |
# | the feed-forward network reads that and adds (0, 1, 0) | (1.5, 3, 2) |
#
# The final vector is the first one plus everything that was added on the way. The picture and this example leave out the layer norms, which you build first.
#
# ## Sentences
#
# The corpus `phrases` holds 20,000 English sentences and their French translations. A small grammar made them. So every translation is right, and the grammar also knows which English word each French word comes from.

# %%
pairs = data.load("phrases")
for row in pairs["train"].select(range(5)):
    print(f"{row['english']:<45} {row['french']}")

# %%
row = pairs["validation"][40]
show.encoder_decoder.alignment(row["english"], row["french"], row["alignment"])

# %% [markdown]
# Orange lines mark words that have changed their order. Most French adjectives stand behind their noun, and the noun decides their ending. *Not* becomes two words around the verb, `ne` and `pas`. *Him* moves in front of the verb. `le` becomes `l'` before a vowel. No single rule is hard, but each depends on another word.
#
# **Dimensions.** $B$ sentences in a batch, $T$ words of the target, $S$ words of the source, $D$ numbers in a word's vector (`d_model`), $F$ the width inside the feed-forward network (`d_ff`), $h$ heads, $V$ words in the target's vocabulary.
#
# ## Layer normalisation
#
# If each of thirty layers makes a vector longer by a tenth, it is $1.1^{30} \approx 17$ times as long at the top. **Layer normalisation** keeps its size in bounds. Take a word with the numbers 1, 3, 5 and 7:
#
# - Their mean is 4. Subtract it and get −3, −1, 1, 3.
# - The mean of the squares of these is (9 + 1 + 1 + 9) / 4 = 5, the variance.
# - Divide by the root of the variance, 2.24, and get −1.34, −0.45, 0.45, 1.34.
#
# The same steps work for a word of any width $D$. They use the word's *own* numbers only.
#
# $$\text{LN}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta, \qquad \mu = \frac{1}{D}\sum_{i} x_i, \qquad \sigma^2 = \frac{1}{D}\sum_{i} (x_i - \mu)^2$$
#
# The model learns the vectors $\gamma$ and $\beta$, so it can undo the normalisation where that helps. The small $\varepsilon$ prevents a division by zero.
#
# ### Exercise: `layer_norm` (about 10 minutes)
#
# Normalise over the last axis. There may be any number of axes before it. Note what the formula divides the sum of squares by. Subtract $\mu$ before you square. The shortcut, the mean of the squares minus $\mu^2$, loses its digits for numbers far from zero. Do not use PyTorch's `layer_norm`, `group_norm`, `instance_norm` or `batch_norm` or their layers, since each can be made the answer itself.


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

# %% [markdown]
# Three words of very different size go in. What comes out?

# %%
seed(0)
words = torch.randn(3, 64) * torch.tensor([[0.01], [1.0], [100.0]]) + 5
normalised = layer_norm(words, torch.ones(64), torch.zeros(64))
for before, after in zip(words, normalised):
    print(f"mean {before.mean():7.2f}, deviation {before.std(correction=0):6.2f}", end="   ->   ")
    print(f"mean {after.mean():5.2f}, deviation {after.std(correction=0):.2f}")

# %% [markdown]
# The first deviation falls a little short of 1. That word's variance was only 0.0001, and beside it even $\varepsilon = 0.00001$ counts.
#
# ## The feed-forward network
#
# Attention moves information *between* words, but all it computes is a weighted sum of values. Each word then has to work on its sum. So after each attention every word passes alone through the feed-forward network of topic 09. The network is the same at every position.
#
# Take a word $x = (1, -2)$ and three hidden numbers. Let the rows of $W_1$ be $(1, 0)$, $(0, 1)$ and $(1, 1)$, and let both biases be zero. Then $W_1 x = (1, -2, -1)$, and ReLU turns that into $(1, 0, 0)$. With the rows $(2, 1, 1)$ and $(0, 1, 1)$ in $W_2$, the result is $(2, 0)$. In general,
#
# $$\text{FFN}(x) = W_2 \, \text{ReLU}(W_1 x + b_1) + b_2 .$$
#
# The inner width $F$ is usually $4D$. That makes $8D^2$ weights, while the attention beside it has $4D^2$. So two thirds of a layer's weights are here.
#
# ### Exercise: `feed_forward` (about 5 minutes)
#
# Apply the network to the last axis.


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
# ## A layer of the encoder
#
# An encoder layer has two sublayers, attention and the feed-forward network. Each has a residual connection around it (topic 07). Its output is *added* to what it read, so it has to learn only the change. Gradients also get a direct way to the bottom, along the residual stream.
#
# Each sublayer has a layer norm, too. There are two places for it. Say the word is $x = (1, 3)$, and the sublayer returns $(2, -2)$ for whatever it reads.
#
# - **Post-norm**, as in 2017, normalises the sum. The sum is $(3, 1)$, so the result is $(1, -1)$.
# - **Pre-norm**, common since GPT-2, normalises what the sublayer reads. The sublayer reads $(-1, 1)$ instead of $(1, 3)$. Its output is added to $x$ as it was, so the result is $(1, 3) + (2, -2) = (3, 1)$.
#
# $$\text{post:} \quad x \leftarrow \text{LN}(x + \text{sublayer}(x)) \qquad\qquad \text{pre:} \quad x \leftarrow x + \text{sublayer}(\text{LN}(x))$$
#
# In post-norm the norm stands *in* the residual stream. In pre-norm it stands beside it, in the branch that leads into the sublayer. The first sublayer is self-attention with `norm1`. The second is the feed-forward network with `norm2`.
#
# ### Exercise: `EncoderLayer` (about 20 minutes)
#
# The constructor is given. It makes these parts:
#
# - `self.self_attention(x_q, x_kv, mask)` is multi-head attention, which returns output and weights. In a sentence of padding alone all weights are zero.
# - `up` and `down` are the two linear maps of your `feed_forward`.
# - `norm1` and `norm2` are your layer norm as a module, and `self.norm` is "post" or "pre".
# - `dropout` goes over each sublayer's output before you add it. In training it sets each number to zero with a small probability and enlarges the others, so that no layer relies on a single number. In `eval()` it does nothing.
#
# Do not use `blocks.EncoderLayer`, `nn.Transformer` or its layers, since they are the answer themselves.


# %% solution="EncoderLayer"
class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with a residual connection around it and a norm."""

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
# What do the norms do in a deep stack? Send words through 24 untrained layers with post-norm, with pre-norm, and without norms.


# %%
def sizes_in_a_stack(kind, height=24, width=64):
    """Mean length of the words' vectors before the first layer and after each."""
    seed(0)
    x = torch.randn(8, 10, width)
    sizes = [x.norm(dim=-1).mean().item()]
    for _ in range(height):
        norm = "post" if kind == "post-norm" else "pre"
        layer = EncoderLayer(width, 4, 4 * width, dropout=0.0, norm=norm)
        for weight in (p for p in layer.parameters() if p.dim() > 1):
            nn.init.xavier_uniform_(weight)  # random, by width, as in the paper's own code
        if kind == "no norm":
            layer.norm1 = layer.norm2 = nn.Identity()
        with torch.no_grad():
            x = layer(x)
        sizes.append(x.norm(dim=-1).mean().item())
    return sizes


sizes = {kind: sizes_in_a_stack(kind) for kind in ("no norm", "pre-norm", "post-norm")}
show.encoder_decoder.sizes_by_height(sizes)

# %% [markdown]
# Without norms the vectors explode. In post-norm every layer brings them back to the length $\sqrt{D} = 8$. In pre-norm they grow slowly. Every sublayer reads a normalised copy and adds about as much as the one before, and nothing ever shrinks the residual stream.
#
# Gradients go the same way back. In a pre-norm stack no norm stands in their way, so they reach the bottom undiminished, and deep models use it. Such a stack needs one more norm at its very top, because its last vectors have grown.
#
# ## A layer of the decoder
#
# A decoder layer has three sublayers, in this order:
#
# 1. **masked self-attention** over the words written so far, with `norm1`. The causal mask comes in as `tgt_mask`.
# 2. cross-attention to the encoder's output, the *memory*, with `norm2`. Queries come from the target's words, keys and values from the memory. It does what the attention of a recurrent translator does, with several heads. Its mask is `src_mask`.
# 3. the feed-forward network, with `norm3`.
#
# ### Exercise: `DecoderLayer` (about 20 minutes)
#
# Use the memory as it comes. In pre-norm the norm at the top of the encoder has normalised it already, so `norm2` is for the queries only. Do not use `nn.Transformer` or its layers.


# %% solution="DecoderLayer"
class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, feed-forward, each with a residual connection."""

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
# Call them A, B and C. They differ in little more than which words may look at which.
#
# - **A, decoder only** (GPT). There is one text, and each word sees itself and the words before it. It can write.
# - **B, encoder only** (BERT). There is one text, and every word sees every word. It can read, but not write.
# - **C, encoder and decoder** (the Transformer of 2017, T5). One text is read and another is written. Each written word sees itself, the written words before it, and the whole source.
#
# In all three, no word may look at padding.
#
# ### Exercise: `architecture_masks`, who sees whom (about 15 minutes)
#
# Return a dictionary with the keys `encoder_self`, `decoder_self` and `cross`. The argument `kind` is "encoder", "decoder" or "encoder-decoder". A value is `None` where the architecture has no such attention. Otherwise it is a boolean mask that broadcasts to $(B, h, \text{rows}, \text{columns})$.
#
# Each **row** belongs to a query, the word that looks. Each **column** belongs to a key, a word that it may look at. So after broadcasting, `mask[b, :, i, j]` is True if word $i$ of sentence $b$ may look at word $j$. In `cross` the rows are words of the target, and the columns are words of the source.
#
# The lengths tell you which words are padding. A mask is as wide as the longest sentence of its batch. For "decoder" the lengths of its one text come as `src_lengths`. The rows of padded words do not matter, because nobody reads their results.


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
# A dot means that the word of this row may look at the word of this column. The last columns are padding.
#
# ### Build a GPT
#
# Architecture A needs no new part. Without a source there is no cross-attention, so its layer is your `EncoderLayer` with a causal mask. The next cell earns no points. It runs as it stands, but no word passes through a layer yet. Complete `forward`:
#
# 1. Make a causal mask for the length of `ids`, for example with your `architecture_masks`.
# 2. Send `x` through the layers one after the other, each with that mask.


# %%
class DecoderOnly(nn.Module):
    """Architecture A: ids (B, T) -> logits (B, T, V), of the size and build of GPT (2018)."""

    def __init__(self, vocab, d_model, n_heads, d_ff, n_layers, max_len):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.positions = nn.Embedding(max_len, d_model)  # learned
        layers = [EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers)]
        self.layers = nn.ModuleList(layers)

    def forward(self, ids):
        x = self.embed(ids) + self.positions.weight[: ids.shape[1]]
        # Your lines come here.
        return x @ self.embed.weight.T


seed(0)
text = ["the", "small", "black", "cat", "sleeps", "."]
small = DecoderOnly(vocab=20, d_model=32, n_heads=4, d_ff=128, n_layers=2, max_len=8).eval()
show.encoder_decoder.decoder_only(small, torch.arange(3, 3 + len(text))[None], text)

# %% [markdown]
# The last square is a test. It replaces one word at a time by another, and marks every position whose logits change.
#
# - A mere diagonal means that no layer is called yet. Each word reads only itself.
# - A full square means that no mask arrives in the layers. Then it is architecture B.
# - A triangle is what you want. Every word reads itself and all words before it, and none behind it.
#
# Each layer that is called adds a square with its attention, the mean of the heads. Its last row is roughly even, because no weight is trained yet.
#
# How large is a real one? GPT has 12 layers of width 768 with 12 heads, a vocabulary of 40,478 and 512 positions. It is said to have 117 million parameters. First estimate it by hand. A layer has $4D^2 + 8D^2 = 12D^2$ weights, so twelve layers have $12 \cdot 12 \cdot 768^2 \approx 85$ million. The embeddings have $40{,}478 \cdot 768 \approx 31$ million. Now count.

# %%
D, inner = 768, 4 * 768
with torch.device("meta"):  # shapes without numbers: nothing is stored
    gpt = DecoderOnly(40_478, D, 12, inner, 12, max_len=512)
stack = sum(p.numel() for p in gpt.layers.parameters())
total = sum(p.numel() for p in gpt.parameters())
print(f"the 12 layers  {stack:>11,}")
print(f"all of GPT     {total:>11,}")

# %% [markdown]
# The output reuses the weights of the embedding, so it adds none. BERT-Base has the same stack of 85 million. Only the causal mask tells the two stacks apart.
#
# ## The Transformer
#
# Now assemble architecture C. For `model(src, tgt_in)`, from the bottom to the top:
#
# - **Embeddings.** Each word's embedding is multiplied by $\sqrt{D}$. Then the sinusoidal positional encodings are added (`self.positions`), and dropout follows. New embeddings have numbers of about $1/\sqrt{D}$, and sinusoids have numbers of about 1. Without the factor, the position would drown the word.
# - **Encoder.** The source passes through the encoder's layers, each with `src_mask`.
# - **Decoder.** The target passes through the decoder's layers. Each gets the *finished* memory, `tgt_mask` for its self-attention and `src_mask` for its cross-attention.
# - **Last norms.** A pre-norm stack ends with one more norm, `encoder_norm` or `decoder_norm`. Call them in post-norm, too, where they do nothing.
# - **Logits.** The logits of the next word are the dot products of the decoder's output with the embeddings of all target words. The same weights serve at the bottom and at the top, so they are called **tied weights**.
#
# `forward` makes each mask that the caller leaves out, and uses a given mask as it is. `src_mask` hides every `pad` in the source. It may stand anywhere, and a source may hold nothing else. `tgt_mask` hides only the future. In a target all padding comes after the real words, so the causal mask hides it from them already. Here are the parts:


# %%
class Parts(nn.Module):
    """The parts of a Transformer; pad, sos, eos are ids, max_len the most words of a sentence."""

    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers,
                 dropout=0.1, norm="post", pad=0, sos=1, eos=2, max_len=64):  # fmt: skip
        super().__init__()
        self.pad, self.sos, self.eos, self.max_len = pad, sos, eos, max_len
        self.src_embed = nn.Embedding(src_vocab, d_model)
        self.tgt_embed = nn.Embedding(tgt_vocab, d_model)
        for embed in (self.src_embed, self.tgt_embed):
            nn.init.normal_(embed.weight, std=d_model**-0.5)
        # sinusoids, in a tensor that moves with the model and is not trained
        self.register_buffer("positions", blocks.sinusoids(max_len, d_model), persistent=False)
        sizes = (d_model, n_heads, d_ff, dropout, norm)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes) for _ in range(n_layers))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes) for _ in range(n_layers))
        self.encoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.dropout = nn.Dropout(dropout)


# %% [markdown]
# ### Exercise: `Transformer` (about 30 minutes)
#
# Write `forward`. You may add methods of your own. Do not use `nn.Transformer` or its layers.


# %% solution="Transformer"
class Transformer(Parts):
    """model(src (B, S), tgt_in (B, T)) -> logits (B, T, V) for the next word at every position."""

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
# ## The loss
#
# In training the decoder reads the *right* translation, shifted by one position. This is the teacher forcing of topic 05, and your `shift_right` made the same input there. `sos` comes first, and the last word is dropped. So at position $t$ the decoder sees the words before $t$, and it has to predict word $t$. Thanks to the causal mask, one pass makes the predictions for all $T$ words.
#
# The paper changes the target of the loss. Usually, the right word should get the probability 1. Softmax reaches that only with infinite logits, so the model keeps raising them long after it is right. **Label smoothing** takes a share $\varepsilon$ of the target (not the $\varepsilon$ of layer norm) and spreads it evenly over all $V$ words, the right one included.
#
# Take $V = 5$ words and $\varepsilon = 0.1$. Each word gets 0.1 / 5 = 0.02, and the right word gets the other 0.9 on top:
#
# | | right word | each of the four others |
# |---|---|---|
# | target $q$ | 0.92 | 0.02 |
# | say the model gives $p$ | 0.80 | 0.05 |
# | $-\log p$ | 0.223 | 2.996 |
#
# The loss is 0.92 · 0.223 + 4 · 0.02 · 2.996 = 0.445. Without smoothing it is 0.223. In the formula, $[k = y]$ is 1 for the right word and 0 for the others.
#
# $$q_k = (1 - \varepsilon)\,[k = y] + \frac{\varepsilon}{V}, \qquad L = -\sum_k q_k \log p_k .$$
#
# ### Exercise: `label_smoothing_loss` (about 15 minutes)
#
# Return the mean over the real tokens of the whole batch. Do not use `F.cross_entropy` or `nn.CrossEntropyLoss`, since they can do all of this.


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

# %% [markdown]
# The next cell computes the loss of one token, with a vocabulary of 251 words. The right word's logit is 2, 4, 6, 8, 12 or 20, and all others are 0.

# %%
predict("best_lead_under_smoothing")

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
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Without smoothing, a larger lead is always better. With smoothing there is a best lead, near 8, and more confidence *costs*. So the loss no longer goes to zero.
#
# </details>
#
# ## A learning rate that warms up
#
# In the paper, the learning rate rises in a straight line for a number of steps, the *warm-up*. Then it falls like $1/\sqrt{\text{step}}$. With $D = 64$ and a warm-up of 250 steps, as in our task, these are some rates:
#
# | step | 1 | 125 | 250 | 1000 |
# |---|---|---|---|---|
# | rate | 0.00003 | 0.0040 | 0.0079 | 0.0040 |
#
# At half the warm-up the rate is half its peak. At four times the warm-up it is half its peak again. Equation 3 of the paper says both in one line:
#
# $$\text{rate} = D^{-1/2} \cdot \min\!\left(\text{step}^{-1/2},\; \text{step} \cdot \text{warmup}^{-3/2}\right)$$
#
# Why begin slowly? In an untrained post-norm stack the top layers get large gradients. Adam needs some steps to learn how large gradients usually are. A big step in a wrong direction at the very start is hard to undo.
#
# ### Exercise: `warmup_schedule` (about 5 minutes)
#
# Return the rate of one step. The first step has the number 1.


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
# A trained model predicts the next word. To write a sentence, start with `sos` and let the model read what it has written so far. Take the word with the largest logit, append it, and ask again. Stop when that word is `eos`. This is the greedy decoding of topic 05, now without a state to carry along.
#
# ### Exercise: `decode_greedy` (about 20 minutes)
#
# Write for a whole batch, without gradients. Call `model(src, words_so_far)` for logits. The model's attributes `model.sos`, `model.eos` and `model.pad` are ids. Leave the masks to the model. A sentence that has ended gets nothing but `pad`. You may stop when all sentences have ended. You have to stop at `model.max_len` words, `eos` included.


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
# A batch is a pair `src`, `tgt` of ids, of shapes $(B, S)$ and $(B, T)$. Each sentence has `eos` at its end and padding (0) behind it. `tgt` has no `sos`. This is one batch:

# %%
batch = next(data.stream("encoder_decoder_task", torch.Generator().manual_seed(0)))
for name, ids in zip(("src", "tgt"), batch):
    print(f"{name} {tuple(ids.shape)}, its first sentence {ids[0].tolist()}")

# %% [markdown]
# And this is the model. It has about as many parameters as the recurrent network that it will be compared with.


# %%
def build_model(norm="pre", dropout=0.0):
    vocabularies = (len(data.phrases.vocabulary(name)) for name in ("english", "french"))
    sizes = {"d_model": 64, "n_heads": 4, "d_ff": 128, "n_layers": 2}
    return Transformer(*vocabularies, **sizes, dropout=dropout, norm=norm, max_len=24)


# %% [markdown]
# ### Exercise: training (about 20 minutes)
#
# Write the loop over `batches`. For each batch:
#
# - Make the decoder's input, as in topic 05. Put `model.sos` in front of the target, and drop its last position.
# - Compute the smoothed loss over real words, with $\varepsilon = 0.1$ as in the paper. `eos` is a real word.
# - Set the rate of this step with `optimizer.param_groups[0]["lr"] = ...`, and make the step.
# - Call `batches.log(loss)`. It records the loss and draws the curve.
#
# There are 625 steps on a CPU, about two passes over the sentences, and ten times as many on a GPU. A warm-up of 250 steps works well. The paper's Adam has `betas=(0.9, 0.98)` and `eps=1e-9`. Do not use `nn.Transformer` or its layers in the model.
#
# **How it is scored.** Your model translates 300 new sentences, one word after the other. For full marks, two measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | sentences that are right to the last word | 70 % |
# | BLEU, which is explained below | 0.8 |
#
# `check` is easier. It asks for half of 60 sentences and a BLEU of 0.4. You measure the same two numbers yourself after training.


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
# The curve flattens somewhat below 1 and not near 0. That is the price of smoothing. When you printed the loss of one token with $\varepsilon = 0.1$, the lowest was 0.88, too. Now let the model translate sentences that it has not seen in training.

# %%
model = record.model
held_out = pairs["validation"].select(range(300))
english = [line.split() for line in held_out["english"]]
french = [line.split() for line in held_out["french"]]
src = data.phrases.encode(english, "english").to(device())
with blocks.one_thread(device()):  # such small models gain nothing from more threads
    written = decode_greedy(model, src)
said = [data.phrases.decode(ids, "french") for ids in written]
for i in range(6):
    print(" ".join(english[i]))
    print("   ", " ".join(said[i]))
    if said[i] != french[i]:
        print("    it should be:", " ".join(french[i]))

# %% [markdown]
# "Right to the last word" is strict, because one wrong ending loses the whole sentence. Translations are usually measured by **BLEU**. It counts which runs of words in the output also stand in the expected sentence. Say the model writes *le petit chat noir dort .* where *le petit chat noir ne dort pas .* is expected.
#
# | runs of | 1 word | 2 words | 3 words | 4 words |
# |---|---|---|---|---|
# | in the output | 6 | 5 | 4 | 3 |
# | of these, also in the expected sentence | 6 | 3 | 2 | 1 |
#
# The geometric mean of the four shares is $(1 \cdot 0.6 \cdot 0.5 \cdot 0.333)^{1/4} = 0.562$. An output that is too short pays a penalty, or it would be best to write only what is certain. Here 6 words stand for 8, which costs a factor $e^{1 - 8/6} = 0.717$. So BLEU is 0.562 · 0.717 = 0.403. For a corpus, add up the counts of all sentences before you compute the four shares.


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


one, other = "le petit chat noir dort .", "le petit chat noir ne dort pas ."
print(f"the example above: BLEU {bleu([one.split()], [other.split()]):.3f}")
print(f"the model: right to the last word {right(said, french):.1%}, BLEU {bleu(said, french):.3f}")

# %% [markdown]
# ## Against a recurrent network
#
# The baseline is `blocks.AttentionSeq2Seq`, two GRUs with attention between them. It trains on the same batches for the same number of steps. The loss is the same, this time from torch.


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

# %% [markdown]
# The next cell times both on one thread, once to warm up and then several times. The fastest run counts, because other programs on your machine can only make a run slower.


# %%
def fastest(work, *inputs, tries=3):
    """The result of `work(*inputs)`, and the seconds of its fastest run after one to warm up."""
    seconds = []
    with blocks.one_thread():
        for _ in range(1 + tries):
            began = time.perf_counter()
            result = work(*inputs)
            if torch.cuda.is_available():
                torch.cuda.synchronize()  # a GPU may still be at work
            seconds.append(time.perf_counter() - began)
    return result, min(seconds[1:])


def translate_recurrent(model, src):
    return model.decode_greedy(src, (src != 0).sum(1), max_len=24)[0]


translations = {}
print("                    parameters   training   writing       right    BLEU")
for name, trained, decode in (
    ("Transformer", record, decode_greedy),
    ("GRUs, attention", recurrent, translate_recurrent),
):
    ids, writing = fastest(decode, trained.model, src)
    words = translations[name] = [data.phrases.decode(row, "french") for row in ids]
    size = sum(p.numel() for p in trained.model.parameters())
    print(f"{name:<18} {size:>11,} {trained.seconds:>8.1f} s {writing:>7.2f} s", end="")
    print(f" {right(words, french):>11.1%} {bleu(words, french):>7.3f}")

# %% [markdown]
# The next picture sorts the sentences by their length. Which network does better on the long ones?

# %%
lengths = ["3-5", "6-7", "8-9", "10-12", "13 or more"]
limits = [(0, 5), (6, 7), (8, 9), (10, 12), (13, 99)]
curves = {}
for name, words in translations.items():
    rows = [[i for i, e in enumerate(english) if low <= len(e) <= high] for low, high in limits]
    curves[name] = [right([words[i] for i in r], [french[i] for i in r]) for r in rows]
show.encoder_decoder.by_length(lengths, curves)

# %% [markdown]
# The two are equally large, and they end close together. In some trainings the recurrent network is ahead, in others the Transformer. So here the Transformer was not worth it. Short sentences, and few of them, suit a GRU. It has the order of words built in, while the Transformer has to learn what a position is, and few training sentences reach the late ones. It pays that price for one thing, which you measure now.
#
# ### What a long text costs
#
# A GRU reads $T$ tokens in $T$ steps, and each step waits for the one before. In a Transformer's layer **no token waits for another**. It has two steps whatever the length, attention and then feed-forward. The next cells send one text through a GRU and through a Transformer layer, forwards and backwards, with a vector of width 64 for each token. The Transformer's layer has twice as many weights, $12 D^2$ beside $3 \cdot 2 D^2$ in the GRU's two gates and candidate.

# %%
predict("recurrent_layer_on_one_thread")


# %%
class FastLayer(nn.Module):
    """A layer with a causal mask, on PyTorch's own fast attention; norms and dropout left out."""

    def __init__(self, width, n_heads=4):
        super().__init__()
        self.n_heads = n_heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
                   for part in self.qkv(x).chunk(3, dim=-1))  # fmt: skip
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.down(F.relu(self.up(x)))


# %%
def forwards_and_backwards(layer, x):
    out = layer(x)
    (out[0] if isinstance(out, tuple) else out).sum().backward()  # a GRU gives its last state, too


hardware = torch.device("cpu")
gru, layer = nn.GRU(64, 64, batch_first=True).to(hardware), FastLayer(64).to(hardware)
text_lengths, seconds = [8, 32, 128, 512, 2048], {"GRU": [], "Transformer layer": []}
print("        steps one after another    milliseconds")
print("tokens      GRU   layer             GRU   layer")
for T in text_lengths:
    x = torch.randn(1, T, 64, device=hardware)
    seconds["GRU"] += [fastest(forwards_and_backwards, gru, x)[1]]
    seconds["Transformer layer"] += [fastest(forwards_and_backwards, layer, x)[1]]
    took = "".join(f"{1000 * times[-1]:>8.1f}" for times in seconds.values())
    print(f"{T:>6} {T:>8} {2:>7}        {took}")
show.encoder_decoder.seconds_by_length(text_lengths, seconds)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Even one thread reads the text several times faster with the Transformer's layer. The layer does more arithmetic, but in a few large matrix products. The GRU needs hundreds of tiny ones, and starting each of them takes time. At 2,048 tokens the lead is smaller again, because $T^2$ scores have to be computed. The paper counts the steps as *sequential operations* and the arithmetic as *complexity per layer*.
#
# </details>
#
# A GPU has thousands of cores, so there the number of steps decides. Think of 24 layers and a text of 2,048 tokens. A recurrent stack makes 24 · 2,048 = 49,152 steps in a row, and in each of them most cores have nothing to do. The Transformer makes 24 · 2 = 48, and each of them has work for many cores. So the same hardware can train on far more text, which is a main reason why large language models are Transformers. If you have a GPU, set `hardware = device()` in the last cell and run it again.
#
# ### The price in writing
#
# In writing, the Transformer of the comparison above needs more than ten times as long. For each new word, its `decode_greedy` sends the whole sentence so far through the model, while a GRU goes on from its hidden state. Real programs keep the keys and values of earlier words in a **key/value cache**. For each new word they compute only its own row, and let it look at the kept ones. The price is memory, which grows with the length of the text. Why may a program keep these numbers at all? The written question below asks you.
#
# <!-- needs: 15_gpt -->
# You build such a cache in topic 15.
#
# ## Where it looks
#
# The model looked at the source while it wrote each French word. This figure shows the weights of the cross-attention, the mean of the heads, for one sentence. A row is a word that was written, and a column is a word that it looked at.

# %%
sentence = show.encoder_decoder.EXAMPLES[0].split()
source = data.phrases.encode([sentence], "english").to(device())
ids = decode_greedy(model, source)
weights = show.encoder_decoder.looks(model, source, ids)  # (layers, 1, h, T, S)
said_words = [*data.phrases.decode(ids[0], "french"), "(end)"]
show.encoder_decoder.cross_maps(weights[:, 0], said_words, [*sentence, "(end)"])

# %% [markdown]
# Follow the diagonal, and find where it breaks. The model writes `chat` from *cat*, and only then `noir` from *black*. The second `le` looks at *him*, before the verb, and `pas` looks at *not*. An adjective often looks at its noun as well. (Your model may divide the work between its layers in another way.)
#
# The training data never say which word comes from which. How often does a French word look most at the English word that it comes from?

# %%
hits, total = Counter(), 0
for english_words, row in zip(english[:100], held_out.select(range(100))):
    src_ids = data.phrases.encode([english_words], "english").to(device())
    tgt_ids = data.phrases.encode([row["french"].split()], "french").to(device())
    with blocks.one_thread(device()):
        looked = show.encoder_decoder.looks(model, src_ids, tgt_ids).mean(2).argmax(-1)[:, 0]
    for layer, places in enumerate(looked, start=1):
        hits[layer] += sum(int(p) == gold for p, gold in zip(places, row["alignment"]))
    total += len(row["alignment"])
for layer, found in hits.items():
    print(f"layer {layer}: {found / total:.0%} of the words look at where they come from")

# %% [markdown]
# ## Beam search
#
# Greedy decoding never takes a word back. **Beam search** keeps several beginnings, the *hypotheses*, as many as the *beam* is wide. Here is a search with a beam of 2 and the words `a`, `b` and `eos`. A number behind a hypothesis is its probability, the product over its words.
#
# | step | all continuations | kept |
# |---|---|---|
# | 1 | `a` 0.60, `b` 0.30, `eos` 0.10 | `a`, `b` |
# | 2 | `a eos` 0.30, `a b` 0.18, `a a` 0.12, `b a` 0.27, `b b` 0.015, `b eos` 0.015 | `a eos` (finished), `b a` |
# | 3 | `b a eos` 0.257, `b a a` and `b a b` 0.0135 together | `b a eos` (finished) |
#
# At each step, every open hypothesis is continued with every word, and the best continuations fill the free places of the beam. A hypothesis that ends in `eos` is **finished** and **keeps its place in the beam**. So after step 2 of the table, `a eos` takes one of the two places, and one is left for open hypotheses. The search ends when finished hypotheses fill the beam, or at `max_len`.
#
# Which of the two finished ones is the answer? Their log-probabilities are −1.20 for `a eos` and −1.36 for `b a eos`, so the first is ahead. But each further word makes the sum smaller, and that favours short sentences. Divide by the number of words, `eos` included, and get −0.60 and −0.45. Now the second is ahead. Greedy decoding would have written `a eos`. The general formula has an exponent $\alpha$, the `length_penalty`:
#
# $$\frac{\log p(y_1, \dots, y_n \mid \text{source})}{n^{\alpha}}$$
#
# With $\alpha = 0$ it compares sums, with $\alpha = 1$ means.
#
# ### Exercise: `decode_beam`, beam search (about 30 minutes)
#
# Add up log-probabilities along each hypothesis. At each step, compare these sums. Use the formula only at the end, and only for finished hypotheses. If none has finished at `max_len`, the best open one is the answer. A logit may be $-\infty$, and such a word is never written. Return ids in the same form as `decode_greedy`.
#
# A beam of 1 must write what greedy decoding writes. A beam wide enough for all hypotheses must find the best one of all, and it may be wider than the vocabulary. A loop over sentences is fine.


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
    ids, took = fastest(decode_beam, model, few, beam)
    words = [data.phrases.decode(row, "french") for row in ids]
    score = f"{right(words, expected):.1%} right to the last word, BLEU {bleu(words, expected):.3f}"
    print(f"beam {beam}: {score}, in {took:.2f} s")

# %% [markdown]
# There is hardly a difference, for four times the work. (The clock shows less if your four hypotheses go through the model as one batch.) A sentence of this corpus has one right translation, and a model that knows it is sure of it.
#
# In real translation many good sentences share the probability. There a beam of four to six gains about 0.01 of BLEU, which papers call "one point". Very wide beams make things worse again, for the most probable sentence is often a short or even an empty one. The length penalty works against that.
#
# ## Play
#
# Type a sentence, or take one of the examples. Then choose a French word, and see which English words the model looked at when it wrote that word. What does `ne` look at? What does an adjective look at besides itself, and where does its ending come from? Type something that the grammar would never say.

# %%
show.encoder_decoder.translator(model, decode_greedy)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A lecture says, *Transformer decoders can be parallelised only during training.* Explain why, and which mask makes it possible. Then imagine that this mask is forgotten in training. What will the loss look like, and what will the translations look like? Finally, think of a model that is writing. Which of the numbers it computes for a new word were computed before, and why are they still the same?
# Write five to eight sentences.

# %% [markdown] question="encoder_decoder_question"
# In training the whole target is known, so all positions can be computed at once. Position t reads the right words before t, and the causal mask keeps it from seeing word t itself and what follows. When the model writes, word t does not exist until it has been chosen, and choosing it needs the result for all words before. So one step has to wait for the other.
#
# Without the mask, the decoder finds the word it should predict in its own input, one position further on, and learns to copy it. The loss falls faster and lower than an honest one, towards zero (with smoothing, towards the lowest possible value), and looks better. But when the model writes there is nothing ahead to copy, so the translations are nonsense. A wonderful loss and useless output are the commonest sign of this mistake.
#
# While the model writes, the encoder's output never changes, nor do the keys and values that the cross-attention makes of it. Because of the causal mask, earlier words never see later ones, so their vectors in every layer, and with them their keys and values, stay as they were. Only the last word's row is new. Keeping the rest in a key/value cache saves nearly all of the work.

# %%
rubric("encoder_decoder_question")

# %% [markdown]
# ## What you built
#
# | you built | the field calls it | where you meet it next |
# |---|---|---|
# | `layer_norm`, `feed_forward` | layer normalisation, position-wise feed-forward network (MLP) | `nn.LayerNorm`; the `mlp` of GPT-2 and Llama |
# | `EncoderLayer`, `DecoderLayer` | Transformer blocks, with post-norm or pre-norm residual connections | `nn.TransformerEncoderLayer`, `nn.TransformerDecoderLayer` |
# | `DecoderOnly` | a causal or autoregressive language model, which reads what it wrote | `GPT2LMHeadModel` in the library transformers |
# | `Transformer` | an encoder-decoder (sequence-to-sequence) model | `nn.Transformer`; T5 and BART |
# | `label_smoothing_loss` | label smoothing | `nn.CrossEntropyLoss(label_smoothing=0.1)` |
# | `warmup_schedule` | the inverse square root schedule, or Noam schedule | `torch.optim.lr_scheduler.LambdaLR` |
# | `decode_greedy`, `decode_beam` | greedy decoding, beam search with a length penalty | `model.generate(num_beams=4)` in transformers |
#
# Attention moves information between words, and the feed-forward network works on each word alone. Only the causal mask tells the stack of a GPT from that of a BERT.
#
# ## Going further
#
# - **No causal mask.** Leave out the causal mask, and train (as a `variant`). Ours had the lower loss at every stage, and not one sentence right. Then leave out the positional encoding, `self.positions`, instead. Still 57 % of the sentences were right. What tells the decoder where it is?
# - **No attention.** Run `fit("encoder_decoder_task", lambda: build_recurrent(attention=0), train_recurrent, variant="no attention")`. It trains two GRUs with nothing but a hidden state between them. Four sentences in ten survive.
# - **Norms and warm-up.** Train `build_model(norm="post")`, as in 2017. Then train with either norm and without a warm-up, at a constant rate of 0.001. Which combination suffers? R. Xiong and others explain it in
#   [On layer normalization in the Transformer architecture](https://arxiv.org/abs/2002.04745) (2020).
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017). With this notebook behind you, you can read every line of sections 3 and 5.
#   R. Müller and others, [When does label smoothing help?](https://arxiv.org/abs/1906.02629) (2019).
#
# <!-- needs: 11_vit_patches -->
# - **Next.** Your encoder works on vectors and never asks where they come from. Topic 11 feeds it pieces of images.
#
# <!-- needs: 15_gpt -->
# Topic 15 keeps the decoder alone, as GPT does. It gives the decoder a cache, so that each word is read once, and lets it write.
#
# <!-- needs: 15_gpt, 17_linear_time -->
# For texts of 100,000 words even such a cache is too large, and topic 17 replaces it by a state whose size does not grow.
#
# **Now you can** build the whole Transformer from its parts, train it to translate, and search for a better translation with a beam. Run the cell below to see which notebook comes next.

# %%
progress()
