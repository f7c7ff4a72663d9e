# %% [markdown]
# # 1 Markov n-grams
#
# Guess the next letter: `Raise an error if it is not a st`. A programmer needs no second look. Now cover all but the last letter: `t`. Almost anything could come.
# How much of a text must one see to guess how it goes on?
#
# Claude Shannon asked this in 1948, with a book, a pencil and random page numbers. A **language model** answers it with numbers: for every
# context it hands out a probability to every token that could follow. In this notebook you build the oldest one, from nothing but counting. You will
# measure how good it is, let it write, and find the point where looking further back makes it *worse*. All that follows in this course is an answer to
# that.
#
# Five short exercises, one task, one written question; about two hours, no network needed, no GPU. Right below each exercise, `check` tries your answer on a few examples, and says
# which misunderstanding your numbers show; more examples wait at grading. Stuck? `hint("count_ngrams")` gives a hint, and a stronger one each time you ask.

# %%
from collections import Counter

import torch

from course import check, data, hint, progress, show

# %% [markdown]
# ## The text
#
# English that every computer with Python has: the docstrings of the standard library. Whole modules are set aside as `held_out`: text by the same people
# on the same subjects, which no model below may learn from.

# %%
docstrings = data.load("docstrings")
text = "\n".join(docstrings["train"]["text"])[:150_000]
new_text = "\n".join(docstrings["held_out"]["text"])
print(f"{len(text):,} characters to learn from, {len(new_text):,} held out\n")
print(text[:300])

# %% [markdown]
# Our tokens are characters: the printable ones and the line end, $V = 96$ in all. A model sees only their numbers.

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


ids, new_ids = encode(text), encode(new_text)
ids[:12], decode(ids[:12])

# %% [markdown]
# **Dimensions**, here and in all that follows: $T$ tokens of text, $V$ tokens in the vocabulary, $n$ the length of a window, $k$ the length of a context.
#
# ## A window slides over the text
#
# Write the text as $u_1, u_2, \dots, u_T$. Its probability is a product of guesses, each given all that stands before:
#
# $$P(u_1, \dots, u_T) = \prod_{t=1}^{T} P(u_t \mid u_1, \dots, u_{t-1}).$$
#
# Nobody has read every possible beginning, so Markov's assumption cuts the past short: only the last $n-1$ tokens matter,
#
# $$P(u_t \mid u_1, \dots, u_{t-1}) \approx P(u_t \mid u_{t-n+1}, \dots, u_{t-1}).$$
#
# Then all there is to know about a text is how often each **n-gram** occurs, each window of $n$ neighbours. Windows overlap: `abcd` has the 2-grams `ab`, `bc` and `cd`.
#
# ### Exercise: `count_ngrams`, count the windows (about 10 minutes)
#
# Count every window of $n$ tokens that lies wholly inside the text. Tokens may be anything that can be counted: characters, words, numbers. A text shorter than $n$ has no
# window; a window shorter than 1 makes no sense and is a `ValueError`.


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
# It counts words as well as characters:

# %%
words = "\n".join(docstrings["train"]["text"]).split()
for n in (1, 2, 3):
    most = count_ngrams(words, n).most_common(5)
    print(n, " | ".join(f"{count:6} {' '.join(gram)}" for gram, count in most))

# %% [markdown]
# How much of what is possible does a text show? Count the windows of 1 to 10 characters in both texts, and ask for each window of the new text whether it has ever been read.

# %%
read = [count_ngrams(list(text), n) for n in range(1, 11)]
met_later = [count_ngrams(list(new_text), n) for n in range(1, 11)]
show.markov_ngrams.windows_seen(read, met_later, V)

