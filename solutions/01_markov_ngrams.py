# %% [markdown]
# # 1 Markov n-grams
#
# Guess the next letter of `Raise an error if it is not a st`. A programmer needs no second look. Now cover everything but the last letter, `t`.
# Almost anything could follow. How much of a text do you have to see before you can guess how it goes on?
#
# Claude Shannon asked this in 1948, with a book, a pencil and random page numbers. A **language model** answers it with numbers. For every context,
# it gives a probability to every token that could follow. In this notebook you build the oldest language model there is, and all it does is count.
#
# **You will**
#
# - count n-grams, and turn counts into probabilities with smoothing,
# - measure a model by its perplexity on a held-out set,
# - mix short and long contexts, let the mixture write, and find out how far back it should look.
#
# **You need** Python and a first look at PyTorch. You should be able to make a tensor, index it and read its shape, as the page
# [Tensors](https://docs.pytorch.org/tutorials/beginner/basics/tensorqs_tutorial.html) of PyTorch's tutorial shows. Two facts help. The probabilities
# of everything that can come next sum to one. The logarithm turns a product into a sum. No earlier topic is needed.
#
# Five short exercises, one task and one written question take about 110 minutes. Everything runs without a network and without a GPU. The course goes
# with lectures. If you do not hear them, skip the remarks on their notation.
#
# Below each exercise, `check` tries your solution on a few examples. If it fails, `check` names the misconception that your numbers show. Hidden
# examples follow at grading, when a program that we call the **judge** runs your solution. Are you stuck? `hint("count_ngrams")` gives a hint, and a
# stronger one each time you ask. Twice `predict` asks you to guess a result before you see it. Predictions earn no points.

# %%
from collections import Counter

import torch

from course import check, data, hint, predict, progress, rubric, show

# %% [markdown]
# ## The text
#
# Every computer with Python holds a book in English, the docstrings of the standard library. The **training text** comes from some of its modules. Other
# modules are the **held-out set**. Its text is by the same people on the same subjects, but no model below may learn from it.

# %%
docstrings = data.load("docstrings")
train_text = "\n".join(docstrings["train"]["text"])[:150_000]
held_out_text = "\n".join(docstrings["held_out"]["text"])
print(f"{len(train_text):,} characters to learn from, {len(held_out_text):,} held out\n")
print(train_text[:300])

# %% [markdown]
# The units of a text are called **tokens**. Ours are single characters. There are $V = 96$ of them, the printable characters of ASCII and the line
# end. A model sees only their numbers, in a **tensor**, PyTorch's array of numbers. A `LongTensor` holds integers. The `(T,)` behind it is its shape,
# one axis with $T$ entries.

# %%
alphabet = "\n" + "".join(map(chr, range(32, 127)))
V = len(alphabet)
number = {character: i for i, character in enumerate(alphabet)}


def encode(text: str) -> torch.Tensor:
    """The numbers of the characters, a LongTensor (T,)."""
    return torch.tensor([number[character] for character in text], dtype=torch.long)


def decode(ids: torch.Tensor) -> str:
    """The text that these numbers stand for."""
    return "".join(alphabet[i] for i in ids.tolist())


ids, held_out_ids = encode(train_text), encode(held_out_text)
ids[:12], decode(ids[:12])

