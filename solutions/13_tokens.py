# %% [markdown]
# # 13 Tokenisers and negative sampling
#
# In topic 02 every word had a number of its own, and a word that the table did not know became `<unk>`. Read a text like that:
#
# > Return the `<unk>` of the `<unk>`, or raise `<unk>` if it is `<unk>`.
#
# The words that are lost are the ones you wanted to read. Characters lose nothing, but they make the text five times as long. Attention, whose cost grows with the square of the length, would then cost twenty-five times as much. This notebook looks
# for something between the two. **How short can you make a text with 300 symbols, if no text may ever be unknown?**
#
# **You will**
#
# - write a tokeniser like GPT-2's, which agrees with a published library merge for merge
# - compare language models whose tokens differ
# - learn word vectors without a softmax, and hold them against the truth.
#
# **You need** `Counter` and `bytes` from Python, logarithms, bigram models and perplexity (topic 01), a training loop and word embeddings (topic 02).
#
# Nine short exercises, one training task and one written question take about 135 minutes. Are you stuck? `hint("count_pairs")` gives a hint, and a stronger one each time you call it.

# %%
from collections import Counter
from itertools import pairwise
from time import process_time

import torch
from torch import nn
from torch.nn.functional import logsigmoid

from course import check, data, device, fit, hint, predict, progress, rubric, show
from course.data import grammar, language_model, words_of
from course.data.bpe_merges import trained_merges
from course.data.language_model.tokenizer import smollm_words

# %% [markdown]
# ## The whole picture
#
# | step | what there is | for `hug pug` |
# |---|---|---|
# | text | characters | `hug pug` |
# | words | letters, digits or signs, each with the space before it | `hug`, `␣pug` |
# | bytes | numbers from 0 to 255 | `h·u·g`, `␣·p·u·g` |
# | **pieces** | bytes that were merged | `hug`, `␣p·ug` |
# | ids | the number of each piece | 257, 258, 256 |
# | vectors | a row of a table for each piece | `E[257]`, `E[258]`, `E[256]` |
#
# The field also calls these pieces **subwords**, and they are the tokens of a model. The first half of this notebook is about the line *pieces*, and the second half about the line *vectors*. Our text is English that is on every machine with Python, the docstrings of its library. How bad is a table of whole words?

# %%
docstrings = data.load("docstrings")
all_text = "\n".join(docstrings["train"]["text"])
text = all_text[:100_000]  # what you will train on
held_out = "\n".join(docstrings["held_out"]["text"])[:40_000]
known = set(words_of(all_text))
words = words_of(held_out)
unknown = [word for word in words if word not in known]
print(f"{len(known):,} different words in {len(all_text):,} characters")
print(f"{len(unknown) / len(words):.1%} of the held-out words are unknown, such as {unknown[:5]}")
print(f"a held-out word has {len(held_out) / len(words):.1f} characters")

# %% [markdown]
# The function `words_of` comes with the course. It cuts a text into words, and nothing is lost, because each word keeps the space before it. It is a simpler form of GPT-2's rule, which keeps the *'t* of *don't* in one piece and counts ½ as a number.

# %%
print(words_of("It's 10.5 pesos,  né?"))
print("".join(words_of("It's 10.5 pesos,  né?")) == "It's 10.5 pesos,  né?")

# %% [markdown]
# A computer stores a text as **bytes**, nearly always in a code called UTF-8. An English letter is one byte. The letter é is two, and an emoji is four.

# %%
for character in "hé🙂":
    print(character, list(character.encode()))

# %% [markdown]
# So 256 symbols are enough for every text in the world. But each of them holds little, so texts become long. **Byte-pair encoding** (BPE) starts from the bytes and makes longer symbols. It finds the commonest pair of neighbours, gives the pair a number of
# its own, and repeats.
#
# ## A worked example
#
# Take the text `hug hug hug pug pun pun bun hugs`. Its words are `hug` (once), `␣hug` (twice), `␣pug` (once), `␣pun` (twice), `␣bun` (once) and `␣hugs` (once). The first word has no space before it. Now count neighbours **within** words.
# The pair u·g stands in `hug`, twice in `␣hug`, in `␣pug` and in `␣hugs`, so it occurs 5 times.
#
# | merge | commonest pair | count | others | the words afterwards |
# |---|---|---|---|---|
# | 1 | u·g | 5 | h·u 4, ␣·h 3, ␣·p 3, p·u 3, u·n 3 | `h·ug`, `␣·h·ug`, `␣·p·ug`, `␣·p·u·n`, `␣·b·u·n`, `␣·h·ug·s` |
# | 2 | h·ug | 4 | ␣·h 3, ␣·p 3, u·n 3 | `hug`, `␣·hug`, `␣·p·ug`, `␣·p·u·n`, `␣·b·u·n`, `␣·hug·s` |
# | 3 | ␣·p | 3 | ␣·hug 3, u·n 3 | `hug`, `␣·hug`, `␣p·ug`, `␣p·u·n`, `␣·b·u·n`, `␣·hug·s` |
# | 4 | ␣·hug | 3 | u·n 3 | `hug`, `␣hug`, `␣p·ug`, `␣p·u·n`, `␣·b·u·n`, `␣hug·s` |
#
# Three pairs were equally common at the third merge. Which one comes first? **The older pair wins.** Every piece has a number. Byte $b$ has the number $b$, the first merge makes piece 256, the second makes 257, and so on. Compare the numbers of
# the first pieces, and then those of the second pieces. The space is byte 32 and p is byte 112, so ␣·p is (32, 112). The pair ␣·hug is (32, 257) and u·n is (117, 110). So they come in this order.
#
# Such a rule looks like a trifle, but nearly half of the first thousand merges of a real text are decided by it. Two programs with different rules soon cut different pieces.
#
# ### Exercise: `count_pairs` (about 10 minutes)
#
# You get the different words of a text, each as a tuple of pieces, with the number of times it occurs. Count the pairs of neighbours, and return a `Counter` or a dict. All neighbours count, so a·a·a holds the pair (a, a) twice.


