# %% [markdown]
# # 2 Bags of words and CBOW
#
# To an n-gram model, *this dog growls* and *this fox growls* have nothing in common: two contexts, two rows of a table.
# Whatever it learns about dogs, it has to learn again about foxes. This notebook gives words something to have in
# common: a **vector** each, such that words of a kind point the same way. Nobody will say which words are of a kind.
# They find out, from the company they keep.
#
# Six short exercises, one training task, one written question; about an hour and a half. Stuck? `hint("build_vocab")` gives a
# hint, and a stronger one each time.

# %%
from collections import Counter

import torch
from torch import Tensor, nn

from course import check, data, fit, hint, progress, show
from course.data import grammar

# %% [markdown]
# ## A language with nothing hidden
#
# The text of this notebook is a small English, spoken by a grammar that was written for the course. Its rules are known
# to the last probability, so everything we measure can be held against the truth.

# %%
corpus = data.load("grammar", sentences=5000, held_out=1000)
for row in corpus["train"].select(range(6)):
    print(f"{row['text']:<55} log p = {row['log_probability']:.1f}")

# %% [markdown]
# A verb agrees with its subject, across whatever stands between. People think, animals do not; only food is eaten. Some
# words are of two kinds: a *cook* may *cook*, and a *lamb* is an animal or a meal.
#
# Give an n-gram model an easier task than the next word: guess a word from the two before it and the two after it. How
# many of the held-out contexts has it ever seen?

# %%
train_text = [word for row in corpus["train"] for word in row["words"]]
held_out_text = [word for row in corpus["held_out"] for word in row["words"]]


def contexts_in(text: list[str]) -> list[tuple[str, ...]]:
    return [(*text[t - 2 : t], *text[t + 1 : t + 3]) for t in range(2, len(text) - 2)]


known = set(contexts_in(train_text))
new = [context not in known for context in contexts_in(held_out_text)]
print(f"{len(train_text):,} words read; {sum(new) / len(new):.0%} of the held-out contexts are new")

# %% [markdown]
# Six contexts in seven say nothing to a table that has read forty thousand words, in a language that has only 241
# different ones. It would have to read millions to know what you know after six sentences: that *fox* can stand where
# *dog* did.
#
# ## Words become numbers
#
# **Dimensions:** $N$ sentences, $T$ tokens in a text, $r$ words of context on either side, $C = 2r$ words of context,
# $B$ windows in a batch, $V$ words in the vocabulary, $D$ numbers in a word's vector.
#
# ### Exercise: `build_vocab` (about 10 minutes)
#
# Number the words. Frequent words come first, ties are settled alphabetically, and id 0 is kept for `<unk>`, which
# stands for every word that is not in the list.


# %% solution="build_vocab"
def build_vocab(tokens: list[str], min_count: int = 1) -> dict[str, int]:
    """Word -> id: `<unk>` is 0, then the words that occur at least min_count times.

    The most frequent word gets 1, and so on; equally frequent words in alphabetical order.
    """
    ### BEGIN SOLUTION
    counts = Counter(tokens)
    frequent = [word for word in counts if counts[word] >= min_count]
    ranked = sorted(frequent, key=lambda word: (-counts[word], word))
    return {word: index for index, word in enumerate(["<unk>", *ranked])}
    ### END SOLUTION


# %% check="build_vocab"
check("build_vocab", build_vocab)

# %% [markdown]
# ## A bag of words
#
# The lecture's three sentences. Forget the order, keep the counts: each sentence becomes a column of the table.

# %%
lecture = ["yes , we have no bananas", "say yes for bananas", "no bananas , we say"]
bananas = [sentence.split() for sentence in lecture]
vocab = build_vocab([word for sentence in bananas for word in sentence])
print(vocab)

# %% [markdown]
# ### Exercise: `bag_of_words` (about 10 minutes)
#
# The same table lying on its side, as everywhere in this course: a row for each sentence, a column for each id. Words
# that the vocabulary does not have are counted in column 0, and words are compared as they are written, so `No` is not
# `no`.


# %% solution="bag_of_words"
def bag_of_words(sentences: list[list[str]], vocab: dict[str, int]) -> Tensor:
    """Counts (N, V): how often sentence n holds the word with id v."""
    ### BEGIN SOLUTION
    counts = torch.zeros(len(sentences), len(vocab))
    for row, sentence in enumerate(sentences):
        for word in sentence:
            counts[row, vocab.get(word, 0)] += 1
    return counts
    ### END SOLUTION


