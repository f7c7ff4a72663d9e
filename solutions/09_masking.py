# %% [markdown]
# # 9 Masking
#
# Guess the next word of *every tired …*. Many words fit, so you will mostly be wrong. Now read *every tired baker sings*, and guess the word after *tired*.
# This time you are always right, because the answer stands one word further on. You have also learned nothing about English.
#
# Self-attention plays the second game. A model that should predict the next word finds it one position to the right, and copies it.
# Nothing crashes. The loss even becomes much better, and a person who sees only the loss goes home happy.
#
# Batches bring a second fault. Short sentences are filled up with padding, and attention reads the padding as if it were text. **Masks** cure both faults.
# A mask is a small table of True and False that says which position may look at which. At the end you train a language model on a language whose best possible loss is known **exactly**. For once, "too good to be true" is a number.
#
# **You will**
#
# - build a padding mask and a causal mask, and make softmax, means and losses respect them,
# - hide words as BERT does, and train a small language model that reads as GPT does,
# - catch a model that sees the future, even where nobody knows the best possible loss.
#
# **You need** multi-head attention (topic 07) and learned positional embeddings (topic 08).
#
# Eight short exercises, one training task and one written question take about 130 minutes. Each training takes about ten seconds on a laptop. Stuck? `hint("padding_mask")` gives a hint, and a stronger one each time.

# %%
import torch
from torch import nn

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show
from course.data import grammar

# %% [markdown]
# ## Padding: words that are not there
#
# Our sentences come from the grammar of a small English, whose probabilities are known exactly. Here are two of them, each word as an id. A full stop comes before each sentence, as it does in running text. The short sentence is filled up with zeros, the **padding**. No word has the id 0.

# %%
language = grammar.language()
sentences = [row.split() for row in ("the ducks sleep .", "Ada sees the cook who laughs .")]
ids, lengths = grammar.padded([language.encode(words).tolist() for words in sentences])
print(ids, lengths)

# %% [markdown]
# Give the first sentence to an attention layer twice, once alone and once in this batch. The words are the same, so the layer's outputs for them should be the same.

# %%
seed(0)
embed = nn.Embedding(len(language.words), 16)
attend = blocks.MultiHeadAttention(16, n_heads=2)


def largest_change(mask_alone=None, mask_in_batch=None):
    """How far the outputs for the short sentence move when a longer one joins it."""
    n = int(lengths[0])
    with torch.no_grad():
        alone, _ = attend(embed(ids[:1, :n]), embed(ids[:1, :n]), mask_alone)
        in_batch, _ = attend(embed(ids), embed(ids), mask_in_batch)
    return (alone[0] - in_batch[0, :n]).abs().max().item()


print(f"moved by up to {largest_change():.3f}")

# %% [markdown]
# The outputs for the ducks depend on the other sentences in the batch. To the layer, the zeros behind the full stop are words like any other.
#
# **Dimensions.** $B$ sentences in a batch, $V$ words in the vocabulary, $T$ queries (the positions that look), $S$ keys (the positions that are looked at), $h$ heads, $D$ numbers in the vector of a word.
#
# A mask $m$ is boolean, and **True means allowed**. An allowed position may be looked at, or counted. PyTorch itself uses two conventions. In `F.scaled_dot_product_attention` True means *allowed*, and in `nn.MultiheadAttention` it means *forbidden*. Whenever you meet a new mask, print four rows of it.
#
# For sentences of 2 and 3 words in four positions, the padding mask is
#
# | length | position 0 | position 1 | position 2 | position 3 |
# |---|---|---|---|---|
# | 2 | True | True | False | False |
# | 3 | True | True | True | False |
#
# ### Exercise: `padding_mask`, which positions are words? (about 10 minutes)
#
# Row $b$ is True at the first `lengths[b]` positions. A sentence of no words gets a row of False. A sentence that is longer than `max_len` raises `ValueError`.


# %% solution="padding_mask"
def padding_mask(lengths: torch.Tensor, max_len: int) -> torch.Tensor:
    """Say which of max_len positions hold a word: LongTensor (B,) -> bool (B, max_len).

    Raises ValueError when a sentence is longer than max_len.
    """
    ### BEGIN SOLUTION
    if (lengths > max_len).any():
        raise ValueError(f"{int(lengths.max())} words do not fit into {max_len} positions")
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]
    ### END SOLUTION


# %% check="padding_mask"
check("padding_mask", padding_mask)

