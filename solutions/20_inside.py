# %% [markdown]
# # 20 Inside a model
#
# A small GPT has read a play. In it two people speak in turn, and each has a surname that is new in every text. When somebody speaks again, the model knows the surname, although it met it once. Where in its 90,560 numbers is that? You will find the place, knock it out, and watch the surname go.
#
# In topic 15 our model tossed a coin between two surnames. This one has the same parts, but it read 60,000 texts in place of 12,000, and the last matrices of each sublayer began with smaller numbers.
#
# **You will**
#
# - read what a model would say after each layer, and split a logit into what each part has added
# - find heads that look back, zero them, and put back what they said
# - test a probe against labels that you drew yourself
# - find features that share too few dimensions, with a sparse autoencoder
# - let a model choose by likelihood, and give its accuracy with its error.
#
# **You need** the GPT of topic 15, with its residual stream and RMSNorm. Nine exercises, one training task and one written question take about 190 minutes. The reading takes another 60. Call `hint("logit_lens")` if you are stuck.

# %%
from contextlib import ExitStack

import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, fit, hint, predict, progress, rubric, seed, show
from course.data import (
    grammar,
    invented_words,
    language_model,
    play,
    play_model,
    superposition,
    wordnet,
)

# %% [markdown]
# ## A model with windows
#
# `blocks.OpenGPT` is the GPT of topic 15 with the same weights and the same logits. Whatever flows through it also passes through an `nn.Identity`, which returns what it gets. So each quantity has a module of its own, and a module can be watched.
#
# | module | what passes through it |
# |---|---|
# | `model.embedding` | the stream before the first layer, $(B, T, D)$ |
# | `layer.stream`, `layer.between` | the stream before a layer, and behind its attention |
# | `layer.weights` | the attention weights, $(B, h, T, T)$ |
# | `layer.added[k]` | what head $k$ adds to the stream, $(B, T, D)$ |
# | `layer.fed` | what the feed-forward network adds |
# | `model.stream` | the stream behind the last layer |
#
# PyTorch watches by a **forward hook**, a function that is called whenever a module has computed something. It gets the module, its inputs and its output. If it returns something, the model goes on with that in place of the output. `register_forward_hook` hangs a hook on a module and returns a handle, and `handle.remove()` takes the hook off.
#
# The next cell has a hook that keeps outputs. `ExitStack` takes all hooks off at the end, even if the model raises an error.


# %%
def record(model, modules, ids):
    """What each module returns while the model reads ids: one tensor for each module."""
    seen = {}
    with ExitStack() as stack, torch.no_grad():
        for i, module in enumerate(modules):

            def keep(module, inputs, output, i=i):  # i=i: each hook has its own number
                seen[i] = output

            stack.callback(module.register_forward_hook(keep).remove)
        model(ids)
    return [seen[i] for i in range(len(modules))]


model = blocks.OpenGPT(**play_model.SIZES).load_published(play_model.weights()).eval()
model.requires_grad_(False)
text = "Ada Marsh: the cook sings . Hugo Vale: the lamb sleeps . Ada Marsh: the cat sleeps ."
number = {word: i for i, word in enumerate(play.words())}
ids = torch.tensor([[number[word] for word in [grammar.STOP, *text.split()]]])
first = model.layers[0]
embedded, found = record(model, [model.embedding, first.added[0]], ids)
print(embedded.shape, found.shape)

# %% [markdown]
# ## The lens
#
# The model makes logits of its last stream in two steps, a norm and a product with the embedding table. You can do the same with an earlier stream. That is the **logit lens**.
#
# Take a width of 2 and two tokens. *Marsh* has the row $(1, 0)$ in the table, so it reads the first number of the stream, and *Vale* has $(0, 1)$. The stream is $(3, 4)$. Its root mean square (RMS) is $\sqrt{(9 + 16)/2} = 3.536$. Divided by it, the stream gives the logits $(0.849, 1.131)$, and *Marsh* has a probability of 0.43.
#
# Then a head adds $(4, -3)$. The stream is $(7, 1)$, its RMS is 5, the logits are $(1.4, 0.2)$, and *Marsh* has 0.77. In general, with the gain $\gamma$ of the model's last norm and the table $W_U$,
#
# $$\text{logits} = W_U \left(\gamma \odot \frac{x}{\sqrt{\text{mean}(x^2) + \varepsilon}}\right)$$
#
# Each stream is divided by **its own** RMS, as the model would do if it ended there.
#
# ### Exercise: `logit_lens` (about 15 minutes)
#
# `stream` is one layer or several, $(\dots, D)$, `gamma` is $(D,)$ and `W_U` is $(V, D)$. Return logits $(\dots, V)$, and add no softmax. You may use `F.rms_norm`.


# %% solution="logit_lens"
def logit_lens(
    stream: torch.Tensor, gamma: torch.Tensor, W_U: torch.Tensor, eps: float = 1e-6
) -> torch.Tensor:
    """stream (..., D), gamma (D,), W_U (V, D) -> logits (..., V)."""
    ### BEGIN SOLUTION
    return F.rms_norm(stream, stream.shape[-1:], gamma, eps) @ W_U.T
    ### END SOLUTION


# %% check="logit_lens"
check("logit_lens", logit_lens)

# %% [markdown]
# The next cell puts your lens on five streams at the place of the second *Ada*, from the embedding on. Behind which of them does *Marsh* appear?

# %%
STAGES = {"embedding": model.embedding, "attention 0": model.layers[0].between}
STAGES |= {"layer 0": model.layers[1].stream, "attention 1": model.layers[1].between}
STAGES |= {"layer 1": model.stream}
gamma, W_U = model.norm.weight, model.words.weight
again = 13  # the place of the second Ada
streams = torch.stack(record(model, list(STAGES.values()), ids))[:, 0, again]
p = logit_lens(streams, gamma, W_U).softmax(-1)
show.inside.layers_say({name: p[:, number[name]] for name in ("Marsh:", "Vale:")}, list(STAGES))

