# %% [markdown]
# # 9 Masking
#
# You now have a layer in which every word looks at every other, and marks that tell it where each one stands. It sees everything. That is the trouble.
#
# It sees words that are not there: sentences of different lengths share a batch, the short ones are filled up, and the filling is looked at like a word. And it sees words that have not been *said* yet: a model that is to guess the next word finds it one place to the right,
# and copies it. Nothing crashes in either case. In the second, the loss even gets better, much better, and whoever knows only the loss goes home happy.
#
# Masks are the cure: small tables of yes and no. In this notebook you build them, let softmax and losses respect them, play BERT's game of hidden words, and learn to catch a model that peeks. Then you train a language model on a language whose best possible loss is known
# **exactly**, so that for once "too good to be true" is a number.
#
# Eight short exercises, one training task, one written question; about two and a half hours. The model trains in ten seconds on a laptop. Stuck? `hint("padding_mask")` gives a hint, and a stronger one each time.

# %%
import torch
from torch import nn

from course import blocks, check, data, device, fit, hint, progress, seed, show
from course.data import grammar

# %% [markdown]
# ## Words that are not there
#
# The small English of topic 02 is back. A batch of its sentences, as a model gets it: ids, with a full stop before each sentence (that is what comes before any sentence, in running text) and zeros behind the short ones. No sentence holds word 0.

# %%
language = grammar.language()
sentences = [row.split() for row in ("the ducks sleep .", "Ada sees the cook who laughs .")]
ids, lengths = grammar.padded([language.encode(words).tolist() for words in sentences])
print(ids, lengths)

# %% [markdown]
# Give the first sentence to an attention layer twice: alone, and in this batch. The words are the same, so their new vectors should be.

# %%
seed(0)
embed = nn.Embedding(len(language.words), 16)
attend = blocks.MultiHeadAttention(16, n_heads=2)


def moved(mask_alone=None, mask_together=None):
    """How far the short sentence's new vectors move when a longer one joins it."""
    n = int(lengths[0])
    with torch.no_grad():
        alone, _ = attend(embed(ids[:1, :n]), embed(ids[:1, :n]), mask_alone)
        together, _ = attend(embed(ids), embed(ids), mask_together)
    return (alone[0] - together[0, :n]).abs().max().item()


print(f"moved by up to {moved():.3f}")

# %% [markdown]
# The ducks' vectors depend on who else is in the batch. In another batch they would be different again. The layer looks at the zeros behind the full stop, which to it are words like any other.
#
# **Dimensions:** $B$ sentences in a batch, $T$ places that look (queries), $S$ places that are looked at (keys), $h$ heads, $D$ the width of a word, $V$ words in the vocabulary. A mask $m$ is boolean, and **True means: may be looked at, may be counted**. (Torch itself is of two minds: `nn.MultiheadAttention` wants True for
# *forbidden*, `F.scaled_dot_product_attention` for *allowed*. Whenever you meet a new mask, print four rows of it.)
#
# ### Exercise: `padding_mask`, which places are words? (about 10 minutes)
#
# Row $b$ is True for the first `lengths[b]` places. A sentence of no words is a row of False, one longer than `max_len` raises `ValueError`.


# %% solution="padding_mask"
def padding_mask(lengths: torch.Tensor, max_len: int) -> torch.Tensor:
    """Which of max_len places hold a word: LongTensor (B,) -> bool (B, T).

    Raises ValueError when a sentence is longer than max_len.
    """
    ### BEGIN SOLUTION
    if (lengths > max_len).any():
        raise ValueError(f"{int(lengths.max())} words do not fit into {max_len} places")
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]
    ### END SOLUTION


# %% check="padding_mask"
check("padding_mask", padding_mask)

# %% [markdown]
# ## Words that have not been said
#
# A language model reads *Ada sees the* and guesses what comes next. To train it you could cut every sentence at every place. It is far cheaper to hand over the whole sentence and let **every place** guess the word after it, all at once; it is the teacher forcing of topics 03 and 05. But then the word to be guessed is in the room.
#
# The lecture draws the way out as a table of scores. Row $t$ belongs to the word that looks, and whatever comes later gets $-\infty$, which softmax turns into a weight of exactly 0:
#
# | | `<sos>` | Ich | habe | einen | Apfel |
# |---|---|---|---|---|---|
# | `<sos>` | $e_{00}$ | $-\infty$ | $-\infty$ | $-\infty$ | $-\infty$ |
# | Ich | $e_{10}$ | $e_{11}$ | $-\infty$ | $-\infty$ | $-\infty$ |
# | habe | $e_{20}$ | $e_{21}$ | $e_{22}$ | $-\infty$ | $-\infty$ |
#
# Each word sees itself and the past. It may see itself: what it guesses is the *next* one.
#
# ### Exercise: `causal_mask`, nobody sees the future (about 5 minutes)