# %% [markdown]
# ## The future: words that have not been said
#
# A language model reads *Ada sees the* and predicts what comes next. To train it, you could cut every sentence after each of its words. It is far cheaper to give the model the whole sentence once and let **every position** predict the word after it.
#
# <!-- needs: 03_rnn -->
# This is the teacher forcing of topic 03, for all positions at once. But now the inputs contain the answers.
#
# <!-- without: 03_rnn -->
# This is called **teacher forcing**. But now the inputs contain the answers.
#
# The lecture shows the way out as a table of scores. Row $t$ belongs to the query at position $t$. Every later key gets the score $-\infty$, and softmax turns that into a weight of exactly 0:
#
# | | `<sos>` | Ich | habe | einen | Apfel |
# |---|---|---|---|---|---|
# | `<sos>` | $e_{00}$ | $-\infty$ | $-\infty$ | $-\infty$ | $-\infty$ |
# | Ich | $e_{10}$ | $e_{11}$ | $-\infty$ | $-\infty$ | $-\infty$ |
# | habe | $e_{20}$ | $e_{21}$ | $e_{22}$ | $-\infty$ | $-\infty$ |
#
# Each word sees the past and itself, because it predicts the *next* word. Here is what softmax makes of three words that would all have the scores 1, 2 and 3:
#
# | query | scores | weights |
# |---|---|---|
# | word 0 | $1, -\infty, -\infty$ | 1.00, 0, 0 |
# | word 1 | $1, 2, -\infty$ | 0.27, 0.73, 0 |
# | word 2 | $1, 2, 3$ | 0.09, 0.24, 0.67 |
#
# ### Exercise: `causal_mask`, nobody sees the future (about 5 minutes)
#
# The **causal mask** is False at every $-\infty$ of these tables and True everywhere else.


# %% solution="causal_mask"
def causal_mask(T: int) -> torch.Tensor:
    """Say whether the query at position t (row) may look at the key at s (column): bool (T, T)."""
    ### BEGIN SOLUTION
    return torch.ones(T, T, dtype=torch.bool).tril()
    ### END SOLUTION


# %% check="causal_mask"
check("causal_mask", causal_mask)

# %% [markdown]
# ## Both at once
#
# Scores have the shape $(B, h, T, S)$. All heads and all queries share the padding mask $(B, S)$, and all sentences and all heads share the causal mask $(T, S)$. Give each mask an axis of length 1 wherever it is shared, so that both broadcast to the scores.
#
# Take one sentence of two words in three positions. These are the keys that each query may look at:
#
# | query at position | by the padding mask | by the causal mask | by both |
# |---|---|---|---|
# | 0 | 0, 1 | 0 | 0 |
# | 1 | 0, 1 | 0, 1 | 0, 1 |
# | 2, padding | 0, 1 | 0, 1, 2 | 0, 1 |
#
# The last row is no mistake. The padding mask says which *keys* are real, and nothing about queries. The output of a padded query is thrown away later, so it does not matter where that query looks.
#
# ### Exercise: `combine_masks`, one mask for attention (about 10 minutes)
#
# If there is no causal mask, the padding mask alone decides.


# %% solution="combine_masks"
def combine_masks(padding: torch.Tensor, causal: torch.Tensor | None = None) -> torch.Tensor:
    """padding (B, S) and causal (T, S) -> bool (B, 1, T, S); without causal (B, 1, 1, S)."""
    ### BEGIN SOLUTION
    mask = padding[:, None, None, :]
    return mask if causal is None else mask & causal
    ### END SOLUTION


# %% check="combine_masks"
check("combine_masks", combine_masks)

# %%
T = ids.shape[1]
padding, causal = padding_mask(lengths, T), causal_mask(T)
panels = {
    "padding": combine_masks(padding)[0, 0],
    "causal": causal,
    "both": combine_masks(padding, causal)[0, 0],
}
show.masking.masks(panels, [".", *sentences[0]] + ["(pad)"] * (T - len(sentences[0]) - 1))

# %% [markdown]
# Blue means allowed. The next cell reads the ducks' sentence again, alone and in the batch, once with the padding mask alone and once with the causal mask alone.

# %%
predict("padding_under_a_causal_mask")

# %%
alone = combine_masks(padding[:1, : lengths[0]])
print(f"padding mask: moved by up to {largest_change(alone, combine_masks(padding)):.7f}")
print(f"causal mask:  moved by up to {largest_change(causal[:5, :5], causal):.7f}")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# With either mask, the outputs no longer depend on the batch. The causal mask says nothing about padding, but all the padding stands *behind* the sentence, where no word may look.
#
# This holds for padding on the right only. Some programs pad on the left when they generate text, and they need both masks.
#
# </details>
#
# ## Softmax over what is allowed
#
# Inside the layer, the mask meets the scores after the scaling and before the weighted sum. The result should be the softmax of the allowed scores alone.
#
# Suppose that a row has the scores 2, 1 and 5, and that the third one is hidden. The exponentials of the two allowed scores are 7.39 and 2.72, with the sum 10.11. So the weights are 7.39 / 10.11 = 0.73, 2.72 / 10.11 = 0.27, and 0. The 5 appears nowhere in this calculation.
#
# In general, for scores $e$ and a mask $m$ that counts True as 1 and False as 0,
#
# $$\alpha_{ts} = \frac{m_{ts} \exp(e_{ts})}{\sum_k m_{tk} \exp(e_{tk})} .$$
#
# Many ways to write this are only nearly right, because of two traps.
#
# - A hidden score may be *any* number, even a huge one. It must not change the weights.
# - A row may allow **nothing**. Its sum is 0, and its softmax does not exist. Return zeros for such a row, so that a query that sees nothing receives nothing.
#
# A single NaN in a batch ruins every parameter at the next step, even if the weights are right and the NaN appears only in the *gradient*.
#
# ### Exercise: `masked_softmax` (about 20 minutes)
#
# The mask broadcasts to the scores, which may be of any size, also far below zero. Softmax runs along `dim`, which need not be the last axis. You may use PyTorch's softmax.


