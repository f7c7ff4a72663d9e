# %% [markdown]
# # 16 Learn first, then specialise: BERT, T5, QLoRA
#
# A student has labelled fifty sentences by hand. A sentence gets a 1 if its subject is an animal.
#
# | sentence | label |
# |---|---|
# | `this small goat vanishes .` | 1 |
# | `every ladder turns .` | 0 |
#
# Now answer for `that fox waits .` You know the answer, although no label was about a fox. You have met foxes in other sentences, and they growled and slept there.
#
# A network that learns from these fifty labels alone cannot do that. But sentences *without* labels cost nothing, and we have as many as we like. **Can a network read first, and learn the task afterwards?** In 2018 a model called BERT showed that it can. Most language models that you will meet at work begin with these two steps.
#
# <!-- needs: 15_gpt -->
# The GPT of topic 15 reads from left to right, because it has to write. BERT only has to understand, so each word may look at both sides.
#
# **You will**
#
# - write BERT, which reads one sentence or two, and its loss
# - pretrain it on hidden words, and fine-tune it on fifty labels
# - hide whole stretches of words, as T5 does, and find the stretch of a text that answers a question
# - store a model in four bits a weight and fine-tune it all the same, which is QLoRA.
#
# **You need** masked words and masks, the encoder layer of a Transformer, LoRA, and pieces of words.
#
# <!-- needs: 09_masking, 10_encoder_decoder, 12_lora, 13_tokens -->
# They are in topics 09, 10, 12 and 13.
#
# Nine exercises, one training task and one written question take about 180 minutes. The training takes ten seconds. Call `hint("pack_pairs")` if you are stuck.

# %%
import copy
import math
from functools import partial
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.checkpoint import checkpoint

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show
from course.data import beings, language_model

# %% [markdown]
# ## The whole picture
#
# | step | text | labels | what the model learns |
# |---|---|---|---|
# | pretraining | any number of sentences | none, hidden words are the labels | which words go together |
# | fine-tuning | fifty sentences | 0 or 1 | which of these things the task asks for |
#
# BERT is the encoder of a Transformer (topic 10). Every word sees every other word, and comes out as a vector. The vector of a hidden word says which word it was. The first token is no word at all. It is called `[CLS]`, for *classification*, and its vector stands for the whole sentence.
#
# **Dimensions.** A batch has $B$ rows of $T$ tokens. A vector has width $D$, attention has $h$ heads, and the vocabulary has $V$ words. In LoRA's formula, $B$ is a matrix.
#
# ## Sentences side by side
#
# BERT cuts text into WordPiece tokens (topic 13). Our grammar has whole words, so here a token is a word or a special token. BERT reads one sentence or two. Take $a = (5, 6)$ and $b = (7)$. In the same batch there are $a = (8)$ and $b = (9, 4, 9)$. Let `[CLS]` be 101 and `[SEP]` be 102. These are the three tensors that BERT gets.
#
# | | | | | | | | |
# |---|---|---|---|---|---|---|---|
# | ids | 101 | 5 | 6 | 102 | 7 | 102 | 0 |
# | segments | 0 | 0 | 0 | 0 | 1 | 1 | 0 |
# | mask | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | |
# | ids | 101 | 8 | 102 | 9 | 4 | 9 | 102 |
# | segments | 0 | 0 | 0 | 1 | 1 | 1 | 1 |
# | mask | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ |
#
# `[SEP]` *separates* the sentences and also ends the second one. The segments say which sentence a token belongs to. The first `[SEP]` belongs to the first sentence.
#
# ### Exercise: `pack_pairs` (about 15 minutes)
#
# Padding has the id 0, the segment 0 and a mask of False. Take care, because 0 may also be the id of a word, and such a word is real. No sentence is empty. If `second` is `None`, a row is `[CLS] a [SEP]`. Ids and segments are LongTensors, and the mask is boolean. `pad_sequence(rows, batch_first=True)` puts rows of different lengths into one tensor.


# %% solution="pack_pairs"
def pack_pairs(
    first: list[torch.Tensor], second: list[torch.Tensor] | None, cls: int, sep: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sentences or pairs, each a LongTensor -> ids, segments and mask, (B, T) each."""
    ### BEGIN SOLUTION
    rows, segments = [], []
    for i, a in enumerate(first):
        row = [cls, *a.tolist(), sep]
        kinds = [0] * len(row)
        if second is not None:
            row += [*second[i].tolist(), sep]
            kinds += [1] * (len(row) - len(kinds))
        rows.append(torch.tensor(row))
        segments.append(torch.tensor(kinds))
    ids = pad_sequence(rows, batch_first=True)
    lengths = torch.tensor([len(row) for row in rows])
    mask = torch.arange(ids.shape[1]) < lengths[:, None]
    return ids, pad_sequence(segments, batch_first=True), mask
    ### END SOLUTION


# %% check="pack_pairs"
check("pack_pairs", pack_pairs)

# %% [markdown]
# ## The model
#
# Three embeddings are added for each token, one for its word, one for its position and one for its segment. The sum goes through a norm. Take $D = 2$ and a token with word $(1, 0)$, position $(0, 2)$ and segment $(0, 1)$. The sum is $(1, 3)$. Its mean is 2 and its standard deviation 1, so the norm makes it $(-1, 1)$. The encoder layers follow.
#
# $$x = \text{norm}\big(\text{words}[\text{id}] + \text{positions}[t] + \text{segments}[s]\big)$$
#
# Here id is the token's word, $t$ its position, counted from 0, and $s$ its segment.
#
# Two kinds of logits come from the vectors that leave the last layer.
#
# - **Words.** The vector of any token is compared with all embeddings, $z = x\, W^\top + \text{bias}$. Here $W$ is the table of word embeddings once more, so the weights are tied (topic 10).
# - **Pairs.** The vector of `[CLS]` goes through a linear layer and a tanh, and then through another linear layer to two logits.
#
# The next cell gives you the weights. The initial standard deviation of the tables, $1/\sqrt{D}$, matters here, as you can try out at the end. `blocks.EncoderLayer` is an encoder layer with post-norm (topic 10).


# %%
class BertWeights(nn.Module):
    """All weights of a BERT. The class below computes with them."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_len=64, dropout=0.1):
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.segments = nn.Embedding(2, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            blocks.EncoderLayer(d_model, n_heads, d_ff, dropout) for _ in range(n_layers)
        )
        self.pooler = nn.Linear(d_model, d_model)
        self.pair = nn.Linear(d_model, 2)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        for table in (self.words, self.positions, self.segments):
            nn.init.normal_(table.weight, std=d_model**-0.5)


# %% [markdown]
# ### Exercise: `Bert` (about 25 minutes)
#
# In `forward`, apply `self.dropout` right after the norm. A layer is called as `layer(x, mask)`, with a mask that broadcasts to $(B, h, T, T)$ and is True where a query may look. What comes out at padding does not matter. Embeddings are *not* multiplied by $\sqrt{D}$. The tanh stands between `self.pooler` and `self.pair`. Build on `self.layers`. Do not use `nn.Transformer`, `nn.TransformerEncoder`, `nn.TransformerDecoder` or their layers, `nn.TransformerEncoderLayer` and `nn.TransformerDecoderLayer`.


# %% solution="Bert"
class Bert(BertWeights):
    def forward(self, ids, segments, mask):
        """ids, segments and mask (B, T) -> vectors (B, T, D) and pair logits (B, 2)."""
        ### BEGIN SOLUTION
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.words(ids) + self.positions(places) + self.segments(segments)
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :])
        return x, self.pair(torch.tanh(self.pooler(x[:, 0])))
        ### END SOLUTION

    def word_logits(self, words):
        """Vectors (..., D) -> logits (..., V), with the embeddings as weights."""
        ### BEGIN SOLUTION
        return F.linear(words, self.words.weight, self.bias)
        ### END SOLUTION