# %% [markdown]
# **Dimensions.** A text has $T$ tokens, and the vocabulary has $V$ different ones. A window is $n$ tokens long, and a context is $k$ tokens long.
#
# ## A window slides over the text
#
# Let us begin with a text of six letters, `abacab`. It is small enough to do everything by hand, so it comes back in each section.
#
# Put a window of two letters over its beginning, write down what you see, and move the window on by one letter. You see `ab`, `ba`, `ac`, `ca`
# and `ab`. So `ab` occurs twice and the other three occur once. A window of three letters sees `aba`, `bac`, `aca` and `cab`.
#
# What you see through a window of $n$ tokens is called an **n-gram**. For $n = 1, 2, 3$ its names are unigram, bigram and trigram.
#
# Why count n-grams? Suppose that a model reads `aba`. It gives 1/2 to `a` at the beginning, 2/3 to `b` after `a`, and 1 to `a` after `ab`. Then the whole
# text has the probability
#
# $$P(\texttt{aba}) = P(\texttt{a}) \cdot P(\texttt{b} \mid \texttt{a}) \cdot P(\texttt{a} \mid \texttt{ab}) = \tfrac12 \cdot \tfrac23 \cdot 1 = \tfrac13 .$$
#
# By the same **chain rule**, a text $u_1, u_2, \dots, u_T$ has one factor for each token, and each factor may depend on everything before it:
#
# $$P(u_1, \dots, u_T) = \prod_{t=1}^{T} P(u_t \mid u_1, \dots, u_{t-1}).$$
#
# Late factors depend on long beginnings, and most of these beginnings occur in no training text. The **Markov assumption** therefore cuts the past short.
# With $n = 2$, only one token before matters, so $P(\texttt{a} \mid \texttt{ab})$ becomes $P(\texttt{a} \mid \texttt{b})$. In general, only the last $n-1$
# tokens matter:
#
# $$P(u_t \mid u_1, \dots, u_{t-1}) \approx P(u_t \mid u_{t-n+1}, \dots, u_{t-1}).$$
#
# Under this assumption, a model needs nothing from a text but the counts of its n-grams.
#
# ### Exercise: `count_ngrams`, count the windows (about 10 minutes)
#
# Count every window of $n$ tokens that lies wholly inside the text. Neighbouring windows overlap, as in the example. A token may be anything that can be
# counted, for example a character, a word or a number. A text shorter than $n$ has no window. A window shorter than 1 makes no sense, so raise a `ValueError`.


# %% solution="count_ngrams"
def count_ngrams(tokens: list, n: int) -> Counter:
    """How often each tuple of n neighbouring tokens occurs."""
    ### BEGIN SOLUTION
    if n < 1:
        raise ValueError("a window holds at least one token")
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    ### END SOLUTION


# %% check="count_ngrams"
check("count_ngrams", count_ngrams)

# %% [markdown]
# Your function counts words as well as characters. Here are the five most frequent n-grams of words, each after its count.

# %%
words = "\n".join(docstrings["train"]["text"]).split()
for n in (1, 2, 3):
    most = count_ngrams(words, n).most_common(5)
    print(n, " | ".join(f"{count:6} {' '.join(gram)}" for gram, count in most))

# %% [markdown]
# How many of all possible windows does a text contain? Count the windows of 1 to 10 characters in both texts. Then ask of each window of the held-out
# text whether the training text contains it too.

# %%
train_counts = [count_ngrams(list(train_text), n) for n in range(1, 11)]
held_out_counts = [count_ngrams(list(held_out_text), n) for n in range(1, 11)]
show.markov_ngrams.windows_seen(train_counts, held_out_counts, V)

