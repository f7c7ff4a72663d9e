# %% [markdown]
# # 5 Attention over a recurrent encoder
#
# A gated network reads a sentence and keeps what it needs of it, all in one vector. Can it write another sentence from
# that vector, a translation say? Sutskever, Cho and others showed in 2014 that it can: one network reads (the
# **encoder**), another one writes (the **decoder**), and the last state of the first is the beginning of the second.
#
# But Cho and others saw it fail where you would expect it: as sentences grow longer, one vector of fixed width must hold ever
# more. (Sutskever's team held that off, with a very large state and sources read backwards.) No person translates like that.
# You read a sentence once for its sense, and look back at the right word whenever you need it. In this notebook the decoder
# learns to look back. It reads dates as people write them in five languages, writes them as machines want them, and shows you
# at each character where it looked.
#
# Seven short exercises, one training task, one written question; about two hours. Stuck?
# `hint("additive_scores")` gives a hint, and a stronger one each time.

# %%
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course import blocks, check, data, fit, hint, progress, seed, show
from course.data import dates

# %% [markdown]
# Both ways, side by side. On the left, what does the one arrow have to carry?

# %%
show.bahdanau_attention.two_ways()

# %% [markdown]
# ## Dates
#
# Every language has conventions for writing dates, and there is a public collection of them (CLDR). From it come nineteen
# forms in English, French, German, Spanish and Hungarian, for every day from 1950 to 2049.

# %%
corpus = data.load("dates", rows=2000)
for row in corpus["train"].select(range(8)):
    print(f"{row['text']:>36}  ->  {row['iso']}   ({row['language']}, {row['form']})")

# %% [markdown]
# Names of months must be known, day and month change places, Hungarian begins with the year, and `04.07.99` does not even
# say which century. (English has three forms only: nobody can tell whether `7/4/99` is in July or in April.) And all this
# character by character: no list of words is given.
#
# For every digit of the answer the corpus also knows the word of the source it comes from, its **gold alignment**. The
# model never sees that. At the end you will ask whether it found out.
#
# **Dimensions:** $B$ sentences in a batch, $S$ places in the source, $T$ places in the target, $Q$ and $K$ the widths of
# queries and keys, $D$ of values, $A$ of the attention, $V$ tokens; in the code also $E$ the width of an embedding, $H$ of
# the decoder's state, $L$ tokens written.
#
# ## Scores
#
# The decoder stands before step $t$, and its state is $s_{t-1}$, the **query**: all it knows about what it needs next. The
# encoder has left one state $h_j$ for each place $j$ of the source, the **keys**. How well does each key go with the query?
# Bahdanau, Cho and Bengio (2015) asked a small network:
#
# $$e_j = v^\top \tanh(W_q\, s_{t-1} + W_k\, h_j)$$
#
# (In the lectures, query and key are laid end to end, under a single matrix $W$. Cut that matrix in two, and the product is
# this sum.)
#
# ### Exercise: `additive_scores` (about 15 minutes)
#
# One query for each sentence, many keys. Weights as always, (out, in).


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
# Is the tanh needed? Take one unit and two keys, $+1$ and $-1$, let the query go from $-3$ to $3$, and look at the
# *difference* of the two scores. Only differences count: in the softmax that follows, a number added to all scores
# disappears.

# %%
asking = torch.linspace(-3, 3, 49)[:, None]  # 49 queries of width 1
two_keys = torch.tensor([[1.0], [-1.0]]).expand(49, 2, 1)
one = torch.ones(1, 1)
both = additive_scores(asking, two_keys, one, one, one[0])
flat = asking + two_keys[:, :, 0]  # the same without a tanh
lines = {"with tanh": both[:, 0] - both[:, 1], "without": flat[:, 0] - flat[:, 1]}
show.bahdanau_attention.score_gap(asking[:, 0], lines)

# %% [markdown]
# Without the tanh the query has no say: whatever it asks, the better key is better by the same two points, and the decoder
# would look at the same place at every step. A sum alone does not compare anything.
#
# ### Exercise: `dot_scores` (about 5 minutes)
#
# A product does. Luong, Pham and Manning (2015) tried the simplest one, for queries and keys of one width $D$:
# $e_j = s \cdot h_j$. Nothing else, no scale either.


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
# And with a matrix between the two, $e_j = s^\top W\, h_j$, queries and keys may speak different languages.


# %% solution="general_scores"
def general_scores(query: Tensor, keys: Tensor, W: Tensor) -> Tensor:
    """Scores (B, S) of keys (B, S, K) for the queries (B, Q), through W (Q, K)."""
    ### BEGIN SOLUTION
    return dot_scores(query @ W, keys)
    ### END SOLUTION


# %% check="general_scores"
check("general_scores", general_scores)