# %% solution="masked_softmax"
def masked_softmax(scores: torch.Tensor, mask: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Softmax along dim over what the mask allows; zeros where it allows nothing."""
    ### BEGIN SOLUTION
    mask = mask.expand(scores.shape)
    nobody = ~mask.any(dim, keepdim=True)
    weights = scores.masked_fill(~mask & ~nobody, float("-inf")).softmax(dim)
    return weights.masked_fill(nobody, 0.0)
    ### END SOLUTION


# %% check="masked_softmax"
check("masked_softmax", masked_softmax)

# %% [markdown]
# Compare four recipes on three words and two positions of padding with large scores.

# %%
scores = torch.tensor([[1.0, 2.0, 0.0, 3.0, 2.0]])
for name, mask in {
    "three words allowed": torch.tensor([[True, True, True, False, False]]),
    "nothing allowed": torch.tensor([[False] * 5]),
}.items():
    recipes = {
        "hidden scores become 0": scores.masked_fill(~mask, 0.0).softmax(-1),
        "weights are zeroed after softmax": scores.softmax(-1) * mask,
        "hidden scores become -1e9": scores.masked_fill(~mask, -1e9).softmax(-1),
        "yours": masked_softmax(scores, mask),
    }
    print(f"{name}")
    for recipe, w in recipes.items():
        print(f"  {recipe:<34}", *(f"{x:5.2f}" for x in w[0]), f"   sum {w.sum():.2f}")

# %% [markdown]
# The first recipe lets the padding in, because $e^0 = 1$.
#
# The weights of the second recipe sum to 0.29. Worse, softmax has divided by a sum that contains the hidden scores, so the weights still depend on them. With a causal mask, the future comes in by this back door.
#
# The third recipe is the one in most programs. It is right wherever something is allowed. Where nothing is allowed, it looks at everything equally. In float16 no finite number is below −65,504, so `masked_fill` with −1e9 raises an error.
#
# ## Means and losses
#
# Attention is not the only place where a model sums over words. The vector of a whole sentence is often the mean of its words' vectors, which is called **mean pooling**. A loss is a mean over tokens. Both must count *real* words only.
#
# Suppose that words are single numbers, and a sentence is 2, 4 and one position of padding that holds 9. Its mean is (2 + 4) / 2 = 3. If you count the padding, you get 15 / 3 = 5. If you drop the 9 and still divide by all positions, you get 6 / 3 = 2.
#
# ### Exercise: `masked_mean`, the mean of a sentence (about 10 minutes)
#
# A sentence of no words has the mean zero.


# %% solution="masked_mean"
def masked_mean(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """x (B, T, D), mask (B, T) -> the mean of each sentence's real words, (B, D)."""
    ### BEGIN SOLUTION
    total = (x * mask[..., None]).sum(1)
    return total / mask.sum(1, keepdim=True).clamp(min=1)
    ### END SOLUTION


# %% check="masked_mean"
check("masked_mean", masked_mean)

# %% [markdown]
# For the loss there are two honest means. Suppose that one sentence has a single token with the loss 4, and that another has three tokens with the losses 1, 1 and 2.
#
# - The mean of the two sentence means is (4 + 1.33) / 2 = 2.67. The single token weighs as much as the three others together.
# - The mean over all tokens is (4 + 1 + 1 + 2) / 4 = 2. Every token weighs the same.
#
# A language model uses the second, over the whole batch.
#
# ### Exercise: `masked_cross_entropy`, the loss of a padded batch (about 10 minutes)
#
# Use natural logarithms, and make the loss safe for large logits. Here word 0 may be a real word, so the mask alone says what counts.


# %% solution="masked_cross_entropy"
def masked_cross_entropy(
    logits: torch.Tensor, targets: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """logits (B, T, V), targets (B, T), mask (B, T) -> mean loss of all real tokens."""
    ### BEGIN SOLUTION
    z, y = logits[mask], targets[mask]  # (N, V) and (N,), the real tokens
    return (z.logsumexp(-1) - z.gather(1, y[:, None]).squeeze(1)).mean()
    ### END SOLUTION


# %% check="masked_cross_entropy"
check("masked_cross_entropy", masked_cross_entropy)

# %% [markdown]
# What does a wrong mean do? Take one batch of 64 sentences and a very simple model. It predicts every word with the frequency of that word, and behind the end of a sentence it is fairly sure of padding. Then add empty columns to the batch, and compute the loss in three ways.

# %%
batch, n = next(data.stream("masking_task", torch.Generator().manual_seed(0)))
columns = [0, 4, 8, 16, 32]
guess = language.frequencies.clamp(min=1e-9).log().float()
losses = {"masked": [], "padding counted as words": [], "real losses, divided by B·T": []}
for extra in columns:
    targets = nn.functional.pad(batch[:, 1:], (0, extra))
    real = padding_mask(n - 1, targets.shape[1])
    logits = guess.expand(*targets.shape, -1).clone()
    logits[~real] = 5 * nn.functional.one_hot(torch.tensor(0), len(guess)).float()
    everything = torch.ones_like(real)
    right = masked_cross_entropy(logits, targets, real).item()
    counted = masked_cross_entropy(logits, targets, everything).item()
    divided = right * real.float().mean().item()
    for found, loss in zip(losses.values(), (right, counted, divided)):
        found.append(loss)
show.masking.loss_by_padding(columns, losses)

# %% [markdown]
# Only the masked loss stays where it is. With enough columns you can push the lowest curve as near to 0 as you like. The middle curve will follow once a model has learned that padding follows padding. So the losses of two papers are comparable only if both divide by the same number.
#
# ## Another mask: hide a word, and predict it
#
# A model such as GPT hides the future. BERT hides **words** here and there, and lets the model look at both sides. The lectures call this **masked language modelling**, or MLM. Here is the recipe, with the lectures' numbers:
#
# - Each token is chosen with a probability of 15 %, independently of the others. Special tokens stand for no word, such as `[MASK]` or the full stops here. They are never chosen.
# - Of the chosen tokens, 80 % become `[MASK]`, 10 % become a random word from the whole vocabulary, and 10 % stay as they are.
# - The model must predict all the chosen tokens, and no others.
#
# So of 1,000 ordinary tokens about 120 become `[MASK]`, 15 become a random word, and 15 are chosen and stay. Here is a sentence with one chosen word.
#
# | | | | | |
# |---|---|---|---|---|
# | `ids` | the | ducks | sleep | . |
# | `inputs` | the | `[MASK]` | sleep | . |
# | `labels` | −100 | ducks | −100 | −100 |
#
# Why are some chosen words replaced by others, or not at all? Texts in later use contain no `[MASK]`, and a model that has to think only there would have nothing to say about them. Here some chosen words are wrong and some are right, so the model has to keep an opinion about every word.
#
# ### Exercise: `mlm_corrupt`, BERT's corruption (about 20 minutes)
#
# Return the corrupted inputs and the labels. A label holds the *original* word where the model is asked for one, and −100 elsewhere, because PyTorch's losses leave out −100. `ids` may have any shape.
# Take all random numbers from `generator`. `mask_id` may be one of the vocabulary's ids or lie beyond them. The random word may be any of the `vocab_size` words. Do not use `blocks.mlm_corrupt`, since it is the answer itself.


# %% solution="mlm_corrupt"
def mlm_corrupt(
    ids: torch.Tensor,
    special: torch.Tensor,
    vocab_size: int,
    mask_id: int,
    generator: torch.Generator,
    p: float = 0.15,
) -> tuple[torch.Tensor, torch.Tensor]:
    """ids and special (bool) of one shape -> inputs, labels of that shape."""
    ### BEGIN SOLUTION
    chosen = (torch.rand(ids.shape, generator=generator) < p) & ~special
    fate = torch.rand(ids.shape, generator=generator)
    words = torch.randint(vocab_size, ids.shape, generator=generator)
    inputs = torch.where(chosen & (fate < 0.8), mask_id, ids)
    inputs = torch.where(chosen & (fate >= 0.9), words, inputs)
    return inputs, torch.where(chosen, ids, -100)
    ### END SOLUTION


# %% check="mlm_corrupt"
check("mlm_corrupt", mlm_corrupt)

# %% [markdown]
# No word has the id 0, so 0 can be the id of `[MASK]`. In this stretch of corrupted text, the word in brackets is the one that the model must predict.

# %%
text = language.draw_text(200, 500, torch.Generator().manual_seed(1))  # 200 texts of 500 words
special = text == language.ids["."]
corrupted, labels = mlm_corrupt(
    text, special, len(language.words), 0, torch.Generator().manual_seed(2)
)
for number, (old, new, label) in enumerate(zip(text[19][:24], corrupted[19], labels[19]), start=1):
    shown = "[MASK]" if new == 0 else language.words[new]
    print(
        f"{shown}({language.words[old]}?)" if label >= 0 else shown, end=" " if number % 8 else "\n"
    )

# %%
asked = labels >= 0
counts = {
    "[MASK]": int((corrupted[asked] == 0).sum()),
    "another word": int(((corrupted != text) & (corrupted != 0))[asked].sum()),
    "itself": int((corrupted == text)[asked].sum()),
}
show.masking.corrupted_tokens(counts, int((~special).sum()))

# %% [markdown]
# How much does it help to see both sides? In this language the question has an exact answer, because we can compute the loss of the best possible prediction.

# %%
windows, targets = grammar.windows(2000, 3, torch.Generator().manual_seed(3))
both_sides = language.centre(windows).gather(1, targets[:, None]).log().mean()
after_each_word = language.next_word(windows[:, :3], running=True)
one_side = after_each_word[:, -1].gather(1, targets[:, None]).log().mean()
print(f"a word, given the three before it:                   {-one_side:.2f}")
print(f"a word, given the three before and the three after:  {-both_sides:.2f}")

# %% [markdown]
# A model that sees both sides predicts better. This is one reason why BERT was so good at answering questions about a text. But BERT cannot *write*, because a text that is being written has only one side. And BERT learns from about one token in seven, while GPT learns from every token.
#
# So your two masks lead to two families of models:
#
# | family | mask in attention | the model predicts | it is used to |
# |---|---|---|---|
# | BERT, an *encoder* | padding | the chosen 15 % | understand a text that is complete |
# | GPT, a *decoder* | padding and causal | the next token, everywhere | write a text |
#
# <!-- needs: 10_encoder_decoder -->
# The names *encoder* and *decoder* come from the two halves of the Transformer in topic 10.
#
# ## Who peeks?
#
# A mask is easy to print. But the future can come in by other ways, for example through
#
# - a normalisation over the wrong axis,
# - a sum over all words,
# - heads that were merged with their axes mixed up,
# - inputs that were not shifted against the targets.
#
# So do not inspect the mask. **Test the model.** Change what comes later, and see whether an earlier output moves.
#
# Take two models that read the numbers 2, 4 and 6, and change the 6 to 9:
#
# | model | outputs before | outputs after | which outputs moved? |
# |---|---|---|---|
# | the mean of the numbers so far | 2, 3, 4 | 2, 3, 5 | only the last, which may see the change |
# | the mean of all numbers | 4, 4, 4 | 5, 5, 5 | the first two as well, so it leaks |
#
# ### Exercise: `leaks_future`, find the leak (about 15 minutes)
#
# `model_fn` maps ids $(B, T)$ to outputs $(B, T, \dots)$, and gives the same outputs whenever it gets the same ids. The output at position $t$ may depend on `ids[:, :t + 1]`. Does any output depend on more? Replace words only by words that occur in `ids`, because the model may know no others. At least two different words occur there. Differences up to 1e-5 are rounding.


# %% solution="leaks_future"
def leaks_future(model_fn, ids: torch.Tensor) -> bool:
    """Say whether some output of model_fn depends on a token after its own position."""
    ### BEGIN SOLUTION
    known = ids.unique()
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]):
        for shift in range(1, min(len(known), 4)):
            rank = torch.searchsorted(known, ids[:, cut:].contiguous())
            future = known[(rank + shift) % len(known)]
            after = model_fn(torch.cat([ids[:, :cut], future], dim=1))
            if (after - before)[:, :cut].abs().max() > 1e-5:
                return True
    return False
    ### END SOLUTION