# %% [markdown]
# This picture holds the whole notebook. On the left, the number of possible windows, $V^n$, runs away. There are 85 million possible windows of four
# characters, and the training text contains about 23,000 of them.
#
# On the right you see the price. About 9 % of the held-out windows of four characters never occur in the training text. For windows of ten characters it is
# more than 70 %. A long window knows much about the next character, but most long windows of a new text were never counted.
#
# ## From counts to probabilities
#
# Take $n = 2$, so that one token is all the context there is. Our example `abacab` contains `ab` twice and `ac` once. So after `a` comes `b` with
# probability 2/3 and `c` with probability 1/3. Count the pairs that begin with `b` and with `c` in the same way, and you get the left half of this table:
#
# | after | `a` | `b` | `c` | | `a`, 1 added | `b`, 1 added | `c`, 1 added |
# |---|---|---|---|---|---|---|---|
# | `a` | 0 | 2/3 | 1/3 | | 1/6 | 3/6 | 2/6 |
# | `b` | 1 | 0 | 0 | | 2/4 | 1/4 | 1/4 |
# | `c` | 1 | 0 | 0 | | 2/4 | 1/4 | 1/4 |
#
# On the left, `aa` has probability 0, so this model calls the pair impossible. But six letters are a short text, and perhaps `aa` is only rare.
# **Additive smoothing** allows for that. It adds the same number $\alpha \ge 0$ to *every* count, as if each pair had already occurred $\alpha$ times
# before the text began. The right half shows $\alpha = 1$. Its first row holds the counts $0 + 1$, $2 + 1$ and $1 + 1$, each divided by their sum 6.
#
# In the lecture's notation, $p_v(u)$ is the probability that token $u$ follows token $v$, and $c(v, u)$ counts how often it did:
#
# $$p_v(u) = \frac{c(v, u) + \alpha}{\sum_{u'} c(v, u') + \alpha V}.$$
#
# ### Exercise: `transition_matrix` (about 15 minutes)
#
# Row $v$ of the matrix is the distribution $p_v$ over the next token. The previous token chooses the row, and the next token chooses the column. If $\alpha = 0$
# and nothing ever followed a token, all next tokens are equally likely.


# %% solution="transition_matrix"
def transition_matrix(ids: torch.Tensor, vocab_size: int, alpha: float = 0.0) -> torch.Tensor:
    """Probabilities of the next token: ids LongTensor (T,) -> (V, V), each row sums to one."""
    ### BEGIN SOLUTION
    counts = torch.full((vocab_size, vocab_size), float(alpha))
    ones = torch.ones(len(ids[1:]))
    counts.index_put_((ids[:-1], ids[1:]), ones, accumulate=True)
    totals = counts.sum(dim=1, keepdim=True)
    uniform = torch.full_like(counts, 1 / vocab_size)
    return torch.where(totals > 0, counts / totals, uniform)
    ### END SOLUTION


# %% check="transition_matrix"
check("transition_matrix", transition_matrix)

# %% [markdown]
# On `abacab`, with `a`, `b`, `c` as 0, 1, 2, your function should give both halves of the table.

# %%
example = torch.tensor([0, 1, 0, 2, 0, 1])
print(transition_matrix(example, 3))
print(transition_matrix(example, 3, alpha=1.0))

# %% [markdown]
# What follows what in the training text? Find the row of `q`. Then look down the column of the space, drawn as ␣, for the letters that often end a word.

# %%
P = transition_matrix(ids, V)
show.markov_ngrams.transition_map(P, alphabet)

# %% [markdown]
# ## How good is a model?
#
# A good model gives a high probability to a text that it has not seen. Let the model in the left half of the table read `acab`. It makes three guesses. The
# probability of `c` after `a` was 1/3, that of `a` after `c` was 1, and that of `b` after `a` was 2/3.
#
# Their product is 2/9. A longer text has a smaller product, so texts of different lengths cannot be compared. After a few hundred tokens the product is even
# too small for a computer to hold. So take the mean of the logarithms instead:
#
# | | `c` after `a` | `a` after `c` | `b` after `a` | mean |
# |---|---|---|---|---|
# | probability | 0.333 | 1.000 | 0.667 | |
# | its logarithm | −1.099 | 0.000 | −0.405 | −0.501 |
#
# Change the sign of the mean and undo the logarithm. The result is $\exp(0.501) = 1.65$. This is the model's **perplexity** on the text. It has a plain
# meaning. The model was as unsure as if it had to choose among 1.65 equally likely tokens at each step. A model that
# holds all three letters equally likely has a perplexity of 3. In general,
#
# $$\text{perplexity} = \exp\Bigl(-\frac{1}{T} \sum_{t=1}^{T} \ln p(u_t)\Bigr),$$
#
# where $p(u_t)$ is the probability that the model gave to the token that really came, and $T$ is the number of guesses.
#
# ### Exercise: `perplexity` (about 10 minutes)
#
# You are given the logarithms $\ln p(u_t)$. Return a plain number.