# %% check="bag_of_words"
check("bag_of_words", bag_of_words)

# %%
by_alphabet = sorted(word for word in vocab if word != "<unk>")
table = bag_of_words(bananas, vocab)
show.cbow.counts(table[:, [vocab[word] for word in by_alphabet]], by_alphabet)

# %% [markdown]
# That is the table of the lecture. What is such a bag good for? For comparing texts: similar texts share words. And
# what is it bad for?

# %%
five = [
    "this dog growls",
    "this fox growls",
    "these dogs growl",
    "the dog sees Ada",
    "Ada sees the dog",
]
vocab = build_vocab([word for sentence in five for word in sentence.split()])
show.cbow.similarities(bag_of_words([sentence.split() for sentence in five], vocab), five)

# %% [markdown]
# Two faults. Sentences 4 and 5 are the same bag, and who sees whom is lost; order is the business of the notebooks to
# come. And sentences 2 and 3 share nothing at all. The bag has one axis for each word, and *fox* is exactly as far from
# *dogs* as from any other word of the language. That one we can mend today.
#
# ## Known by its company
#
# *You shall know a word by the company it keeps* (Firth 1957). Look at a word's neighbours, the $r$ before it and the
# $r$ after it: *dog* and *fox* have the same ones. Mikolov and colleagues made a game of it in 2013, the **continuous
# bag of words**: take a word out of the text, and guess it from the words around it.
#
# ### Exercise: `context_windows` (about 10 minutes)
#
# Cut a text into such questions. Only words that have all their neighbours count, so a text of $T$ words gives
# $T - 2r$ of them. The context reads from left to right.


# %% solution="context_windows"
def context_windows(ids: Tensor, radius: int) -> tuple[Tensor, Tensor]:
    """ids (T,) -> contexts (T - 2r, 2r) without their centres, and the centres (T - 2r,).

    Raises ValueError when T < 2r.
    """
    ### BEGIN SOLUTION
    n = len(ids) - 2 * radius
    if n < 0:
        raise ValueError(f"{len(ids)} words are too few for {radius} on either side")
    columns = [ids[offset : offset + n] for offset in range(2 * radius + 1)]
    targets = columns.pop(radius)
    return torch.stack(columns, dim=1), targets
    ### END SOLUTION


# %% check="context_windows"
check("context_windows", context_windows)

# %% [markdown]
# From here on words have the ids of the grammar's own vocabulary, `language.words`. It is what your `build_vocab` would
# make of an endless text: sorted by true frequency.

# %%
language = grammar.language()
V = len(language.words)
sentence = "the farmers who Ada trusts eat fresh bread ."
contexts, targets = context_windows(language.encode(sentence.split()), 2)
for context, target in zip(contexts, targets):
    left, right = language.decode(context[:2]), language.decode(context[2:])
    print(f"{' '.join(left):>16} ____ {' '.join(right):<16} {language.words[target]}")

# %% [markdown]
# Play the game yourself: cover the right-hand column. Often you cannot know the *word*, and nearly always you know what
# *kind* of word it must be. That is the whole trick.
#
# ## What a guess costs
#
# A model gives every word of the vocabulary a score $z_v$ (a **logit**). Softmax makes probabilities of the scores, and
# the loss is what the probability of the true word $y$ costs:
#
# $$L = -\log \frac{e^{z_y}}{\sum_v e^{z_v}} .$$
#
# This is the **cross-entropy**, averaged over a batch; with natural logarithms its unit is the *nat*, and $e^L$ is the
# perplexity of topic 01. You will meet it in every notebook from here on, so write it once yourself.
#
# Beware: a model may be very sure of itself. $e^{10000}$ is no number a computer knows, and neither is the logarithm of a
# probability that was rounded to zero. Take the logarithm on paper, before a computer divides.
#
# ### Exercise: `cross_entropy` (about 15 minutes)
#
# `F.cross_entropy` and `nn.CrossEntropyLoss` would be the answer themselves; everything else is allowed.