# %% check="leaks_future"
check("leaks_future", leaks_future)

# %% [markdown]
# Which of these seven layers leak? Decide for yourself before you run the cell.

# %%
seed(0)
E, rnn = nn.Embedding(len(language.words), 16), nn.RNN(16, 16, batch_first=True)
two_way_rnn = nn.RNN(16, 8, batch_first=True, bidirectional=True)
attention = blocks.MultiHeadAttention(16, 2)
one_word_ahead = torch.ones(9, 9, dtype=torch.bool).tril(1)
layers = {
    "recurrent": lambda x: rnn(x)[0],
    "bidirectional recurrent": lambda x: two_way_rnn(x)[0],
    "attention": lambda x: attention(x, x)[0],
    "attention, causal mask": lambda x: attention(x, x, causal_mask(9))[0],
    "attention, causal mask and one word ahead": lambda x: attention(x, x, one_word_ahead)[0],
    "causal, minus the mean over the words": lambda x: (
        attention(x, x, causal_mask(9))[0] - x.mean(1, True)
    ),
    "causal, minus the mean over each vector": lambda x: (
        attention(x, x, causal_mask(9))[0] - x.mean(2, True)
    ),
}
with torch.no_grad():
    for name, layer in layers.items():
        print(f"{name:<44}", leaks_future(lambda ids, layer=layer: layer(E(ids)), text[:3, :9]))

