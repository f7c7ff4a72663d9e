# %% [markdown]
# # 5 Attention over a recurrent encoder
#
# Write this date in digits, first the year, then the month, then the day: `domingo, 4 de julio de 1999`. Watch your
# eyes while you write. They jump to the end for the year, to the middle for the month and to the left for the day.
# You do not need to keep the whole date in your head, because you can look back.
#
# The translation networks of 2014 could not look back. Cho, Sutskever and others built them from two recurrent
# networks. The first one, the **encoder**, reads a sentence, and its last hidden state is all that is kept of it. The
# second one, the **decoder**, starts from that vector and writes the translation. The longer the sentence, the more
# one vector of fixed width has to hold, and Cho's team saw the translations get worse with length.
#
# In this notebook the decoder learns to look back. It reads dates as people write them in five languages, writes them
# as machines want them, and shows you at each character where it looked.
#
# **You will**
#
# - score, in three ways, how well each encoder state fits what the decoder needs now, and count what each way costs
# - turn the scores into weights and a context vector, and build and train a translator around them
# - measure where it looks, where one vector becomes too small, and what attention does not cure.
#
# **You need** the GRU, softmax and cross-entropy, and padding, by which sentences of different lengths share a batch.
# A bidirectional network leaves one state at each position, which has read the source from both sides.
#
# <!-- needs: 02_cbow, 03_rnn, 04_lstm_gru -->
# Softmax and cross-entropy come from topic 02, padding from topic 03, the GRU and the bidirectional network from topic 04.
#
# Seven short exercises, one training task and one written question take about 120 minutes. Are you stuck?
# `hint("additive_scores")` gives a hint, and a stronger one each time you ask.

# %%
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course import blocks, check, data, fit, hint, predict, progress, rubric, seed, show
from course.data import dates

# %% [markdown]
# Compare the two designs. Here $h_S$ is the encoder's last state, and $c_t$ is what the decoder gets at step $t$.
# What does the single arrow on the left have to carry?

# %%
show.bahdanau_attention.two_ways()

# %% [markdown]
# ## Dates
#
# The Unicode project collects each language's conventions for dates in a public database, CLDR. It gives us nineteen
# forms in English, French, German, Spanish and Hungarian, for every day from 1950 to 2049.

# %%
corpus = data.load("dates", rows=2000)
for row in corpus["train"].select(range(8)):
    print(f"{row['text']:>36}  ->  {row['iso']}   ({row['language']}, {row['form']})")

# %% [markdown]
# The brackets name the language and the form, which CLDR calls full, long, medium or short.
#
# The model has to learn the names of months. It has to notice that English may put the month first and Hungarian the
# year. And `04.07.99` does not even say which century. English has only three forms here, because `7/4/99` could be a
# day in July or a day in April. The model reads one character at a time and has no list of words.
#
# For each digit of the answer, the corpus also records which word of the source the digit comes from. The `12/` in
# `24/12/1990` is a word, too. This record is the **gold alignment**. The model never sees it. At the end you measure
# whether the model has found it.
#
# ## A look back, by hand
#
# Follow one look back with numbers. The source has six words, and the encoder has left three numbers for each of
# them, its hidden states. The decoder is about to write the month, and its own state, the **query**, is $(-1, 2, 0)$.
# The decoder takes four steps:
#
# 1. **Scores.** Multiply query and state number by number and add up. For `July` that is
#    $-1 \cdot 0 + 2 \cdot 2 + 0 \cdot 1 = 4$.
# 2. **Exponentials.** $\exp(4) = 54.60$. Every result is positive, also where the score is not.
# 3. **Weights.** Divide by the sum of the exponentials. For `July` that is $54.60 / 59.82 = 0.913$. The six weights
#    add up to 1.
# 4. **Weighted sum.** Multiply each state by its weight, and add the six products. The result is the **context
#    vector**.

# %%
sentence = ["Sunday", "the", "4th", "of", "July", "1999"]
states = torch.tensor(
    [[1.0, 0, 0], [0.0, 0, 0], [2.0, 0, 0], [1.0, 1, 0], [0.0, 2, 1], [0.0, 0, 2]]
)
query = torch.tensor([-1.0, 2, 0])
scores = states @ query  # (6,)
exponentials = scores.exp()
weights = exponentials / exponentials.sum()
context = weights @ states  # (3,)

print(f"{'word':<7}{'state':>8}{'score':>8}{'exp':>8}{'weight':>9}   weight times state")
for j, word in enumerate(sentence):
    state = " ".join(f"{number:.0f}" for number in states[j])
    product = "  ".join(f"{number:.3f}" for number in weights[j] * states[j])
    print(
        f"{word:<7}{state:>8}{scores[j]:>8.0f}{exponentials[j]:>8.2f}{weights[j]:>9.3f}   {product}"
    )