# %% solution="cross_entropy"
def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cost of targets (B,) under logits (B, V), a scalar; exact for scores up to ±10,000."""
    ### BEGIN SOLUTION
    chosen = logits[torch.arange(len(targets)), targets]
    return (torch.logsumexp(logits, dim=1) - chosen).mean()
    ### END SOLUTION


# %% check="cross_entropy"
check("cross_entropy", cross_entropy)

# %% [markdown]
# How low can it go? Never to zero: between *dog* and *fox* the text itself tossed a coin. In this language we can ask
# the grammar for the best possible guess, given that we know this or that of the words around. Your loss of its
# log-probabilities is a **floor**: nobody who knows no more will be below it on average, whatever network they train.

# %%
contexts, targets = grammar.windows(4000, 2, torch.Generator().manual_seed(0))
before = language.next_word(contexts[:, :2], running=True)  # (4000, 3, V): after 0, 1, 2 words
guesses = {
    "nothing": torch.full((4000, V), 1 / V),
    "how frequent words are": before[:, 0],
    "the two words before": before[:, 2],
    "four words, as a bag": language.centre(contexts, ordered=False),
    "four words, in order": language.centre(contexts),
}
floors = {
    name: float(cross_entropy(p.clamp(min=1e-12).log(), targets)) for name, p in guesses.items()
}
show.cbow.ladder(floors)

# %% [markdown]
# Read it from the top. To know nothing costs $\log V$. The biggest step down comes from looking at the neighbours at
# all. To know their *order* as well as their bag is worth little more. So let us take the bag.
#
# ## The model
#
# One vector $E_c$ for each word as a neighbour. The context is the **mean** of its words' vectors; a linear layer scores
# every word against it:
#
# $$h = \frac{1}{C} \sum_{c\,\in\,\text{context}} E_c , \qquad z = W h + b .$$
#
# Why must *dog* and *fox* become similar? Whenever one of them stands in a context, the same words are to be guessed.
# The loss cannot tell the two apart, and so pushes $E_\text{dog}$ and $E_\text{fox}$ the same way.
#
# ### Exercise: `cbow_logits` (about 10 minutes)
#
# Weights as in PyTorch, (out, in). Both tables have a row for each word: $E$ for the word as a neighbour, $W$ for the
# word as the answer.


# %% solution="cbow_logits"
def cbow_logits(contexts: Tensor, E: Tensor, W: Tensor, b: Tensor) -> Tensor:
    """Scores (B, V) of every word as the centre of contexts (B, C); E and W (V, D), b (V,)."""
    ### BEGIN SOLUTION
    h = E[contexts].mean(dim=1)  # (B, C, D) -> (B, D)
    return h @ W.T + b
    ### END SOLUTION


# %% check="cbow_logits"
check("cbow_logits", cbow_logits)

# %% [markdown]
# ## Who stands near whom
#
# Once there are vectors, "similar" is a question of direction. A word's vector may be long because the word says much;
# what it says is where it points. The **cosine** compares directions only:
#
# $$\cos(E_i, E_j) = \frac{E_i \cdot E_j}{\lVert E_i \rVert\, \lVert E_j \rVert} .$$
#
# ### Exercise: `nearest` (about 10 minutes)


# %% solution="nearest"
def nearest(E: Tensor, index: int, k: int) -> Tensor:
    """The k words whose vectors in E (V, D) have the largest cosine with that of index.

    A LongTensor (k,), nearest first; the word itself is not among them.
    """
    ### BEGIN SOLUTION
    directions = E / E.norm(dim=1, keepdim=True)
    similarity = directions @ directions[index]
    similarity[index] = -2.0
    return similarity.topk(k).indices
    ### END SOLUTION


# %% check="nearest"
check("nearest", nearest)

# %% [markdown]
# ## A training loop
#
# Every training in this course has the same few lines. Here they teach a line to go through 64 points, all of them on
# $y = 3x - 1$, which nobody tells it; the model and its loss will change, the rest will not. `Adam` is a gradient
# descent that sets the length of its steps by itself, parameter by parameter.

# %%
x = torch.linspace(-1, 1, 64)[:, None]
line = nn.Linear(1, 1)
optimizer = torch.optim.Adam(line.parameters(), lr=0.1)
for _ in range(200):
    loss = (line(x) - (3 * x - 1)).square().mean()
    optimizer.zero_grad()  # forget the gradients of the step before
    loss.backward()  # find the new ones, of all parameters
    optimizer.step()  # go a little way downhill
print(f"y = {line.weight.item():.2f} x {line.bias.item():+.2f}")

# %% [markdown]
# ## The task: train it (about 20 minutes)
#
# `fit` hands your function `train` the model and batches of running text, each a tuple `(ids,)` of one LongTensor of
# 512 words, until the budget is spent. Cut the text into windows of two words on either side, score them, take the
# loss, make a step; give each loss to `batches.log` and watch the curve. The budget is a million words on a CPU, about
# ten seconds; more on a GPU.
#
# Of the class only one line is missing. Keep the names `E`, `W` and `b`: **the judge calls `model(contexts)` for logits
# and reads `model.E`**. On windows of its own it asks for a loss at most 0.6 above the floor of the bag, and it asks that
# nine of ten neighbours (the five nearest of each word, by cosine in $E$) be of the same class. Only words of classes of
# eight or more are asked about: a smaller class has hardly five others to find. Part of the way to either earns part of
# the points.


# %% solution="cbow_task"
class CBOW(nn.Module):
    """contexts (B, C) -> logits (B, V)."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.E = nn.Parameter(0.1 * torch.randn(V, width))
        self.W = nn.Parameter(0.1 * torch.randn(V, width))
        self.b = nn.Parameter(torch.zeros(V))

    def forward(self, contexts: Tensor) -> Tensor:
        ### BEGIN SOLUTION
        return cbow_logits(contexts, self.E, self.W, self.b)
        ### END SOLUTION