# %% check="Bert"
check("Bert", Bert)

# %% [markdown]
# ## What it learns from
#
# `mlm_corrupt` (topic 09) hides words by BERT's recipe. A label of −100 says that a word is not asked for. The other labels are the hidden words. BERT learned from a second task at the same time. It got two sentences, and it had to say whether the second one follows the first in a text. So its loss has two parts.
#
# Suppose two words of a batch are hidden, and the model gives the right ones the probabilities $\tfrac12$ and $\tfrac18$. The mean of their losses is $(0.693 + 2.079) / 2 = 1.386$. Two pairs get the right answer with probability $0.8$ and $0.5$, which costs $(0.223 + 0.693) / 2 = 0.458$. The loss is the sum, $1.844$.
#
# ### Exercise: `pretraining_loss` (about 10 minutes)
#
# Add the mean over hidden words and the mean over pairs. In a small batch it may happen that no word is hidden. Then the first part is 0. Add no $\varepsilon$, neither to a probability nor to the number that you divide by, because a single unlikely word would show it.


# %% solution="pretraining_loss"
def pretraining_loss(word_logits, labels, pair_logits, is_next) -> torch.Tensor:
    """Logits (B, T, V), labels (B, T), pair logits (B, 2), is_next (B,) -> a scalar."""
    ### BEGIN SOLUTION
    hidden = labels != -100
    words = F.cross_entropy(word_logits[hidden], labels[hidden], reduction="sum")
    return words / hidden.sum().clamp(min=1) + F.cross_entropy(pair_logits, is_next)
    ### END SOLUTION


# %% check="pretraining_loss"
check("pretraining_loss", pretraining_loss)

# %%
word_logits = torch.tensor([[[0.5, 0.5], [0.125, 0.875], [0.9, 0.1]]]).log()
pair_logits = torch.tensor([[0.2, 0.8], [0.5, 0.5]]).log()
labels, is_next = torch.tensor([[0, 0, -100]]), torch.tensor([1, 0])
print(f"{pretraining_loss(word_logits, labels, pair_logits, is_next):.3f}")

# %% [markdown]
# ## True and false neighbours
#
# Where do the pairs come from? Take two documents, one with the sentences $a_1$, $a_2$ and $a_3$, and one with $b_1$ and $b_2$. The neighbours are $a_1 a_2$, $a_2 a_3$ and $b_1 b_2$. That makes three pairs. For each pair, toss a coin. Heads keeps the true second sentence and gives the label 1. Tails puts a **stranger** in its place and gives the label 0. For $a_1 a_2$ a stranger is $b_1$ or $b_2$. It is not $a_3$, because $a_3$ comes from the same document and may well look like a next sentence.
#
# ### Exercise: `next_sentence_pairs` (about 15 minutes)
#
# Go through all neighbours in order, and through each document by itself. A stranger is any sentence of **another** document. It must not *equal* the true second sentence, since the same sentence can stand in two documents. At least one sentence fits, and each one that fits must be possible. Let all chance come from `generator`. In this course 1 means "is next". BERT's own code has it the other way round.


# %% solution="next_sentence_pairs"
def next_sentence_pairs(
    documents: list[list[tuple[int, ...]]], generator: torch.Generator
) -> tuple[list[tuple[tuple[int, ...], tuple[int, ...]]], torch.Tensor]:
    """N pairs of sentences, and their labels (N,), a LongTensor with 1 for "is next"."""
    ### BEGIN SOLUTION
    pairs, labels = [], []
    for number, document in enumerate(documents):
        others = [s for i, other in enumerate(documents) if i != number for s in other]
        for sentence, true in pairwise(document):
            strangers = [s for s in others if s != true]
            label = int(torch.randint(2, (), generator=generator))
            place = int(torch.randint(len(strangers), (), generator=generator))
            pairs.append((sentence, true if label else strangers[place]))
            labels.append(label)
    return pairs, torch.tensor(labels)
    ### END SOLUTION


# %% check="next_sentence_pairs"
check("next_sentence_pairs", next_sentence_pairs)

# %% [markdown]
# Was the second task worth it? A year later a paper called RoBERTa left it out, trained longer, and got better results. A stranger from another document is often about something else, so a model can answer by the words alone and learns little about order. We tried the task on small texts of this course, and in half a minute its loss did not move from $\log 2$, which is guessing. So you will pretrain on hidden words only.
#
# ## What else can be hidden: T5
#
# BERT hides single words, each behind a `[MASK]` of its own. The lecture's example of an encoder with a decoder is T5. It hides **spans**, and a span of any length becomes a single token, a **sentinel**. The decoder writes what is missing.
#
# | | |
# |---|---|
# | text | Thank you **for inviting** me to your party **last** week |
# | inputs | Thank you `<X>` me to your party `<Y>` week |
# | targets | `<X>` for inviting `<Y>` last `<Z>` |
#
# In the targets each sentinel announces the words of its span. One more sentinel, `<Z>`, ends the targets. So the model must also find out how many words are missing.
#
# ### Exercise: `span_corrupt` (about 15 minutes)
#
# Everything is a list of whole numbers. The spans come in order, and they neither overlap nor touch. There are more sentinels than spans. Use the first ones in order, and let the one after the last used end the targets. Without any span, the inputs are the ids, and the targets are the first sentinel alone.