total = "  ".join(f"{number:.3f}" for number in context)
print(f"{'sum':<7}{exponentials.sum():>24.2f}{weights.sum():>9.3f}   {total}")

# %% [markdown]
# The context vector is close to the state of `July`, with a little of all the others. This is a **soft** choice. When
# you nudge a score, the context moves a little, so a gradient can teach the scores.
#
# Change the query and run the cell again. Which query gives `1999` a weight of at least 0.9? For the query
# $(0, 0, 0)$ all weights are equal. What is the context then?
#
# In step 1 the states are **keys**, which are compared with the query. In step 4 they are **values**, which are added
# up.
#
# ## Three ways to score
#
# Now the query is the decoder's state $s_{t-1}$ before step $t$, and the keys are the encoder's states
# $h_1, \dots, h_S$. Steps 2 to 4 stay as they are. Step 1 can be done in several ways.
#
# Bahdanau, Cho and Bengio (2015) let a small network compare query and key. Take one with a single unit. Query and
# key both enter it with weight 1, and its output weight is 2. For the query $0.5$ it gives
#
# - the key $1$ a score of $2 \tanh(0.5 + 1) = 2 \cdot 0.905 = 1.81$,
# - the key $-1$ a score of $2 \tanh(0.5 - 1) = 2 \cdot (-0.462) = -0.92$.
#
# With $A$ units, and vectors in place of numbers, the input weights become two matrices and the output weights a
# vector $v$. This is the **additive score**
#
# $$e_j = v^\top \tanh(W_q\, s_{t-1} + W_k\, h_j).$$
#
# Some texts stack query and key into one vector and multiply it by one matrix. The product is the same sum.
#
# **Dimensions.**
#
# | symbol | what it counts |
# |---|---|
# | $B$, $S$, $T$ | sentences in a batch, positions in the source, positions in the target |
# | $Q$, $K$, $D$ | numbers in a query, in a key, in a value |
# | $A$ | units of the small network that scores |
#
# > <!-- needs: 02_cbow, 04_lstm_gru -->
# > In topic 02, $D$ was the width of a word's vector, and $E$ the table of these vectors. In topic 04, $c$ was the cell state.
#
# ### Exercise: `additive_scores` (about 10 minutes)
#
# Each sentence has one query and many keys. As in `nn.Linear`, the weights have the shape (out, in). When you add a
# tensor of shape (2, 1, 3) to one of shape (2, 5, 3), PyTorch **broadcasts** the first. It repeats the axis of length
# 1 as often as needed.


# %% solution="additive_scores"
def additive_scores(query: Tensor, keys: Tensor, W_q: Tensor, W_k: Tensor, v: Tensor) -> Tensor:
    """Scores (B, S) of keys (B, S, K) for the queries (B, Q); W_q (A, Q), W_k (A, K), v (A,)."""
    ### BEGIN SOLUTION
    asked = (query @ W_q.T)[:, None]  # (B, 1, A)
    return torch.tanh(asked + keys @ W_k.T) @ v  # (B, S, A) -> (B, S)
    ### END SOLUTION


# %% check="additive_scores"
check("additive_scores", additive_scores)

# %% [markdown]
# Is the tanh needed? Take one unit again, with all weights 1, and look at the *difference* of the scores of two keys.
# Only differences matter, because softmax stays the same when you add one number to all scores.

# %%
predict("query_without_tanh")

# %%
asking = torch.linspace(-3, 3, 49)[:, None]  # 49 queries of width 1
two_keys = torch.tensor([[1.0], [-1.0]]).expand(49, 2, 1)
one = torch.ones(1, 1)
both = additive_scores(asking, two_keys, one, one, one[0])
plain = asking + two_keys[:, :, 0]  # the same without a tanh
lines = {"with tanh": both[:, 0] - both[:, 1], "without": plain[:, 0] - plain[:, 1]}
show.bahdanau_attention.score_gap(asking[:, 0], lines)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Without the tanh, the query cancels. The key $+1$ always wins by the same two points, and the decoder would look at
# the same position at every step. The tanh bends the sum, so that the same two keys are far apart for one query and
# nearly equal for another.
#
# </details>
#
# ### Exercise: `dot_scores` (about 5 minutes)
#
# A product compares query and key without a tanh. Luong, Pham and Manning (2015) tried the simplest one, the **dot
# product** from step 1 above. It needs queries and keys of one width $D$, and it has no parameter and no scale:
#
# $$e_j = s \cdot h_j$$