# %% solution="count_pairs"
def count_pairs(words: Counter[tuple[bytes, ...]]) -> dict[tuple[bytes, bytes], int]:
    """How often two pieces are neighbours within a word; a word counts as often as it occurs."""
    ### BEGIN SOLUTION
    pairs = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            pairs[pair] += count
    return pairs
    ### END SOLUTION


# %% check="count_pairs"
check("count_pairs", count_pairs)

# %%
hugs = "hug hug hug pug pun pun bun hugs"


def as_bytes(word: str) -> tuple[bytes, ...]:
    """A word as single bytes, which is where training begins."""
    return tuple(bytes([byte]) for byte in word.encode())


hug_words = Counter(as_bytes(word) for word in words_of(hugs))
print(Counter(count_pairs(hug_words)).most_common(4))

# %% [markdown]
# ### Exercise: `merge_pair` (about 10 minutes)
#
# Join the pair wherever it stands in a word, from left to right. A piece that was used cannot be used again, so (a, a) turns a·a·a into aa·a. A piece counts as a whole, so (a, b) leaves ba·b as it is. Return a tuple, because `train_bpe` needs it as a key of a `Counter`.


# %% solution="merge_pair"
def merge_pair(word: tuple[bytes, ...], pair: tuple[bytes, bytes]) -> tuple[bytes, ...]:
    """The word with each `pair` of neighbours joined into one piece."""
    ### BEGIN SOLUTION
    pieces, place = [], 0
    while place < len(word):
        width = 2 if word[place : place + 2] == pair else 1
        pieces.append(b"".join(word[place : place + width]))
        place += width
    return tuple(pieces)
    ### END SOLUTION


# %% check="merge_pair"
check("merge_pair", merge_pair)

# %%
for word in hug_words:
    print(word, "->", merge_pair(word, (b"u", b"g")))

# %% [markdown]
# ### Exercise: `train_bpe` (about 20 minutes)
#
# Put the two together. Cut the text by `words_of`, start from bytes, and merge the commonest pair until you have as many merges as were asked for. Decide ties as above. Stop early when no word has two pieces left. A pair that occurs only once is
# still merged.
#
# Count the pairs anew after each merge. That is slow and safe, and 300 merges of 100,000 characters then take about six seconds. To be faster, change only the words that hold the pair.


# %% solution="train_bpe"
def train_bpe(text: str, merges: int) -> list[tuple[bytes, bytes]]:
    """The first merges of a text, in order; the commonest pair first, of equals the older."""
    ### BEGIN SOLUTION
    words = Counter(as_bytes(word) for word in words_of(text))
    number = {bytes([byte]): byte for byte in range(256)}
    learned = []
    while len(learned) < merges and (pairs := count_pairs(words)):
        pair = min(pairs, key=lambda pair: (-pairs[pair], number[pair[0]], number[pair[1]]))
        learned.append(pair)
        number[pair[0] + pair[1]] = len(number)
        words = Counter({merge_pair(word, pair): count for word, count in words.items()})
    return learned
    ### END SOLUTION


# %% check="train_bpe"
check("train_bpe", train_bpe)

# %%
merges = train_bpe(text, 300)
print("first:", *(show.tokens.visible(first + second) for first, second in merges[:16]))
print("last: ", *(show.tokens.visible(first + second) for first, second in merges[-12:]))

# %% [markdown]
# You never told it what an ending is, or that English has *the*. It only counted.
#
# ## Cutting a new text
#
# The merges are the tokeniser. To cut a new text, take its words as bytes and apply the merges **in the order in which they were learned**. Suppose b·c was learned first and a·b second. Then `abc` becomes a·bc. The longest piece from the left, ab,
# would be wrong, and so would the first pair that you know.
#
# ### Exercise: `bpe_encode` (about 15 minutes)
#
# Return the pieces of the whole text in one list. You may try every merge on every word. It is quicker to look for the earliest merge among the pairs of a word, to apply it, and to look again. A merge joins its own two pieces and no others. With the merges a·b, b·c and a·bc in this order, `abc` becomes ab·c, because no merge joins ab and c.