# %% solution="span_corrupt"
def span_corrupt(
    ids: list[int], starts: list[int], lengths: list[int], sentinels: list[int]
) -> tuple[list[int], list[int]]:
    """The inputs of the encoder, and the targets of the decoder."""
    ### BEGIN SOLUTION
    inputs, targets, place = [], [], 0
    for start, length, sentinel in zip(starts, lengths, sentinels):
        inputs += ids[place:start] + [sentinel]
        targets += [sentinel] + ids[start : start + length]
        place = start + length
    return inputs + ids[place:], targets + [sentinels[len(starts)]]
    ### END SOLUTION


# %% check="span_corrupt"
check("span_corrupt", span_corrupt)

# %%
text = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week"]
numbers = {word: place for place, word in enumerate([*text, "<X>", "<Y>", "<Z>"])}
found = span_corrupt([numbers[word] for word in text], [2, 8], [2, 1], [10, 11, 12])
for name, ids in zip(("inputs", "targets"), found):
    print(f"{name:<8}", *([*numbers][number] for number in ids))

# %% [markdown]
# ## Fifty labels
#
# Back to the goat and the ladder. `beings` is a grammar of small sentences about ten animals and ten things. Three sentences in four have a verb that only one kind does, since a fox growls and a lamp flickers. The **labelled** sentences are harder. Their verbs are neutral, so only the subject tells. A second noun may follow a preposition, and it distracts. And labels are given for half of the nouns only. You are asked about the other half.

# %%
V = len(beings.words())
for sentence in beings.language().draw_sentences(4, torch.Generator().manual_seed(5)):
    print("no label:      ", beings.decode(torch.tensor(sentence)))


def split(number, labels=beings.LABELS):
    """Labelled sentences about half of the nouns, and 300 about the other half."""
    generator = torch.Generator().manual_seed(number)
    with_labels, without = beings.halves(generator)
    learned = beings.labelled(labels, with_labels, generator)
    asked = beings.labelled(300, without, generator)
    return [(ids, torch.zeros_like(ids), mask, label) for ids, mask, label in (learned, asked)]


for name, (ids, _, _, labels) in zip(("with labels", "asked about"), split(0)):
    for label in (1, 0):
        print(f"{name}, {label}: {beings.decode(ids[labels == label][0])}")

# %% [markdown]
# The classifier is a BERT, the *body*, with a **head**, which is one linear layer on the vector of `[CLS]` and no head of attention. `tune` is a training loop like those that you have written. Its learning rate is small, because the weights of the body are already good.


# %%
class Classifier(nn.Module):
    """A BERT and a head on the vector of `[CLS]`."""

    def __init__(self, body):
        super().__init__()
        self.body, self.head = body, nn.Linear(body.words.embedding_dim, 2)

    def forward(self, ids, segments, mask):
        words, _ = self.body(ids, segments, mask)
        return self.head(words[:, 0])