# %% [markdown]
# Before the attention of layer 1 the stream says nothing of the surname. Behind it, the surname is there. So that attention has brought it.
#
# ## Who said it?
#
# A stream is a sum. Embedding, heads and feed-forward networks each add a part. The logit of a token is a sum, too, if you divide all parts by **one** number, the RMS of the whole stream. Then each part has a share, and the shares add up to the logit. This is **direct logit attribution**.
#
# In the example the parts are $(3, 4)$ and $(4, -3)$, and the whole $(7, 1)$ has an RMS of 5. Marsh less Vale gets $(3 - 4)/5 = -0.2$ from the first part and $(4 + 3)/5 = 1.4$ from the second. Their sum is 1.2, and the model's logits differ by $1.4 - 0.2 = 1.2$. Had you divided each part by its own RMS, 3.536, you would get $-0.283$ and $1.980$. Their sum is 1.697, which is no logit of anything.
#
# So the lens divides each stream by its own RMS, and attribution divides all parts by the RMS of their sum. The commonest bug of either is to do it as the other does.
#
# ### Exercise: `direct_attribution` (about 20 minutes)
#
# `parts` $(P, \dots, D)$ add up to the stream, and `right` $(\dots)$ holds one token for each place. Return the share of each part, $(P, \dots)$, in the logit of `right`. If `wrong` is given, subtract the part's share in the logit of `wrong`. `gamma` and `eps` are those of the lens. Gradients are not examined here.


# %% solution="direct_attribution"
def direct_attribution(parts, gamma, W_U, right, wrong=None, eps=1e-6):
    """parts (P, ..., D), right and wrong (...) -> shares (P, ...)."""
    ### BEGIN SOLUTION
    scale = (parts.sum(0).square().mean(-1, keepdim=True) + eps).rsqrt()
    direction = W_U[right] if wrong is None else W_U[right] - W_U[wrong]
    return (parts * scale * gamma * direction).sum(-1)
    ### END SOLUTION


# %% check="direct_attribution"
check("direct_attribution", direct_attribution)

# %%
PARTS = {"embedding": model.embedding}
for i, layer in enumerate(model.layers):
    PARTS |= {f"head {i}.{k}": layer.added[k] for k in range(4)}
    PARTS[f"feed-forward {i}"] = layer.fed
parts = torch.stack(record(model, list(PARTS.values()), ids))[:, 0, again]
right, wrong = torch.tensor(number["Marsh:"]), torch.tensor(number["Vale:"])
shares = direct_attribution(parts, gamma, W_U, right, wrong)
with torch.no_grad():
    logits = model(ids)[0][0, again]
print(f"the model: {logits[right] - logits[wrong]:.2f}, all shares: {shares.sum():.2f}")
for share, name in sorted(zip(shares.tolist(), PARTS), reverse=True)[:6]:
    print(f"{share:6.2f}  {name}")

# %% [markdown]
# Heads are named by layer and number, so 1.1 is head 1 of layer 1. The first line is the law that attribution obeys.
#
# ## Which head looks back?
#
# A head that continues repeated text looks at what came **behind** the earlier copy of the current token. It is the **induction head** of topic 15. How much does a head look there?
#
# Take the ids G M H G M. Place 3 is the second G. The first G stands at place 0, and behind it is place 1. Say a head's weights at place 3 are $(0.1, 0.6, 0.1, 0.2)$. It puts 0.6 on its target. Place 4 is the second M, and its target is place 2. With the weights $(0.1, 0.2, 0.5, 0.1, 0.1)$ it puts 0.5 there. The other places have no target, so the score is $(0.6 + 0.5)/2 = 0.55$.
#
# A token may have come several times. In A B A C A, the last A has the targets 1 and 3. With rows $(0.2, 0.7, 0.1)$ at place 2 and $(0.1, 0.3, 0.1, 0.4, 0.1)$ at place 4, the score is $(0.7 + 0.3 + 0.4)/2 = 0.7$.
#
# ### Exercise: `induction_score` (about 20 minutes)
#
# `attention` $(B, h, T, T)$ has a row of weights for each place, and `ids` $(B, T)$ are the texts. The targets of place $t$ are all places $s + 1 < t$ with `ids[s] == ids[t]`. Sum the weights on them, and take the mean over all places, of all texts together, that have a target. If there is none, the score is 0.