# %% solution="bpe_encode"
def bpe_encode(text: str, merges: list[tuple[bytes, bytes]]) -> list[bytes]:
    """The pieces of a text; joined, they are its bytes."""
    ### BEGIN SOLUTION
    rank = {pair: place for place, pair in enumerate(merges)}
    pieces = []
    for word in map(as_bytes, words_of(text)):
        while found := [pair for pair in pairwise(word) if pair in rank]:
            word = merge_pair(word, min(found, key=rank.get))
        pieces.extend(word)
    return pieces
    ### END SOLUTION


# %% check="bpe_encode"
check("bpe_encode", bpe_encode)

# %% [markdown]
# ### Exercise: `bpe_decode` (about 5 minutes)
#
# Go back from pieces to text. Take care, because a piece may hold half a character. The letter é is `b"\xc3\xa9"`, and its two bytes may lie in two pieces. A language model may also write bytes that are no text at all. Let `bytes.decode` put the
# replacement character � there, with `errors="replace"`. Everything else comes back as it was, so spaces at the ends and line ends such as `\r\n` stay.


# %% solution="bpe_decode"
def bpe_decode(pieces: list[bytes]) -> str:
    """The text of the pieces, whatever they are."""
    ### BEGIN SOLUTION
    return b"".join(pieces).decode("utf-8", errors="replace")
    ### END SOLUTION


# %% check="bpe_decode"
check("bpe_decode", bpe_decode)

# %% [markdown]
# Together they must lose nothing, whatever the text is. So each line below should begin with `True`.

# %%
for sentence in [
    "Return the tokeniser's own tokens.",
    "Ang piñata ni José 🙂",
    "  if x == 10:\n\t",
]:
    pieces = bpe_encode(sentence, merges)
    print(bpe_decode(pieces) == sentence, "·".join(show.tokens.visible(piece) for piece in pieces))

# %% [markdown]
# Now answer the question from the beginning. To go further than 300 merges at once, `trained_merges()` gives you a thousand that we learned from all the docstrings by the same rule. The next cell cuts each different word only once, to save time.
# The French sentences come from the course's corpus of translations, and no merge was learned from them.


# %%
def encode_all(text: str, merges: list[tuple[bytes, bytes]]) -> list[bytes]:
    pieces = {word: bpe_encode(word, merges) for word in set(words_of(text))}
    return [piece for word in words_of(text) for piece in pieces[word]]


thousand = trained_merges()
french = " ".join(data.load("phrases")["train"]["french"][:300])
numbers = [0, 44, 100, 200, 300, 500, 700, 1000]
held = {"English, held out": [], "French": []}
for name, new_text in zip(held, (held_out, french)):
    for number in numbers:
        pieces = encode_all(new_text, thousand[:number])
        held[name].append(len(new_text.encode()) / len(pieces))
show.tokens.compression(numbers, held)

# %% [markdown]
# With 44 merges there are 300 symbols, and a piece holds 1.4 bytes. With a thousand merges a piece holds three bytes, and the text is a third as long. French comes out longer, since the tokeniser has learned the habits of English. The same happens to Tagalog
# in tokenisers of today's large models, and users who pay for each token pay more.
#
# Play with it. Move the slider, choose a sentence, and type one of your own. What do capitals cost? What happens to long numbers, and to an emoji?

# %%
show.tokens.explorer(bpe_encode, thousand)

# %% [markdown]
# ## Comparing models that count differently
#
# Suppose you train the same kind of language model on the same text, once on bytes and once on longer pieces. Which model is better? You could compare their perplexities. Try it with a bigram model over pieces.

# %%
predict("perplexity_of_longer_pieces")


# %%
def bigram_log_probs(read: list[bytes], asked: list[bytes], V: int) -> torch.Tensor:
    """Log-probabilities (T,) of the pieces `asked`, by a smoothed bigram model of those `read`."""
    once, twice = Counter(read), Counter(pairwise(read))

    def alone(piece):
        return (once[piece] + 1) / (len(read) + V)

    def after(before, piece):
        return (twice[before, piece] + 5 * alone(piece)) / (once[before] + 5)

    p = [alone(asked[0]), *(after(before, piece) for before, piece in pairwise(asked))]
    return torch.tensor(p, dtype=torch.float64).log()


numbers, perplexities, costs = [0, 44, 256, 1000], [], {}
for number in numbers:
    read, asked = (encode_all(t, thousand[:number]) for t in (all_text[:200_000], held_out))
    costs[number] = bigram_log_probs(read, asked, 256 + number)
    perplexities.append((-costs[number].mean()).exp().item())
    print(f"{number:>5} merges: perplexity {perplexities[-1]:.1f} for a piece")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# The perplexity rises. Is the model of bytes the best one? No. Each of its guesses is easier, but it needs more guesses. Its pieces and those of the others are different units.