# %% [markdown]
# What does each of the three cost? In numbers to learn, and in multiplications: some are done once a sentence, the others
# at every step of the decoder. ($W_k h_j$ is the same at each step. Your function computes it anew, to stay simple.)

# %%
S, Q, K, A = 30, 96, 96, 48
costs = {  # numbers to learn, multiplications once a sentence and at each step
    "additive": (A * (Q + K + 1), S * A * K, A * Q + S * A),
    "dot": (0, 0, S * K),
    "general": (Q * K, 0, Q * K + S * K),
}
for name, (learned, once, each) in costs.items():
    print(f"{name:<8} {learned:>6,} numbers, {once:>8,} once a sentence, {each:>7,} at each step")

# %% [markdown]
# Remember the middle line: nothing to learn, nothing to prepare, and the cheapest step. It is the one that will survive.
#
# ## From scores to a context
#
# Softmax turns the scores of a sentence into weights, and the **context** is what the decoder takes home, the mean of the
# values under these weights (here the values are the encoder's states once more):
#
# $$\alpha_j = \frac{\exp(e_j)}{\sum_k \exp(e_k)} \qquad c_t = \sum_j \alpha_j\, h_j$$
#
# Sentences of a batch have different lengths, and nobody may look at the padding. So there is a mask, **True where looking
# is allowed**. The weights of what is allowed sum to one; all others are exactly zero. And if nothing is allowed at all?
# Then there is nothing to see: weights and context are zero, not `nan`, and no gradient is `nan` either.
#
# ### Exercise: `attend` (about 15 minutes)


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
# One sentence among longer ones: the same five scores, of which the last two are the largest, and ever fewer of them real.

# %%
same = torch.tensor([[1.0, 2.0, 0.5, 3.0, 3.0]]).expand(4, 5)
real = torch.tensor([5, 3, 1, 0])
_, weights = attend(same, torch.zeros(4, 5, 1), torch.arange(5) < real[:, None])
for n, row in zip(real.tolist(), weights):
    shares = "  ".join(f"{weight:.2f}" for weight in row)
    print(f"{n} real words:  weights {shares}  sum {row.sum():.2f}")

# %% [markdown]
# ## Being taught
#
# In training the decoder reads the right answer, not its own (topic 03 called this **teacher forcing**). At step $t$ it has
# read the tokens *before* $t$ and is to write token $t$. So what it reads is the target, one place later, with a special
# token `sos` (start of sequence) in front. Targets end in `eos`, and its own end is the one thing the decoder need not
# read.
#
# ### Exercise: `shift_right` (about 5 minutes)


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
# The commonest mistake in all of this notebook is to forget the shift. Then the loss falls to zero in no time, for the
# answer can be read from the input; and the model cannot write a single date.
#
# ## The whole machine
#
# - **Encoder.** A bidirectional GRU (topic 04) reads the source and leaves a state $h_j$ at each place, which knows what
#   stands before and behind it. The two last states, one of each direction, make the decoder's first state $s_0$.
# - **Decoder**, at each step: score the keys with $s_{t-1}$ and take the context $c_t$; then
#   $s_t = \mathrm{GRU}([y_{t-1};\, c_t],\, s_{t-1})$, where $y_{t-1}$ is the embedding of the token before; then logits from
#   $s_t$, $c_t$ and $y_{t-1}$ through a linear layer.
#
# Other orders are fine, too, as long as yours attends: Luong's, say, where $s_t$ scores the keys.
#
# With `attention=0` there is no looking back, and the context is the encoder's last state at every step. That will be the
# rival.
#
# ### Exercise: `AttentionSeq2Seq` (about 40 minutes)
#
# You have written a GRU; from here on `nn.GRU` and `nn.GRUCell` are yours to use. The layers and the encoder are given
# (change them if you like). `pack_padded_sequence` tells `nn.GRU` how long each sentence is, so that neither direction
# reads padding.


# %%
class Reader(nn.Module):
    """All the layers, and the encoder: `attention` is the width A, 0 for none."""

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
        keys, _ = nn.utils.rnn.pad_packed_sequence(keys, True, total_length=src.shape[1])
        mask = torch.arange(src.shape[1], device=src.device) < src_lengths[:, None]
        last = torch.cat([ends[0], ends[1]], dim=1)  # both directions
        return torch.tanh(self.start(last)), keys, mask, last

    def scores(self, state, keys):
        """Scores (B, S) of the keys for the decoder's state."""
        return additive_scores(state, keys, self.W_q.weight, self.W_k.weight, self.v)