# %% [markdown]
# This picture holds the whole notebook. On the left, $V^n$ runs away: there are 85 million possible windows of four characters, and our text has shown us some twenty thousand of them.
# On the right, the price: the longer the windows, the more of them are new in a new text. Long windows know a lot about the next character, and mostly
# have nothing to say.
#
# ## From counts to probabilities
#
# Take $n = 2$, where one token is all the context there is. In the lecture's notation, $p_v(u)$ is the probability that token $u$ follows token $v$:
#
# $$p_v(u) = \frac{c(v, u) + \alpha}{\sum_{u'} c(v, u') + \alpha V}.$$
#
# $c(v, u)$ counts how often $u$ came right after $v$. The $\alpha \ge 0$ is added to *every* count, as if each pair had been met $\alpha$ times before the first page: without it, a pair never
# read would be impossible for ever.
#
# ### Exercise: `transition_matrix` (about 15 minutes)
#
# Row $v$ of the matrix is the distribution $p_v$ over the next token: previous token down, next token across. Where nothing was ever seen after a token, and nothing was
# added, all next tokens are equally likely.


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
# What follows what? Find the row of `q`. Then find the letters that like to end a word, in the column of the blank, which is drawn as ␣.

# %%
P = transition_matrix(ids, V)
show.markov_ngrams.transition_map(P, alphabet)

# %% [markdown]
# ## How good is a model?
#
# A good model gives a high probability to text that it has not seen. Products of thousands of probabilities are hopelessly small, so one takes the mean of their logarithms and comes back
# with the exponential:
#
# $$\text{perplexity} = \exp\Bigl(-\frac{1}{T} \sum_{t=1}^{T} \ln p(u_t)\Bigr),$$
#
# where $p(u_t)$ is the probability that the model gave to the token that really came, knowing those before it.
# Perplexity has a plain meaning: the model is as unsure as if it chose among that many equally likely tokens each time.
#
# ### Exercise: `perplexity` (about 10 minutes)
#
# You are given the logarithms $\ln p(u_t)$; return a plain number.


# %% solution="perplexity"
def perplexity(log_probs: torch.Tensor) -> float:
    """exp of the mean negative natural log-probability, log_probs (T,)."""
    ### BEGIN SOLUTION
    return torch.exp(-log_probs.mean()).item()
    ### END SOLUTION


# %% check="perplexity"
check("perplexity", perplexity)

# %% [markdown]
# Three guesses for the new text: every character equally likely, every character as frequent as in the text we read, and our matrix.

# %%
frequency = torch.bincount(ids, minlength=V) / len(ids)
previous, following = new_ids[:-1], new_ids[1:]

print(f"uniform      {perplexity(torch.full((len(following),), 1 / V).log()):.1f}")
print(f"frequencies  {perplexity(frequency[following].log()):.1f}")
print(f"matrix       {perplexity(P[previous, following].log()):.1f}")

# %% [markdown]
# Infinity! A single pair that was never read has probability 0, its logarithm is $-\infty$, and one such pair spoils the whole text. That is what $\alpha$ is for. How large should it be? Try
# many, with a short text and with a long one:

# %%
alphas = torch.logspace(-4, 1.5, 24).tolist()
curves = {}
for length in (1_500, 15_000, 150_000):
    matrices = [transition_matrix(ids[:length], V, alpha) for alpha in alphas]
    curves[f"{length:,} characters"] = [perplexity(Q[previous, following].log()) for Q in matrices]
show.markov_ngrams.smoothing_curves(alphas, curves)