#
# </details>
#
# Bytes are the same for all models. So add up what the model pays for the **whole** text and divide by the bytes of the text. Take `né`, which has 3 bytes. One model has it as one piece and gives it the probability $1/16$. It pays
# $-\log_2 \tfrac{1}{16} = 4$ bits, and $4/3 = 1.33$ bits for each byte. Another model has two pieces with the probabilities $1/4$ and $1/8$. It pays $2 + 3 = 5$ bits, and $1.67$ for each byte. In general, for pieces $x_1, \dots, x_T$:
#
# $$\text{bits per byte} = -\frac{1}{\text{bytes}} \sum_{t=1}^{T} \log_2 p(x_t \mid x_1, \dots, x_{t-1}), \qquad \log_2 p = \frac{\log p}{\log 2}.$$
#
# ### Exercise: `bits_per_byte` (about 10 minutes)
#
# You get one **natural** logarithm for each piece. A model may pay for a special symbol, too, such as the end of the text. It adds to the bits and has no bytes.


# %% solution="bits_per_byte"
def bits_per_byte(log_probs: torch.Tensor, text: str) -> float:
    """Bits for each byte of the text; log_probs (T,) are natural logarithms."""
    ### BEGIN SOLUTION
    bits = -log_probs.sum() / torch.log(torch.tensor(2.0))
    return bits.item() / len(text.encode())
    ### END SOLUTION


# %% check="bits_per_byte"
check("bits_per_byte", bits_per_byte)

# %%
bits = [bits_per_byte(costs[number], held_out) for number in numbers]
show.tokens.units(numbers, perplexities, bits)

# %% [markdown]
# The two pictures show the same models and disagree. Believe bits per byte, on the right, because all models pay for the same bytes. The longer its pieces are, the further back a bigram model sees.
#
# ## BERT's way
#
# BERT cuts words differently. Its **WordPiece** has a set of pieces, and it always takes the longest piece that fits, from the left. A piece inside a word is written with `##`. Let the set hold `p`, `pu`, `hug`, `##g`, `##gs` and `##s`. Then `pugs` begins with
# `pu`, which is longer than `p`. The rest is `gs`, and `##gs` fits. The result is `pu`, `##gs`. For `hugz` the first piece is `hug`, and nothing fits for `z`. Then the whole word becomes `[UNK]`. WordPiece never goes back to try a shorter piece.
#
# ### Exercise: `wordpiece_encode` (about 10 minutes)
#
# An empty word gives an empty list. A capital is another letter than the small one. A word may have any length, although published code gives up after 100 or 200 letters. The sign # may be a letter, too.


# %% solution="wordpiece_encode"
def wordpiece_encode(word: str, vocab: set[str]) -> list[str]:
    """The longest pieces from the left, `##` inside the word; `["[UNK]"]` when stuck."""
    ### BEGIN SOLUTION
    pieces, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        fitting = [e for e in range(start + 1, len(word) + 1) if mark + word[start:e] in vocab]
        if not fitting:
            return ["[UNK]"]
        pieces.append(mark + word[start : fitting[-1]])
        start = fitting[-1]
    return pieces
    ### END SOLUTION


# %% check="wordpiece_encode"
check("wordpiece_encode", wordpiece_encode)

# %%
vocab = {"hug", "p", "pu", "un", "##g", "##gs", "##n", "##ning", "##s"}
for word in ("pugs", "hugs", "punning", "hugz"):
    print(word, wordpiece_encode(word, vocab))

# %% [markdown]
# ## Word vectors by negative sampling
#
# Every piece gets a vector. Topic 02 learned vectors by a softmax over the vocabulary, so each guess scored every word. With 242 words that is cheap. With 50,000 pieces it is nearly all of the work. In 2013 Mikolov and colleagues asked an easier question.
# **Did this pair stand in the text, or did I make it up?**
#
# That is **skip-gram with negative sampling**. A word $w$ and a word $c$ near it make a *seen* pair. For each seen pair draw $k$ words of **noise** $n_1, \dots, n_k$, and pair $w$ with each of them. The model tells seen pairs from noise. It scores only $1 + k$ pairs
# and leaves the rest of the vocabulary alone.
#
# **Dimensions.** $V$ words, vectors of $D$ numbers, $B$ pairs in a batch, $k$ words of noise for each pair.
#
# ### Which noise?
#
# Noise is drawn by how often words occur, but a little flatter. Take three words with the counts 16, 81 and 1. To the power $3/4$ these are $8$, $27$ and $1$, and they sum to 36. The words are drawn with the probabilities $0.222$, $0.750$ and $0.028$. By the bare counts the rare word
# would have had $0.010$. In general $P_\text{noise}(c) \propto \text{count}(c)^{3/4}$.
#
# ### Exercise: `negative_samples` (about 10 minutes)
#
# Draw independently and with replacement, and let all chance come from `generator`. A word that was never counted is never drawn. The seen word itself may be among the noise. Counts may be whole numbers or not, and `power` may be another number than $3/4$.