# %% [markdown]
# Three pieces are left to write, and they turn a `Reader` into a translator:
#
# 1. `step`: one step of the decoder. Both loops need it, so write it once. (With `attention=0` the weights are zeros.)
# 2. `forward`: the loop of training, over `shift_right(tgt, self.sos)`.
# 3. `decode_greedy`: the loop of use. It feeds back its own best token. What comes after the `eos` of a sentence is
#    padding. After `max_len` tokens it is over in any case; if all sentences have ended, you may stop earlier.


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
        ends = (ids == self.eos).long()  # more of them up to here than here: behind the first
        return ids.masked_fill(ends.cumsum(dim=1) > ends, self.pad), weights
        ### END SOLUTION


# %% check="AttentionSeq2Seq"
check("AttentionSeq2Seq", AttentionSeq2Seq)

# %% [markdown]
# Before any training: where does a fresh model look, and what does it write?

# %%
seed(0)
fresh = AttentionSeq2Seq(dates.SOURCES, dates.TARGETS, embed=32, hidden=96, attention=48)
text = "Sonntag, 4. Juli 1999"
written, weights = show.bahdanau_attention.decoded(fresh, text)
print(f"{text}  ->  {written!r}")
print(f"weights between {weights.min():.3f} and {weights.max():.3f}; 1/S is {1 / len(text):.3f}")

# %% [markdown]
# Everywhere alike, and nonsense. Nobody will ever tell it where to look: there is a gradient through the softmax, and that
# is all.
#
# ## The task: dates (about 20 minutes)
#
# Batches of 64 dates of similar lengths, 32,000 in all on a CPU (about 20 seconds), more on a GPU. Ids count from 3 in both
# alphabets; 0 is padding, 1 is `sos`, 2 is `eos`. All targets have 11 tokens, `eos` at their end.
#
# At grading the model writes dates that it has never met, in all forms. For full marks 96 % of them must be right to the
# last character, 93 % of the longest (more than 20 characters) and 85 % of the shortest (fewer than 10); and for at least
# 80 % of the digits the right *word* must get most of the weight. Two things help: gradients clipped to a norm of 1, and a
# learning rate of about 0.002.


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
# Here is figure 3 of Bahdanau's paper, with your weights. Each row is a character that was written, each column one of the
# source; white is all the weight. The frames are gold: the word that the digit comes from. The last row is the end, written
# as a full stop.

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
# English jumps back and forth. Hungarian, which puts the year first as the machine does, goes straight down to the right;
# Spanish begins at the top right and ends at the bottom left. The model has found out who stands for what, and nobody told
# it. Two things to notice. It spreads its weight over several letters of a month, not always the same ones: the encoder has read to
# both sides, so a state knows the word it stands in. And hyphens look anywhere. They come from nowhere.
#
# ### Exercise: `alignment_error_rate` (about 10 minutes)
#
# A picture of three dates is no measurement. With one sure link for each token, the **alignment error rate** of Och and
# Ney (2003) comes down to a count: for each real token of the target, does the largest weight lie where it should? The
# rate is the share of those for which it does not.


# %% solution="alignment_error_rate"
def alignment_error_rate(weights: Tensor, gold: Tensor, lengths: Tensor) -> float:
    """The share of the first lengths (B,) target tokens whose largest weight misses gold.

    weights are (B, T, S), gold (B, T) holds places of the source.
    """
    ### BEGIN SOLUTION
    real = torch.arange(gold.shape[1], device=gold.device) < lengths[:, None]
    hits = (weights.argmax(dim=-1) == gold) & real
    return 1 - hits.sum().item() / real.sum().item()
    ### END SOLUTION


# %% check="alignment_error_rate"
check("alignment_error_rate", alignment_error_rate)

# %% [markdown]
# Gold names words, and the weights lie on characters. But weights are shares, so the weight of a word is the sum over its
# characters: one product with a matrix that says who belongs where.

# %%
test = dates.draw(2000, torch.Generator().manual_seed(1), "validation")
model = record.model.cpu()
ids, weights = model.decode_greedy(test.src, test.lengths, 11)
belongs = F.one_hot(test.words).float() * (test.src != dates.PAD)[:, :, None]  # (B, S, words)
on_words = (weights @ belongs)[:, list(dates.DIGITS)]  # (B, 8, words): no hyphens, no end
eight = torch.full((2000,), 8)
print(f"alignment error rate {alignment_error_rate(on_words, test.gold, eight):.1%}")
rates = [
    alignment_error_rate(on_words[:, k : k + 1], test.gold[:, k : k + 1], torch.ones(2000).long())
    for k in range(8)
]
show.bahdanau_attention.errors_by_digit(rates)

