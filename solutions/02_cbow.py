# %% [markdown]
# # 2 Bags of words and CBOW
#
# To an n-gram model, *this dog growls* and *this fox growls* have nothing in common. They are two contexts and two rows
# of a table. Whatever the model learns about dogs, it has to learn again about foxes. This notebook gives each word a
# **word embedding**, a vector that points the same way as the vectors of similar words. The model is never told which
# words are similar. It learns that from their neighbours.
#
# **You will**
#
# - count words in a bag, and see what such a bag cannot express
# - write the cross-entropy loss and a CBOW model, and train it
# - find similar words by cosine similarity.
#
# **You need** Python, PyTorch's tensors, matrix products, the gradient of a function, and the idea of an n-gram model,
# which counts what follows each short run of words.
#
# <!-- needs: 01_markov_ngrams -->
# You built n-gram models in topic 01.
#
# Six short exercises, one training task and one written question take about 95 minutes. Are you stuck?
# `hint("build_vocab")` gives a hint, and a stronger one each time you call it.

# %%
from collections import Counter

import torch
from torch import Tensor, nn

from course import check, data, fit, hint, predict, progress, rubric, show
from course.data import grammar

# %% [markdown]
# ## A language with nothing hidden
#
# The text of this notebook is simple English. It comes from a grammar that was written for the course. We know the
# probability of each of its rules, so you can compare everything you measure with the truth.

# %%
corpus = data.load("grammar", sentences=5000, held_out=1000)
for row in corpus["train"].select(range(6)):
    print(f"{row['text']:<55} log p = {row['log_probability']:.1f}")

# %% [markdown]
# A verb agrees with its subject, whatever stands between them. People think and animals do not. Only food is eaten. Some
# words belong to two classes. A *cook* may *cook*, and a *lamb* is an animal or a meal.
#
# Now give an n-gram model an easier task than the next word. It guesses a word from the two words before it and the two
# after it. How many of the held-out contexts has it seen before?

# %%
train_text = [word for row in corpus["train"] for word in row["words"]]
held_out_text = [word for row in corpus["held_out"] for word in row["words"]]


def contexts_in(text: list[str]) -> list[tuple[str, ...]]:
    return [(*text[t - 2 : t], *text[t + 1 : t + 3]) for t in range(2, len(text) - 2)]


known = set(contexts_in(train_text))
new = [context not in known for context in contexts_in(held_out_text)]
print(f"{len(train_text):,} words read; {sum(new) / len(new):.0%} of the held-out contexts are new")

# %% [markdown]
# About 86 % of the held-out contexts are new, although the table has read forty thousand words and the language has
# only 241 different ones. The table would have to read millions of words to learn what you know after six sentences.
# You know that *fox* can stand where *dog* did.
#
# ## Words become numbers
#
# A **batch** is a number of examples that a model computes at once, one in each row.
#
# **Dimensions.** A batch has $N$ sentences or $B$ windows. A text has $T$ tokens. A context has $r$ words on either
# side, so $C = 2r$ words in all. The vocabulary has $V$ words, and each word's vector has $D$ numbers (`width` in the
# code).
#
# ### Exercise: `build_vocab` (about 10 minutes)
#
# Number the words. Frequent words come first, and equally frequent words stand in alphabetical order. The id 0 is kept for
# `<unk>`, which stands for every word outside the vocabulary. For example, the text *sun sky sea sun* gives *sun* the id 1,
# *sea* 2 and *sky* 3.


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
# Take the lecture's three sentences. Forget the order of the words, and keep how often each word occurs. The lecture
# writes the counts as a table with a row for each word and a column for each sentence.

# %%
lecture = ["yes , we have no bananas", "say yes for bananas", "no bananas , we say"]
bananas = [sentence.split() for sentence in lecture]
vocab = build_vocab([word for sentence in bananas for word in sentence])
print(vocab)

# %% [markdown]
# ### Exercise: `bag_of_words` (about 10 minutes)
#
# Make this table with rows and columns exchanged, so that it has a row for each sentence and a column for each id. All
# batches of this course have this form. Count words outside the vocabulary in column 0. Capital letters matter, so `No` is not `no`.


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
# That is the table of the lecture. You can compare texts with such bags, because similar texts share words. The next
# table compares five sentences by the cosine of the angle between their bags. It is 1 when two bags point in the same
# direction, and it falls as the angle grows.