# %% solution="negative_samples"
def negative_samples(
    counts: torch.Tensor,
    shape: tuple[int, ...],
    generator: torch.Generator,
    power: float = 0.75,
) -> torch.Tensor:
    """Words of noise, a LongTensor of `shape`, drawn by counts (V,) to the power."""
    ### BEGIN SOLUTION
    n = torch.Size(shape).numel()
    drawn = torch.multinomial(counts.float() ** power, n, replacement=True, generator=generator)
    return drawn.view(shape)
    ### END SOLUTION


# %% check="negative_samples"
check("negative_samples", negative_samples)

# %%
language = grammar.language()
frequencies = language.frequencies.float()
V = len(language.words)
drawn = negative_samples(frequencies, (100_000,), torch.Generator().manual_seed(0))
shares = drawn.bincount(minlength=V) / len(drawn)
for index in (1, 10, 100, 241):
    word, in_text, in_noise = language.words[index], frequencies[index], shares[index]
    print(f"{word:<9} {in_text:.3%} of the text, {in_noise:.3%} of the noise")

# %% [markdown]
# ### What a pair costs
#
# A word has two vectors, as in topic 02, but the roles are exchanged. They stand in two tables $E$ and $O$ of shape $(V, D)$. Row $w$ of $E$, called $e_w$, is the word itself, the centre. Row $c$ of $O$, called $o_c$, is the word as a neighbour. In topic 02, $E$ held the neighbour. The score of a pair is the product of the two. Let $e = (1, 0)$ be the word, $o = (2, 0)$ its seen context, and $(1, 1)$ and $(0, -1)$
# two words of noise. With $\sigma(x) = 1 / (1 + e^{-x})$ the costs are these.
#
# | pair | score | should be | cost | |
# |---|---|---|---|---|
# | seen | 2 | high | $-\log \sigma(2)$ | 0.127 |
# | noise | 1 | low | $-\log \sigma(-1)$ | 1.313 |
# | noise | 0 | low | $-\log \sigma(0)$ | 0.693 |
# | sum | | | | **2.133** |
#
# $$L = -\log \sigma(e_w \cdot o_c) - \sum_{i=1}^{k} \log \sigma(-e_w \cdot o_{n_i}).$$
#
# ### Exercise: `skip_gram_loss` (about 15 minutes)
#
# Take the **sum** over the noise and the **mean** over the batch. Scores of ±1,000 must give a finite loss, so look at the imports for a function that computes $\log \sigma$ in one step. Do not use `F.binary_cross_entropy_with_logits`,
# `F.binary_cross_entropy`, `nn.BCEWithLogitsLoss` or `nn.BCELoss`, because they are the answer themselves.


# %% solution="skip_gram_loss"
def skip_gram_loss(
    E: torch.Tensor,
    O: torch.Tensor,
    centre: torch.Tensor,
    context: torch.Tensor,
    negative: torch.Tensor,
) -> torch.Tensor:
    """E, O (V, D), centre (B,), context (B,), negative (B, k) -> a scalar."""
    ### BEGIN SOLUTION
    e = E[centre]  # (B, D)
    seen = (e * O[context]).sum(1)  # (B,)
    noise = (O[negative] * e[:, None]).sum(2)  # (B, k, D) -> (B, k)
    return -(logsigmoid(seen) + logsigmoid(-noise).sum(1)).mean()
    ### END SOLUTION


# %% check="skip_gram_loss"
check("skip_gram_loss", skip_gram_loss)

# %%
E = torch.tensor([[1.0, 0.0]])
O = torch.tensor([[2.0, 0.0], [1.0, 1.0], [0.0, -1.0]])
first = torch.tensor([0])
print(f"{skip_gram_loss(E, O, first, first, torch.tensor([[1, 2]])):.3f}")

# %% [markdown]
# ## What it should learn
#
# Here the loss has a known answer, found by Levy and Goldberg in 2014. Suppose a pair makes up $P(w, c) = 0.02$ of all seen pairs, and $P(w)\,P_\text{noise}(c) = 0.01$. With $k = 5$, the model meets this pair as seen with weight 0.02, and as noise with weight $5 \cdot 0.01 = 0.05$. So of all
# its meetings with this pair, a share of $0.02 / 0.07 = 0.286$ was seen. The best score is the one with $\sigma(s) = 0.286$, which is $s = \log \frac{0.02}{0.05} = -0.916$. In general:
#
# $$e_w \cdot o_c = \log \frac{P(w, c)}{P(w)\, P_\text{noise}(c)} - \log k .$$
#
# The fraction says how much more often two words meet than chance would have it. Its logarithm is called **pointwise mutual information**, here with the noise for the second word. The grammar of topic 02 knows $P(w, c)$, so you can compute the best score of every pair.

# %%
joint = grammar.neighbour_probabilities(2).float()  # (V, V), two words on either side
noise = frequencies**0.75 / (frequencies**0.75).sum()
best = (joint / (joint.sum(1, keepdim=True) * noise)).log() - torch.log(torch.tensor(5.0))
for w, c in (("the", "dog"), ("dog", "growls"), ("bread", "eats"), ("bread", "growls")):
    print(f"{w:>6}, {c:<7} {best[language.ids[w], language.ids[c]]:6.2f}")