# %% solution="dot_scores"
def dot_scores(query: Tensor, keys: Tensor) -> Tensor:
    """Scores (B, S) of keys (B, S, D) for the queries (B, D)."""
    ### BEGIN SOLUTION
    return (keys @ query[:, :, None])[:, :, 0]  # (B, S, D) @ (B, D, 1)
    ### END SOLUTION


# %% check="dot_scores"
check("dot_scores", dot_scores)

# %% [markdown]
# ### Exercise: `general_scores` (about 5 minutes)
#
# A query of two numbers and a key of three have no dot product. A matrix between them helps. Take the query $(1, 2)$,
# the key $(3, 1, 0)$ and
#
# $$W = \begin{pmatrix} 1 & 0 & 1 \\ 0 & 1 & 0 \end{pmatrix}.$$
#
# The matrix turns the query into $(1, 2)\, W = (1, 2, 1)$, and the dot product with the key is
# $1 \cdot 3 + 2 \cdot 1 + 1 \cdot 0 = 5$. Luong and others call this the **general score**. It is also known as a
# bilinear score:
#
# $$e_j = s^\top W\, h_j$$


# %% solution="general_scores"
def general_scores(query: Tensor, keys: Tensor, W: Tensor) -> Tensor:
    """Scores (B, S) of keys (B, S, K) for the queries (B, Q), through W (Q, K)."""
    ### BEGIN SOLUTION
    return dot_scores(query @ W, keys)
    ### END SOLUTION


# %% check="general_scores"
check("general_scores", general_scores)

# %% [markdown]
# What do the three ways cost? The additive score can compute $W_k h_j$ once a sentence and keep it, because it is the
# same at each step of the decoder. Your function computes it anew each time, to stay simple. The general score could
# keep $W h_j$, too, but the table counts it as you wrote it.
#
# | score | $e_j$ | parameters | multiplications once a sentence | multiplications at each step |
# |---|---|--:|--:|--:|
# | additive | $v^\top \tanh(W_q s + W_k h_j)$ | $A (Q + K + 1)$ | $S A K$ | $A Q + S A$ |
# | dot | $s \cdot h_j$ | $0$ | $0$ | $S K$ |
# | general | $s^\top W h_j$ | $Q K$ | $0$ | $Q K + S K$ |
#
# These are the same costs for a source of 30 characters and the sizes that you will train:

# %%
S, Q, K, A = 30, 96, 96, 48
costs = {  # parameters, multiplications once a sentence and at each step
    "additive": (A * (Q + K + 1), S * A * K, A * Q + S * A),
    "dot": (0, 0, S * K),
    "general": (Q * K, 0, Q * K + S * K),
}
for name, (parameters, once, each) in costs.items():
    print(f"{name:<8} {parameters:>6,} parameters, {once:>8,} once, {each:>7,} at each step")

# %% [markdown]
# The dot product has nothing to learn and nothing to prepare, and its step is the cheapest. Today's language models
# use this score and divide it by $\sqrt{D}$.
#
# ## From scores to a context vector
#
# Steps 2 to 4 meet one complication. Sentences of a batch have different lengths, and the decoder must not look at
# padding. So there is a **mask**, which is True where looking is allowed. Take the scores 1, 2 and 3, and let the
# third position be padding. The exponentials of the other two are 2.72 and 7.39, and their sum is 10.11. The weights
# are $2.72 / 10.11 = 0.27$ and $7.39 / 10.11 = 0.73$, and the third is 0. If the values are 10, 20 and 60, the
# context is $0.27 \cdot 10 + 0.73 \cdot 20 = 17.3$. The 60 has no influence.
#
# In general, with sums over the allowed positions only, the **attention weights** $\alpha_j$ and the context $c_t$
# are
#
# $$\alpha_j = \frac{\exp(e_j)}{\sum_k \exp(e_k)} \qquad c_t = \sum_j \alpha_j\, h_j$$
#
# ### Exercise: `attend` (about 15 minutes)
#
# Return the context and the weights. They have to meet three conditions:
#
# - The weights of the allowed positions add up to 1. All other weights are exactly 0.
# - Large scores do no harm. $\exp(1000)$ is infinite in every number format of PyTorch, and infinity divided by
#   infinity is `nan`. `torch.softmax` avoids this, because it first subtracts the largest score. One check has scores
#   of about 1,000.
# - A sentence may have no allowed position at all. Then its weights and its context are 0, and no gradient is `nan`.