# %% [markdown]
# The second-to-last layer has a correct mask, and still it leaks. Its mean includes the later words of the sentence. The mean of the last layer runs over the numbers of one word, which is safe.
#
# ## The task: an honest language model
#
# Your model has two layers. Each layer consists of masked attention and a **feed-forward network**, which works on every word by itself. Both have a residual connection (topic 07), so their output is *added* to their input. The vector of a word is then a running sum, called the **residual stream**.
# The model needs two layers because one layer cannot follow a clue to another clue.
#
# A batch is `ids` $(B, T)$, with a full stop before each sentence, and `lengths` $(B,)$, which count this full stop. From `. the ducks sleep .` come four predictions:
#
# | | | | | |
# |---|---|---|---|---|
# | input | . | the | ducks | sleep |
# | target | the | ducks | sleep | . |
#
# Inputs and targets are the same row, shifted by one position.
#
# We know the probabilities of the grammar, and so we know the best possible loss, the **entropy** of the language. It is a floor for every honest model.

# %%
held_out = data.load("grammar", sentences=1, held_out=1000, seed=5)["held_out"]
words_in_all = sum(len(words) for words in held_out["words"])
entropy = -sum(held_out["log_probability"]) / words_in_all
print(f"the grammar has a loss of {entropy:.3f} a word on {len(held_out):,} held-out sentences")