# %% [markdown]
# ## The task: train it (about 20 minutes)
#
# Each batch is a tuple `(ids,)` with one LongTensor of 512 words of running text. Take every word that has two words on both sides. It makes four seen pairs, one with each of these neighbours. Draw five words of noise for **each pair**, from `frequencies` and a
# generator with a seed of your own. The rows of `ids.unfold(0, 5, 1)` are all windows of five words. The class gives you the two tables, `model.E` and `model.O`, which begin near zero. Compute the loss by `loss_of`, because a later cell trains with another
# loss, and call `batches.log(loss)` for each batch.
#
# Let the learning rate **fall**. Noise makes every gradient uncertain, and large steps at the end keep the vectors trembling. `len(batches)` says how many batches will come, so a scheduler can bring the rate down to a fiftieth over all of them. We use `Adam` with 0.03
# at the start. The training takes a few seconds.
#
# **The judge calls `model(words, contexts)`**, two LongTensors $(B,)$, for the scores $(B,)$. It draws pairs as the text has them. For full marks, two measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | $R^2 = 1 - \text{mean squared error} / \text{variance of the best scores}$ | 0.85 |
# | the mean offset from the best scores | at most 0.2 |
#
# An $R^2$ of 0.78 earns part of the points. A right training reaches 0.94 and 0.02.