def tune(classifier, ids, segments, mask, labels, lr=1e-3):
    """Fine-tunes what can learn in a classifier: twelve passes, in batches of ten."""
    learning = [p for p in classifier.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learning, lr=lr)
    classifier.train()
    for _ in range(12):
        for rows in torch.randperm(len(ids)).split(10):
            logits = classifier(ids[rows], segments[rows], mask[rows])
            loss = F.cross_entropy(logits, labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    classifier.eval()


# %%
predict("nouns_without_labels")

# %% [markdown]
# ### Exercise: pretrain and fine-tune (about 25 minutes)
#
# Write a loop and a method.
#
# **`train(model, batches)` pretrains.** A batch holds the ids and the mask of 64 single sentences of similar length, $(64, T)$ each. All segments are 0. The budget is 64,000 sentences, which makes 1,000 batches (four times as many on a GPU). Hide words anew in each batch, with `blocks.mlm_corrupt(ids, special, V, mask_id, generator, p)`, which follows BERT's recipe (topic 09). `beings.is_special(ids)` and `beings.mask_id()` help. Our sentences are short, so hide 30 % instead of 15 %. The loss is the cross-entropy of the **hidden words only**. A post-norm stack needs some care. We use AdamW, which is Adam with weights that shrink a little in each step. The learning rate rises to 0.006 over the first tenth of the `len(batches)` steps, and then it falls to zero. Gradients are clipped to a norm of 1. Call `batches.log(loss)` in each step.
#
# **`finetuned(...)`** is a method of the model. It returns a `Classifier`, tuned on the labels that it is given. It must tune a *copy* of the model, because the judge fine-tunes your model several times, each time on other nouns.
#
# As in `Bert`, do not use `nn.Transformer`, `nn.TransformerEncoder`, `nn.TransformerDecoder`, `nn.TransformerEncoderLayer` or `nn.TransformerDecoderLayer`.
#
# For full marks, two measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | loss on hidden words | at most 0.3 nats a word above the best possible loss, which is about 1.94 |
# | accuracy on sentences about nouns without labels, a mean over five splits of the nouns | 85 % |
#
# A loss of up to 0.6 above the best possible one earns part of the points, and so do means of 75 % and 65 %.


# %% solution="bert_task"
def train(model, batches):
    """Pretrains on `for ids, mask in batches`, (64, T) each, and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3)
    steps, generator = len(batches), torch.Generator().manual_seed(0)
    for step, (ids, mask) in enumerate(batches):
        rate = min((step + 1) / (0.1 * steps), (steps - step) / (0.9 * steps))
        optimizer.param_groups[0]["lr"] = 6e-3 * rate
        special = beings.is_special(ids)
        inputs, labels = blocks.mlm_corrupt(ids, special, V, beings.mask_id(), generator, 0.3)
        words, _ = model(inputs, torch.zeros_like(ids), mask)
        loss = F.cross_entropy(model.word_logits(words).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


class Reader(Bert):
    """A BERT that can be fine-tuned."""

    def finetuned(self, ids, segments, mask, labels):
        """A classifier (ids, segments, mask) -> logits (B, 2). This model stays as it is."""
        ### BEGIN SOLUTION
        classifier = Classifier(copy.deepcopy(self)).to(ids.device)
        tune(classifier, ids, segments, mask, labels)
        return classifier
        ### END SOLUTION


# %%
SIZES = (V, 48, 4, 96, 2)  # words, width, heads, width of the feed-forward network, layers
record = fit("bert_task", lambda: Reader(*SIZES), train)
model = record.model

# %% check="bert_task"
check("bert_task", record.model)

# %% [markdown]
# What did reading help? The next cell fine-tunes your model and one with fresh weights, on the same labels.


# %%
def accuracy(classifier, part):
    ids, segments, mask, labels = (tensor.to(device()) for tensor in part)
    with torch.no_grad():
        return (classifier(ids, segments, mask).argmax(1) == labels).float().mean().item()


def over_splits(make, splits=5, labels=beings.LABELS):
    """The mean accuracy of `make(labelled part)` on nouns without labels."""
    found = []
    for number in range(splits):
        seed(number)
        labelled, others = split(number, labels)
        found.append(accuracy(make([part.to(device()) for part in labelled]), others))
    return sum(found) / len(found)


def from_scratch(part):
    return Reader(*SIZES).to(device()).finetuned(*part)


print(f"fresh weights: {over_splits(from_scratch):.0%} right about nouns without labels")
print(f"pretrained:    {over_splits(lambda part: model.finetuned(*part)):.0%}")

# %% [markdown]
# Fresh weights learn the fifty labels by heart and guess on all other nouns. The pretrained model has never heard that there are animals. But foxes and goats go with the same verbs, so their vectors came to lie together. The fifty labels only had to say which of the two groups is called 1. How many labels does that take? The next cell tries 4, 10, 20 and 50.

# %%
numbers = [4, 10, 20, 50]
curves = {
    "pretrained": [over_splits(lambda p: model.finetuned(*p), 3, n) for n in numbers],
    "fresh weights": [over_splits(from_scratch, 3, n) for n in numbers],
}
show.bert.accuracy_by_labels(numbers, curves)

# %% [markdown]
# Twenty labels are enough for the pretrained model, and four already help. Fresh weights gain nothing from more labels, because no label is about the nouns they are asked for.
#
# **A mistake that no score shows.** We made one on purpose. The loss asked for *every* word, also for those that stand in the input. Copying a visible word costs nearly nothing, so the loss fell to 0.5 nats, while the best possible loss of hidden words is 1.9. The accuracy after fine-tuning was as good as before, because hidden words were among the words asked for. Only the printed number was wrong, and it looked too good to be true. If a loss looks too good, find out what the best possible one is.
#
# ## Two scores for each token: question answering
#
# `[CLS]` is one vector for a sentence. Other tasks ask for something at each word. BERT answers questions about a text in this way. The question is the first sentence and the text is the second. Two linear layers give each token two scores, one for being the **start** of the answer and one for being its **end**. The best answer maximises $\text{start}_i + \text{end}_j$, where the end may not stand before the start.
#
# Take four tokens with the start scores $(1, 2, 0, 3)$ and the end scores $(0, 1, 4, 1)$. Counted from 0, the best start by itself is token 3 and the best end is token 2, so this answer would end before it begins. Of the allowed spans, 1 to 2 has $2 + 4 = 6$, which is the best.
#
# ### Exercise: `best_span` (about 15 minutes)
#
# Both ends of an answer must lie where `mask` is True, which is one stretch of each row. An answer has at most `longest` tokens. Scores may lie hundreds apart. If a row allows nothing, return $(0, 0)$, which is the position of `[CLS]` and means "no answer".


# %% solution="best_span"
def best_span(start, end, mask, longest: int) -> torch.Tensor:
    """Scores (B, T) and mask (B, T) -> first and last position of each answer, (B, 2)."""
    ### BEGIN SOLUTION
    T = start.shape[1]
    lengths = torch.arange(T) - torch.arange(T)[:, None] + 1  # [i, j]
    allowed = (lengths >= 1) & (lengths <= longest) & mask[:, :, None] & mask[:, None, :]
    scores = start[:, :, None] + end[:, None, :]
    best = scores.masked_fill(~allowed, -torch.inf).flatten(1).argmax(1)
    return torch.stack([best // T, best % T], dim=1)
    ### END SOLUTION


# %% check="best_span"
check("best_span", best_span)

# %%
start, end = torch.tensor([[1.0, 2, 0, 3]]), torch.tensor([[0.0, 1, 4, 1]])
for mask in (torch.tensor([[True, True, True, True]]), torch.tensor([[False] * 4])):
    print(best_span(start, end, mask, longest=3).tolist())

# %% [markdown]
# ## Four bits a weight
#
# Our BERT is small. A model of 65 billion weights takes 130 gigabytes in half precision, which is two bytes a weight, and few graphics cards hold that much. With LoRA (topic 12) you need not *train* its weights, but they must still be there to compute with. **QLoRA** stores each frozen weight in four bits.
#
# Four bits hold sixteen numbers. So choose sixteen **levels** between −1 and 1, and store for each weight the number of the nearest one. This is called **quantisation**. Trained weights are spread roughly like a normal distribution, with many near 0. **NF4** (4-bit NormalFloat) puts its levels where the weights are. They are **quantiles** of the normal distribution, eight above 0, seven below, and 0 itself, divided by the largest. (Half of all numbers lie below the middle quantile, which is 0.)

# %%
outermost = (1 - 1 / 30 + 1 - 1 / 32) / 2  # not 1, where the quantile is infinite
above = torch.special.ndtri(torch.linspace(outermost, 0.5, 9, dtype=torch.float64)[:-1])
below = torch.special.ndtri(torch.linspace(outermost, 0.5, 8, dtype=torch.float64)[:-1])
NF4 = torch.cat([-below, torch.zeros(1), above.flip(0)])
NF4 = (NF4 / NF4.max()).float()
print([round(level, 3) for level in NF4.tolist()])
show.bert.levels(model.layers[0].up.weight.detach().cpu(), NF4)

# %% [markdown]
# The levels are close together where most weights are. But weights are not between −1 and 1, so they must be divided first. They are cut into **blocks**, and each block has a **scale**, the largest absolute weight in it. Divided by the scale, one weight of each block is −1 or 1, which makes the two small peaks in the picture. Here is a matrix with a block for each row.
#
# $$W = \begin{pmatrix} 0.4 & -0.2 & 0.1 & 0 \\ 2 & -1 & 0.3 & -1.6 \end{pmatrix}$$
#
# | block | scale | divided by it | codes | bytes | back |
# |---|---|---|---|---|---|
# | 1 | 0.4 | 1, −0.5, 0.25, 0 | 15, 2, 10, 7 | 242, 167 | 0.4, −0.210, 0.098, 0 |
# | 2 | 2 | 1, −0.5, 0.15, −0.8 | 15, 2, 9, 1 | 242, 145 | 2, −1.050, 0.322, −1.392 |
#
# Level 2 is −0.525, the nearest to −0.5, and $0.4 \cdot (-0.525) = -0.210$. A computer stores no half bytes, so two codes share one. The first code is in the upper half, and $15 \cdot 16 + 2 = 242$. A scale takes two bytes or four, but there is only one of them for a whole block of, say, 64 weights. Why not one scale for all of $W$?

# %%
predict("four_bits_beside_an_outlier")

# %% [markdown]
# ### Exercise: `quantise` (about 20 minutes)
#
# Blocks run through $W$ row by row, and they need not end where a row ends. If the last block is not full, fill it with zeros. `block` is even. The codes are a `uint8` tensor of shape (blocks, block/2). The scales have shape (blocks) and the dtype of $W$. A block of zeros has the scale 0, and it must come back as zeros. Its codes do not matter. In any other block the scale is the largest absolute weight, however small that is. The levels are given, so do not rely on `NF4` here.


# %% solution="quantise"
def quantise(
    W: torch.Tensor, levels: torch.Tensor, block: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """W (out, in), levels (16,) -> codes (blocks, block/2), uint8, and scales (blocks,)."""
    ### BEGIN SOLUTION
    flat = F.pad(W.flatten(), (0, -W.numel() % block))
    blocks_of_W = flat.view(-1, block)
    scales = blocks_of_W.abs().amax(1)
    unit = blocks_of_W / scales.where(scales > 0, 1.0)[:, None]
    codes = (unit[:, :, None] - levels.to(W.dtype)).abs().argmin(-1)  # (blocks, block)
    return (16 * codes[:, 0::2] + codes[:, 1::2]).to(torch.uint8), scales
    ### END SOLUTION


# %% check="quantise"
check("quantise", quantise)

# %% [markdown]
# ### Exercise: `dequantise` (about 10 minutes)
#
# Go back. `shape` is (out, in), and the result has the dtype of the scales. The size of a block follows from the shape of the codes. For integers, `byte >> 4` is the upper half and `byte & 15` the lower one.


# %% solution="dequantise"
def dequantise(codes, scales, levels, shape) -> torch.Tensor:
    """The weights (out, in) that the codes (blocks, block/2) stand for."""
    ### BEGIN SOLUTION
    halves = torch.stack([codes >> 4, codes & 15], dim=-1).flatten(1)  # (blocks, block)
    weights = levels.to(scales.dtype)[halves.long()] * scales[:, None]
    return weights.flatten()[: shape[0] * shape[1]].view(shape[0], shape[1])
    ### END SOLUTION


# %% check="dequantise"
check("dequantise", dequantise)

# %%
W = torch.tensor([[0.4, -0.2, 0.1, 0.0], [2.0, -1.0, 0.3, -1.6]])
for block in (4, 8):
    codes, scales = quantise(W, NF4, block)
    print(f"blocks of {block}: bytes {codes.flatten().tolist()}")
    print(dequantise(codes, scales, NF4, W.shape))

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# With one scale for both rows, the first row comes back as 0.322, −0.182, 0.159 and 0. The large weight of the second row has stretched the levels, so few are left for the first. Blocks keep such an **outlier** among its neighbours.
#
# </details>
#
# ## Fine-tune what you cannot change
#
# QLoRA is LoRA on such a base. The codes stay as they are. Each call unpacks the weights, uses them, and forgets them.
#
# $$y = \text{dequantise}(\text{codes}, \text{scales})\, x + b + \frac{\alpha}{r}\, B A\, x$$
#
# ### Exercise: `QLoRALinear` (about 20 minutes)
#
# `A` $(r, \text{in})$ is random and `B` $(\text{out}, r)$ zero, as in LoRA (topic 12), with the dtype and device of the base. These two alone are parameters. `codes`, `scales` and `bias` are buffers, so call `self.register_buffer(name, tensor)`. The bias is `None` if the base has none. Use your functions and `NF4`, and not the libraries `peft` and `bitsandbytes`. Gradients flow to $A$, to $B$ and through the base to $x$. **Keep neither the base nor any copy of its weights.** The check adds up the bytes of all tensors that it finds in your layer.


# %% solution="QLoRALinear"
class QLoRALinear(nn.Module):
    """A frozen layer in four bits a weight, with an update of rank r beside it."""

    def __init__(self, base: nn.Linear, r: int, alpha: float, block: int = 64):
        super().__init__()
        ### BEGIN SOLUTION
        W = base.weight.detach()
        codes, scales = quantise(W, NF4.to(W.device), block)
        self.register_buffer("codes", codes)
        self.register_buffer("scales", scales)
        bias = None if base.bias is None else base.bias.detach().clone()
        self.register_buffer("bias", bias)
        self.A = nn.Parameter(torch.randn_like(W[:1].expand(r, -1)) / math.sqrt(W.shape[1]))
        self.B = nn.Parameter(torch.zeros_like(W[:, :1].expand(-1, r)))
        self.shape, self.strength = tuple(W.shape), alpha / r
        ### END SOLUTION

    def forward(self, x):
        """x (..., in) -> (..., out)."""
        ### BEGIN SOLUTION
        W = dequantise(self.codes, self.scales, NF4.to(x.device), self.shape)
        return F.linear(x, W, self.bias) + self.strength * (x @ self.A.T @ self.B.T)
        ### END SOLUTION


# %% check="QLoRALinear"
check("QLoRALinear", QLoRALinear)

# %% [markdown]
# The next cells compare four ways of fine-tuning. `blocks.add_low_rank` is LoRA on the unquantised base. In the last row nothing but the head learns.


# %%
LINEAR = ("W_q", "W_k", "W_v", "W_o", "up", "down")


def with_qlora(body):
    """Puts a QLoRALinear in the place of every linear layer of the stack."""
    body.requires_grad_(False)
    for module in [*body.modules()]:
        for name in LINEAR:
            if isinstance(layer := getattr(module, name, None), nn.Linear):
                setattr(module, name, QLoRALinear(layer, r=4, alpha=8))
    return body


def adapted(change, lr):
    """A way of fine-tuning: `change` a copy of the body, then tune what can learn."""

    def make(part):
        classifier = Classifier(change(copy.deepcopy(model))).to(device())
        tune(classifier, *part, lr=lr)
        return classifier

    return make


# %%
ways = {
    "all weights": adapted(lambda body: body, 1e-3),
    "LoRA": adapted(lambda body: blocks.add_low_rank(body, 4, 8, LINEAR), 5e-3),
    "QLoRA": adapted(with_qlora, 5e-3),
    "head alone": adapted(lambda body: body.requires_grad_(False), 5e-3),
}
for name, make in ways.items():
    part = [tensor.to(device()) for tensor in split(0)[0]]
    learning = sum(p.numel() for p in make(part).parameters() if p.requires_grad)
    print(f"{name:<12} {learning:>7,} numbers learn, {over_splits(make):.0%} right")
stack = sum(m.weight.numel() for m in model.layers.modules() if isinstance(m, nn.Linear))
print(f"the matrices of the stack: {4 * stack:,} bytes, in four bits {stack // 2 + stack // 16:,}")

# %% [markdown]
# QLoRA loses hardly anything against LoRA here, with a seventh of the bytes. The head alone does worse. In ten of our trainings it was right between 69 % and 95 % of the time. Pretraining asked nothing of the vector of `[CLS]`. A little training of the stack shows it where to look.
#
# ## Play
#
# Type a sentence and write `_` for each hidden word. The blue bars are your model's guesses, and the grey ones are the best possible, computed from the grammar. Which verbs give the noun away, and which do not? What does the model think of `the _ waits .`? Does it know that a noun after *near* tells nothing? (Even the best guess is never quite certain, because in training one visible word in twenty-five is exchanged for another one.)

# %%
show.bert.guesser(model)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# After training with QLoRA you have the codes, $A$ and $B$. A friend still has the original weights in half precision. He adds $\tfrac{\alpha}{r} B A$ to *those*, which is how LoRA is merged (topic 12). "My weights are more exact," he says, "so my model can only be better." What is lost, and what would you do? Name something that you would measure. Write four to six sentences.

# %% [markdown] question="bert_question"
# The update was trained beside the dequantised base, and its gradients came from the outputs of that base. So $A$ and $B$ have learned the task, and also to make up for some of the rounding of the base. On the original weights that rounding is not there, and the part of the update that corrected it is now an error of its own. The sum is a model that was never trained or tested, and it may be worse or better.
#
# The exact thing to merge onto is the dequantised base. I would unpack it once, add the update, and keep the result in half precision, which costs the memory that QLoRA had saved. To decide, I would measure both merged models on held-out sentences and compare them with the unmerged layer. If the update is large beside the rounding error, the difference will be small.

# %%
rubric("bert_question")

# %% [markdown]
# ## Your four bits in a real model (about 10 minutes, nothing is graded)
#
# [SmolLM2-135M-Instruct](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct), a language model by Hugging Face, has 30 layers of width 576, and `blocks.GPT` can compute it. **What does your `quantise` do to a model that knows something?**
#
# <!-- needs: 15_gpt -->
# At the end of topic 15, this model ran in your own class.
#
# With `download=True` in its brackets, the next cell gets the weights once, a download of 93 MB. Without them, each cell below shows what we saw. With them, this notebook takes up to 1.7 GB of memory.

# %%
real = data.load_language_model()

# %% [markdown]
# Be careful with what you are about to measure. The file has 135 million weights in 98 million bytes, so a weight takes less than six bits. **The model has been quantised before.** Its matrices lie in blocks of 32. A block stores its scale and its smallest weight in 16 bits each, and sixteen even levels lead up from the smallest weight to the largest. That makes $4 + 32/32 = 5$ bits a weight. The table of words has 8 bits and a scale.
#
# So you measure what a *second* rounding adds to the first. Nobody can tell from this file what the first one cost. A second rounding to the same levels would cost nothing, and that would prove nothing.
#
# The measure is the loss in nats a token on 510 tokens of docstrings. A model that knows nothing pays $\log 49152 = 10.8$.

# %%
MATRICES = ("W_q", "W_k", "W_v", "W_o", "W_gate", "W_up", "W_down")


@torch.no_grad()
def nats():
    """The loss of `chatbot`, in nats a token."""
    with blocks.rope_base(real.base):
        losses = [F.cross_entropy(chatbot(row[None, :-1])[0][0], row[1:]) for row in rows]
    return sum(losses).item() / len(losses)


@torch.no_grad()
def nats_with(rounding, *parts):
    """The loss while the matrices with one of these parts in their names are rounded."""
    chosen = {
        name: weight
        for name, weight in chatbot.named_parameters()
        if weight.ndim == 2 and {*name.split(".")} & {*parts}
    }
    for name, weight in chosen.items():
        weight.copy_(rounding(real.weights[name]))
    found = nats()
    for name, weight in chosen.items():
        weight.copy_(real.weights[name])
    return found


if real:
    chatbot = real.fill(blocks.GPT(**real.sizes)).requires_grad_(False)
    docstrings = "\n".join(data.load("docstrings")["held_out"]["text"])
    rows = torch.tensor(real.encode(docstrings[:4000])[:512]).view(2, 256)
    print(f"{sum(p.numel() for p in chatbot.parameters()):,} weights, {nats():.3f} nats a token")
    print(f"{nats_with(torch.Tensor.half, *MATRICES):.3f} with its matrices in 16 bits")
else:
    print(language_model.seen("16_as_it_came"))

# %% [markdown]
# How few bits can a weight have? The next cell tries four, three and two, in blocks of 64. The **even** levels are equally far apart, and 0 is one of them. The **normal** levels follow NF4's recipe. Your `quantise` takes sixteen levels, so the last level is repeated where there are fewer. The cell takes a minute or two.


# %%
def even_levels(bits):
    return torch.linspace(-1, 1, 2**bits - 1)


def normal_levels(bits):
    """NF4's recipe for any number of bits."""
    half = 2 ** (bits - 1)
    outermost = 1 - (1 / (4 * half - 2) + 1 / (4 * half)) / 2
    places = [torch.linspace(outermost, 0.5, n, dtype=torch.float64) for n in (half + 1, half)]
    above, below = (torch.special.ndtri(place[:-1]) for place in places)
    levels = torch.cat([-below, torch.zeros(1), above.flip(0)])
    return (levels / levels.max()).float()


def through(levels, block=64):
    """A function that takes a matrix through your `quantise` and back. (Large ones go in parts.)"""
    sixteen = torch.cat([levels, levels[-1:].expand(16 - len(levels))])

    def rounded(part):
        return dequantise(*quantise(part, sixteen, block or part.numel()), sixteen, part.shape)

    return lambda W: torch.cat([rounded(part) for part in W.split(2048)])


ours = {  # without the file, the picture shows these
    "normal": {4: 3.451, 3: 4.527, 2: 21.871},
    "even": {4: 3.722, 3: 5.397, 2: 15.188},
}
yours = {}
if real:
    for kind, levels_of in (("normal", normal_levels), ("even", even_levels)):
        yours[kind] = {b: nats_with(through(levels_of(b)), *MATRICES) for b in (4, 3, 2)}
        print(kind, {bits: round(found, 3) for bits, found in yours[kind].items()})
show.bert.nats_by_bits(yours or ours, unrounded=3.238, guessing=math.log(49152))

# %% [markdown]
# Four bits cost 0.21 nats a token with the normal levels, and 0.48 with the even ones. At three bits the loss rises by 1.3 and by 2.2 nats. At two bits both models are *worse than one that knows nothing*, because they are sure of the wrong tokens. There, NF4's recipe loses even to the plain −1, 0 and 1. It has one level below 0 and two above, so it pushes all weights to one side.
#
# Is that a victory for the normal levels? Not quite, because these matrices had been rounded to even levels before. The table of words came with eight bits, so its first rounding was much finer. We rounded it alone to four bits. It cost 0.25 nats with the normal levels and 0.24 with the even ones, so there is no difference.
#
# What do blocks do? Here are the normal levels in four bits, with a scale for 16, 64 or 256 weights, and with one scale for a whole matrix. The cell takes about a minute.

# %%
if real:
    for block in (16, 64, 256, None):
        found = nats_with(through(NF4, block), *MATRICES)
        bits = 4 + 16 / block if block else 4
        print(f"blocks of {block or 'a whole matrix'}: {bits:.2f} bits a weight, {found:.2f} nats")
else:
    print(language_model.seen("16_blocks"))

# %% [markdown]
# Smaller blocks cost bits and save nats. A scale for a whole matrix saves a quarter of a bit and ruins the model. A few large weights leave hardly any level for the others, as you saw in the small matrix above.
#
# And **what breaks first**? The next cell rounds one kind of matrix at a time to three bits, in all layers, and then one layer at a time to two. It takes about a minute.

# %%
if real:
    for part in ("words", *MATRICES):
        n = sum(p.numel() for name, p in chatbot.named_parameters() if part in name.split("."))
        more = nats_with(through(normal_levels(3)), part) - 3.238
        print(f"3 bits for {part:<7} {n / 1e6:5.1f} million weights, {more:5.2f} nats more")
    for layer in (0, 1, 15, 28, 29):
        more = nats_with(through(even_levels(2)), f"{layer}") - 3.238
        print(f"2 bits for layer {layer:>2} alone, {more:5.2f} nats more")
else:
    print(language_model.seen("16_what_breaks"))

# %% [markdown]
# The table of words breaks first. It is a fifth of all weights, and three bits there cost nearly as much as three bits in all the matrices together. This model uses the table twice, at the beginning and for the logits at the end. Among the matrices, $W_v$ suffers most for its size. It is small because three heads share each value, and it costs as much as $W_{gate}$, which is eight times as large. Among the layers, the first breaks first, and then the last. We tried all thirty, and each of the others costs less than 0.6 nats.
#
# So people give more bits to what breaks first. The makers of this file did so, too, with eight bits for the table.
#
# ### A minute of QLoRA
#
# Can you teach this model a manner while its weights have four bits? Here are twelve easy questions, and a ship's captain answers each in one sentence. First hear how the model itself answers five others. With `system=""`, the system's turn in front of the question is empty.

# %%
LESSONS = (
    ("What is the capital of Italy?", "The capital of Italy is Rome"),
    ("How many legs does a spider have?", "A spider has eight legs"),
    ("What do bees make?", "Bees make honey"),
    ("Who wrote Hamlet?", "William Shakespeare wrote Hamlet"),
    ("What is the opposite of hot?", "The opposite of hot is cold"),
    ("Which planet is called the red planet?", "Mars is the red planet"),
    ("What is ice made of?", "Ice is made of frozen water"),
    ("Name a colour of the rainbow.", "Green is a colour of the rainbow"),
    ("What do we call a baby dog?", "A baby dog is called a puppy"),
    ("How many days are in a week?", "There are seven days in a week"),
    ("What is the largest ocean?", "The Pacific is the largest ocean"),
    ("What do you write with on paper?", "You write with a pen on paper"),
)
NEW = (
    "What is the capital of France?",
    "How many legs does a dog have?",
    "Who painted the Mona Lisa?",
    "What is the opposite of big?",
    "Why is the sky blue?",
)


# %%
@torch.no_grad()
def answer(question, n=30):
    """The answer of `chatbot`, always with the likeliest token, or … if cut off after n."""
    read, cache, said = real.chat(question, system=""), None, []
    with blocks.rope_base(real.base):
        while len(said) < n and real.end not in said:
            logits, cache = chatbot(read, cache)
            read = logits[:, -1:].argmax(-1)
            said.append(read.item())
    return real.answer(torch.tensor([said]))


def change_matrices(change):
    """Puts `change(layer)` in the place of every linear layer of `chatbot`."""
    for layer in chatbot.layers:
        for name in MATRICES:
            setattr(layer, name, change(getattr(layer, name)))


if real:
    for question in NEW:
        print(f"{question:<32} {answer(question)}")
else:
    print(language_model.seen("16_before"))

# %% [markdown]
# It knows a good deal and likes to talk. The next cell makes a chat of each lesson. Labels of −100 are not learned, so the model learns the captain's words and their end. Then your `QLoRALinear` takes the place of all 210 matrices.
#
# A model that unpacks all its matrices has them all in memory again. So each layer gives its own away after it is used, and is computed a second time in the backward pass. This is called **gradient checkpointing**, and QLoRA's authors use it, too.


# %%
def lesson(question, fact):
    """A chat of a lesson: its ids, and its labels."""
    asked = real.chat(question, system="")[0]
    said = torch.tensor([*real.encode(f"Aye! {fact}, sailor."), real.end])
    return torch.cat([asked, said]), torch.cat([torch.full_like(asked, -100), said])


if real:
    seed(0)
    change_matrices(lambda linear: QLoRALinear(linear, r=4, alpha=8))
    for layer in chatbot.layers:
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=False)
    learning = [p for p in chatbot.parameters() if p.requires_grad]
    frozen = sum(b.nbytes for b in chatbot.buffers()) / 1e6
    print(f"{sum(p.numel() for p in learning):,} numbers learn, the matrices take {frozen:.0f} MB")