# %% [markdown]
# Only luck gets below it, and luck has a size. A **standard error** says how far a mean over a sample typically lies from the true mean. You compute one below. At grading, the judge takes new sentences. For full marks, three measures have to reach their bars:
#
# | measure | bar |
# |---|---|
# | mean loss on sentences that are cut **just before the word to predict** | at most 0.25 nats a word above the grammar |
# | mean loss on whole sentences | no more than four standard errors below the grammar, since only a model that sees the future gets there |
# | earlier logits, when later words change | stay as they are |
#
# A mean loss of up to 0.6 above the grammar earns a part of the points. `check` tests the same on fewer sentences, and accepts up to 0.95.
#
# ### Exercise: model and training loop (about 20 minutes)
#
# - `visible` makes the mask. Put your causal mask on the device of the lengths.
# - `forward` adds the positional embeddings (`self.positions`) to the word embeddings. Each layer applies attention first, and then the feed-forward network. At the end, `self.to_logits` turns every vector into logits.
# - `train` makes one step for each batch, and gives its loss to `batches.log(loss)` for the curve below the cell.


# %%
class Parts(nn.Module):
    """The layers of the model. You write how they work together."""

    def __init__(self, width=64, n_heads=4, n_layers=2):
        super().__init__()
        V, layers = len(language.words), range(n_layers)
        self.words, self.positions = nn.Embedding(V, width), nn.Embedding(64, width)
        self.attention = nn.ModuleList(blocks.MultiHeadAttention(width, n_heads) for _ in layers)
        self.feed_forward = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
            for _ in layers
        )
        self.to_logits = nn.Linear(width, V)


# %% solution="masking_task"
class LanguageModel(Parts):
    """Reads words and predicts, at every position, the word after it."""

    def visible(self, lengths, T):
        """Which keys a query may look at: lengths (B,) -> bool, broadcastable to (B, h, T, T)."""
        ### BEGIN SOLUTION
        return combine_masks(padding_mask(lengths, T), causal_mask(T).to(lengths.device))
        ### END SOLUTION

    def forward(self, ids, lengths):
        """ids (B, T), lengths (B,) -> logits (B, T, V)."""
        ### BEGIN SOLUTION
        T = ids.shape[1]
        mask = self.visible(lengths, T)
        x = self.words(ids) + self.positions(torch.arange(T, device=ids.device))
        for attention, feed_forward in zip(self.attention, self.feed_forward):
            x = x + attention(x, x, mask)[0]
            x = x + feed_forward(x)
        return self.to_logits(x)
        ### END SOLUTION