# %% solution="tokens_task"
class SkipGram(nn.Module):
    """words (B,) and contexts (B,) -> scores (B,)."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.E = nn.Parameter(0.1 * torch.randn(V, width))
        self.O = nn.Parameter(0.1 * torch.randn(V, width))

    def forward(self, words: torch.Tensor, contexts: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return (self.E[words] * self.O[contexts]).sum(1)
        ### END SOLUTION


def train(model, batches, loss_of=skip_gram_loss):
    """Trains the two tables; each batch is a tuple with one element, ids (512,)."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, len(batches))
    chance = torch.Generator().manual_seed(0)
    for (ids,) in batches:
        windows = ids.unfold(0, 5, 1)  # (508, 5)
        context = windows[:, [0, 1, 3, 4]].flatten()
        centre = windows[:, 2].repeat_interleave(4)
        negative = negative_samples(frequencies, (len(centre), 5), chance).to(ids.device)
        loss = loss_of(model.E, model.O, centre, context, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        falling.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("tokens_task", SkipGram, train)

# %% check="tokens_task"
check("tokens_task", record.model)

# %% [markdown]
# The curve hardly falls after the first hundred batches, and still the scores become better. The noise words change in every batch, so the loss hardly shows what the model learns. So compare with the truth.

# %%
w, c = (joint > 0).nonzero().unbind(1)  # the pairs that can occur


@torch.no_grad()
def scores_of(model: nn.Module) -> torch.Tensor:
    return model(w.to(device()), c.to(device())).cpu()


learned = scores_of(record.model)
show.tokens.against_truth({"your model": learned}, best[w, c], joint[w, c])

# %% [markdown]
# Common pairs are drawn larger. They lie on the dashed line, and the rare ones scatter. Two vectors of sixteen numbers for each word hold nearly all that a table of 58,564 scores would hold.
#
# What happens when the loss takes the **mean** over the five words of noise, where the formula has a sum? It looks like a matter of taste.

# %%
predict("mean_over_the_noise")


# %%
def mean_loss(E, O, centre, context, negative):
    e = E[centre]
    noise = (O[negative] * e[:, None]).sum(2)
    return -(logsigmoid((e * O[context]).sum(1)) + logsigmoid(-noise).mean(1)).mean()


def train_with_mean(model, batches):
    train(model, batches, mean_loss)


other = fit("tokens_task", SkipGram, train_with_mean, variant="mean")
both = {"sum over the noise": learned, "mean over the noise": scores_of(other.model)}
show.tokens.against_truth(both, best[w, c], joint[w, c])
for name, scores in both.items():
    error = (joint[w, c] * (scores - best[w, c])).sum()
    together = torch.stack([scores, best[w, c]])
    correlation = torch.cov(together, aweights=joint[w, c])
    correlation = correlation[0, 1] / (correlation[0, 0] * correlation[1, 1]).sqrt()
    print(f"{name:<20} offset {error:5.2f}, correlation {correlation:.3f}")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# The mean weighs the noise as if there were one word of it, so the model learns the answer for $k = 1$. All scores are $\log 5 = 1.61$ too high, and a correlation cannot see it. That is why the judge looks at $R^2$ and at the offset.
#
# </details>
#
# And the vectors? Words with the same neighbours have similar vectors, as in topic 02, and you computed no softmax.

# %%
E = nn.functional.normalize(record.model.E.detach().cpu(), dim=1)
for word in ("fox", "Ada", "soup", "walks", "often"):
    near = (E @ E[language.ids[word]]).topk(6).indices[1:]
    print(f"{word:>6}:  {', '.join(language.decode(near))}")

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# Two language models were tested on the same English text. Model A has a perplexity of 30 for a piece, and its pieces hold 2.5 bytes on average. Model B has a perplexity of 80, and its pieces hold 4.2 bytes. (a) Which model is better? Show the calculation. (b) Both tokenisers were
# trained on English. What happens when a user in Manila writes to them in Tagalog? Name one consequence for the cost and one for what the model can remember. Write six to ten sentences.

# %% [markdown] question="tokens_question"
# (a) Perplexities of different pieces do not compare, so I go over to bits for each byte. Model A pays $\log_2 30 = 4.91$ bits for a piece, and $4.91 / 2.5 = 1.96$ bits for a byte. Model B pays $\log_2 80 = 6.32$ bits for a piece, and $6.32 / 4.2 = 1.51$ for a byte. Model B is better, although
# its perplexity is higher. It has to guess more at once and has to guess less often.
#
# (b) The merges were learned from English, so they join pairs that are common in English. Tagalog words fall into short pieces, and the same message takes more of them. Nothing is unknown, because every byte is a piece. But a service that charges for pieces charges more for the same
# message, and it answers more slowly. A model that reads at most, say, 2,000 pieces holds less of a conversation in Tagalog, and forgets its beginning earlier.

# %%
rubric("tokens_question")

# %% [markdown]
# ## Your code cuts text for a real model (about 5 minutes, nothing is graded)
#
# [SmolLM2-135M-Instruct](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct) is a language model with 135 million parameters. Hugging Face trained it on 2 trillion tokens, and then to answer questions. Its tokeniser is a list of merges, as yours is, but there are 48,900 of them. **Does your `bpe_encode` cut a text as that model does?**
#
# The model is not part of the course. Write `download=True` into the brackets of the next cell, and it downloads 93 MB once, under the licence Apache-2.0. Your computer keeps the file. On Kaggle, add the file that the cell names as an input. You may also leave it. Then each cell below shows what we saw.
#
# <!-- needs: 15_gpt -->
# From topic 15 on, most notebooks end with the same model and use the same file.

# %%
real = data.load_language_model()

# %% [markdown]
# **The words.** `words_of` is not this model's rule. `smollm_words` is. It keeps the *'t* of *don't* in one piece, and each digit is a word of its own. Your `bpe_encode` looks up the name `words_of` when it runs, so the cell below lets that name mean the model's rule for a moment.
#
# **The time.** You could try every merge on every word. With 300 merges this takes no time worth mentioning. With 48,900 it takes some hundredths of a second for each word. But most merges can never apply to a word, because the piece that a merge makes must stand in it. The word `␣hugs` has five bytes, so there are ten stretches of two bytes or more in it. Six of them are made by a merge.
#
# | place in the list | 42 | 1,181 | 4,135 | 15,743 | 17,135 | 23,158 |
# |---|---|---|---|---|---|---|
# | merge | ␣·h | u·g | g·s | h·u | ug·s | ␣h·ug |
#
# If your `bpe_encode` gets these six, in this order, it must find the same pieces as with all 48,900. First comes ␣h, and then ug. Now g·s and h·u have lost their letters. Before ␣h may join ug, ug·s comes, and so the word is `␣h·ugs`.


# %%
def merges_within(word, merges, places):
    """The merges whose piece stands in the word, in order. `places` has each piece's merge."""
    raw = word.encode()
    stretches = {raw[i:j] for i in range(len(raw)) for j in range(i + 2, len(raw) + 1)}
    return [merges[place] for place in sorted(places[s] for s in stretches if s in places)]


def encode_as_smollm(text, merges):
    """The pieces of a text by your `bpe_encode`, with the model's words, each cut only once."""
    global words_of
    places = {first + second: place for place, (first, second) in enumerate(merges)}
    words, pieces, ours = smollm_words(text), {}, words_of
    words_of = smollm_words
    try:
        for word in set(words):
            pieces[word] = bpe_encode(word, merges_within(word, merges, places))
    finally:
        words_of = ours
    return [piece for word in words for piece in pieces[word]]


sentences = [
    " hugs",
    "Don't pay 1,024 pesos!",
    "Good morning, how are you?",
    "Magandang umaga, kumusta ka?",
]
if real:
    for sentence in sentences:
        pieces = encode_as_smollm(sentence, real.merges)
        same = pieces == [real.tokens[token] for token in real.encode(sentence)]
        print(same, "·".join(show.tokens.visible(piece) for piece in pieces))
else:
    print(language_model.seen("13_sentences"))

# %% [markdown]
# `True` means that the model's own tokeniser cuts the same pieces. The greeting takes twelve pieces in Tagalog and seven in English. This is the cost that you wrote about above, in a model that people use.
#
# Add a sentence of your own to the list. The next cell cuts the held-out docstrings, and measures the time.

# %%
if real:
    start = process_time()
    yours = encode_as_smollm(held_out, real.merges)
    seconds = process_time() - start
    theirs = [real.tokens[token] for token in real.encode(held_out)]
    print(f"{len(yours):,} pieces, the same as the model's: {yours == theirs}")
    print(f"{len(held_out.encode()) / len(yours):.2f} bytes a piece, in {seconds:.1f} seconds")
    start = process_time()
    for word in (as_bytes(" the"), as_bytes(" tokeniser"), as_bytes(" docstrings")):
        for merge in real.merges:
            word = merge_pair(word, merge)
    each, different = (process_time() - start) / 3, len(set(smollm_words(held_out)))
    print(f"{each:.3f} seconds for a word if all merges are tried,")
    print(f"so {each * different:.0f} seconds for {different:,} different words")
else:
    print(language_model.seen("13_time"))

# %% [markdown]
# Your thousand merges made pieces of three bytes. This list makes pieces of 4.4 bytes. Forty-nine times as many merges make a text a third shorter, and the model needs a vector for each of its 49,152 tokens.
#
# One thing is no merge. The first 17 tokens of this model stand for no text. The token `<|im_start|>` begins a turn of a chat, for example. What becomes of these twelve characters if a user types them?

# %%
if real:
    for control in (False, True):
        tokens = real.encode("<|im_start|>", control=control)
        print(tokens, [real.decode([token]) for token in tokens])
else:
    print(language_model.seen("13_control"))

# %% [markdown]
# Cut as text, they are seven ordinary pieces. Only a program that asks for it gets token 1. So the tokeniser decides whether a user can write what the model takes for the beginning of a turn.
#
# <!-- needs: 18_assistant -->
# Topic 18 shows what happens if a program decides wrongly.

# %% [markdown]
# ## What you built
#
# A tokeniser joins the commonest neighbours, and no text is unknown to it. It decides how long a text is, what a model's perplexity means, and who pays how much. Skip-gram learns vectors from a question with two answers, and you know which scores it should end with.
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `count_pairs`, `merge_pair`, `train_bpe` | byte-level byte-pair encoding | `tokenizers.trainers.BpeTrainer` |
# | `bpe_encode`, `bpe_decode` | encoding and decoding | `tiktoken`, `AutoTokenizer` |
# | `wordpiece_encode` | WordPiece, greedy longest match | BERT's tokeniser |
# | `bits_per_byte` | bits per byte (BPB) | papers on language models |
# | `negative_samples`, `skip_gram_loss` | skip-gram with negative sampling (SGNS) | `gensim.models.Word2Vec(sg=1)` |
# | the best scores | shifted pointwise mutual information | contrastive losses, such as CLIP's |
#
# ## Going further
#
# - **The real thing.** Hugging Face's library `tokenizers` learns the same merges as your `train_bpe`, one by one. It works on characters, and it decides ties by the order of its alphabet. So hand it byte $b$ as the character `chr(0x4E00 + b)`. These 256 characters stand in the
#   order of the bytes, and none of them is a space. After `pip install tokenizers`, this prints `True`.
#
#   ```python
#   import json
#   from tokenizers import Tokenizer, models, pre_tokenizers, trainers
#
#   def mapped(word):
#       return "".join(chr(0x4E00 + byte) for byte in word.encode())
#
#   library = Tokenizer(models.BPE())
#   library.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
#   alphabet = [chr(0x4E00 + byte) for byte in range(256)]
#   trainer = trainers.BpeTrainer(vocab_size=556, initial_alphabet=alphabet)
#   library.train_from_iterator([" ".join(map(mapped, words_of(text)))], trainer)
#   theirs = json.loads(library.to_str())["model"]["merges"]
#   yours = [["".join(chr(0x4E00 + b) for b in piece) for piece in pair] for pair in merges]
#   print(theirs == yours)
#   ```
#
# - **Digits.** Type long numbers into the widget. Some models cut every digit by itself. What would that do to adding numbers?
# - **More noise.** Train with $k = 1$ and with $k = 20$. Where do the best scores go, and how good is $R^2$?
# - **Read.** R. Sennrich, B. Haddow, A. Birch, [Neural machine translation of rare words with subword units](https://arxiv.org/abs/1508.07909) (2016), brought BPE to language. A. Radford and others,
#   *Language models are unsupervised multitask learners* (2019), took bytes. T. Mikolov and others, [Distributed representations of words and phrases](https://arxiv.org/abs/1310.4546) (2013), has the loss, and O. Levy and Y. Goldberg,
#   *Neural word embedding as implicit matrix factorization* (2014), has its answer. J. Devlin and others, [BERT](https://arxiv.org/abs/1810.04805) (2019), uses WordPiece.
#
# <!-- needs: 14_hidden_states -->
# - **Next.** Topic 14 works backwards, from what arrives to what was meant. It mends typing errors and reads telephone numbers.
#
# <!-- needs: 15_gpt -->
# You can now cut any text into pieces. Topic 15 trains a model that guesses the next piece, and lets it write.
#
# **Now you can** train a tokeniser, compare models whose tokens differ, and learn word vectors whose best possible scores you know. Run the cell below to see which notebook comes next.

# %%
progress()