# %% [markdown]
# Nearly always right, and the errors are no accident. Most stand at the first digit of the day or the month, often a zero
# that is written nowhere; some at the century, which is often written nowhere either. Others come from the encoder: a state
# beside a word knows that word, too. The weights say where the decoder *looked*; they need not say why it wrote what it wrote. Keep that in mind
# when somebody explains a large model by its attention.
#
# ## How much goes through one vector?
#
# Now the fall that this notebook began with. A date is always eight digits, however long it is written, and one vector can
# learn to hold eight digits. To see a vector fill up, the *content* must grow. So we dictate numbers of 1 to 12 digits, to
# be written down after the last digit has been heard. Two copies of your model take the dictation, one with attention and
# one without, both trained by your own loop.


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

    def log(self, loss):
        """Nobody looks at the loss here."""


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
# Without attention four digits are no trouble, eight seldom come out right, and twelve never do. It is the same state of
# 64 numbers every time. With attention nothing has to fit into it: the digits stay where they are, in the states of the
# encoder, until they are needed. (With more training the lower curve moves to the right. It does not become flat. In 2014
# the answer was more numbers: Sutskever's sentences went through 8,000 of them.)
#
# Towards 12 digits the curve with attention falls, too, and beyond them to nothing. That is another fault: to find the
# twelfth digit the decoder must know that it has come to the twelfth, which it has seldom practised, and the thirteenth it
# has never met. Attention gets rid of the bottleneck, not of the need to be taught.
#
# And on the dates? Given the same 32,000 dates and no attention, our model writes 39 to 57 % of new dates without an error
# (three trainings), the longest less often than the others; after training on twice as many it writes nearly all of them.
#
# ## Step through it
#
# Choose a date or type one, and go through the answer step by step (arrow keys move the slider). What does it look at for
# the century of `04.07.99`? What becomes of `July 4th, 1999`, of `Juli 4, 1999`, of a month that does not exist, of two dates
# in one line? It always answers. It was never taught to refuse.

# %%
show.bahdanau_attention.step_the_decoder(record.model.cpu())

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Look at the gradient's way. In the model without attention, how many steps lie between the logits of the last digit and a
# character in the middle of a source of 30? And with attention? Then: each state of the encoder can be reached in one step,
# so why is there still a recurrent encoder at all? How would the keys of the two 4s in `04.07.1994` differ if they were plain
# embeddings of characters? Five to eight sentences.

# %% [markdown] question="bahdanau_attention_question"
# Without attention the gradient goes back through all of the decoder's steps or, since the encoder's last states are given to
# each step, at least through the encoder: about 15 steps of a GRU to the middle, from whichever end. (The two ends of the
# source are near: the forward direction has just read the last character, the backward direction the first.) With attention
# the context reaches every state by one weighted sum, so it is one step, whatever the length, as long as the weight is not
# zero: a shortcut, which is what the lecture means by helping with the vanishing gradient.
#
# But a state must say more than which character stands there. As plain embeddings, the two digits 4 would be equal keys
# with equal values: the decoder could find *a* 4, and never know whether it stands for the day, the month or the year, nor
# what stands beside it. The recurrent encoder puts the neighbourhood and the place into each key. So recurrence still does
# two jobs, order and context; attention only replaces the transport. (Topic 06 asks whether attention can make the context,
# too, and topic 08 what then becomes of order.)

# %% [markdown]
# ## What to take with you
#
# Score, softmax, weighted mean: in three steps the decoder fetches from the source what it needs next, and the gradient
# alone teaches it where to look. What had to go through one vector of fixed width can now stay where it is. The same three
# steps return in every notebook from here on.
#
# ## Going further
#
# - **Try it.** Score with your `general_scores` or `dot_scores` (one method of `Reader`; the latter needs a decoder as wide
#   as the keys). Train a rival on the dates (`fit` with `attention=0` and a `variant`). Let the *new* state ask, as Luong
#   does, and compare the pictures: do the bright spots move?
# - **Break it.** Ours wrote 0 % of the dates right when the targets were not shifted, although the loss was nearly zero; 48
#   to 56 % without the tanh, for then it cannot choose where to look; less than 1 % with a softmax over the batch; and 99.9 %
#   without the mask. A good result is no proof that everything is right: that is why each function was checked by itself.
# - **Read.** D. Bahdanau, K. Cho, Y. Bengio,
#   [Neural Machine Translation by Jointly Learning to Align and Translate](https://arxiv.org/abs/1409.0473) (2015): figure 3
#   is yours above, figure 2 the fall with length. M.-T. Luong and others,
#   [Effective Approaches to Attention-based Neural Machine Translation](https://arxiv.org/abs/1508.04025) (2015). S. Jain and
#   B. Wallace, [Attention is not Explanation](https://arxiv.org/abs/1902.10186) (2019), and the reply of S. Wiegreffe and
#   Y. Pinter, [Attention is not not Explanation](https://arxiv.org/abs/1908.04626) (2019).
# - **Next.** The decoder now looks at the source in one step, but the source is still read one character after the other.
#   Topic 06 lets the words of a sentence look at *each other*, and drops the recurrence altogether.

# %%
progress()