# %% solution="causal_mask"
def causal_mask(T: int) -> torch.Tensor:
    """bool (T, T): may the word at place t (row) look at the one at place s (column)?"""
    ### BEGIN SOLUTION
    return torch.ones(T, T, dtype=torch.bool).tril()
    ### END SOLUTION


# %% check="causal_mask"
check("causal_mask", causal_mask)

# %% [markdown]
# ## Both at once
#
# Scores have the shape $(B, h, T, S)$. The padding mask is $(B, S)$, different for each sentence and the same for all heads and all who look; the causal mask is $(T, S)$, the same for every sentence. Lay them together so that they fit, with an axis of 1 wherever all are treated alike. Padding says who can be *looked at*. It says nothing about who looks:
# what a padded place computes is thrown away later, and until then it may look at what it likes.
#
# ### Exercise: `combine_masks`, one mask for attention (about 10 minutes)


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
# Blue is allowed. The layer takes such a mask as it is:

# %%
alone = combine_masks(padding[:1, : lengths[0]])
print(f"padding hidden: moved by up to {moved(alone, combine_masks(padding)):.7f}")
print(f"past only:      moved by up to {moved(causal[:5, :5], causal):.7f}")

# %% [markdown]
# The ducks are themselves again. And look at the second line, where nothing was said about padding at all: as long as the filling stands *behind* the sentence, no word of it ever looks that way. With a causal mask, padding on the right is invisible by itself. (Fill up on the left, as some programs do when they write, and you need both.)
#
# ## Softmax over what is allowed
#
# Inside the layer, the mask meets the scores $e$, after the scaling and before the weighted sum. What should come out is the softmax of the allowed scores alone:
#
# $$\alpha_{ts} = \frac{m_{ts} \exp(e_{ts})}{\sum_k m_{tk} \exp(e_{tk})} .$$
#
# There are many ways to write that which are nearly right. Two traps: what lies behind the mask may be *any* number, a huge one too, and must not be felt. And a row in which **nothing** is allowed has the sum 0. Its softmax does not exist; let it be zeros, so that whoever sees nothing takes home nothing. Not NaN: a single NaN in a batch poisons
# every parameter at the next step, and it does so even if it only appears in the *gradient*, on the way back.
#
# ### Exercise: `masked_softmax` (about 20 minutes)
#
# The mask broadcasts to the scores, which may be of any size, also far below zero. A row is what lies along `dim`, which need not be the last axis. You may use torch's softmax.


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
# Four recipes side by side, for three words and two places of padding whose scores happen to be large:

# %%
scores = torch.tensor([[1.0, 2.0, 0.0, 3.0, 2.0]])
for name, mask in {
    "three real words": torch.tensor([[True, True, True, False, False]]),
    "none at all": torch.tensor([[False] * 5]),
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
# The first recipe lets the padding in, since $e^0 = 1$. The second loses a part of the attention, and worse, it *knows the hidden scores*: they are in the sum it was divided by. With a causal mask that is a look into the future through the back door. The third is what you find in most programs. It is right wherever something is allowed, and looks at everything equally where
# nothing is. (In float16 no finite number is below −65,504: there `masked_fill` with −1e9 is an error.)
#
# ## Means and losses
#
# Attention is not the only place where words are added up. The vector of a whole sentence is often the mean of its words', and a loss is a mean over tokens. Both must count real words only, and divide by the number of *those*.
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
# For the loss there are two honest means. If one averages within each sentence first and then over the sentences, a word of a short sentence weighs more than one of a long sentence. A language model wants every **token** to count the same: one sum over the whole batch, divided by the number of real tokens in it.
#
# ### Exercise: `masked_cross_entropy`, the loss of a padded batch (about 10 minutes)
#
# Natural logarithms, safe for large logits. Word 0 may be a word like any other here; the mask alone says what counts.


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
# What if one gets it wrong? Take one batch of 64 sentences and the simplest of guesses, the plain frequencies of words, with one exception: behind the end of a sentence the model is sure of its padding. Then add empty columns.

# %%
batch, n = next(data.stream("masking_task", torch.Generator().manual_seed(0)))
columns = [0, 4, 8, 16, 32]
guess = language.frequencies.clamp(min=1e-9).log().float()
losses = {"masked": [], "all places counted": [], "sum over B·T": []}
for extra in columns:
    targets = nn.functional.pad(batch[:, 1:], (0, extra))
    real = padding_mask(n - 1, targets.shape[1])
    logits = guess.expand(*targets.shape, -1).clone()
    logits[~real] = 5 * nn.functional.one_hot(torch.tensor(0), len(guess)).float()
    everything = torch.ones_like(real)
    losses["masked"].append(masked_cross_entropy(logits, targets, real).item())
    losses["all places counted"].append(masked_cross_entropy(logits, targets, everything).item())
    losses["sum over B·T"].append(losses["masked"][-1] * real.float().mean().item())
show.masking.loss_by_padding(columns, losses)

# %% [markdown]
# Whoever adds enough columns makes the lowest curve as small as they like, and the middle one, too, once the model has learned that nothing follows nothing: that is easy, and there is a lot of nothing. Two papers that report losses are only comparable if both divided by the same thing.
#
# ## Another mask: hide a word, and guess it
#
# GPT hides the future. BERT hides **words**, here and there, and lets the model look at both sides; the lectures' *masked language model*. The recipe, in the lectures' numbers:
#
# - each token is chosen with a probability of 15 %, on its own; special tokens never are;
# - of the chosen ones, 80 % are replaced by `[MASK]`, 10 % by a word drawn from the whole vocabulary, and 10 % stay as they are;
# - the model is asked for all the chosen ones, and for no others.
#
# Why so complicated? In later use there is no `[MASK]`, and a model that only ever had to think about masks would have nothing to say about words. As some chosen words are wrong and some are right and none is marked, it has to keep an opinion about every word.
#
# ### Exercise: `mlm_corrupt`, BERT's corruption (about 20 minutes)
#
# Return the corrupted inputs, and labels that hold the *original* word where one is asked for and −100 elsewhere (what torch's losses leave out). Any shape; all chance comes from `generator`. `mask_id` may lie within the vocabulary or beyond it, and the drawn word may be any of `vocab_size`, even the old one.


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
# Word 0 is free, so it can be the mask. Full stops are special. A stretch of text, and what became of it; in brackets what the model is asked for, which may be the very word that stands there:

# %%
text = language.draw_text(200, 500, torch.Generator().manual_seed(1))  # 200 texts of 500 words
special = text == language.ids["."]
hidden, labels = mlm_corrupt(
    text, special, len(language.words), 0, torch.Generator().manual_seed(2)
)
for place, (old, new, label) in enumerate(zip(text[19][:24], hidden[19], labels[19]), start=1):
    shown = "[MASK]" if new == 0 else language.words[new]
    print(
        f"{shown}({language.words[old]}?)" if label >= 0 else shown, end=" " if place % 8 else "\n"
    )

# %%
asked = labels >= 0
counts = {
    "[MASK]": int((hidden[asked] == 0).sum()),
    "another word": int(((hidden != text) & (hidden != 0))[asked].sum()),
    "itself": int((hidden == text)[asked].sum()),
}
show.masking.fates(counts, int((~special).sum()))

# %% [markdown]
# 80, 10 and 10, of 15 %. How much do both sides help? In this language the question has an exact answer. What is the loss of the best possible guess?

# %%
ids_, targets = grammar.windows(2000, 3, torch.Generator().manual_seed(3))
both = language.centre(ids_).gather(1, targets[:, None]).log().mean()
before = (
    language.next_word(ids_[:, :3], running=True)[:, -1].gather(1, targets[:, None]).log().mean()
)
print(f"a word, given the three before it:                   {-before:.2f}")
print(f"a word, given the three before and the three after:  {-both:.2f}")

# %% [markdown]
# Whoever sees both sides guesses better, and understands better: this is why BERT was so good at answering questions about a text. But it cannot *write*. A text that is being written has only one side. And BERT learns from one word in seven, GPT from each of them: the lecture's "more learning signals".
#
# ## Who peeks?
#
# A mask is easy to print. But the future has other ways in: a norm over the wrong axis, a sum of all words, heads that were put together with their axes mixed up, an input that was not shifted. All of these have been found in published programs, some after years. So do not inspect the mask. **Test the model**: change what comes later, and see whether what is said now moves.
#
# ### Exercise: `leaks_future`, find the leak (about 15 minutes)
#
# `model_fn` maps ids $(B, T)$ to outputs $(B, T, \dots)$ and always answers the same. The output at place $t$ may depend on `ids[:, :t + 1]`. Does any depend on more? As replacements use only words that occur in `ids` (there are at least two; the model may not know any others). Differences up to 1e-5 are rounding.


# %% solution="leaks_future"
def leaks_future(model_fn, ids: torch.Tensor) -> bool:
    """Whether some output of model_fn depends on a token after its own place."""
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

# %%
seed(0)
E, one_way = nn.Embedding(len(language.words), 16), nn.RNN(16, 16, batch_first=True)
both_ways = nn.RNN(16, 8, batch_first=True, bidirectional=True)
look = blocks.MultiHeadAttention(16, 2)
generous = torch.ones(9, 9, dtype=torch.bool).tril(1)
layers = {
    "a recurrent network": lambda x: one_way(x)[0],
    "one that reads both ways": lambda x: both_ways(x)[0],
    "attention": lambda x: look(x, x)[0],
    "attention, causal mask": lambda x: look(x, x, causal_mask(9))[0],
    "attention, one word too generous": lambda x: look(x, x, generous)[0],
    "causal, then minus the mean of the words": lambda x: (
        look(x, x, causal_mask(9))[0] - x.mean(1, True)
    ),
    "causal, then minus the mean of the numbers": lambda x: (
        look(x, x, causal_mask(9))[0] - x.mean(2, True)
    ),
}
with torch.no_grad():
    for name, layer in layers.items():
        print(f"{name:<44}", leaks_future(lambda ids, layer=layer: layer(E(ids)), text[:3, :9]))

# %% [markdown]
# ## The task: an honest language model
#
# Two layers of masked attention, each followed by a small network on every word alone, and around both a **residual**: what a layer finds is *added* to what was there. (Why that is wise, and what else a Transformer has, is topic 10.) Two layers, because one cannot follow a clue to another clue.
#
# A batch is `ids` $(B, T)$ with a full stop in front of each sentence, and `lengths` $(B,)$, full stops counted. From `. the ducks sleep .` the model should guess `the` after `.`, then `ducks`, then `sleep`, then `.`; so inputs and targets are the same row, one place apart, and each row has one input less than it has words.
#
# The best possible loss is known here, because we know the language's own probabilities:

# %%
held_out = data.load("grammar", sentences=1, held_out=1000, seed=5)["held_out"]
words_in_all = sum(len(words) for words in held_out["words"])
entropy = -sum(held_out["log_probability"]) / words_in_all
print(f"the language itself loses {entropy:.3f} a word on {len(held_out):,} sentences")

# %% [markdown]
# Nobody can honestly do better, except by luck, and luck has a size. You get full marks for a loss at most 0.25 above the source's on new sentences that **stop just before the word to be guessed**. A model that, on whole sentences, is better than the source by more than four standard errors is called what it is.
#
# ### Exercise: model and training loop (about 20 minutes)
#
# `visible` makes the mask; put your causal mask on the device of the lengths. `forward` adds a learned vector for each place to the words (`self.places`, as in topic 08), lets each layer look and then think, each with its residual, and reads the logits off.


# %%
class Parts(nn.Module):
    """What the model is made of. How its parts work together is yours to say."""

    def __init__(self, width=64, n_heads=4, n_layers=2):
        super().__init__()
        V, layers = len(language.words), range(n_layers)
        self.words, self.places = nn.Embedding(V, width), nn.Embedding(64, width)
        self.look = nn.ModuleList(blocks.MultiHeadAttention(width, n_heads) for _ in layers)
        self.think = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
            for _ in layers
        )
        self.read = nn.Linear(width, V)