def train(model, batches):
    """Train on `for ids, lengths in batches`, and log each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for ids, lengths in batches:
        inputs, targets, real = ids[:, :-1], ids[:, 1:], lengths - 1
        logits = model(inputs, real)
        loss = masked_cross_entropy(logits, targets, padding_mask(real, targets.shape[1]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("masking_task", LanguageModel, train)

# %% check="masking_task"
check("masking_task", record.model)

# %% [markdown]
# ## One mask less
#
# Now train the same model without the causal mask. `variant` keeps its weights apart from those that are graded.

# %%
predict("loss_without_a_causal_mask")


# %%
class Unmasked(LanguageModel):
    """Hides the padding, and nothing else."""

    def visible(self, lengths, T):
        return combine_masks(padding_mask(lengths, T))


unmasked = fit("masking_task", Unmasked, train, variant="unmasked")
both = {"honest": record, "no causal mask": unmasked}
curves = {name: trained.losses for name, trained in both.items()}
show.masking.learning_curves(curves, entropy)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# It falls through the floor. In a language of 2.59 nats a word, a loss of a few hundredths is not talent. The model reads the answers. On a real text nobody knows where the floor is, and a loss of 2.1 instead of 2.6 would have been called a breakthrough.
#
# </details>
#
# Where the truth is known, you can judge a loss as the grading does. Take the difference between the losses of model and grammar for *each* sentence, and then the mean of the differences and its standard error. Sentences that are hard for the model are hard for the grammar, too, and the difference removes what both have in common.
#
# Suppose that four sentences have the differences +1, +2, 0 and +1. Their mean is +1, their standard deviation is 0.82, and the standard error of the mean is 0.82 / √4 = 0.41. So the mean lies 2.4 standard errors above 0.

# %%
ids, lengths = grammar.padded([language.encode(words).tolist() for words in held_out["words"]])
inputs, targets, real = (
    ids[:, :-1].to(device()),
    ids[:, 1:].to(device()),
    (lengths - 1).to(device()),
)
truth = -torch.tensor(held_out["log_probability"])
for name, trained in both.items():
    with torch.no_grad():
        log_p = trained.model(inputs, real).log_softmax(-1).gather(2, targets[..., None])[..., 0]
    each = -(log_p * padding_mask(real, targets.shape[1])).sum(1).cpu()  # a loss for every sentence
    apart = each - truth
    error = apart.std() / len(apart) ** 0.5
    print(f"{name:<15} {each.sum() / words_in_all:.2f} a word, the grammar {entropy:.2f};", end=" ")
    print(f"a sentence {apart.mean():+.2f}, that is {apart.mean() / error:+.0f} standard errors")

# %% [markdown]
# The honest model is a little worse than the grammar. The other model is better than the best by nearly a hundred standard errors.
#
# The second test needs no truth at all.


# %%
def on_full_sentences(model):
    """The model as a function of ids alone."""
    return lambda ids: model(ids, torch.full((len(ids),), ids.shape[1], device=ids.device))


for name, trained in both.items():
    with torch.no_grad():
        found = leaks_future(on_full_sentences(trained.model), text[:3, :9].to(device()))
    print(f"{name:<15} {'leaks' if found else 'does not leak'}")

# %% [markdown]
# The third test is to use the model. Take one sentence and ask for each of its words **with nothing behind it**. The model reads the full stop alone at first, and then one word more at each step, as in writing. The surprise of a word is $-\ln p$, where $p$ is the model's probability of it.

# %%
line = "the cook who these ducks follow tastes some warm bread tonight ."
sentence = line.split()
row = torch.cat([language.encode(["."]), language.encode(sentence)])


def surprise(model, step):
    """-log p of the word at `step`, for a model that is given the words before it."""
    asked, n = row[None, :step].to(device()), torch.tensor([step], device=device())
    with torch.no_grad():
        return -model(asked, n)[0, -1].log_softmax(-1)[row[step]].item()


best = language.next_word(row[None, 1:])[0, :-1].gather(1, row[1:, None]).log().neg().flatten()
found = {"the grammar": best.tolist()}
for name, trained in both.items():
    found[name] = [surprise(trained.model, step) for step in range(1, len(row))]
show.masking.surprise_by_word(sentence, found)

# %% [markdown]
# Your model is hardly more surprised than the grammar, at nearly every word. The words *cook*, *ducks* and *tastes* are hard to predict, and *who* and the full stop are easy. The verb *tastes* must agree with a cook five words back, and not with the ducks before it.
#
# The model without a causal mask has learned only to look to its right. Now nothing stands there, and it answers with confident nonsense. So does its writing, if it gets beyond a full stop at all.


# %%
@torch.no_grad()
def write(model, longest=14):
    """A sentence, word by word, each drawn from the model's own probabilities."""
    ids = language.encode(["."])[None].to(device())
    while ids.shape[1] <= longest and (ids.shape[1] == 1 or ids[0, -1] != ids[0, 0]):
        p = model(ids, torch.tensor([ids.shape[1]], device=device()))[0, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(p, 1)[None]], dim=1)
    return " ".join(language.decode(ids[0, 1:]))


seed(1)
for name, trained in both.items():
    print(name, *(write(trained.model) for _ in range(4)), sep="\n    ")

# %% [markdown]
# Where do the two models look? Here are the four heads of the first layer over the whole sentence. Each row is a query, and each column is a key.

# %%
maps = {}
for name, trained in both.items():
    model, n = trained.model, torch.tensor([12], device=device())
    with torch.no_grad():
        x = model.words(row[None, :12].to(device())) + model.positions.weight[:12]
        maps[name] = model.attention[0](x, x, model.visible(n, 12))[1][0]
show.masking.heads(maps, [".", *sentence[:-1]])