# %%
predict("similarity_of_two_bags")

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
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# The bag has two faults. Sentences 4 and 5 have the same bag, so we no longer know who sees whom. No bag can mend that.
# Sentences 2 and 3 share no word at all, so their similarity is 0. The bag has one axis for each word, and *fox* is as
# far from *dogs* as from any other word. Today you mend this second fault.
#
# </details>
#
# ## Known by its company
#
# *You shall know a word by the company it keeps* (Firth 1957). Look at a word's neighbours, the $r$ words before it and the
# $r$ words after it. *Dog* and *fox* have the same ones. In 2013 Mikolov and colleagues made a training task of this, the
# **continuous bag of words** (CBOW). The model guesses a word of the text from the words around it.
#
# ### Exercise: `context_windows` (about 10 minutes)
#
# Cut a text into such windows. Use only words that have all their neighbours, so a text of $T$ words gives $T - 2r$
# windows. For $r = 1$, the text *a b c d* gives two of them. The context *a c* has the centre *b*, and *b d* has the
# centre *c*. The context reads from left to right.


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
# From here on, words have the ids of the grammar's own vocabulary, `language.words`. It is sorted by true frequency. Your
# `build_vocab` would make the same one from an endless text.

# %%
language = grammar.language()
V = len(language.words)
sentence = "the farmers who Ada trusts eat fresh bread ."
contexts, targets = context_windows(language.encode(sentence.split()), 2)
for context, target in zip(contexts, targets):
    left, right = language.decode(context[:2]), language.decode(context[2:])
    print(f"{' '.join(left):>16} ____ {' '.join(right):<16} {language.words[target]}")

# %% [markdown]
# Cover the right-hand column and guess. Often you cannot know the *word*, but you nearly always know what *kind* of word it
# must be. CBOW learns from exactly that.
#
# ## What a guess costs
#
# A model gives every word $v$ of the vocabulary a score $z_v$, called a **logit**. Take three words with the logits 2,
# 1 and 0. Their exponentials are 7.39, 2.72 and 1.00, and these sum to 11.11. The **softmax** divides each exponential
# by this sum, so the probabilities are 0.67, 0.24 and 0.09. If the first word is the true one, the loss is $-\log 0.67 = 0.41$.
# If it is the third, the loss is 2.41. In general, for the true word $y$:
#
# $$L = -\log \frac{e^{z_y}}{\sum_v e^{z_v}} .$$
#
# The mean over a batch is the **cross-entropy**. With natural logarithms its unit is the *nat*. And $e^L$ is the
# perplexity, the number of equally likely words that would be as hard to guess. Nearly every network that chooses among
# words or classes is trained with this loss, so write it once yourself.
#
# <!-- needs: 01_markov_ngrams -->
# It is the perplexity of topic 01, whose logarithms came from counts.
#
# Take care with large logits. $e^{10000}$ overflows, and a probability that was rounded to zero has no finite logarithm.
# Simplify the logarithm on paper before you write code.
#
# ### Exercise: `cross_entropy` (about 15 minutes)
#
# Do not use `F.cross_entropy` or `nn.CrossEntropyLoss`, since they are the answer themselves. Everything else is allowed.


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
# How low can the loss go? It cannot reach zero, because the text chooses between *dog* and *fox* at random. In this language
# we can ask the grammar for the best possible guess from part of the context. It answers with probabilities. Give their
# logarithms to your `cross_entropy`, and you get a **floor**. No model that sees the same words can be below it on average.

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
# Read the bars from the top. A reader who knows nothing pays $\log V$. The biggest step down comes from looking at the
# neighbours at all. Knowing their *order* as well gains little, so let us take the bag.
#
# ## The model
#
# Each word has one vector $E_c$ for its role as a neighbour. CBOW takes the **mean** of the vectors in the context.
# Then a **linear layer**, a matrix $W$ and a vector $b$ called the **bias**, gives every word a logit. For example, two
# neighbours have the vectors (1, 0) and (3, 2). Their mean is (2, 1). A word with the row (1, 1) in $W$ and 0.5 in $b$
# gets the logit $2 + 1 + 0.5 = 3.5$. In general:
#
# $$h = \frac{1}{C} \sum_{c\,\in\,\text{context}} E_c , \qquad z = W h + b .$$
#
# Why must *dog* and *fox* become similar? When either of them stands in a context, the model has to guess the same words.
# So the loss pushes $E_\text{dog}$ and $E_\text{fox}$ the same way.
#
# ### Exercise: `cbow_logits` (about 10 minutes)
#
# The weights have PyTorch's shape, (out, in). Both tables have a row for each word. $E$ holds the word as a neighbour, and
# $W$ holds the word as the answer.


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
# Two word embeddings are similar if they point in the same direction. Their lengths should not matter. Take (3, 4) and
# (6, 8). Their product is $18 + 32 = 50$, their lengths are 5 and 10, and $50 / (5 \cdot 10) = 1$. For (3, 4) and (4, −3) the
# product is 0, so the result is 0. This is the **cosine similarity**:
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
# Every training in this course has the same few lines. Here they fit a line to 64 points on $y = 3x - 1$.
#
# A **parameter** is a tensor that training may change. PyTorch records every operation on it. `loss.backward()` walks
# back through this record and stores in each parameter's `.grad` the derivative of the loss with respect to it. This is
# called **autograd**. The **optimizer** then changes the parameters. `Adam` is a form of gradient descent that chooses
# the size of its steps for each parameter, and the **learning rate** `lr` scales them all.

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
# `fit` calls your function `train` with the model and with batches of running text, until the budget is spent. Each
# batch is a tuple `(ids,)` with one LongTensor of 512 words. Cut the text into windows of two words on either side.
# Compute the logits and the loss, and make a step. Call `batches.log(loss)` once for each batch. It records the loss
# and draws the curve. The budget is a million words on a CPU, which takes about ten seconds. It is larger on a GPU.
#
# A model is a class that inherits from `nn.Module`. Its constructor makes the parameters, with `nn.Parameter` or with
# layers such as `nn.Linear`. `model(contexts)` calls its method `forward`, which computes the output. In `CBOW` only
# one line is missing. Keep the names `E`, `W` and `b`, because **the judge calls `model(contexts)` for logits and reads
# `model.E`**.
#
# The judge takes windows of its own, and the five nearest words of each word, by cosine in $E$. Only classes of eight
# or more words count. For full marks, two measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | loss on the judge's windows, above the floor of the bag | at most 0.6 |
# | nearest words that are of the word's class | 90 % |
#
# If you come near a bar, you earn part of its points.


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
# First look at the loss. Where does your model stand among the floors? (`no_grad` and `detach` tell PyTorch to keep no
# record for gradients. `.cpu()` brings the model back from a GPU.)