# %% solution="masking_task"
class LanguageModel(Parts):
    """Reads words and guesses, at every place, the word after it."""

    def visible(self, lengths, T):
        """Who may look at whom: lengths (B,) -> bool, broadcastable to (B, h, T, T)."""
        ### BEGIN SOLUTION
        return combine_masks(padding_mask(lengths, T), causal_mask(T).to(lengths.device))
        ### END SOLUTION

    def forward(self, ids, lengths):
        """ids (B, T), lengths (B,) -> logits (B, T, V)."""
        ### BEGIN SOLUTION
        T = ids.shape[1]
        mask = self.visible(lengths, T)
        x = self.words(ids) + self.places(torch.arange(T, device=ids.device))
        for look, think in zip(self.look, self.think):
            x = x + look(x, x, mask)[0]
            x = x + think(x)
        return self.read(x)
        ### END SOLUTION


def train(model, batches):
    """Trains on `for ids, lengths in batches`, and logs each loss."""
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
# ## Too good to be true
#
# The same model, the same batches, your own loop; only the causal mask is missing. Before you run the cell: where will its loss end?


# %%
class Peeking(LanguageModel):
    """Hides the padding, and nothing else."""

    def visible(self, lengths, T):
        return combine_masks(padding_mask(lengths, T))


peeking = fit("masking_task", Peeking, train, variant="peeking")
both = {"honest": record, "no causal mask": peeking}
curves = {name: trained.losses for name, trained in both.items()}
show.masking.learning_curves(curves, entropy)