# %% solution="induction_score"
def induction_score(attention: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """attention (B, h, T, T), ids (B, T) -> a score for each head (h,)."""
    ### BEGIN SOLUTION
    T = ids.shape[1]
    targets = torch.zeros(len(ids), T, T, dtype=torch.bool)
    targets[:, :, 1:] = (ids[:, :, None] == ids[:, None])[:, :, :-1]
    targets &= torch.ones(T, T, dtype=torch.bool).tril(-1)
    places = targets.any(-1).sum().clamp(min=1)
    return (attention * targets[:, None]).sum((0, 2, 3)) / places
    ### END SOLUTION


# %% check="induction_score"
check("induction_score", induction_score)

# %% [markdown]
# Common words such as *the* come again all the time, and what followed them says little. So the next cell asks about speakers alone. It gives every other token an id that never comes twice.

# %%
texts = play.draw(200, torch.Generator().manual_seed(1))
read, target = texts[:, :-1], texts[:, 1:]
speaker = play.is_surname(target)  # a speaker is the token before a surname
speakers = torch.where(speaker, read, 1000 + torch.arange(read.shape[1]))
for i, layer in enumerate(model.layers):
    (weights,) = record(model, [layer.weights], read)
    scores = induction_score(weights, speakers)
    print(f"layer {i}: " + "  ".join(f"{i}.{k} {s:.2f}" for k, s in enumerate(scores.tolist())))

# %% [markdown]
# Layer 1 looks behind the speaker's first line, and layer 0 does not. Textbooks tell of a partner in the layer before. It marks each token with the one before it, so that the induction head can find the mark. Is that so here? The next cell asks how much each head of layer 0 looks from a surname to its speaker. The cells behind it take away what layer 0 adds at the surnames, and print the probability of the right surname, that of any surname, and the loss on the sentences.

# %%
(weights,) = record(model, [model.layers[0].weights], read)
rows, places = torch.where(play.is_surname(read))
back = weights[rows, :, places, places - 1].mean(0)
print("layer 0, from a surname to its speaker:", [round(w, 2) for w in back.tolist()])


# %%
def spoken_before(read, target):
    """Where a speaker stands who has spoken before, (B, T)."""
    speaker = play.is_surname(target)
    same = (read[:, :, None] == read[:, None]) & speaker[:, None] & speaker[:, :, None]
    return same.tril(-1).any(-1)


known = spoken_before(read, target)
sentence = ~play.is_surname(target) & (read != number[grammar.STOP])
everywhere = torch.ones_like(read, dtype=torch.bool)


def measured(logits):
    """Probability of the right and of any surname where it is known, and the sentences' loss."""
    p = logits.softmax(-1)
    right = p.gather(-1, target[..., None]).squeeze(-1)
    surname = p[..., -len(play.SURNAMES) :].sum(-1)
    return right[known].mean(), surname[known].mean(), -right[sentence].log().mean()


def without(modules, where, model=model, read=read):
    """The model's logits when these modules say zero wherever `where` (B, T) is True."""

    def zero(module, inputs, output):
        return output.masked_fill(where[..., None], 0.0)

    with ExitStack() as stack, torch.no_grad():
        for module in modules:
            stack.callback(module.register_forward_hook(zero).remove)
        return model(read)[0]


# %%
surname = play.is_surname(read)
for name, where in (("nothing", ~everywhere), ("layer 0 at the surnames", surname)):
    first = model.layers[0]
    right, some, loss = measured(without([*first.added, first.fed], where))
    print(f"without {name:<25} right {right:.3f}  any {some:.3f}  sentences {loss:.3f}")

# %% [markdown]
# Yes. Head 0.3 looks from a surname to the speaker before it, with a weight of 0.73. And if all that layer 0 adds at the surnames is taken away, the right surname falls from 0.998 to 0.131. So layer 0 marks a surname with its speaker, and layer 1 finds the mark. That is the textbook's story, in one model from one seed. In another model it may be told otherwise, so look before you tell it.
#
# ## Knock it out
#
# Attention shows where a head looks, and not whether anything comes of it. So take heads away. Each is set to zero at the speakers alone, because zero at all places also breaks what the heads do elsewhere.

# %%
predict("one_of_three_heads_away")

# %%
last = model.layers[1]


def knock_out(trials):
    """Zero heads of layer 1 at the speakers, print what is measured, and return the surnames'."""
    lost = {}
    for name, heads in trials.items():
        right, some, loss = measured(without([last.added[k] for k in heads], speaker))
        lost[name] = float(right), float(some)
        print(f"without {name:<16} right {right:.3f}  any {some:.3f}  sentences {loss:.3f}")
    return lost


lost = knock_out({"nothing": []} | {f"1.{k}": [k] for k in range(4)})

# %%
predict("sentences_without_the_induction_heads")

# %%
lost |= knock_out({"1.1 and 1.2": [1, 2], "1.1, 1.2 and 1.3": [1, 2, 3]})
show.inside.knocked_out(lost)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# One head alone is hardly missed. Without 1.3, which has the largest share, 0.897 is left, and without 1.2, which has the highest score, 0.917. But without all three the right surname has 0.063, which is one of sixteen. The surname is gone. The model still says *some* surname, with 0.94. So these heads say which surname comes, and others say that one comes. The sentences lose nothing.
#
# Models do this often. Several heads learn the same work, and each hides that the others do it. So a head that can go is no head that does nothing.
#
# </details>
#
# ## Put it back
#
# Knocking out asks what a model cannot do without a head. **Activation patching** asks what a head carries. Let the model read a clean text, and keep what a module said. Then let it read a corrupted text, in which the surname is another one, and replace what this module says by what it said before. If the model says the clean surname again, the module carried it.
#
# Say the logits of the clean and the wrong surname differ by $+4$ in the clean run, by $-2$ in the corrupted run, and by $2.5$ in the patched one. Then $(2.5 + 2)/(4 + 2) = 0.75$ of the effect is **restored**. Others patch corrupted into clean, and count the harm. Read which one a paper means.
#
# ### Exercise: `patch` (about 25 minutes)
#
# Return what `model(ids)` returns when the output of `module` is `value` wherever `where` is True. The module returns one tensor, and `value` and `where` broadcast to it. With output $(1, 2, 3)$, value 9 and where (F, T, F), the model goes on with $(1, 9, 3)$.
# A module that is called twice is patched twice. Afterwards everything is as it was. Your hook is gone even if the model raises an error, and other hooks, the mode (`train` or `eval`) and the tensor that the module made are untouched. Gradients reach `value`, and `value` may be infinite where it is not used.


# %% solution="patch"
def patch(model, module, ids, value, where):
    """Runs model(ids) with `value` in the output of `module` where `where` is True."""
    ### BEGIN SOLUTION
    handle = module.register_forward_hook(
        lambda module, inputs, output: torch.where(where, value, output)
    )
    try:
        return model(ids)
    finally:
        handle.remove()
    ### END SOLUTION


# %% check="patch"
check("patch", patch)

# %% [markdown]
# The next cell exchanges the surname where a person speaks first, and patches one head of layer 1 after another, at the place where the person speaks again.


# %%
def corrupted(read, at, row):
    """The text with another surname at the first line of the speaker at `at`."""
    first = (read[row] == read[row, at]).nonzero()[0, 0] + 1
    other = read[row].clone()
    span = len(play.SURNAMES)
    base = len(play.words()) - span
    other[first] = base + (other[first] - base + 1) % span
    return other


rows, places = torch.where(known)
_, firsts = (rows == torch.arange(len(read))[:, None]).int().max(1)  # one place of each text
chosen = [i for i in firsts.unique().tolist() if places[i] < 40][:60]
rows, places = rows[chosen], places[chosen]
clean = read[rows]
dirty = torch.stack([corrupted(read, at, row) for row, at in zip(rows, places)])
here = torch.arange(read.shape[1]) == places[:, None]  # the place that is asked
right = clean[torch.arange(len(rows)), (clean != dirty).int().argmax(1)]
wrong = dirty[torch.arange(len(rows)), (clean != dirty).int().argmax(1)]


def lead(logits):
    """How far the clean surname leads the other one, a mean over texts."""
    said = logits[here]
    return (said.gather(1, right[:, None]) - said.gather(1, wrong[:, None])).mean()


with torch.no_grad():
    best, worst = lead(model(clean)[0]), lead(model(dirty)[0])
    print(f"clean {best:.2f}, corrupted {worst:.2f}")
    values = record(model, list(last.added), clean)
    for k, value in enumerate(values):
        logits, _ = patch(model, last.added[k], dirty, value, here[..., None])
        print(f"head 1.{k} restores {(lead(logits) - worst) / (best - worst):.2f}")

# %% [markdown]
# Head 1.2 restores 0.45, 1.3 restores 0.34 and 1.1 restores 0.16. Together that is nearly the whole. Head 1.0, which looks elsewhere, restores nothing. One head that is zeroed leaves its work to the others. One head that is patched speaks against two that still bring the wrong surname, and it moves the logits by its own share. So patching finds what zeroing did not.
#
# Try it yourself. The widget reads a play that you type, with the lens behind each half of a layer, and a switch that zeroes a head at all places. Surnames are blue. Turn off 1.2 and 1.3. Which surname comes, and is there still one? Then turn off 0.3 alone.

# %%
show.inside.explorer(model, logit_lens)

# %% [markdown]
# ## Can it be read, or is it used?
#
# A **probe** is a small model that reads a property from a stream, such as the class of a word. If it reads well, what does that say? A table of random vectors, one for each word, would be enough to read any property of words.
#
# J. Hewitt and P. Liang (2019) compare with a **control task**. Each word *type* gets a random label, and all its tokens share it. A probe that reads these labels as well has learned a list of words. The difference of both accuracies is the probe's **selectivity**.
#
# Take the tokens *dog cat dog the*, with labels N N N D. Each type draws its label from the labels of all four tokens. So each gets N with probability ¾ and D with ¼, and both dogs get the same.
#
# ### Exercise: `control_labels` (about 15 minutes)
#
# `words` $(N,)$ has the id of each token's word, and `labels` $(N,)$ its label. Draw one label for each word type, with replacement, from the labels of all tokens. Types are independent. Take all chance from `generator`.


# %% solution="control_labels"
def control_labels(
    words: torch.Tensor, labels: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """words and labels (N,) -> a random label for each word type, at its tokens (N,)."""
    ### BEGIN SOLUTION
    types, of_type = words.unique(return_inverse=True)
    drawn = torch.randint(len(labels), (len(types),), generator=generator, device=generator.device)
    return labels[drawn][of_type]
    ### END SOLUTION


# %% check="control_labels"
check("control_labels", control_labels)


# %%
def linear_probe(x, labels, new_x, new_labels):
    """Accuracy of ridge regression to one-hot labels: x (N, D), labels (N,)."""
    x, new_x = (torch.cat([some, torch.ones(len(some), 1)], 1).double() for some in (x, new_x))
    goal = F.one_hot(labels, int(labels.max()) + 1).double()
    W = torch.linalg.solve(x.T @ x + 1e-2 * torch.eye(x.shape[1]).double(), x.T @ goal)
    return ((new_x @ W).argmax(1) == new_labels).double().mean().item()


words = read.flatten()
kinds = grammar.class_table()  # (V, classes); some words are in two, and the first one counts
classes = torch.full((len(play.words()),), kinds.shape[1])  # surnames are a class of their own
classes[: len(kinds)] = kinds.int().argmax(1)
labels = classes[words]
control = control_labels(words, labels, torch.Generator().manual_seed(0))
half = len(words) // 2
for name in ("embedding", "layer 0", "layer 1"):
    (x,) = record(model, [STAGES[name]], read)
    x = x.flatten(0, 1)
    real, drawn = (
        linear_probe(x[:half], some[:half], x[half:], some[half:]) for some in (labels, control)
    )
    print(f"{name:<10} classes {real:.2f}  control {drawn:.2f}  selectivity {real - drawn:+.2f}")

# %% [markdown]
# From the embedding the probe reads every class. It also reads three quarters of the labels that were drawn, so most of that is a list of words. Behind layer 1 it reads fewer classes, but the selectivity has nearly doubled, from 0.23 to 0.44. So 100 % says little, and the difference says that the model has put words of a class together.
#
# ## More features than dimensions
#
# A stream of 64 numbers may hold more than 64 features, if only a few are on at a time. This is called **superposition** (N. Elhage and others, 2022). No single number of the stream means anything then. A **sparse autoencoder** looks for directions that do. It describes each vector by few of many features, and a penalty keeps them few.
#
# Take a width of 2, two features, and $x = (3, 0)$. First a bias is taken off, $b_{dec} = (1, 1)$, which leaves $(2, -1)$. The encoder $W_{enc}$ is the identity here, and adds its bias $b_{enc} = (-\tfrac12, -\tfrac12)$. That makes $(1.5, -1.5)$, and a ReLU makes the features $f = (1.5, 0)$. The columns of $W_{dec}$ are $(1, 0)$ and $(0, 2)$. So the features add up to $(1.5, 0)$, and with $b_{dec}$ put back $\hat x = (2.5, 1)$.
#
# The error is $0.5^2 + 1^2 = 1.25$. The penalty is $\lambda = 0.2$ times the feature 1.5 times the length 1 of its column, which is 0.3. For $x = (1, 2)$ you get $f = (0, 0.5)$ and $\hat x = (1, 2)$, so there is no error and a penalty of $0.2 \cdot 0.5 \cdot 2 = 0.2$. The loss is $(1.55 + 0.2)/2 = 0.875$. In general
#
# $$f = \text{relu}\big((x - b_{dec})\, W_{enc}^\top + b_{enc}\big) \qquad \hat x = f\, W_{dec}^\top + b_{dec}$$
# $$\text{loss} = \frac1B \sum_{x} \Big( |x - \hat x|^2 + \lambda \sum_i f_i\, |W_{dec, i}| \Big)$$
#
# Here $W_{dec, i}$ is column $i$ of $W_{dec}$. Why does its length count? Halve a feature and double its column, and $\hat x$ stays the same. Without the length, the penalty would fall for nothing.


# %%
class SparseWeights(nn.Module):
    """The weights of an autoencoder of width D with n features."""

    def __init__(self, D, n):
        super().__init__()
        self.W_dec = nn.Parameter(F.normalize(torch.randn(D, n), dim=0))
        self.W_enc = nn.Parameter(self.W_dec.detach().T.clone())
        self.b_enc, self.b_dec = nn.Parameter(torch.zeros(n)), nn.Parameter(torch.zeros(D))


# %% [markdown]
# ### Exercise: `SparseAutoencoder` (about 20 minutes)
#
# `forward` takes $x$ of shape $(\dots, D)$ and returns $\hat x$ and $f$ $(\dots, n)$. `loss` takes $x$ $(B, D)$ and $\lambda$, which is called `l1`, and returns a scalar. The error is a sum over the width and a mean over the batch. With a mean over the width, the same $\lambda$ would silence all features.


# %% solution="SparseAutoencoder"
class SparseAutoencoder(SparseWeights):
    """model(x (..., D)) -> x_hat (..., D), f (..., n)."""

    def forward(self, x):
        ### BEGIN SOLUTION
        f = F.relu((x - self.b_dec) @ self.W_enc.T + self.b_enc)
        return f @ self.W_dec.T + self.b_dec, f
        ### END SOLUTION

    def loss(self, x, l1):
        ### BEGIN SOLUTION
        x_hat, f = self(x)
        error = (x - x_hat).square().sum(-1)
        return (error + l1 * f @ self.W_dec.norm(dim=0)).mean()
        ### END SOLUTION


# %% check="SparseAutoencoder"
check("SparseAutoencoder", SparseAutoencoder)

# %% [markdown]
# ### Exercise: the training loop (about 20 minutes)
#
# The data are made of 48 directions in 24 dimensions, and your model has 64 features. About two directions are on at a time, and a constant vector is added. Write `train`. A batch is a tuple `(x,)` with `x` $(256, 24)$, and there are 3,000 batches. Call `model.loss(x, l1)` and `batches.log(loss)` in each step. We took Adam with a learning rate of 0.005, which rose over the first 100 batches and fell to zero over the last quarter, and an `l1` of 0.4 that rose over the first tenth.
# The measure is the best cosine that any column has with a true direction, a mean over the 48 directions. A column counts if its feature is ever on.
#
# | measure | bar |
# |---|---|
# | mean best cosine | 0.97 for full marks, 0.85 for some |


# %% solution="inside_task"
def train(model, batches):
    """Trains on `for (x,) in batches`, and logs each loss."""
    ### BEGIN SOLUTION
    optimizer, steps = torch.optim.Adam(model.parameters(), lr=5e-3), len(batches)
    for step, (x,) in enumerate(batches):
        rate = min((step + 1) / 100, 1.0, (steps - step) / (0.25 * steps))
        optimizer.param_groups[0]["lr"] = 5e-3 * rate
        loss = model.loss(x, 0.4 * min(1.0, 10 * (step + 1) / steps))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
trained = fit("inside_task", lambda: SparseAutoencoder(24, 64), train)

# %% check="inside_task"
check("inside_task", trained.model)


# %%
def found(model, x):
    """Mean best cosine, variance explained, and features on for a vector."""
    with torch.no_grad():
        x_hat, f = model(x)
        live = F.normalize(model.W_dec[:, (f > 0).any(0)], dim=0)
        cosine = (superposition.directions() @ live).amax(1).mean()
        explained = 1 - (x - x_hat).square().sum() / (x - x.mean(0)).square().sum()
    return f"cosine {cosine:.3f}  explained {explained:.2f}  on {(f > 0).sum(1).float().mean():.1f}"


seed(0)
x, _ = superposition.draw(4000, torch.Generator().manual_seed(1))
plain = SparseAutoencoder(24, 64)
optimizer = torch.optim.Adam(plain.parameters(), lr=5e-3)
for _ in range(600):
    loss = plain.loss(x[torch.randint(4000, (256,))], 0.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("yours:             ", found(trained.model, x))
print("without a penalty: ", found(plain, x))

# %% [markdown]
# Without a penalty the reconstruction is better, and it finds nothing. So a low error is no proof of features. Yours leaves some of the variance unexplained, because the penalty makes every active feature a little too small. That is called shrinkage.
#
# ## Ask by likelihood
#
# A model that goes on with text can answer a question without writing. Give it the question and some answers, and ask which is likeliest. Tests of language models are done in this way.
#
# A choice of two tokens with probabilities 0.5 and 0.4 has $\log 0.2 = -1.609$. A choice of one token with 0.3 has $-1.204$, and wins. Divided by their numbers of tokens they have $-0.805$ and $-1.204$, and the first one wins. So the rule decides. GPT-3's paper divides by tokens, and a widely used test harness reports both the sum and a division by characters. Here the caller hands in the lengths.
#
# ### Exercise: `choose_by_likelihood` (about 20 minutes)
#
# `model(ids)` takes ids $(1, T)$ and returns logits $(1, T, V)$ and a cache, which you need not use. Return the number of the best choice, and a tensor of the scores of all choices $(C,)$, $\log p(\text{choice} \mid \text{prompt})$. If `lengths` is given, a list of numbers, divide the score of choice `c` by `lengths[c]`. Raise a `ValueError` if the prompt, a choice or the list is empty. No two scores are equal in the tests.


# %% solution="choose_by_likelihood"
def choose_by_likelihood(model, prompt, choices, lengths=None):
    """prompt (T,), choices (n,) each -> number of the best, scores (C,)."""
    ### BEGIN SOLUTION
    if len(prompt) == 0 or len(choices) == 0 or min(map(len, choices)) == 0:
        raise ValueError("an empty prompt, an empty choice or no choices at all")
    scores = []
    for choice in choices:
        logits, _ = model(torch.cat([prompt, choice])[None, :-1])
        log_p = logits[0, len(prompt) - 1 :].log_softmax(-1)
        scores.append(log_p.gather(-1, choice[:, None]).sum())
    scores = torch.stack(scores)
    if lengths is not None:
        scores = scores / torch.tensor(lengths, dtype=scores.dtype)
    return int(scores.argmax()), scores
    ### END SOLUTION


# %% check="choose_by_likelihood"
check("choose_by_likelihood", choose_by_likelihood)

# %% [markdown]
# Topic 15's dictionary has read lines of the form `word (kind): definition`. Here are 32 definitions of words that do not exist, four of each of eight kinds. Which kind does the dictionary find likeliest?

# %%
dictionary = blocks.GPT(**wordnet.SIZES).load_published(wordnet.weights()).eval()
dictionary.requires_grad_(False)
KINDS = list(invented_words.DEFINITIONS)
entries = [
    (k, *entry) for k, kind in enumerate(KINDS) for entry in invented_words.DEFINITIONS[kind]
]


def tokens(text):
    return torch.tensor(wordnet.encode(text))


def answers(ask):
    """Confidence (N,) and whether it was right (N,), for prompts and choices by `ask`."""
    sure, right = [], []
    for k, word, definition in entries:
        best, scores = choose_by_likelihood(dictionary, *ask(word, definition))
        sure.append(scores.softmax(0)[best].item())
        right.append(best == k)
    return torch.tensor(sure), torch.tensor(right)


def with_definition(word, definition):
    end = torch.tensor([wordnet.END])
    choices = [tokens(f" ({kind}): {definition}") for kind in KINDS]
    return torch.cat([end, tokens(word)]), [torch.cat([choice, end]) for choice in choices]


def word_alone(word, definition):
    end = torch.tensor([wordnet.END])
    return torch.cat([end, tokens(word)]), [tokens(f" ({kind}):") for kind in KINDS]


TESTS = {"word and definition": answers(with_definition), "the word alone": answers(word_alone)}
for name, (_, right) in TESTS.items():
    print(f"{name:<20} {right.sum()} of {len(right)} right")

# %% [markdown]
# ## How sure is a test?
#
# Seven of ten answers are right. Is the model right in 70 % of all cases? Many shares fit seven of ten. A model that is right in 40 % of all cases has a standard error of $\sqrt{0.4 \cdot 0.6/10} = 0.155$ over ten answers. So 0.7 is 1.94 standard errors away from 0.4, which is still within the usual $z = 1.96$. From 0.39 it is 2.01 away, which is not.
#
# **Wilson's interval** holds all shares that are near enough in this sense. For $p = 0.7$ and $n = 10$ its centre is $(0.7 + 0.192)/1.384 = 0.645$, where $0.192 = z^2/2n$ and $0.384 = z^2/n$. Half its width is $1.96 \sqrt{0.021 + 0.0096}/1.384 = 0.248$. So it goes from 0.397 to 0.892. In general its ends are
#
# $$\frac{p + \frac{z^2}{2n} \pm z \sqrt{\frac{p(1-p)}{n} + \frac{z^2}{4n^2}}}{1 + \frac{z^2}{n}}$$
#
# The textbook's interval $p \pm z \sqrt{p(1-p)/n}$, named after Wald, goes from 0.416 to 0.984. For 10 of 10 Wald's is a single point, which says that nothing can go wrong. Wilson's goes from 0.722 to 1, and for 0 of 10 from 0 to 0.278.
#
# ### Exercise: `wilson_interval` (about 10 minutes)
#
# `right` of `n` answers are right. Return both ends. Raise a `ValueError` for fewer than one answer, or for a count outside of 0 to $n$.


# %% solution="wilson_interval"
def wilson_interval(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """The shares that fit `right` of `n` answers: low, high."""
    ### BEGIN SOLUTION
    if n < 1 or not 0 <= right <= n:
        raise ValueError(f"{right} of {n} answers cannot be right")
    p, shrink = right / n, 1 + z**2 / n
    centre = (p + z**2 / (2 * n)) / shrink
    half = z / shrink * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    return centre - half, centre + half
    ### END SOLUTION


# %% check="wilson_interval"
check("wilson_interval", wilson_interval)

# %% [markdown]
# A model also says how sure it is. Of all answers with a confidence of 0.9, nine in ten should be right. Put the answers into bins by confidence. The gap of a bin is the difference of its mean confidence and its share of right answers. The **expected calibration error** is the mean gap, and each bin counts by the share of answers that it holds.
#
# Take the confidences 0.95 ✓, 0.92 ✓, 0.98 ✗ in one bin, and 0.55 ✓, 0.57 ✗ in another. The first bin has a mean confidence of 0.95 and an accuracy of 0.667, so its gap is 0.283, and it holds 0.6 of the answers. The second has 0.56 and 0.5, a gap of 0.06, and 0.4 of the answers. The error is $0.6 \cdot 0.283 + 0.4 \cdot 0.06 = 0.194$.
#
# ### Exercise: `calibration_error` (about 15 minutes)
#
# `confidence` $(N,)$ and `right` $(N,)$, which is boolean, belong to the same answers. Return a `float`. The bins have equal widths. Confidences of exactly 0 and 1 count, in the first and the last bin. On which side an inner edge belongs is left open.


# %% solution="calibration_error"
def calibration_error(confidence: torch.Tensor, right: torch.Tensor, bins: int = 10) -> float:
    """confidence (N,) and right (N,) bool -> mean gap of the bins."""
    ### BEGIN SOLUTION
    held = (confidence * bins).long().clamp(max=bins - 1)
    error = 0.0
    for k in range(bins):
        inside = held == k
        if inside.any():
            gap = confidence[inside].mean() - right[inside].to(confidence.dtype).mean()
            error += float(inside.sum() / len(confidence) * gap.abs())
    return error
    ### END SOLUTION


# %% check="calibration_error"
check("calibration_error", calibration_error)


# %%
def told(name, sure, right):
    low, high = wilson_interval(int(right.sum()), len(right))
    print(f"{name:<20} {right.sum():2} of {len(right)} [{low:.2f}, {high:.2f}]", end="  ")
    print(f"confidence {sure.mean():.2f}  calibration error {calibration_error(sure, right):.2f}")


for name, (sure, right) in TESTS.items():
    told(name, sure, right)
perfect = [calibration_error(sure, torch.rand(len(sure)) < sure) for _ in range(1000)]
print(f"a perfect forecaster of as many: {sum(perfect) / len(perfect):.2f} by chance")

# %% [markdown]
# With so few answers, even a forecaster who is right exactly as often as it says shows an error by chance. Compare yours with that, not with zero.
#
# ## A few examples
#
# Large models learn a new form from a few examples in the prompt, which is called **few-shot**. The next cell asks in a form that the dictionary has never read, `definition: kind.`, with no example, one, or eight.

# %%
predict("eight_examples_in_a_new_form")


# %%
def few_shot_prompt(examples, question):
    """Lines `definition: kind.` for pairs of examples, and the beginning of one more."""
    return "".join(f"{text}: {kind}.\n" for text, kind in examples) + f"{question}:"


def in_a_new_form(shots):
    examples = [(invented_words.DEFINITIONS[kind][0][1], kind) for kind in KINDS][:shots]

    def ask(word, definition):
        shown = [example for example in examples if example[0] != definition]
        prompt = tokens(few_shot_prompt(shown, definition))
        return torch.cat([torch.tensor([wordnet.END]), prompt]), [tokens(f" {k}.") for k in KINDS]

    return ask


for shots in (0, 1, 8):
    told(f"examples: {shots}", *answers(in_a_new_form(shots)))

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Without an example 8 of 32 are right, and with one or with eight only 4, which is what chance gives. The model answers nearly always the same, and it is sure of it. Large models gain from examples, because they have read many kinds of text in which a form is begun and then kept. This one has read one form. It sorts without an example in its own form, and learns no new one.
#
# </details>

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A linear probe reads the class of a word from the embedding with 100 % accuracy. What does the model know? (a) What would a table of random vectors allow? (b) What does a control task add? (c) Which experiment would show that the model *uses* the class? Five to eight sentences.

# %% [markdown] question="inside_question"
# (a) The embedding has one vector for each word. A class is a property of the word, so a probe only has to learn which vectors belong to which class. Random vectors would do, as long as there are not many more words than dimensions. So 100 % says that the words can be told apart, and little more.
# (b) In a control task each word type has a random label. If the probe reads those as well, it has learned a list of words. Only the difference of both accuracies says that the model has put words of one class together.
# (c) What can be read need not be used. To show use, one changes the stream. One could remove the direction that the probe found, or patch in the vector of another class, and see whether the predictions change as the class demands.

# %%
rubric("inside_question")

# %% [markdown]
# ## The finale: inside a real language model (about 15 minutes, nothing is graded)
#
# The model of the play has 2 layers and 8 heads. [SmolLM2-135M-Instruct](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct) by Hugging Face has 30 layers and 270 heads, and knows where Paris is. It is a GPT of topic 15's kind. So `blocks.OpenGPT` loads it, and your functions look into it without a change.
#
# With `download=True` in its brackets, the next cell gets the weights once, a download of 93 MB. Without them, each cell below shows what we saw. With them, this notebook takes up to 1.5 GB of memory.

# %%
real = data.load_language_model()

# %% [markdown]
# It reads *The capital of France is*. The next cell puts your lens on the stream at the last token, behind more and more layers. (Behind 0 layers stands the embedding.) It prints the likeliest token, and the rank of *Paris* among 49,152 tokens. Rank 1 is the likeliest.

# %%
if real:
    smol = real.fill(blocks.OpenGPT(**real.sizes)).requires_grad_(False)
    france, italy = (
        torch.tensor([[0, *real.encode(f"The capital of {country} is")]])
        for country in ("France", "Italy")
    )
    paris, rome = (real.encode(city)[0] for city in (" Paris", " Rome"))
    stages = [*(layer.stream for layer in smol.layers), smol.stream]
    with blocks.rope_base(real.base):
        streams = torch.cat(record(smol, stages, france))  # (31, 6, D)
    logits = logit_lens(streams[:, -1], smol.norm.weight, smol.words.weight)
    rank = (logits > logits[:, [paris]]).sum(1) + 1
    for i in (0, 8, 16, 20, 22, 23, 24, 25, 27, 28, 29, 30):
        likeliest = repr(real.decode([int(logits[i].argmax())]))
        print(f"behind {i:>2} layers: {likeliest:<10}  Paris has rank {rank[i]:,}")
else:
    print(language_model.seen("20_lens"))

# %% [markdown]
# Up to layer 23 Paris is one of thousands. It becomes the likeliest token only behind the last layer. Does the model find the capital so late, or has it known for long, in a form that the lens cannot read?
#
# Patch it. Let it read *The capital of Italy is*, and replace the stream at **one** place by that of France. How much of Paris less Rome is restored, from the country's place and from the last one?

# %%
if real:

    def lead_of_paris(logits):
        return (logits[0, -1, paris] - logits[0, -1, rome]).item()

    def restored(module, value, place):
        """The share that is restored if `module` says `value` at a place of Italy's text."""
        here = torch.arange(6)[:, None] == place
        return (lead_of_paris(patch(smol, module, italy, value, here)[0]) - worst) / (best - worst)

    with torch.no_grad(), blocks.rope_base(real.base):
        best, worst = lead_of_paris(smol(france)[0]), lead_of_paris(smol(italy)[0])
        for i in (0, 10, 20, 22, 23, 24, 26, 30):
            shares = [restored(stages[i], streams[i], place) for place in (4, 5)]
            print("behind {:>2} layers: country {:5.2f}, last token {:5.2f}".format(i, *shares))
else:
    print(language_model.seen("20_patched"))

# %% [markdown]
# This is no slow change. Behind 23 layers all of it still stands at the country's place, and nothing at the last token. The next layer moves all of it. (It is layer 23, because layers are counted from 0.) Only attention moves anything from one place to another, so some of its nine heads have done it. Which ones? Patch each of them, and then zero each in the text about France.

# %%
if real:
    mover = smol.layers[23]
    with torch.no_grad(), blocks.rope_base(real.base):
        said = record(smol, [mover.weights, *mover.added], france)
        for k in range(9):
            share = restored(mover.added[k], said[1 + k], 5)
            ends = torch.arange(6)[:, None] == 5
            logits, _ = patch(smol, mover.added[k], france, torch.tensor(0.0), ends)
            p = logits[0, -1].softmax(-1)[paris]
            print(f"head 23.{k} looks at France {said[0][0, k, 5, 4]:.2f}", end="")
            print(f"  restores {share:5.2f}  Paris without it {p:.2f}")
else:
    print(language_model.seen("20_heads"))

# %% [markdown]
# One head of 270 does most of it. Head 23.4 looks at the country with a weight of 0.95. What it brings from there restores 0.84 in a text about Italy. Zero it, and Paris falls from 0.81 to 0.41. For Japan and Egypt we found the same head.
#
# So the lens and the patch say different things, and both are right. The lens asks what the *last norm and the table* would read. Patching asks what the *remaining layers* make of it.
#
# ### Its induction heads
#
# Topic 15 read twenty random tokens twice to this model, and its loss fell from 15.7 nats to 2.1. It could not say by which heads. You can. The next cell gives the attention of all layers to your `induction_score`.


# %%
if real:
    once = torch.randint(17, 49152, (1, 20), generator=torch.Generator().manual_seed(0))
    twice = torch.cat([torch.zeros(1, 1, dtype=torch.long), once, once], dim=1)
    with blocks.rope_base(real.base):
        tables = record(smol, [layer.weights for layer in smol.layers], twice)
    scores = torch.stack([induction_score(table, twice) for table in tables])  # (30, 9)
    order = scores.flatten().argsort(descending=True)
    named = [(f"{n // 9}.{n % 9}", scores.flatten()[n]) for n in order[:10].tolist()]
    print("  ".join(f"{name} {score:.2f}" for name, score in named))
    layers = (scores > 0.2).any(1).nonzero().flatten().tolist()
    print(f"above 0.2: {(scores > 0.2).sum()} of 270 heads, in layers {layers}")
else:
    print(language_model.seen("20_induction"))

# %% [markdown]
# Fourteen heads put more than 0.2 behind the earlier copy, and all of them sit in six layers behind the middle. Now zero the best of them, and beside them as many others, drawn at random.

# %%
if real:
    others = order[20:][torch.randperm(250, generator=torch.Generator().manual_seed(1))]
    places = torch.ones_like(twice, dtype=torch.bool)

    def nats_without(chosen):
        modules = [smol.layers[n // 9].added[n % 9] for n in chosen.tolist()]
        with blocks.rope_base(real.base):
            log_p = without(modules, places, smol, twice)[:, :-1].log_softmax(-1)
        lost = -log_p.gather(-1, twice[:, 1:, None]).flatten()
        return f"{lost[:20].mean():5.1f} then {lost[20:].mean():5.1f}"

    print("nats a token, in the first reading and in the second")
    for n in (0, 1, 5, 10):
        print(f"without {n:>2}: {nats_without(order[:n])}   others: {nats_without(others[:n])}")
else:
    print(language_model.seen("20_without_them"))

# %% [markdown]
# Without the ten best heads of 270, the second reading costs 12.5 nats, which is worse than the 10.8 of a guess. Without ten others it costs 2.5. The first reading stays nearly the same in both cases. So a few heads do the looking back, as in your model with eight heads.
#
# ### And a few examples?
#
# Your dictionary learned nothing from eight examples. This model has read many kinds of text. The next cell asks it about 16 invented words in the same form. It reads the examples once, and each question goes on behind their cache. It makes 256 short passes, which take about a minute.

# %%
if real:
    EXAMPLES = [(invented_words.DEFINITIONS[kind][0][1], kind) for kind in KINDS]
    choices = [torch.tensor(real.encode(f" {kind}.")) for kind in KINDS]

    def behind(cache):
        """The model as it goes on behind a text that it has read."""
        return lambda ids, after=None: smol(ids, after or cache)

    for shots in (0, 8):
        sure, right = [], []
        with torch.no_grad(), blocks.rope_base(real.base):
            shown = real.encode(few_shot_prompt(EXAMPLES[:shots], "")[:-1])
            _, cache = smol(torch.tensor([[0, *shown]]))
            for k, kind in enumerate(KINDS):
                for _, definition in invented_words.DEFINITIONS[kind][1:3]:
                    question = torch.tensor(real.encode(f"{definition}:"))
                    best, found = choose_by_likelihood(behind(cache), question, choices)
                    sure.append(found.softmax(0)[best].item())
                    right.append(best == k)
        told(f"examples: {shots}", torch.tensor(sure), torch.tensor(right))
else:
    print(language_model.seen("20_few_shot"))

# %% [markdown]
# Without an example 6 of 16 are right, and with eight examples 13. The two intervals just overlap, so 16 questions make a gain likely and do not prove it. The dictionary went the other way. With examples this model also knows better how sure it may be, because its calibration error falls from 0.41 to 0.14.
#
# How does it read a form from examples? Its induction heads look behind earlier copies, and *what stood behind a colon* is such a copy. C. Olsson and others believe that a good part of few-shot learning comes from these heads. You could zero them here, and see.
#
# ## What you built
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `logit_lens` | logit lens | `apply_ln` and `unembed` in TransformerLens |
# | `direct_attribution` | direct logit attribution | `logit_attrs` in TransformerLens |
# | `induction_score` | induction heads | Olsson and others (2022) |
# | `patch` | activation patching, causal tracing | `nnsight`, ROME |
# | `control_labels` | control task, selectivity | Hewitt and Liang (2019) |
# | `SparseAutoencoder` | dictionary learning | SAELens |
# | `choose_by_likelihood` | multiple choice by log-likelihood | `lm-evaluation-harness` |
# | `wilson_interval` | score interval for a proportion | `statsmodels` |
# | `calibration_error` | expected calibration error | `torchmetrics` |
#
# ## Going further
#
# - **Read the card.** `print(play_model.card())` says how these weights were chosen.
# - **Two heads at once.** Zero each pair of heads of layer 1. Is the loss of two the sum of the losses of each?
# - **Another penalty.** Train the autoencoder with `l1` of 0.2 and of 1, and compare the cosine and the variance explained.
# - **Read.** C. Olsson and others, [In-context learning and induction heads](https://arxiv.org/abs/2209.11895) (2022). J. Hewitt and P. Liang, [Designing and interpreting probes with control tasks](https://arxiv.org/abs/1909.03368) (2019). N. Elhage and others, [Toy models of superposition](https://arxiv.org/abs/2209.10652) (2022). C. Guo and others, [On calibration of modern neural networks](https://arxiv.org/abs/1706.04599) (2017).
#
# - **Next.** Topic 21 lets a small GPT improve by reward alone, until it is better than its teachers.
#
# **Now you can** look into a model, test what you believe about it by an intervention, and say how sure a test is. Run the cell below to see which notebook comes next.

# %%
progress()