# %% [markdown]
# In the upper row, every weight to the right of the diagonal is 0. In the lower row, some heads do little else than look one position ahead.
#
# ## Play
#
# Here you can paint a mask over five positions, one of them padding. The Tab key moves between the switches, and the space bar changes one.
#
# The middle picture shows the weights that your softmax gives. The right one shows which words each word *knows* after some layers. A word passes on what it has learned, so it may know words that it never looked at. They are light blue. If a word knows a later one, that is a leak, in orange.
#
# - Start from *one word ahead*. How many layers does it take until *Ada* knows all the other words?
# - Start from *the last two words*. How many layers does it take until *bread* knows *Ada*?
# - Start from *causal and padding*. Which single switch tells the future to three words within two layers?

# %%
show.masking.painter(masked_softmax)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A friend reports a loss of 2.1 a word on a held-out set of this language, and shows you the mask, which is a perfect lower triangle. What do you say, how certain can you be, and what would you run to find the reason? Name two ways in which the future can come in past a correct mask.
# Then think of BERT, which sees what comes after a hidden word. Nobody calls that a leak. Why not, and what can BERT therefore not be used for? Write five to eight sentences.

# %% [markdown] question="masking_question"
# The grammar itself has a loss of 2.59 a word, and no honest model does better in the long run. So 2.1 is a leak, unless the held-out sentences were few. To be certain, I would compare model and grammar on the same sentences and divide the mean difference by its standard error. With a few hundred sentences, half a nat a word is ten standard errors or more.
#
# Then I would run `leaks_future` on the whole model, and on its parts one after the other. The future can come in through a mean or a normalisation over the words of a sentence, through heads that were merged with their axes mixed up, or through a mask that is applied after the softmax. I would also ask the model for words with nothing behind them, where the loss of a leaking model explodes.
#
# BERT may see both sides because the word it must predict was hidden in the *input*. The same holds when BERT is used, so nothing that helps in training is missing later. BERT learns the probability of a word given its surroundings. It does not give the probability of a sentence from left to right. So it cannot write one either.

# %%
rubric("masking_question")

# %% [markdown]
# ## What you built
#
# A mask belongs inside the softmax, and in every mean. A mistake here may even make the loss better, so a loss that is too good deserves more suspicion than a bad one.
#
# | you built | the field's name | where you meet it next |
# |---|---|---|
# | `padding_mask` | padding mask, attention mask | `attention_mask` in Hugging Face, `key_padding_mask` in `nn.MultiheadAttention` (there True means *forbidden*) |
# | `causal_mask` | causal or look-ahead mask | `is_causal=True` in `F.scaled_dot_product_attention` |
# | `masked_softmax` | masked attention | the decoder of every Transformer |
# | `masked_mean` | mean pooling | sentence embeddings, `sentence-transformers` |
# | `masked_cross_entropy` | token-level cross-entropy | `F.cross_entropy` with `ignore_index=-100` |
# | `mlm_corrupt` | masked language modelling (MLM) | BERT, `DataCollatorForLanguageModeling` in `transformers` |
# | `LanguageModel` | causal language model, decoder-only Transformer | GPT, `AutoModelForCausalLM` in `transformers` |
# | `leaks_future` | causality test | your own tests, for every language model you build |
#
# ## Going further
#
# - **No positions.** Take the positional embeddings out and train again as a `variant`. The loss hardly changes! Attention without positions sees a set, but only *without a mask*. How does a word here know its position? (How many words does position 3 see, and how many does position 4?)
# - **No look at itself.** Use `tril(-1)` in `visible`, so that no word sees itself. The model is still honest, and as good as before. How does a word reach its own output all the same? What becomes of the first row?
# - **Play BERT.** Train the model as BERT. Use `mlm_corrupt` on the batches, `padding_mask` without a causal mask, and `nn.functional.cross_entropy` on labels with −100. Compare its loss on hidden words with the exact one that you printed above. What makes it lower, and what makes it higher?
# - **A small leak.** Make a mask that lets only *one position in ten* see one word ahead. How many held-out sentences does it take before the paired difference shows it? Does `leaks_future` find it?
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017), section 3.2.3. J. Devlin and others, [BERT](https://arxiv.org/abs/1810.04805) (2019), describe MLM in section 3.1. Their appendix C.2 tries other shares than 80, 10 and 10.
#
# <!-- needs: 10_encoder_decoder -->
# - **Next.** Topic 10 builds the whole Transformer. One half of it sees everything and the other half sees only the past, and your masks make the difference.
#
# <!-- needs: 15_gpt -->
# Topic 15 takes your causal language model further, to a GPT that is built like today's large ones.
#
# <!-- needs: 16_bert -->
# Topic 16 trains a model on hidden words, and then teaches it a task from fifty labels.
#
# **Now you can** hide from a model exactly what it must not see, average what counts and nothing else, and catch a model that peeks. Run the cell below to see which notebook comes next.

# %%
progress()