# %% [markdown]
# It falls through the floor. A loss of a few hundredths in a language of 2.6: this is not talent, this is a look at the answers. On a real text nobody knows where the floor is, and a loss of 2.1 instead of 2.6 would have been called a breakthrough.
#
# Here is how the judge decides, and how you can, whenever the truth is known: the *same* sentences for model and source, the difference of their losses sentence by sentence, its mean and its standard error. Of two losses that both wobble with the choice of sentences, the wobble they have in common is gone.

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
    print(f"{name:<15} {each.sum() / words_in_all:.2f} a word, the source {entropy:.2f};", end=" ")
    print(f"a sentence {apart.mean():+.2f}, that is {apart.mean() / error:+.0f} standard errors")

# %% [markdown]
# The other test needs no truth at all:


# %%
def on_full_sentences(model):
    """The model as a function of ids alone."""
    return lambda ids: model(ids, torch.full((len(ids),), ids.shape[1], device=ids.device))


for name, trained in both.items():
    with torch.no_grad():
        found = leaks_future(on_full_sentences(trained.model), text[:3, :9].to(device()))
    print(f"{name:<15} {'leaks' if found else 'does not leak'}")

# %% [markdown]
# And the third test is to use it. Take one sentence and ask for each of its words **with nothing behind it**: first a full stop alone, then one word more, and so on, as in writing. How surprised is each model by what comes next?

# %%
said = "the cook who these ducks follow tastes some warm bread tonight ."
sentence = said.split()
row = torch.cat([language.encode(["."]), language.encode(sentence)])


def surprise(model, step):
    """-log p of the word at `step`, for a reader who is given the words before it."""
    asked, n = row[None, :step].to(device()), torch.tensor([step], device=device())
    with torch.no_grad():
        return -model(asked, n)[0, -1].log_softmax(-1)[row[step]].item()


best = language.next_word(row[None, 1:])[0, :-1].gather(1, row[1:, None]).log().neg().flatten()
found = {"the source itself": best.tolist()}
for name, trained in both.items():
    found[name] = [surprise(trained.model, step) for step in range(1, len(row))]
show.masking.surprises(sentence, found)

# %% [markdown]
# Your model is hardly more surprised than the language itself, at nearly every word: *cook*, *ducks* and *tastes* are hard to guess, *who* and *.* are not; and *tastes* must agree with a cook five words back and not with the ducks before it. The peeking one has never learned anything but to look to its right. There is nothing there now, and what it says is confident nonsense. So is what it writes, if it gets beyond a full stop at all:


# %%
@torch.no_grad()
def write(model, longest=14):
    """A sentence, word by word, each drawn from the model's own guess."""
    ids = language.encode(["."])[None].to(device())
    while ids.shape[1] <= longest and (ids.shape[1] == 1 or ids[0, -1] != ids[0, 0]):
        p = model(ids, torch.tensor([ids.shape[1]], device=device()))[0, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(p, 1)[None]], dim=1)
    return " ".join(language.decode(ids[0, 1:]))


seed(1)
for name, trained in both.items():
    print(name, *(write(trained.model) for _ in range(4)), sep="\n    ")