# %% [markdown]
# A ring marks the best of each curve. Too little, and every surprise is a shock. Too much, and the model forgets what it read. The more one has read, the less the choice matters. Note the numbers: with one character of context,
# the 96 possibilities have come down to about a dozen.
#
# ## Let it write
#
# Shannon opened a book at random, looked for the letter he had written last, and wrote down the one after it. Then he opened the book elsewhere and went on. That is a walk through the transition matrix: the row of
# the current token says how likely each next one is, one is *drawn*, and its row comes next.
#
# ### Exercise: `sample_text` (about 15 minutes)
#
# Return `length` drawn tokens, without `start` itself. All randomness comes from `generator`, so that the same seed writes the same text.


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
# The first three of Shannon's approximations to English: all characters alike, each with its own frequency, each with its frequency after the one before.

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
# The third line is no English, but one can nearly pronounce it. Two characters of context would do better, three better still.
#
# ## A longer memory
#
# A table for $n = 5$ would need $V^5$ numbers, eight billion, nearly all of them never touched. So one keeps only the contexts that did occur, in a dictionary. But then the picture from the
# beginning returns: in new text most long windows are new. What does a model say after a context it has never met?
#
# It **backs off**: it asks what a shorter context says. Better still, it **interpolates**: it always listens to all lengths, and mixes what they say. One order at a time, from short to long,
#
# $$P_n(u \mid h) = \lambda(h)\,\frac{c(h, u)}{c(h)} + \bigl(1 - \lambda(h)\bigr)\, P_{n-1}(u \mid h'),$$
#
# where $h$ holds the last $n-1$ tokens, $h'$ is $h$ without its oldest token, $c(h) = \sum_u c(h, u)$ says how often something *followed* $h$, and $P_1(u) = (c(u) + \alpha) / (T + \alpha V)$. If nothing ever followed $h$, $\lambda(h) = 0$.
#
# How far should one trust a context, that is, which $\lambda(h)$? Any sensible answer is fine here: a constant such as ½, or one that grows with the number of times $h$ was seen. A classic choice
# (Witten and Bell, 1991) is $\lambda(h) = c(h) / \bigl(c(h) + N(h)\bigr)$ with $N(h)$ the number of *different* tokens seen after $h$: a context that has often been followed by something new
# will be so again.
#
# ### Exercise: `NGramModel` (about 30 minutes)
#
# `fit(ids)` counts, anew each time. `next_distribution(context)` takes a context of any length $k$, looks at its last $n - 1$ tokens and returns all $V$ probabilities. It must hold that
#
# - they sum to one, and are never NaN, whatever the context;
# - a token that occurred in the text has a positive probability after *any* context, and with $\alpha > 0$ every token has;
# - no context at all gives $P_1$, the frequencies of single tokens, and a context shorter than $n - 1$ is used as far as it goes.
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
# What does each further character of context tell? The sentence from the beginning, seen through longer and longer windows:

# %%
model = NGramModel(n=6, vocab_size=V, alpha=0.1).fit(ids)
show.markov_ngrams.next_symbols(model, "if it is not a st", alphabet, lengths=[0, 1, 2, 3, 4])

# %% [markdown]
# ## The task: how far back should it look?
#
# Fit a model for each $n$, and measure it twice: on the text it has read, and on the text it has not. To measure, cut a text into windows of 13 characters; the model sees twelve and
# is asked for the thirteenth.