# %%
model = record.model.cpu()
with torch.no_grad():
    yours = float(cross_entropy(model(contexts), targets))
show.cbow.ladder(floors, {"your CBOW": yours})

# %% [markdown]
# Your model sees the bag, but it does not make the best of it. It has only one mean and one linear map for every kind of
# context. Still, with 32 numbers a word it beats even the perfect reader who sees only the two words before.
#
# Now look at the vectors. Which neighbours do some words have?

# %%
E = model.E.detach()
for word in ("fox", "Ada", "soup", "walks", "walk", "gentle", "often", "river", "the"):
    neighbours = nearest(E, language.ids[word], 5)
    print(f"{word:>8}:  {', '.join(language.decode(neighbours))}")

# %% [markdown]
# The model was never told what an animal is. The next picture shows all words, coloured by the grammar's own classes. t-SNE
# draws words close together if their vectors point the same way. Trust which words stand together, but not the distances
# between islands. *sg* and *pl* mean singular and plural. Words in black belong to two classes.

# %%
show.cbow.word_map(E)

# %% [markdown]
# Classes are islands, and the words of two classes stand a little apart. Type a word or its first letters, and choose
# one from the list. The Tab key moves between the controls. Try *lamb*, *duck*, *cook* and *guides*.

# %%
show.cbow.explorer(E, nearest)

# %% [markdown]
# ### One vector for two meanings
#
# A *lamb* can be an animal or a meal. Where does its one vector point? Compare some words with the mean direction of four
# classes.

# %%
words = ["goat", "lamb", "bread", "baker", "cook", "eat"]
show.cbow.between_two(E, words, ["animal sg", "food", "person sg", "verb about food pl"])

# %% [markdown]
# *Goat* points to the animals, and *bread* to the food. In our run, the vector of *lamb* leans towards both, with cosines of
# 0.93 and 0.78. The vector of *cook* stands between persons and verbs, with 0.78 and 0.47. A word has only one vector, so
# two meanings have to share it.
#
# ### Which neighbours does it need?
#
# The model found the classes through windows of two words on either side. Would one do? Would only the words before do, or
# only those after? Train a model on each, with your own loop on the same text. `variant` keeps these weights apart
# from the graded ones. Each of the three trainings takes as long as yours did.


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