# %% [markdown]
# Where do they look? The four heads of the first layer, over the whole sentence, with a row for each word that looks:

# %%
maps = {}
for name, trained in both.items():
    model, n = trained.model, torch.tensor([12], device=device())
    with torch.no_grad():
        x = model.words(row[None, :12].to(device())) + model.places.weight[:12]
        maps[name] = model.look[0](x, x, model.visible(n, 12))[1][0]
show.masking.heads(maps, [".", *sentence[:-1]])

# %% [markdown]
# Above: nothing right of the diagonal, by force. Below: where nothing forbids it, some heads do little else than look one place ahead.
#
# ## Play
#
# Five places, one of them padding. Each row is a word that looks, each column a word that is looked at; the switches say yes or no (Tab moves between them, the space bar switches). In the middle, the weights that softmax leaves. Right: who *knows* of whom after some layers, since a word passes on what it has heard; light blue is hearsay, orange a leak.
#
# Questions to try: from *one word ahead*, how many layers does it take until *Ada* knows all the other words? From *the last two words*, how many until *bread* knows of *Ada*? Which single switch, added to *causal and padding*, tells the future to three words within two layers? What does a row with nothing allowed look like in the middle picture?

# %%
show.masking.painter(masked_softmax)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A friend reports a loss of 2.1 a word on this language, on held-out sentences, and shows you the mask: a perfect lower triangle. What do you say, how certain can you be, and what would you run to find the reason? Name two ways in which the future can come in past a correct mask.
# Then: BERT sees what comes after a hidden word, and nobody calls that a leak. Why not, and what can BERT therefore not be used for? Five to eight sentences.

# %% [markdown] question="masking_question"
# The language's own probabilities lose 2.59 a word, and no honest guess does better in the long run, so 2.1 is a leak unless the sentences were few: I would compare with the source on the same sentences, pair by pair, and divide the mean difference by its standard error. With a few hundred sentences half a nat a word is ten standard errors or more, and chance is out of the question.
# Then I would run `leaks_future` on the whole model and on its parts one after the other, to see where the future comes in: a mean or a norm taken over the words of a sentence instead of the numbers of a word, heads merged without bringing the axes back, inputs and targets that were not shifted (the loss would fall even lower), or a mask that is added after the softmax, whose sum has already seen everything.
# I would also ask the model for words with nothing behind them: an honest model's loss stays as it is, a peeking one's explodes.
#
# BERT may see both sides because the word it is asked for is not among what it sees: it was hidden in the *input*, and at use the same holds, so nothing that helps in training is missing later. What it learns is the probability of a word given its surroundings. It does not give the probability of a sentence from left to right, and it cannot write one, because a text that is being written has no right-hand side yet.

# %% [markdown]
# ## What to take with you
#
# A mask says who may be looked at and what is counted: padding hides words that are not there, causality those that have not been said. It belongs inside the softmax, and into every mean. A mistake here crashes nothing, and may even make the loss better. So a loss that is too good deserves more suspicion than one that is bad.
#
# ## Going further
#
# - **No places.** Take the line with `self.places` out and train again (as a `variant`). The loss hardly changes! Topic 08 said that attention without positions sees a set, but added: *without a mask*. By what does a word here know its place? (How many words does place 3 see, and how many does place 4?)
# - **Blind to oneself.** Use `tril(-1)` in `visible`, so that no word sees itself. The model is still honest, and as good as before. Which way does a word take to its own place all the same? What becomes of the first row?
# - **Play BERT.** Train the model as BERT: `mlm_corrupt` on the batches, no causal mask, `padding_mask` alone, and `nn.functional.cross_entropy` on labels with −100. Compare its loss on hidden words with the exact one that you printed above. What makes it lower than that, and what higher?
# - **A small leak.** Make a mask that lets only *one place in ten* see one word ahead. How many held-out sentences does it take before the paired difference betrays it? And does `leaks_future` find it?
# - **Read.** A. Vaswani and others, [Attention is all you need](https://arxiv.org/abs/1706.03762) (2017), section 3.2.3, says in one sentence what this notebook is about. J. Devlin and others, [BERT](https://arxiv.org/abs/1810.04805) (2019), section 3.1 and appendix C.2, where other shares than 80, 10 and 10 are tried.
# - **Next.** Topic 10 builds the Transformer: one half of it sees everything, the other only the past, and your masks tell them which they are.

# %%
progress()