# %% solution="attend"
def attend(scores: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Context (B, D) and weights (B, S) from scores (B, S), values (B, S, D) and a mask (B, S)."""
    ### BEGIN SOLUTION
    lowest = torch.finfo(scores.dtype).min  # finite: softmax of a row of them is not nan
    weights = torch.softmax(scores.masked_fill(~mask, lowest), dim=1) * mask
    return (weights[:, None] @ values)[:, 0], weights
    ### END SOLUTION


# %% check="attend"
check("attend", attend)

# %% [markdown]
# Here are the same five scores in four sentences. From row to row, fewer positions are real.

# %%
same = torch.tensor([[1.0, 2.0, 0.5, 3.0, 3.0]]).expand(4, 5)
real = torch.tensor([5, 3, 1, 0])
_, weights = attend(same, torch.zeros(4, 5, 1), torch.arange(5) < real[:, None])
for n, row in zip(real.tolist(), weights):
    shares = "  ".join(f"{weight:.2f}" for weight in row)
    print(f"{n} real words:  weights {shares}  sum {row.sum():.2f}")

# %% [markdown]
# ## Teacher forcing
#
# <!-- needs: 03_rnn -->
# You met teacher forcing in topic 03, and measured what it costs.
#
# In training, the decoder reads the right answer instead of its own. This is teacher forcing. At step $t$ it has read
# the tokens *before* $t$ and should write token $t$. So its input is the target, one position later, with the special
# token `sos` (start of sequence) in front. If the target is `7 5 9 2` and `sos` is 1, the decoder reads `1 7 5 9`.
# The 2 is `eos` (end of sequence). Nothing follows it, so the decoder never needs to read it.
#
# ### Exercise: `shift_right` (about 5 minutes)
#
# Return a new tensor as long as the targets and of their integer type. One check has targets of type int32.


# %% solution="shift_right"
def shift_right(targets: Tensor, sos: int) -> Tensor:
    """What the decoder reads: the targets (B, T) one place later, sos in front."""
    ### BEGIN SOLUTION
    first = torch.full_like(targets[:, :1], sos)
    return torch.cat([first, targets[:, :-1]], dim=1)
    ### END SOLUTION


# %% check="shift_right"
check("shift_right", shift_right)

# %%
target = dates.target_ids("1999-07-04")[None]
symbols = {dates.SOS: "<sos>", dates.EOS: "<eos>"}
symbols |= {dates.FIRST + index: char for index, char in enumerate(dates.ANSWERS)}
print("reads ", *(f"{symbols[index]:>5}" for index in shift_right(target, dates.SOS)[0].tolist()))
print("writes", *(f"{symbols[index]:>5}" for index in target[0].tolist()))

# %% [markdown]
# If you forget the shift, the decoder reads the very token that it should write. The loss falls to zero in no time,
# and the model cannot write a single date.
#
# ## The whole model
#
# - **Encoder.** A bidirectional GRU reads the source and leaves a state $h_j$ at each position. Such a state knows
#   what stands before and after it. One direction ends at the last character and the other at the first. These two
#   last states, side by side, are called `last` and make the decoder's first state $s_0$.
# - **Decoder.** Each step scores the keys with $s_{t-1}$ and computes the context $c_t$. Then
#   $s_t = \mathrm{GRU}([y_{t-1};\, c_t],\, s_{t-1})$, where $y_{t-1}$ is the embedding of the token before. A linear
#   layer turns $s_t$, $c_t$ and $y_{t-1}$ into logits.
#
# You may also let the new state $s_t$ score the keys, as the model of Luong's team does.
#
# With `attention=0` the model cannot look back. Its context is `last` at every step. This will be your baseline.
#
# | what | shape |
# |---|---|
# | an embedding (E numbers), for a batch | (B, E) |
# | keys, which are also the values | (B, S, K) |
# | the decoder's state (H numbers) | (B, H) |
# | scores and weights of one step | (B, S) |
# | context of one step | (B, K) |
# | logits of one step, of all steps, for V tokens | (B, V), (B, T, V) |
# | ids of L tokens that were written | (B, L) |
#
# ### Exercise: `AttentionSeq2Seq` (about 40 minutes)
#
# > <!-- needs: 04_lstm_gru -->
# > PyTorch's GRU resets after the matrix $U_n$, and yours before it. Here that makes no difference.
#
# From here on you may use `nn.GRU` and `nn.GRUCell`. Do not use `blocks.AttentionSeq2Seq`, since it is the answer
# itself. The layers and the encoder are given, and you may change them.
# `pack_padded_sequence` tells `nn.GRU` how long each sentence is, so that neither direction reads padding.
# `pad_packed_sequence` makes the result a tensor with padding again.


# %%
class Reader(nn.Module):
    """The layers and the encoder. `attention` is the width A, and 0 means none."""

    def __init__(self, src_vocab, tgt_vocab, embed, hidden, attention, pad=0, sos=1, eos=2):
        super().__init__()
        self.attention, self.pad, self.sos, self.eos = attention, pad, sos, eos
        K = 2 * (hidden // 2)  # the width of a key: two directions
        self.embed_src = nn.Embedding(src_vocab, embed)
        self.embed_tgt = nn.Embedding(tgt_vocab, embed)
        self.encoder = nn.GRU(embed, K // 2, batch_first=True, bidirectional=True)
        self.start = nn.Linear(K, hidden)
        if attention:
            self.W_q = nn.Linear(hidden, attention, bias=False)
            self.W_k = nn.Linear(K, attention, bias=False)
            self.v = nn.Parameter((2 * torch.rand(attention) - 1) / attention**0.5)
        self.decoder = nn.GRUCell(embed + K, hidden)
        self.to_tokens = nn.Linear(hidden + K + embed, tgt_vocab)

    def encode(self, src, src_lengths):
        """The decoder's first state (B, H); keys (B, S, K), mask (B, S), last state (B, K)."""
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embed_src(src), src_lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        keys, ends = self.encoder(packed)
        keys, _ = nn.utils.rnn.pad_packed_sequence(
            keys, batch_first=True, total_length=src.shape[1]
        )
        mask = torch.arange(src.shape[1], device=src.device) < src_lengths[:, None]
        last = torch.cat([ends[0], ends[1]], dim=1)  # both directions
        return torch.tanh(self.start(last)), keys, mask, last

    def scores(self, state, keys):
        """Scores (B, S) of the keys for the decoder's state."""
        return additive_scores(state, keys, self.W_q.weight, self.W_k.weight, self.v)


# %% [markdown]
# Write three methods that turn a `Reader` into a translator:
#
# 1. `step` is one step of the decoder, which both loops need. `read` is $y_{t-1}$, and `encode` gives `keys`, `mask`
#    and `last`. With `attention=0` the weights are zeros. Call `self.decoder(input, state)`. You may join the vectors
#    of an input in any order.
# 2. `forward` is the loop of training. It reads `shift_right(tgt, self.sos)`.
# 3. `decode_greedy` is the loop of use. It feeds back the token with the largest logit, which is called **greedy
#    decoding**. It stops after `max_len` tokens, or earlier if all sentences have ended. What a sentence gets after
#    its first `eos` is padding. If the tokens with the largest logits are `5 8 2 7 4` and `eos` is 2, the ids are
#    `5 8 2 0 0`.


# %% solution="AttentionSeq2Seq"
class AttentionSeq2Seq(Reader):
    """A bidirectional GRU reads, a GRU writes, and before each step it looks back."""

    def step(self, read, state, keys, mask, last):
        """Embedded token (B, E), state (B, H) -> logits (B, V), next state, weights (B, S)."""
        ### BEGIN SOLUTION
        context, weights = last, torch.zeros_like(keys[:, :, 0])
        if self.attention:
            context, weights = attend(self.scores(state, keys), keys, mask)
        state = self.decoder(torch.cat([read, context], dim=1), state)
        return self.to_tokens(torch.cat([state, context, read], dim=1)), state, weights
        ### END SOLUTION

    def forward(self, src, src_lengths, tgt):
        """Logits (B, T, V) for each token of tgt (B, T), which ends in eos and has no sos."""
        ### BEGIN SOLUTION
        logits, (state, *memory) = [], self.encode(src, src_lengths)
        for read in self.embed_tgt(shift_right(tgt, self.sos)).unbind(dim=1):
            scores, state, _ = self.step(read, state, *memory)
            logits.append(scores)
        return torch.stack(logits, dim=1)
        ### END SOLUTION

    @torch.no_grad()
    def decode_greedy(self, src, src_lengths, max_len):
        """Its own best tokens, ids (B, L), and weights (B, L, S), for L of at most max_len."""
        ### BEGIN SOLUTION
        steps, (state, *memory) = [], self.encode(src, src_lengths)
        token = torch.full_like(src_lengths, self.sos)
        for _ in range(max_len):
            scores, state, weights = self.step(self.embed_tgt(token), state, *memory)
            token = scores.argmax(dim=1)
            steps.append((token, weights))
        ids, weights = (torch.stack(part, dim=1) for part in zip(*steps))
        ends = (ids == self.eos).long()  # behind the first eos, the count exceeds it
        return ids.masked_fill(ends.cumsum(dim=1) > ends, self.pad), weights
        ### END SOLUTION


# %% check="AttentionSeq2Seq"
check("AttentionSeq2Seq", AttentionSeq2Seq)

# %% [markdown]
# Where does an untrained model look, and what does it write?

# %%
seed(0)
fresh = AttentionSeq2Seq(dates.SOURCES, dates.TARGETS, embed=32, hidden=96, attention=48)
text = "Sonntag, 4. Juli 1999"
written, weights = show.bahdanau_attention.decoded(fresh, text)
print(f"{text}  ->  {written!r}")
print(f"weights between {weights.min():.3f} and {weights.max():.3f}; 1/S is {1 / len(text):.3f}")

# %% [markdown]
# It looks everywhere alike and writes nonsense, up to the limit of 14 tokens. A `?` is padding or `sos`. No label
# will tell it where to look. Only the gradient of the loss can, through the softmax.
#
# ## The task: dates (about 20 minutes)
#
# `fit` builds your model, hands it to `train` together with `batches`, and saves its weights. A batch has 64 dates of
# similar lengths. On a CPU the budget is 32,000 dates, which take about 20 seconds. On a GPU it is larger. Ids begin
# at 3 in both alphabets. The ids 0, 1 and 2 are padding, `sos` and `eos`. Each target has 11 tokens, and the last one
# is `eos`. Build the model as in the cell above. `F.cross_entropy` wants logits (N, V) and targets (N,), so flatten
# sentences and steps into one axis.
#
# Call `batches.log(loss)` once for each batch. It records the loss and draws the curve. Two settings help. Clip the
# gradients to a norm of 1, and use a learning rate of about 0.002. Do not train `blocks.AttentionSeq2Seq` in place of
# your own model.
#
# At grading, your model writes 1,500 dates that it has never met, in all forms, and an answer is right when every
# character is. For full marks, four measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | right answers, of all dates | 96 % |
# | right answers, of the longest dates (over 20 characters) | 93 % |
# | right answers, of the shortest dates (under 10 characters) | 85 % |
# | digits for which the right *word* gets most of the weight, added up over its characters | 80 % |
#
# Each bar earns its own part of the points. `check` takes 300 other dates and asks for less. It wants half of the
# answers right, and the right word for 80 % of the digits.


# %% solution="bahdanau_attention_task"
def translator() -> nn.Module:
    """The model to train."""
    ### BEGIN SOLUTION
    return AttentionSeq2Seq(dates.SOURCES, dates.TARGETS, embed=32, hidden=96, attention=48)
    ### END SOLUTION


def train(model: nn.Module, batches) -> None:
    """Trains the model; each batch is src (B, S), src_lengths (B,), tgt (B, 11)."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for src, src_lengths, tgt in batches:
        logits = model(src, src_lengths, tgt)  # (B, T, V)
        loss = F.cross_entropy(logits.flatten(0, 1), tgt.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("bahdanau_attention_task", translator, train)

# %% check="bahdanau_attention_task"
check("bahdanau_attention_task", record.model)

# %% [markdown]
# ## Where does it look?
#
# This is figure 3 of Bahdanau's paper, with your weights. Each row is a character that was written, and each column
# is a character of the source. The brighter a cell, the larger its weight. The frames show the gold word of each
# digit. The last row is `eos`, drawn as a full stop. The dates come from the validation split, which is a held-out
# set.

# %%
new = data.load("dates", rows=2000)["validation"]
chosen = [next(row for row in new if (row["language"], row["form"]) == kind) for kind in
          (("en", "full"), ("hu", "full"), ("es", "long"))]  # fmt: skip
pictures = []
for row in chosen:
    written, weights = show.bahdanau_attention.decoded(record.model, row["text"])
    pictures.append((weights, row["text"], written, row["gold"]))
show.bahdanau_attention.alignments(pictures)

# %% [markdown]
# In English the bright cells jump back and forth. Hungarian puts the year first, as machines do, so its cells run
# from the top left to the bottom right. In Spanish they run from the top right to the bottom left.
#
# For a month, the weight spreads over several letters, and not always the same ones. The encoder has read from both
# sides, so each of these states knows the word that it stands in. And hyphens look anywhere, because they come from
# no word.
#
# ### Exercise: `alignment_error_rate` (about 10 minutes)
#
# Three pictures are no measurement. Och and Ney (2003) defined the **alignment error rate**. When each target token
# has exactly one right position, it comes down to a count. Say that the largest weights of four tokens lie at
# positions 4, 4, 2 and 0, and that gold is 4, 4, 1 and 3. If three of the tokens are real and the last one is
# padding, then one of three misses, and the rate is $1/3$.
#
# Return the share of real target tokens whose largest weight does not lie at the gold position.


# %% solution="alignment_error_rate"
def alignment_error_rate(weights: Tensor, gold: Tensor, lengths: Tensor) -> float:
    """The share of the first lengths (B,) target tokens whose largest weight misses gold.

    weights are (B, T, S), gold (B, T) holds positions of the source.
    """
    ### BEGIN SOLUTION
    real = torch.arange(gold.shape[1], device=gold.device) < lengths[:, None]
    hits = (weights.argmax(dim=-1) == gold) & real
    return 1 - hits.sum().item() / real.sum().item()
    ### END SOLUTION


# %% check="alignment_error_rate"
check("alignment_error_rate", alignment_error_rate)

# %% [markdown]
# Gold names words, but the weights lie on characters. The weight of a word is the sum over its characters. If `4 May`
# gets the weights 0.1, 0.2, 0.3, 0.3 and 0.1, the first word has $0.1 + 0.2 = 0.3$ with its space, and the second has
# $0.7$. In the code, the matrix `belongs` does this for the whole batch.

# %%
test = dates.draw(2000, torch.Generator().manual_seed(1), "validation")
model = record.model.cpu()
ids, weights = model.decode_greedy(test.src, test.lengths, 11)
# test.words (B, S) numbers the word of each character. DIGITS are the positions of the digits.
belongs = F.one_hot(test.words).float() * (test.src != dates.PAD)[:, :, None]  # (B, S, words)
on_words = (weights @ belongs)[:, list(dates.DIGITS)]  # (B, 8, words)
eight = torch.full((2000,), 8)
print(f"alignment error rate {alignment_error_rate(on_words, test.gold, eight):.1%}")
rates = [
    alignment_error_rate(on_words[:, k : k + 1], test.gold[:, k : k + 1], torch.ones(2000).long())
    for k in range(8)
]
show.bahdanau_attention.errors_by_digit(rates)

# %% [markdown]
# The model nearly always looks at the right word, and its errors have reasons. Most of them stand at the first digit
# of the day or the month. That digit is often a zero which the source does not contain. Some stand at the century,
# which short dates leave out. Others come from the encoder, because a state next to a word knows that word, too.
#
# The weights say where the decoder *looked*. They need not say why it wrote what it wrote. Remember this when someone
# explains a large model by its attention weights.
#
# ## How much fits into one vector?
#
# Now test the problem that this notebook began with. A date is always eight digits, however long it is written, and
# one vector can learn to hold eight digits. To fill a vector, the *content* must grow. So you dictate numbers of 1 to
# 12 digits, and the models write them down after the last digit. Two small models of your class take the dictation,
# one with attention and one without. Your loop trains both, which takes about a minute.


# %%
def numbers(count: int, n: int, draw: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """`count` numbers of n digits: source, lengths, target."""
    src = torch.randint(3, 13, (count, n), generator=draw)
    eos = torch.full((count, 1), 2)
    return src, torch.full((count,), n), torch.cat([src, eos], dim=1)


class Dictation:
    """600 batches, each of numbers of one length."""

    def __iter__(self):
        draw = torch.Generator().manual_seed(1)
        for n in torch.randint(1, 13, (600,), generator=draw).tolist():
            yield numbers(64, n, draw)

    def __len__(self):
        return 600

    def log(self, loss):
        """Take the loss, and draw no curve."""


# %% [markdown]
# Afterwards both write numbers of up to 16 digits, so the last two lengths are new to them.

# %%
predict("digits_beyond_training")

# %%
lengths = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16]
curves = {}
for name, width in (("with attention", 24), ("without", 0)):
    seed(1)
    writer = AttentionSeq2Seq(13, 13, embed=16, hidden=64, attention=width)
    with blocks.one_thread():  # models this small gain nothing from more
        train(writer, Dictation())
    curves[name] = []
    for n in lengths:
        src, full, tgt = numbers(300, n, torch.Generator().manual_seed(2))
        ids, _ = writer.decode_greedy(src, full, n + 1)
        ids = F.pad(ids, (0, n + 1 - ids.shape[1]))
        curves[name].append((ids == tgt).all(dim=1).double().mean().item())
show.bahdanau_attention.exact_by_length(lengths, curves, trained=12)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Without attention, four digits are no trouble, eight seldom come out right, and twelve never do. The state has the
# same 64 numbers every time. With attention, the digits do not have to fit into it. They stay in the encoder's states
# until they are needed. More training moves the lower curve to the right and does not make it flat. In 2014
# Sutskever's team used four LSTM layers of 1,000 units. Each unit keeps two numbers, so the state had 8,000.
#
# Towards 12 digits, the curve with attention falls as well, and at 16 it is close to zero. This is another problem,
# called **length generalisation**. To fetch the twelfth digit, the decoder must know that it has come to the twelfth.
# It has seldom practised that, and it has never met a thirteenth. Attention removes the bottleneck. It does not
# remove the need for training data.
#
# </details>
#
# And the dates? On the same 32,000 dates and without attention, our model wrote 39 to 57 % of new dates without an
# error in three trainings. After twice as many dates it wrote nearly all of them right.
#
# ## Step through it
#
# Choose a date or type one, and go through the answer step by step. The arrow keys move the slider. What does the
# model look at for the century of `04.07.99`? What becomes of `July 4th, 1999` and of `Juli 4, 1999`? Try a month
# that does not exist, and two dates in one line. The model always answers, because it was never taught to refuse.

# %%
show.bahdanau_attention.step_the_decoder(record.model.cpu())

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Follow the gradient back on its shortest path. In the model without attention, which gets `last` at every step, how
# many steps lie between the logits of the last digit and a character in the middle of a source of 30? How many with
# attention?
#
# Attention reaches each encoder state in one step. Why is there still a recurrent encoder? How would the keys of the
# two 4s in `04.07.1994` differ if they were plain embeddings of characters? Write five to eight sentences.

# %% [markdown] question="bahdanau_attention_question"
# Without attention, the gradient passes through the encoder to reach the middle, and that is about 15 steps of a GRU
# from either end. Our model gives the encoder's last states to each step of the decoder, so the decoder's own steps
# can be skipped. Both ends of the source are near, because the backward direction has just read the first character.
# With attention, the context is one weighted sum of all states. So the middle is one step away, whatever the length,
# as long as its weight is not zero. This is the shortcut by which attention helps against vanishing gradients.
#
# A key must say more than which character stands there. As plain embeddings, the two digits 4 would have equal keys
# and equal values. The decoder could find *a* 4 and never know whether it belongs to the day, the month or the year.
# The recurrent encoder puts the neighbours and the position into each key. So recurrence still supplies order and
# context, and attention only replaces the transport through one vector.

# %%
rubric("bahdanau_attention_question")

# %% [markdown]
# ## What you built
#
# The recipe is score, softmax, weighted sum. In these three steps the decoder fetches from the source what it needs
# next, and the gradient alone teaches it where to look. The same three steps are at the core of the Transformer, the
# network behind today's language models.
#
# | you wrote | the field calls it | where you meet it next |
# |---|---|---|
# | `additive_scores` | additive or Bahdanau attention | `keras.layers.AdditiveAttention` |
# | `dot_scores` | dot-product attention | `F.scaled_dot_product_attention` |
# | `general_scores` | general, bilinear or Luong attention | Luong and others (2015) |
# | `attend` | soft attention with a padding mask | `nn.MultiheadAttention`, whose `key_padding_mask` is True where looking is *not* allowed |
# | `shift_right` | the input for teacher forcing | `shift_tokens_right` in Hugging Face Transformers |
# | `AttentionSeq2Seq` | encoder–decoder with cross-attention (from one sequence to another), greedy decoding | the Transformer |
# | `alignment_error_rate` | alignment error rate (AER) | Och and Ney (2003) |
#
# ## Going further
#
# - **Try it.** Use your `general_scores` or `dot_scores` in the method `scores` of `Reader`. The dot product needs a
#   decoder as wide as the keys. Train the baseline on the dates, with `attention=0` and `variant="baseline"` in
#   `fit`. Let the *new* state score the keys, as Luong's does, and compare the pictures. Do the bright cells move?
# - **Break it.** The table shows how many dates our model wrote right with one mistake each. One of these results is
#   excellent, and its model is still wrong. That is why each function was checked by itself.
#
#   | mistake | dates right |
#   |---|--:|
#   | targets not shifted, although the loss was nearly zero | 0 % |
#   | softmax over the batch | under 1 % |
#   | no tanh, so that the query cannot choose where to look | 48 to 56 % |
#   | no mask | 99.9 % |
#
# - **Read.** D. Bahdanau, K. Cho, Y. Bengio, [Neural Machine Translation by Jointly Learning to Align and
#   Translate](https://arxiv.org/abs/1409.0473) (2015) has your pictures in figure 3 and the fall with length in
#   figure 2. M.-T. Luong, H. Pham, C. D. Manning, [Effective Approaches to Attention-based Neural Machine
#   Translation](https://arxiv.org/abs/1508.04025) (2015) compares scores. S. Jain and B. Wallace wrote [Attention is
#   not Explanation](https://arxiv.org/abs/1902.10186) (2019). S. Wiegreffe and Y. Pinter answered with [Attention is
#   not not Explanation](https://arxiv.org/abs/1908.04626) (2019).
# - **Next.** The decoder now looks at the source in one step, but the encoder still reads one character after the
#   other. Self-attention lets the words of a sentence look at *each other* and drops the recurrence.
#
# <!-- needs: 06_self_attention -->
# You write self-attention in topic 06.
#
# **Now you can** translate with a decoder that looks back at its source, and measure whether it looks in the right place. Run
# the cell below to see which notebook comes next.

# %%
progress()