def train(model: nn.Module, batches) -> None:
    """Trains the model; each batch is a tuple with one element, ids (512,)."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for (ids,) in batches:
        contexts, targets = context_windows(ids, 2)
        loss = cross_entropy(model(contexts), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("cbow_task", CBOW, train)

# %% check="cbow_task"
check("cbow_task", record.model)

# %% [markdown]
# ## What was learned
#
# First the loss. Where does your model stand on the ladder?

# %%
model = record.model.cpu()
with torch.no_grad():
    yours = float(cross_entropy(model(contexts), targets))
show.cbow.ladder(floors, {"your CBOW": yours})

# %% [markdown]
# It knows the bag, and does not make the best of it: one mean and one linear map have to do for every kind of context.
# Still, with 32 numbers a word it beats whoever reads only the words before, the perfect reader included.
#
# Now the vectors. Whom do some words have for neighbours?

# %%
E = model.E.detach()
for word in ("fox", "Ada", "soup", "walks", "walk", "gentle", "often", "river", "the"):
    neighbours = nearest(E, language.ids[word], 5)
    print(f"{word:>8}:  {', '.join(language.decode(neighbours))}")

# %% [markdown]
# Nobody told it what an animal is. Here are all the words; the colours are the grammar's own classes, which the model
# never saw. The picture places words near each other that point the same way (by t-SNE: look at who stands with whom,
# not at the distances between islands). *sg* and *pl* are singular and plural; the words in black are of two kinds.

# %%
show.cbow.word_map(E)

# %% [markdown]
# Classes are islands, and the words of two kinds stand a little apart. Look around: type a word, or its first letters,
# and take one of those that are offered (Tab moves between the controls). Try *lamb*, *duck*, *cook*, *guides*.

# %%
show.cbow.explorer(E, nearest)

# %% [markdown]
# ### One vector for two meanings
#
# *lamb* is said of animals and of meals. Where does its one vector point? Compare some words with the middle of four
# classes.

# %%
words = ["goat", "lamb", "bread", "baker", "cook", "eat"]
show.cbow.between_two(E, words, ["animal sg", "food", "person sg", "verb about food pl"])

# %% [markdown]
# *lamb* hangs between the animals and the meals, near to both and equal to neither. *cook* leans to the person, with a
# clear trace of the verb that *baker* lacks (0.4 against −0.1). The lecture's example is "I **can** buy a **can** of
# fish". A word has one vector here, whatever sentence it stands in. In later topics each *occurrence* of a word gets a
# vector of its own.
#
# ### What did the company have to be?
#
# The classes were found through windows of two words on either side. Would one do? Or only the words before, or after?
# Train a model on each, with your own loop on the same text, and count how many of the five nearest neighbours are of
# the same class. (`variant` keeps their weights apart from those that are graded. Each of the three trainings takes as
# long as yours did.)


# %%
class Reads(CBOW):
    """A CBOW that reads only those columns of a context that it is told to keep."""

    def __init__(self, keep: list[int]) -> None:
        super().__init__()
        self.keep = keep

    def forward(self, contexts: Tensor) -> Tensor:
        return super().forward(contexts[:, self.keep])


vectors = {"two and two": E}
for name, keep in {"one and one": [1, 2], "two before": [0, 1], "two after": [2, 3]}.items():
    variant = name.replace(" ", "_")
    other = fit("cbow_task", lambda keep=keep: Reads(keep), train, variant=variant)
    vectors[name] = other.model.cpu().E.detach()


# %%
def share_of_a_kind(E: Tensor) -> float:
    kinds = grammar.class_table().float()
    shares = []
    for index in range(1, V):
        alike = kinds[nearest(E, index, 5)] @ kinds[index] > 0
        shares.append(alike.double().mean())
    return float(torch.stack(shares).mean())


for name, table in vectors.items():
    print(f"{name:<12} {share_of_a_kind(table):.0%} of the neighbours are of the same class")

# %% [markdown]
# One word on either side does as well as two. In $E$ a word stands as a *neighbour* of the one to guess: the third line
# learns vectors only from what *follows* a word, the fourth only from what *precedes* it; the latter says more. Then
# why a wider window? In real text, for the topic: *hospital* and *doctor* are seldom side by side. Small windows find
# words that can stand for each other, wide ones find words that belong together.
#
# ## In your own words (about 10 minutes)
#
# A friend trains CBOW on a large collection of English. Among the nearest neighbours of *good* she finds *bad*, and
# calls it a bug. (a) Is it one? Explain from the way the vectors are learned. (b) Name a change to the *data or the
# task*, not to the formula, that could pull the two apart, and say why you expect it to. Five to eight sentences.

# %% [markdown] question="cbow_question"
# (a) It is no bug. A vector is learned only from what the word helps to guess, and *good* and *bad* stand among the same
# words: a good film, a bad film; how good it was, how bad it was. Guessing the centre of such a window, the model gains
# nothing by telling them apart, so their vectors are pushed the same way. Being near means *can stand in the same
# places*, and opposites can, better than most synonyms. In our grammar the same happens: *sweet* and *bitter* are
# neighbours, and rightly of one class.
#
# (b) The task has to contain something that depends on the difference. For instance, guess along with the centre the
# rating of the review in which the window stands: then the gradient of the rating reaches $E$, and pushes *good* and
# *bad* in opposite directions, while all that they share still comes from the windows. Or use windows as wide as a
# paragraph: *bad* keeps company with *boring* and *waste*, *good* with *enjoyed*, further off than two words. I expect
# less of that, since topics of reviews are mixed, and both words occur in most of them.

# %% [markdown]
# ## What to take with you
#
# Words are alike when they can stand in the same places. Nobody told the model what an animal is: it had to guess words
# from their neighbours, and that was enough. The loss it learned from, the cross-entropy, will train every model from here
# on. And where the best possible loss is known, you can say how good a loss is, and not only that it falls.
#
# ## Going further
#
# - **Try it.** Make $W$ and $E$ the same table. What becomes of the loss, and why must the model now expect each word
#   beside itself? Train with `sum` for `mean`: the loss hardly changes; what does the length of the vectors do?
# - **Turn it round.** Guess the neighbours from the centre instead: that is skip-gram, the other half of word2vec. Your
#   `context_windows` gives you its pairs already.
# - **Real text.** `data.load("docstrings")` holds some 200,000 words. The softmax over a large vocabulary
#   becomes the costly part; read about negative sampling, which replaces it.
# - **Read.** T. Mikolov, K. Chen, G. Corrado, J. Dean, [Efficient Estimation of Word Representations in Vector
#   Space](https://arxiv.org/abs/1301.3781) (2013). O. Levy, Y. Goldberg, *Neural Word Embedding as Implicit Matrix
#   Factorization* (2014): why counting and a singular value decomposition find nearly the same vectors.
# - **Next.** A bag has no order, and a window has an end. Topic 03 reads word after word, and carries a state along.

# %%
progress()