# %% solution="perplexity"
def perplexity(log_probs: torch.Tensor) -> float:
    """exp of the mean negative natural log-probability, log_probs (T,)."""
    ### BEGIN SOLUTION
    return torch.exp(-log_probs.mean()).item()
    ### END SOLUTION


# %% check="perplexity"
check("perplexity", perplexity)

# %% [markdown]
# Three models guess the held-out text. The first holds all 96 characters equally likely. The second knows how frequent each character is in the training text.
# The third is your matrix, without smoothing.

# %%
predict("perplexity_with_unseen_pairs")

# %%
frequency = torch.bincount(ids, minlength=V) / len(ids)
previous, following = held_out_ids[:-1], held_out_ids[1:]

print(f"uniform      {perplexity(torch.full((len(following),), 1 / V).log()):.1f}")
print(f"frequencies  {perplexity(frequency[following].log()):.1f}")
print(f"matrix       {perplexity(P[previous, following].log()):.1f}")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# The perplexity of the matrix is infinite. One pair that was never counted has probability 0, its logarithm is $-\infty$, and so is the mean. Smoothing
# repairs this.
#
# </details>
#
# How large should the $\alpha$ of smoothing be? Try 24 values, with training texts of three lengths.

# %%
alphas = torch.logspace(-4, 1.5, 24).tolist()
curves = {}
for length in (1_500, 15_000, 150_000):
    matrices = [transition_matrix(ids[:length], V, alpha) for alpha in alphas]
    curves[f"{length:,} characters"] = [perplexity(Q[previous, following].log()) for Q in matrices]
show.markov_ngrams.smoothing_curves(alphas, curves)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# A ring marks the best $\alpha$ of each curve. With too small an $\alpha$, every unseen pair costs the model dearly. With too large an $\alpha$, it forgets what
# it counted. The longer the training text, the less the choice matters. Look at the lowest value as well. One character of context brings 96 equally
# likely choices down to about a dozen.
#
# </details>
#
# ## Let it write
#
# Shannon opened a book at random, looked for the letter that he had written last, and wrote down the letter after it. Then he opened the book at another
# page and did it again. In today's words, he **sampled** from a transition matrix.
#
# You can do the same with the left half of the table above. Start after `a`. Its row is (0, 2/3, 1/3), so draw `b` with probability 2/3 or `c` with
# probability 1/3. Say you draw `b`. The row of `b` is (1, 0, 0), so `a` comes next for certain, and then the row of `a` decides again. Your text is `ba` so far.
#
# ### Exercise: `sample_text` (about 15 minutes)
#
# Return `length` sampled tokens, without `start` itself. Take all randomness from `generator`, so that the same seed writes the same text. For
# example, `torch.multinomial(p, 5, replacement=True, generator=generator)` samples five indices with the probabilities in the tensor `p`.


# %% solution="sample_text"
def sample_text(
    P: torch.Tensor, start: int, length: int, generator: torch.Generator
) -> torch.Tensor:
    """A walk through P (V, V) that begins after `start` -> LongTensor (length,)."""
    ### BEGIN SOLUTION
    drawn = [start]
    for _ in range(length):
        row = P[drawn[-1]]
        drawn.append(torch.multinomial(row, 1, generator=generator).item())
    return torch.tensor(drawn[1:], dtype=torch.long)
    ### END SOLUTION


# %% check="sample_text"
check("sample_text", sample_text)

# %% [markdown]
# Here are the first three of Shannon's approximations to English. The first knows nothing about the characters. The second knows how frequent each one is,
# and the third how frequent each one is after the character before it.