# %% [markdown]
# Now take the five nearest neighbours of every word. How many of them are of the word's class?

# %%
predict("window_that_finds_classes")


# %%
def share_of_same_class(E: Tensor) -> float:
    kinds = grammar.class_table().float()
    shares = []
    for index in range(1, V):
        alike = kinds[nearest(E, index, 5)] @ kinds[index] > 0
        shares.append(alike.double().mean())
    return float(torch.stack(shares).mean())


for name, table in vectors.items():
    print(f"{name:<12} {share_of_same_class(table):.0%} of the neighbours are of the same class")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# One word on either side does as well as two. The one-sided contexts do worse, and which side is which takes a moment.
# `two before` reads only words that stand *before* the gap. So it learns a word's vector only from the words that
# *follow* that word. In *the dog barks*, for example, *dog* is in the context of *barks*, so its vector learns from
# *barks*. With `two after` it is the other way round. Here what precedes a word says a little more about its class.
#
# Then why use a wider window? Real text has topics, and *hospital* and *doctor* seldom stand side by side. Small windows find
# words that can replace each other. Wide windows find words that belong together.
#
# </details>
#
# ## In your own words (about 10 minutes)
#
# A friend trains CBOW on a large collection of English. Among the nearest neighbours of *good* she finds *bad*, and
# calls it a bug. (a) Is it one? Explain from the way the vectors are learned. (b) Name a change to the *data or the
# task*, not to the formula, that could pull the two apart, and say why you expect it to. Five to eight sentences.

# %% [markdown] question="cbow_question"
# (a) It is no bug. A word's vector is learned only from the words that it helps to guess. *Good* and *bad* stand among the
# same words, as in *a good film* and *a bad film*. The model guesses the centre of such a window and gains nothing when it
# tells them apart, so the loss pushes their vectors the same way. Being near means that two words can stand in the same
# places, and opposites can do that better than most synonyms. The same happens in our grammar, where *sweet* and *bitter*
# are neighbours and belong to one class.
#
# (b) The task has to contain something that depends on the difference. For instance, let the model guess the centre and also
# the rating of the review in which the window stands. Then the gradient of the rating reaches $E$ and pushes *good* and
# *bad* in opposite directions, while all that they share still comes from the windows. Another way is to use windows as
# wide as a paragraph, because *bad* occurs together with *boring* and *waste*, and *good* with *enjoyed*, at more than two
# words' distance. I expect less of that, since reviews mix their topics, and both words occur in most of them.

# %%
rubric("cbow_question")

# %% [markdown]
# ## What you built
#
# You built a vocabulary, a bag of words, the cross-entropy loss and CBOW, one half of word2vec. Its table $E$ holds
# word embeddings, and you compared them by cosine similarity. In PyTorch these are `nn.Embedding`,
# `nn.CrossEntropyLoss` and `nn.CosineSimilarity`. `gensim.models.Word2Vec` trains CBOW on real text.
#
# Words become similar when they can stand in the same places. Where you know the best possible loss, you can also say
# how good your loss is.
#
# ## Going further
#
# - **Try it.** Make $W$ and $E$ the same table. What happens to the loss, and why must the model now expect each word
#   beside itself? Then train with `sum` in place of `mean`. The loss hardly changes. What happens to the vectors' lengths?
# - **Turn it round.** Guess the neighbours from the centre instead. That is skip-gram, the other half of word2vec. Your
#   `context_windows` already gives you its pairs.
# - **Real text.** `data.load("docstrings")` holds some 200,000 words. With a large vocabulary the softmax becomes the
#   costly part. Read about negative sampling, which replaces it.
# - **Read.** T. Mikolov, K. Chen, G. Corrado, J. Dean, [Efficient Estimation of Word Representations in Vector
#   Space](https://arxiv.org/abs/1301.3781) (2013). O. Levy, Y. Goldberg, *Neural Word Embedding as Implicit Matrix
#   Factorization* (2014), on why counts and a singular value decomposition find nearly the same vectors.
# - **Next.** A bag has no order, and a window has an end. A recurrent network reads word after word and carries a hidden
#   state along.
#
# <!-- needs: 03_rnn -->
# You build a recurrent network in topic 03.
#
# <!-- needs: 13_tokens -->
# In topic 13 you learn word vectors by negative sampling, and cut a word that no vocabulary knows into pieces.
#
# **Now you can** turn words into vectors whose neighbours have something in common, and hold your loss against the best one there
# is. Run the cell below to see which notebook comes next.

# %%
progress()