# %%
def score(model: NGramModel, ids: torch.Tensor, windows: int = 1500) -> float:
    """Perplexity of the last of every 13 tokens, given the twelve before it."""
    cut = ids[: len(ids) // 13 * 13].view(-1, 13)[:windows]
    p = [model.next_distribution(window[:-1])[window[-1]] for window in cut]
    return perplexity(torch.stack(p).log())


models = {n: NGramModel(n, V, alpha=0.1).fit(ids) for n in range(1, 9)}
on_read = [score(model, ids) for model in models.values()]
on_new = [score(model, new_ids) for model in models.values()]
show.markov_ngrams.perplexity_by_order(list(models), on_read, on_new)

# %% [markdown]
# On the text it has read, the model gets better and better: with a window long enough, every context is unique, and the model recites. On new text it gets better, and then worse. The gap between the two
# curves is **overfitting**, and it is the reason why one never judges a model by the text it learned from.
#
# ### Your model (about 20 minutes)
#
# Choose $n$ and $\alpha$ for characters of text like this, and return a model that has not been fitted yet. The judge fits it on texts of its own, up to 60,000 characters long, and asks it about modules
# that `data.load` keeps back. For full marks its perplexity there is at most 1.1 times that of the course's own model; a reasonable one earns part of the points. On the text that
# it has read, it may be at most twice as perplexed as the course's own.
#
# If your curve turns where ours does (at $n = 5$) and the judge is still not content, think about $\lambda(h)$: print the distribution after a context that occurred once.


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
# Shannon's series of approximations, by your model. The characters first; then the same class with words for tokens: nothing in it knows what a token is.

# %%
lines = {}
for n in (1, 2, 3, 4, 5, 8):
    written, _ = show.markov_ngrams.write(models[n], alphabet, " ", length=140, seed=n)
    lines[f"{n} character{'s' * (n > 1)}"] = "".join(written)

lexicon = sorted(set(words))
place = {word: i for i, word in enumerate(lexicon)}
word_ids = torch.tensor([place[word] for word in words])
for n in (1, 2, 3):
    by_word = NGramModel(n, len(lexicon), alpha=0.0).fit(word_ids)
    written, _ = show.markov_ngrams.write(by_word, lexicon, length=26, seed=n)
    lines[f"{n} word{'s' * (n > 1)}"] = " ".join(written)
show.markov_ngrams.approximations(lines)

# %% [markdown]
# Now write with it. The **temperature** $\tau$ changes how boldly tokens are drawn: from $p^{1/\tau}$, normalised. At $\tau = 1$ the model draws what it believes; below, it plays safe; above, it gambles. Some things to try:
#
# - $n = 8$ with a temperature of 0.2. What happens after a line or two, and why?
# - $n = 2$: does any temperature save it?
# - Begin with something that no docstring says. How soon is the model back on its own ground?

# %%
show.markov_ngrams.writer(models, alphabet)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Someone fits your model with $n = 30$ and is proud of a training perplexity close to 1. (a) What does that model do when it writes, and why does its perplexity on new text not come down as well? (b) You give them a thousand times as much text. Which $n$ would you
# expect to be best now, and what would still be out of reach, however much they read? Use the first picture of this notebook. Five to eight sentences.

# %% [markdown] question="markov_ngrams_question"
# (a) Almost every context of 29 characters occurs once in the text, with one follower. The model has learned the text by heart: after a few characters it recites a passage until its end. On new text nearly all such contexts
# are unknown, and it falls back on the short ones, as a smaller model would; worse, where a context of ten characters is known from a single place, the model trusts that one example too much.
#
# (b) With more text, more of the possible windows have been read, and read often enough to be trusted, so the best $n$ grows. But slowly: each further character multiplies the number of windows, and a thousand times
# the text pays for three or four more. Out of reach remains all that depends on something further back than the window: the subject of the sentence, the bracket that was opened, the topic. And a context that
# differs in one character is a different context: the model cannot see that "the red car" and "the blue car" are alike. That takes a memory that is not a list of places, and words that have something in common.

# %% [markdown]
# ## What to take with you
#
# A language model hands out a probability to every token that could come next. Perplexity says among how many it
# hesitates, and only text that it has not read can tell. Counting makes a model; smoothing and mixing make one that can
# bear a surprise.
#
# ## Going further
#
# - **Bits.** The logarithm to base 2 of a perplexity per character is the number of bits per character that a perfect compressor built on your model would need. How does yours compare with `gzip`?
#   Shannon let people guess, and put printed English between 0.6 and 1.3 bits per character (*Prediction and Entropy of Printed English*, 1951).
# - **Better mixtures.** Take a fixed 0.75 off every count instead (absolute discounting), and let the lower order ask *after how many different contexts* a token occurs, not how often (Kneser and Ney, 1995). *Francisco* is frequent, yet it follows hardly any word but *San*.
# - **More text.** `docstrings["train"]` holds about a million characters; we used 150,000. Which $n$ is best for all of them? `data.load("hub:<id>")` brings any text of the Hugging Face hub, `data.load("path/to/file.txt")` your own.
# - **The original.** C. E. Shannon, *A Mathematical Theory of Communication* (1948), sections 2 and 3, is a pleasure to read.
# - **Next.** To an n-gram model two contexts are equal or they have nothing in common. This is mended twice: topic 02 gives words vectors, so that similar words are similar, and topic 03 builds a network that carries a memory of its own along the text.
#
# `progress()` shows where you stand:

# %%
progress()