# %%
approximations = {
    "uniform": torch.full((V, V), 1 / V),
    "frequencies": frequency.expand(V, V),
    "pairs": transition_matrix(ids, V),
}
samples = {}
for name, matrix in approximations.items():
    generator = torch.Generator().manual_seed(1948)
    samples[name] = decode(sample_text(matrix, number[" "], 140, generator))
show.markov_ngrams.approximations(samples)

# %% [markdown]
# The third line is not English, but you can almost pronounce it. Two characters of context would do better, and three better still.
#
# ## A longer memory
#
# A table for $n = 5$ would need $V^5$ numbers. That is eight billion, and nearly all of them would be zero. So you keep only the contexts that did occur, in a
# dictionary. But remember the first picture. Most long windows of a new text are unseen. What should a model say after an unseen context?
#
# It can **back off**, that is, ask a shorter context. Or it can **interpolate**, that is, mix the answers of all lengths each time. You will interpolate,
# one length at a time, from short to long. Here is `abacab` once more. What comes after `ba`?
#
# 1. **No context.** Of the six letters, three are `a`, two are `b` and one is `c`. Call these frequencies $P_1$. There is no smoothing here, so $\alpha = 0$.
# 2. **The context `a`.** Three letters followed an `a`, twice `b` and once `c`. Give these counts a weight of 0.6, and leave 0.4 to $P_1$. The result
#    is $P_2$.
# 3. **The context `ba`.** One letter followed it, a `c`. A single example deserves less trust, so give it 0.5, and leave 0.5 to $P_2$.
#
# | | `a` | `b` | `c` |
# |---|---|---|---|
# | $P_1$ | 0.500 | 0.333 | 0.167 |
# | counted after `a` | 0 | 0.667 | 0.333 |
# | $P_2$ = 0.6 × counted + 0.4 × $P_1$ | 0.200 | 0.533 | 0.267 |
# | counted after `ba` | 0 | 0 | 1 |
# | $P_3$ = 0.5 × counted + 0.5 × $P_2$ | 0.100 | 0.267 | 0.633 |
#
# Every row sums to one. The pair `aa` never occurred, and yet `a` keeps a probability, because $P_1$ has its share in the mixture.
#
# Now in general. Let $h$, the *history*, be the last $n-1$ tokens, and let $h'$ be $h$ without its oldest token. $c(h, u)$ counts how often $u$
# followed $h$, and $c(h) = \sum_u c(h, u)$ counts how often anything followed $h$. The weight of the counts is $\lambda(h)$. Then
#
# $$P_n(u \mid h) = \lambda(h)\,\frac{c(h, u)}{c(h)} + \bigl(1 - \lambda(h)\bigr)\, P_{n-1}(u \mid h'),$$
#
# and $P_1(u) = (c(u) + \alpha) / (T + \alpha V)$ begins the chain. If nothing ever followed $h$, set $\lambda(h) = 0$.
#
# How far should you trust a context? Any sensible $\lambda(h)$ is fine here. It may be a constant such as ½, or it may grow with the number of times that $h$
# was seen. The weights in the example follow a classic choice by Witten and Bell (1991). Let $N(h)$ be the number of *different* tokens that followed $h$. Then
#
# $$\lambda(h) = \frac{c(h)}{c(h) + N(h)}.$$
#
# After `a` came three letters of two different kinds, so $\lambda = 3/5$. After `ba` came one letter of one kind, so $\lambda = 1/2$. The idea is that
# a context with many different followers will probably have a new one soon, so it should leave more to the shorter context.
#
# ### Exercise: `NGramModel` (about 30 minutes)
#
# `fit(ids)` counts the text, and forgets any text it counted before. `next_distribution(context)` takes a context of any length $k$, looks at its last $n - 1$
# tokens and returns all $V$ probabilities. Three things must hold:
#
# - The probabilities sum to one and are never NaN (*not a number*, as 0/0 is in PyTorch), whatever the context is.
# - A token that occurred in the text has a positive probability after *any* context. With $\alpha > 0$, every token has one.
# - Without any context the answer is $P_1$. If a context is shorter than $n - 1$, use all of it.
#
# Your `count_ngrams` is a good start.