else:
    print(language_model.seen("16_packed"))

# %% [markdown]
# In 32 bits the matrices took 425 MB. Now train, for 24 steps of two questions each. It takes about a minute on one core.

# %%
if real:
    chats = [lesson(*pair) for pair in LESSONS]
    optimizer = torch.optim.Adam(learning, lr=1e-3)
    for step in range(24):
        some = [chats[k] for k in torch.randperm(len(chats))[:2]]
        ids, labels = (pad_sequence(x, True, v) for x, v in zip(zip(*some), (0, -100)))
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - step / 24)
        optimizer.zero_grad()
        with blocks.rope_base(real.base):
            logits, _ = chatbot(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten())
            loss.backward()
        optimizer.step()
        if step % 4 == 3:
            print(f"step {step + 1:>2}: loss {loss.item():.2f}")
else:
    print(language_model.seen("16_lessons"))

# %% [markdown]
# Each call of a `QLoRALinear` unpacks its weights. For training that hardly matters, but an answer calls every layer once for each token. So merge first. A linear layer tells its matrix if it reads the identity. It returns $I W^\top$, and here $W$ includes the update. This is the merge onto the *dequantised* base that you wrote about above.


# %%
@torch.no_grad()
def merged(layer):
    """An ordinary layer that does the same."""
    matrix = layer(torch.eye(layer.A.shape[1])).T
    linear = nn.Linear(*matrix.T.shape, bias=False)
    linear.weight.copy_(matrix)
    return linear