# %% solution="NGramModel"
class NGramModel:
    """A mixture of the windows of 1 … n tokens."""

    def __init__(self, n: int, vocab_size: int, alpha: float) -> None:
        self.n, self.vocab_size, self.alpha = n, vocab_size, alpha

    def fit(self, ids: torch.Tensor) -> "NGramModel":
        """Counts the text ids, LongTensor (T,); returns the model itself."""
        ### BEGIN SOLUTION
        self.followers = {}  # context -> {next token: count}
        for order in range(1, self.n + 1):
            for gram, count in count_ngrams(ids.tolist(), order).items():
                self.followers.setdefault(gram[:-1], {})[gram[-1]] = count
        self.unigram = torch.full((self.vocab_size,), float(self.alpha))
        for token, count in self.followers.get((), {}).items():
            self.unigram[token] += count
        if self.unigram.sum() == 0:
            self.unigram += 1
        self.unigram /= self.unigram.sum()
        return self
        ### END SOLUTION

    def next_distribution(self, context: torch.Tensor) -> torch.Tensor:
        """Probabilities of the next token: context LongTensor (k,), any k -> (V,)."""
        ### BEGIN SOLUTION
        tokens, P = context.tolist(), self.unigram.clone()
        for length in range(1, min(len(tokens), self.n - 1) + 1):
            seen = self.followers.get(tuple(tokens[-length:]))
            if seen is None:
                break
            total = sum(seen.values()) + len(seen)
            P *= len(seen) / total
            P[list(seen)] += torch.tensor(list(seen.values())) / total
        return P
        ### END SOLUTION


# %% check="NGramModel"
check("NGramModel", NGramModel)

# %% [markdown]
# What does each further character of context add? Look at the sentence from the beginning through longer and longer windows.

# %%
model = NGramModel(n=6, vocab_size=V, alpha=0.1).fit(ids)
show.markov_ngrams.next_symbols(model, "if it is not a st", alphabet, lengths=[0, 1, 2, 3, 4])

# %% [markdown]
# After `t` alone, `h` is the likeliest, as in *the*. After `␣st` our own model gives about one half to `r`, and after `a␣st` it is nearly certain.
#
# ## The task: how far back should it look?
#
# Fit a model for each $n$ from 1 to 8, and measure each one twice, on the training text and on the held-out text. To measure, `score` cuts a text into
# windows of 13 characters. The model sees the first twelve and is asked for the thirteenth. The result is the perplexity of these thirteenth characters.

# %%
predict("longer_windows_on_both_texts")