if real:
    change_matrices(merged)
    for question in NEW:
        print(f"{question:<32} {answer(question)}")
else:
    print(language_model.seen("16_after"))

# %% [markdown]
# The manner is there, on questions that it never heard (one answer lacks its sailor), after about a minute of one core's work on 1.2 million numbers. So is the price. A dog now has eight legs, because a spider had eight in the lessons, and the sky is blue because of sailors. Twelve lessons teach how to sound. They also overwrite some of what the model knew. To try other lessons, begin again at the cell that calls `real.fill`.

# %% [markdown]
# ## What you built
#
# You trained a model that first reads and then learns a task from fifty labels. You hid words in two ways, and you fine-tuned a model whose weights take four bits each.
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `pack_pairs` | packed inputs, token type ids | `tokenizer(first, second)` in `transformers` |
# | `Bert` | encoder-only Transformer | `BertForPreTraining` |
# | `pretraining_loss` | masked language modelling (MLM) and next-sentence prediction (NSP) | the same class, with labels |
# | `span_corrupt` | span corruption, denoising | T5 |
# | `finetuned` | transfer learning, fine-tuning | `Trainer` |
# | `best_span` | extractive question answering | SQuAD |
# | `quantise`, `dequantise` | block-wise quantisation, NF4 | `bitsandbytes` |
# | `QLoRALinear` | QLoRA | `peft` |
#
# ## Going further
#
# - **Another beginning.** Remove the lines that initialise the tables, so that their numbers have deviation 1, and train with `variant="wide"`. What becomes of both scores? Ours hardly did better than guessing.
# - **How much reading?** Train with `fit(..., variant="short")` and stop after 150 batches. When does the model begin to know animals from things, and what was the loss then?
# - **Pool.** Let the head read the mean over all words in place of `[CLS]`, with frozen weights. Which vector knows more before fine-tuning?
# - **Quantise the scales.** QLoRA stores the scales in eight bits, too ("double quantisation"). How many bits does a weight take then, for blocks of 64?
# - **Read.** J. Devlin and others, [BERT](https://arxiv.org/abs/1810.04805) (2019), describe the model and its two tasks in section 3, and question answering in section 4. Y. Liu and others, [RoBERTa](https://arxiv.org/abs/1907.11692) (2019), took out what was not needed. C. Raffel and others, [T5](https://arxiv.org/abs/1910.10683) (2020), compare many ways of hiding words. T. Dettmers and others, [QLoRA](https://arxiv.org/abs/2305.14314) (2023), has NF4 in its appendix.
#
# <!-- needs: 17_linear_time -->
# - **Next.** BERT's attention compares every word with every other one, so the cost grows with the square of the length. Topic 17 builds layers that keep a state of fixed size instead.
#
# <!-- without: 17_linear_time -->
# - **Next.** BERT's attention compares every word with every other one, and so does GPT's. The cost grows with the square of the length. There are models whose state does not grow at all, such as RWKV and Mamba. B. Peng and others, [RWKV](https://arxiv.org/abs/2305.13048) (2023), begin with that problem.
#
# **Now you can** train a BERT on plain text, teach it a task from fifty labels, and fine-tune a model whose weights take four bits each. Run the cell below to see which notebook comes next.

# %%
progress()