# %%
def score(model: NGramModel, ids: torch.Tensor, windows: int = 1500) -> float:
    """Perplexity of the last of every 13 tokens, given the twelve before it."""
    cut = ids[: len(ids) // 13 * 13].view(-1, 13)[:windows]
    p = [model.next_distribution(window[:-1])[window[-1]] for window in cut]
    return perplexity(torch.stack(p).log())


models = {n: NGramModel(n, V, alpha=0.1).fit(ids) for n in range(1, 9)}
on_train = [score(model, ids) for model in models.values()]
on_held_out = [score(model, held_out_ids) for model in models.values()]
show.markov_ngrams.perplexity_by_order(list(models), on_train, on_held_out)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# On the training text, the perplexity falls with every $n$. If the window is long enough, every context is unique, and the model recites. On the held-out text,
# the perplexity falls at first and then rises. With the $\lambda(h)$ of Witten and Bell, it is lowest at $n = 5$, where it is about 4.5.
#
# Shorter windows still count in the mixture. But a longer model also trusts long contexts that it saw once or twice, and a new text often goes on in another
# way. The gap between the two curves is **overfitting**. It is the reason to judge a model only on a held-out set.
#
# </details>
#
# ### Your model (about 20 minutes)
#
# Choose $n$ and $\alpha$ for characters of texts like this one, and return a model that has not been fitted yet. You choose them on the held-out
# text, so that text can no longer judge your choice fairly. The judge therefore has a **test set**, modules that `data.load` keeps back. It fits your
# model on a random part of `docstrings["train"]`, and then measures its perplexity as `score` does.
#
# Your score is a ratio, the perplexity of your model divided by the perplexity of the course's own model on the same questions. Smaller is better. For full
# marks, all four ratios must stay within their bars:
#
# | fitted on | measured on | ratio at most |
# |---|---|---|
# | 12,000 characters | the test set | 1.25 (`check` measures this) |
# | 12,000 characters | the same characters | 2 (`check` measures this too) |
# | 20,000 characters | the test set | 1.32 |
# | 60,000 characters | the test set | 1.1 (this earns the largest part) |
#
# What if your held-out curve looks like ours, and your model still misses a bar? Then look at $\lambda(h)$. Print the distribution after a
# context that occurred once.


# %% solution="markov_ngrams_task"
def language_model(vocab_size: int) -> NGramModel:
    """Your choice of model, not fitted yet."""
    ### BEGIN SOLUTION
    return NGramModel(n=5, vocab_size=vocab_size, alpha=0.1)
    ### END SOLUTION


# %% check="markov_ngrams_task"
check("markov_ngrams_task", language_model)

# %% [markdown]
# ## Read what it writes
#
# Your model continues Shannon's series. First its tokens are characters. Then the same class takes words for tokens, because nothing in it depends on what a
# token is.

# %%
lines = {}
for n in (1, 2, 3, 4, 5, 8):
    written, _ = show.markov_ngrams.write(models[n], alphabet, " ", length=140, seed=n)
    lines[f"{n} character{'s' * (n > 1)}"] = "".join(written)

lexicon = sorted(set(words))
word_number = {word: i for i, word in enumerate(lexicon)}
word_ids = torch.tensor([word_number[word] for word in words])
for n in (1, 2, 3):
    by_word = NGramModel(n, len(lexicon), alpha=0.0).fit(word_ids)
    written, _ = show.markov_ngrams.write(by_word, lexicon, length=26, seed=n)
    lines[f"{n} word{'s' * (n > 1)}"] = " ".join(written)
show.markov_ngrams.approximations(lines)

# %% [markdown]
# You can also change how boldly the model samples. Take three tokens with the probabilities 0.6, 0.3 and 0.1. Raise each to the power $1/\tau$, and divide by
# the sum, so that they sum to one again. The number $\tau$ is called the **temperature**.

# %%
p = torch.tensor([0.6, 0.3, 0.1])
for temperature in (0.2, 0.5, 1.0, 2.0):
    powers = p ** (1 / temperature)
    print(f"temperature {temperature}:", [f"{q:.3f}" for q in (powers / powers.sum()).tolist()])

# %% [markdown]
# At $\tau = 1$ the model samples from its own probabilities. Below 1 it plays safe, and above 1 it gambles. A neural network computes its
# probabilities from scores, with a function called softmax. Dividing the scores by $\tau$ has the same effect, so you will also read *softmax
# temperature*.
#
# <!-- needs: 02_cbow -->
# Topic 02 explains the softmax.
#
# Now write with your models. Here are some things to try.
#
# - Set $n = 8$ and a temperature of 0.2. What happens after a line or two, and why?
# - Set $n = 2$. Does any temperature save it?
# - Begin with something that no docstring says. How soon does the model write docstrings again?

# %%
show.markov_ngrams.writer(models, alphabet)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Someone fits your model with $n = 30$ and is proud of a training perplexity close to 1.
#
# (a) What does that model do when it writes? Why does its perplexity on new text not come down as well?
#
# (b) You give them a thousand times as much text. Which $n$ would you expect to be best now? What would still be out of reach, however much text the model
# counts?
#
# Use the first picture of this notebook. Five to eight sentences are enough.

# %% [markdown] question="markov_ngrams_question"
# (a) Almost every context of 29 characters occurs once in the training text, with one follower. The model has learned the text by heart. After a few characters
# it recites a passage to its end. On new text nearly all such contexts are unknown, so the model falls back on the short ones, as a smaller model would.
# Some contexts of ten characters are known from a single place, and there it does worse, because it trusts that one example too much.
#
# (b) With more text, more of the possible windows occur, and they occur often enough to be trusted. So the best $n$ grows, but slowly. Each further character
# multiplies the number of windows, and a thousand times the text pays for three or four more characters. Everything that depends on something further back than the
# window remains out of reach, for example the subject of the sentence, a bracket that was opened, or the topic. And a context that differs in one character is
# a different context, so the model cannot see that "the red car" and "the blue car" are alike. That takes a memory that is not a list of windows, and
# words that have something in common.

# %%
rubric("markov_ngrams_question")

# %% [markdown]
# ## What you built
#
# You built a language model from counts alone. Smoothing and interpolation prepare it for what it has not seen, and perplexity on a held-out set tells you how
# well.
#
# | you built | the field calls it | where you meet it next |
# |---|---|---|
# | `count_ngrams` | n-gram counts | `CountVectorizer(ngram_range=...)` in scikit-learn |
# | `transition_matrix` | first-order Markov chain, bigram model with additive (Lidstone) smoothing | `nltk.lm.Lidstone` |
# | `perplexity` | the exponential of the cross-entropy | `torch.nn.CrossEntropyLoss`, whose value is its logarithm |
# | `sample_text` | sampling from the model, token by token | `generate(do_sample=True, temperature=...)` in Hugging Face Transformers |
# | `NGramModel` | interpolated n-gram model | `nltk.lm.WittenBellInterpolated` |
#
# ## Going further
#
# - **Two choices of λ.** Our model with $\lambda = \tfrac12$ has its lowest held-out perplexity at $n = 6$, about 4.3. With the $\lambda(h)$ of Witten and Bell it is 4.5, at
#   $n = 5$. Why might a constant do better here? Compare both on a training text of 5,000 characters.
# - **Bits.** The logarithm to base 2 of the perplexity per character has a second meaning. A perfect compressor built on your model would need that many
#   bits per character. How does yours compare with `gzip`? Shannon let people guess, and put printed English between 0.6 and 1.3 bits per character
#   (*Prediction and Entropy of Printed English*, 1951).
# - **Better mixtures.** Absolute discounting takes a fixed 0.75 off every count instead. Kneser and Ney (1995) also let the lower order ask *after how many
#   different contexts* a token occurs, not how often. *Francisco* is frequent, yet it follows hardly any word but *San*.
# - **More text.** `docstrings["train"]` holds about a million characters, and you used 150,000. Which $n$ is best for all of them? `data.load("hub:<id>")` brings
#   any text of the Hugging Face hub, and `data.load("path/to/file.txt")` brings your own.
# - **The original.** C. E. Shannon, *A Mathematical Theory of Communication* (1948), sections 2 and 3, is a pleasure to read.
# - **Next.** To an n-gram model two contexts are equal, or they have nothing in common. Word vectors make similar words similar, and a recurrent network carries a
#   memory of its own along the text.
#
# <!-- needs: 02_cbow, 03_rnn -->
# You learn word vectors in topic 02, and build a recurrent network in topic 03.
#
# > <!-- needs: 14_hidden_states -->
# > In topic 14 the states of a chain are hidden, and your table of transitions mends what a typist with cold fingers wrote.
#
# **Now you can** build a language model from counts, let it write, and tell from its perplexity on new text how good it is. Run the cell below to see what you have done, and
# which notebook comes next.

# %%
progress()
