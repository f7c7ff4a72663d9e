# %% [markdown]
# # 14 What lies beneath: hidden states and CTC
#
# Read this line aloud: `and a tuloe of itx bass classes if the uniqje argiment is true`. You had no trouble. The writer meant *tuple*, *its*, *base*, *unique* and *argument*, and cold fingers hit the keys beside. You never saw the
# letters that were meant. You saw their traces, you knew what English is like, and you worked backwards.
#
# Speech works in the same way. What a speaker says is hidden, and what arrives is sound. This notebook has three attempts at such problems. The first one is a program of 1966 that answers by rules and understands nothing. The second
# one is a **hidden Markov model**, and it mends four of the five slips above. (*Bass* is a word, too, so it stays.) The third one listens to a telephone and writes down the number that was dialled, although it was never told when a digit begins.
#
# **You will**
#
# - let ELIZA answer, by rules alone
# - sum over all hidden paths, find the best one, and say how sure you are of each position
# - stack causal convolutions, and train them with the CTC loss that you wrote yourself.
#
# **You need** transition probabilities (topic 01), a training loop and the idea of a state that is carried along (topic 03), and logarithms. Two facts help. The logarithm of a product is the sum of the logarithms. And
# $\log(e^a + e^b)$ is what `torch.logsumexp` computes without overflow.
#
# Nine short exercises, one training task and one written question take about 160 minutes. Training takes about ten seconds on a laptop. Are you stuck? `hint("viterbi")` gives a hint, and a stronger one each time.

# %%
import re
from itertools import groupby, pairwise

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course import check, data, device, fit, hint, predict, progress, rubric, seed, show
from course.data import telephone, typist

# %% [markdown]
# ## Rules without a state
#
# In 1966 Joseph Weizenbaum wrote a program that played a psychotherapist. It was called ELIZA. Suppose that a patient says *I need my cat*. One of ELIZA's rules looks for the words `I need` and whatever follows them, and it
# answers *Why do you need …?* Behind these words stands what the patient said, with *my* turned into *your*. So ELIZA asks *Why do you need your cat?*
#
# A rule is a pair, a **regular expression** and an answer. The parentheses in the pattern catch a **group** of words, and `{0}` in the answer stands for the first group, `{1}` for the second one. In a pattern, `.*` stands for any text, and `a|b` for one of two. Some people told ELIZA their secrets. She did not know what a cat is.

# %%
EXCHANGED = {"i": "you", "me": "you", "am": "are", "my": "your", "you": "I", "your": "my"}
RULES = [
    (r"i need (.*)", "Why do you need {0}?"),
    (r"i am (.*)", "How long have you been {0}?"),
    (r"my (mother|father) (.*)", "Tell me more about your {0}. Who else do you know who {1}?"),
    (r"because (.*)", "Is that the real reason, that {0}?"),
    (r".*", "Please go on."),
]

# %% [markdown]
# ### Exercise: `eliza` (about 10 minutes)
#
# Take the first rule whose pattern is found anywhere in the sentence. Capitals matter neither here nor in the table of words. Exchange the words of each group by `EXCHANGED`, and put the groups into the answer. Only whole words count,
# so *army* keeps its *my*. A comma after a word hides nothing. Exchange each word once, because *my* that has become *your* must not become *my* again. Everything else stays as it was said, spaces and signs too. So *I need my cat.* gives *Why do you need your cat.?* with the full stop. The last rule always matches.


# %% solution="eliza"
def eliza(rules: list[tuple[str, str]], said: str) -> str:
    """The answer of the first rule that matches, with the words of its groups exchanged."""

    ### BEGIN SOLUTION
    def exchanged(text):
        return re.sub(r"\w+", lambda word: EXCHANGED.get(word[0].lower(), word[0]), text)

    for pattern, answer in rules:
        match = re.search(pattern, said, re.IGNORECASE)
        if match:
            return answer.format(*[exchanged(group) for group in match.groups()])
    ### END SOLUTION


# %% check="eliza"
check("eliza", eliza)

# %%
for said in (
    "I am sad",
    "Well, I need my cat and you",
    "My mother hates me",
    "because I am tired",
    "You do not understand me",
):
    print(f"YOU    {said}\nELIZA  {eliza(RULES, said)}\n")

# %% [markdown]
# Look at the second-to-last answer. Two rules fit, and their order decided. Nothing of one sentence is left when the next one comes. ELIZA has no **state**.
#
# ## A state that you cannot see
#
# Here is the whole picture of the notebook.
#
# | | hidden | seen | what leads back |
# |---|---|---|---|
# | the typist | the letters that were meant | the keys that were hit | `hmm_forward`, `viterbi`, `hmm_posterior` |
# | the telephone | the digits, and when they begin | a spectrogram, frame by frame | causal convolutions, `ctc_loss`, `ctc_collapse` |
#
# A **hidden Markov model** has two parts. The hidden states follow each other as in topic 01, by a table $A$ in which row $i$ says what follows state $i$. Each state then **emits** one symbol that we see, by a table $E$ in which row $j$ says
# what state $j$ emits. A third table says where a path begins. Here a hidden state is one of $S$ values, and only its probability is known. In topic 03 it was a vector that the network computed.
#
# Take a typist who uses three keys, a, s and d. They lie side by side, so cold fingers sometimes hit a neighbour. Each row is a letter that was meant. Its three *then* entries sum to one, and so do its three *hits* entries. The column *begins* sums to one, too.
#
# | | begins | then a | then s | then d | hits a | hits s | hits d |
# |---|---|---|---|---|---|---|---|
# | a | 0.5 | 0.6 | 0 | 0.4 | 0.8 | 0.2 | 0 |
# | s | 0.25 | 0 | 1 | 0 | 0.1 | 0.8 | 0.1 |
# | d | 0.25 | 0 | 0.2 | 0.8 | 0 | 0.2 | 0.8 |
#
# We see `s d s`. What was meant? The path *sss* begins with s (0.25), hits s (0.8), goes on to s (1), hits d (0.1), goes on to s (1) and hits s (0.8). The product is 0.016. Of all 27 paths only six are possible:
#
# | path | sss | ads | add | dds | ddd | dss | **sum** |
# |---|---|---|---|---|---|---|---|
# | probability, with `s d s` seen | 0.016 | 0.00512 | 0.00512 | 0.00512 | 0.00512 | 0.0008 | **0.03728** |
#
# The sum is the probability of the text. For $T$ letters and $S$ states there are $S^T$ paths, and for a line of 60 letters you cannot list them, and you need not. All paths that are in state $j$ at step $t$ go on in the same way, so it is enough to know their sum. Let $x_t$ be the letter that was seen at step $t$. At the first step, $\alpha_1(j)$ is the probability to begin in $j$, times $E_j(x_1)$. From the second step on,
#
# $$\alpha_t(j) = E_j(x_t) \sum_i \alpha_{t-1}(i) \, A_{ij}, \qquad p(x) = \sum_j \alpha_T(j).$$
#
# In the example $\alpha_1$ is $(0.1, 0.2, 0.05)$. The entry of d at the second step is $(0.1 \cdot 0.4 + 0.05 \cdot 0.8) \cdot 0.8 = 0.064$, and that of s is $(0.2 \cdot 1 + 0.05 \cdot 0.2) \cdot 0.1 = 0.021$. At the third step s has 0.02704 and d has 0.01024. They sum to 0.03728, as they should.
# This took nine products a step in place of $3^T$ paths. It is the **forward algorithm**.
#
# After a thousand letters the numbers are smaller than any that a computer holds. So everything is computed in logarithms. Products become sums, and the sum over $i$ becomes a `logsumexp`. What is impossible has the logarithm $-\infty$, and stays there.
#
# **Dimensions.** $B$ texts of $T$ letters each, $S$ states, $V$ symbols. The other letters are the field's. $A$ is the matrix `P` of topic 01, $E$ is no embedding, and $\alpha$ is no attention weight.
#
# ### Exercise: `hmm_forward` (about 20 minutes)
#
# Return $\log \alpha$ for all steps, and $\log p$ of each text. All texts of a batch are equally long, a thousand letters if need be. Entries of $-\infty$ may occur in all three tables. A text that no path can emit gets $-\infty$, and no result is ever NaN. Use a loop over time and none over texts or states.


# %% solution="hmm_forward"
def hmm_forward(
    log_start: torch.Tensor, log_A: torch.Tensor, log_E: torch.Tensor, seen: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """log_start (S,), log_A (S, S), log_E (S, V), seen (B, T) -> log_alpha (B, T, S), log_p (B,).

    log_alpha[b, t, j] is log p(text b up to t, state j at t).
    """
    ### BEGIN SOLUTION
    emitted = log_E.T[seen]  # (B, T, S)
    log_alpha = [log_start + emitted[:, 0]]
    for t in range(1, seen.shape[1]):
        arrived = (log_alpha[-1][:, :, None] + log_A).logsumexp(dim=1)  # summed over i
        log_alpha.append(arrived + emitted[:, t])
    return torch.stack(log_alpha, dim=1), log_alpha[-1].logsumexp(dim=1)
    ### END SOLUTION


# %% check="hmm_forward"
check("hmm_forward", hmm_forward)

# %%
log_start = torch.tensor([0.5, 0.25, 0.25]).log()
log_A = torch.tensor([[0.6, 0.0, 0.4], [0.0, 1.0, 0.0], [0.0, 0.2, 0.8]]).log()
log_E = torch.tensor([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]).log()
sds = torch.tensor([[1, 2, 1]])
log_alpha, log_p = hmm_forward(log_start, log_A, log_E, sds)
print("alpha, one row a step:\n", log_alpha[0].exp().numpy().round(5))
print("p(s d s) =", round(log_p.exp().item(), 5))

# %% [markdown]
# ## The best path
#
# Which path was it? *sss* has the largest probability of the six. The **Viterbi algorithm** finds it with the same recursion, and a maximum takes the place of the sum:
#
# $$\delta_t(j) = E_j(x_t) \max_i \delta_{t-1}(i) \, A_{ij}.$$
#
# The largest $\delta_T(j)$ is the probability of the best path. In the example it is $\delta_3(s) = 0.016$. To know the path itself, remember for each $t$ and $j$ which $i$ won. Begin at the best last state and walk back. The last state here is s. The winner before it was s with $0.02 \cdot 1$, against d with
# $0.032 \cdot 0.2$. Before that, s won again. Notice that d was ahead at the second step, 0.032 against 0.02, and still it is not on the best path.
#
# ### Exercise: `viterbi` (about 20 minutes)
#
# Return the best path of each text, and the logarithm of its probability together with the text. The tables may hold $-\infty$, and the texts may have a thousand letters. Where several paths are equally good, return any of them. The score of an impossible text is $-\infty$, and its path may be any.


# %% solution="viterbi"
def viterbi(
    log_start: torch.Tensor, log_A: torch.Tensor, log_E: torch.Tensor, seen: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The arguments of hmm_forward -> paths (B, T) of states, scores (B,)."""
    ### BEGIN SOLUTION
    emitted = log_E.T[seen]  # (B, T, S)
    best, winners = log_start + emitted[:, 0], []
    for t in range(1, seen.shape[1]):
        best, winner = (best[:, :, None] + log_A).max(dim=1)
        best = best + emitted[:, t]
        winners.append(winner)
    scores, state = best.max(dim=1)
    path = [state]
    for winner in reversed(winners):
        path.append(winner.gather(1, path[-1][:, None])[:, 0])
    return torch.stack(path[::-1], dim=1), scores
    ### END SOLUTION


# %% check="viterbi"
check("viterbi", viterbi)

# %%
path, score = viterbi(log_start, log_A, log_E, sds)
print("best path:", *["asd"[i] for i in path[0]], f"  probability {score.exp().item():.3f}")

# %% [markdown]
# ## How sure are you?
#
# The best path has 43 % of the 0.03728. How sure is each of its letters? Never less than the path, because every path with this letter counts. At the first position, s was meant with a probability of 43 %, because only *sss* begins with it. At the second position, s was meant on the paths *sss* and *dss*, and $(0.016 + 0.0008) / 0.03728 = 45$ %. The other 55 % belong to d.
#
# These are the **posterior** probabilities of the states, given the whole text. The forward sum knows what came up to $t$. A second sum, from the end, knows what comes after it:
#
# $$\beta_t(i) = \sum_j A_{ij} \, E_j(x_{t+1}) \, \beta_{t+1}(j), \qquad \beta_T(i) = 1, \qquad p(\text{state } j \text{ at } t \mid x) = \frac{\alpha_t(j) \, \beta_t(j)}{p(x)}.$$
#
# ### Exercise: `hmm_posterior` (about 15 minutes)
#
# Return probabilities this time, not logarithms. They sum to one at each position, also for a thousand letters, and the tables may hold $-\infty$. Every text is possible.


# %% solution="hmm_posterior"
def hmm_posterior(
    log_start: torch.Tensor, log_A: torch.Tensor, log_E: torch.Tensor, seen: torch.Tensor
) -> torch.Tensor:
    """The arguments of hmm_forward -> probabilities of the states at each position (B, T, S)."""
    ### BEGIN SOLUTION
    log_alpha, log_p = hmm_forward(log_start, log_A, log_E, seen)
    emitted = log_E.T[seen]
    log_beta = [torch.zeros_like(emitted[:, 0])]
    for t in range(seen.shape[1] - 1, 0, -1):
        follows = log_A + (emitted[:, t] + log_beta[0])[:, None, :]  # (B, S, S)
        log_beta.insert(0, follows.logsumexp(dim=2))
    return (log_alpha + torch.stack(log_beta, dim=1) - log_p[:, None, None]).exp()
    ### END SOLUTION


# %% check="hmm_posterior"
check("hmm_posterior", hmm_posterior)

# %% [markdown]
# Now take the state with the largest posterior at each position, and read them off as a word.

# %%
predict("best_state_of_each_place")

# %%
posterior = hmm_posterior(log_start, log_A, log_E, sds)[0]
print("posterior of a, s and d, one row a position:\n", posterior.numpy().round(3))
print("the best of each position:", *["asd"[i] for i in posterior.argmax(-1)])

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# The three letters spell *sds*, and after an s no d can follow. The most probable letter of each position is one question, the most probable word is another. `viterbi` answers the second.
#
# </details>
#
# ## The real thing: mending what was typed
#
# Now take the whole keyboard. The hidden states should know English, so the table $A$ comes from counts, as in topic 01. Single letters as states help only a little, because one letter says little about the next. So **let a state be a pair of letters.** From the pair *th* a step leads to the pairs *ha*,
# *he*, *hi* and so on, and nowhere else. There are $27^2 = 729$ states, and a chain of order 2 over letters has become a chain of order 1 over pairs. A pair emits its second letter, or now and then a neighbour of it.

# %%
docstrings = data.load("docstrings")
english = typist.encode(typist.plain("\n".join(docstrings["train"]["text"]))[:300_000])
V = len(typist.SYMBOLS)  # 27; the states are V * V pairs
triples = (english[:-2] * V + english[1:-1]) * V + english[2:]
counts = torch.bincount(triples, minlength=V**3).view(V, V, V) + 0.05
P = counts / counts.sum(-1, keepdim=True)  # (27, 27, 27): what follows two letters
pair_A = torch.full((V, V, V, V), -torch.inf)  # from the pair (a, b) to the pair (b, c)
for b in range(V):
    pair_A[:, b, b, :] = P[:, b].log()
pair_A = pair_A.view(V * V, V * V)
letter_A = (counts.sum(0) / counts.sum((0, 2))[:, None]).log()  # single letters, to compare
pair_start = torch.full((V, V), -torch.inf)  # a line begins after a space
pair_start[0] = letter_A[0]
noise = 0.1
letter_E = typist.emissions(noise).log()
pair_E = letter_E.repeat(V, 1)  # the second letter of the pair is hit


def mend(seen):
    """What was meant, by pairs of letters: seen (T,) -> a text."""
    path, _ = viterbi(pair_start.view(-1), pair_A, pair_E, seen[None])
    return typist.decode(path[0] % V)


# %%
mine = "return the value of the first argument that is not a string"
generator = torch.Generator().manual_seed(3)
typed = typist.type_it(typist.encode(typist.plain(mine)), noise, generator)
print(typist.decode(typed), "\n" + mend(typed))

# %% [markdown]
# Most words are mended. *Argument* was hit with several slips, and for those the pairs of letters find something likelier. Change `mine` to a sentence of your own. The model learned its English from the documentation of Python, so it has never met *butterflies*. The next cell tries sentences that were held out.

# %%
held_out = typist.plain("\n".join(docstrings["held_out"]["text"]))
share = {"as typed": 0, "single letters": 0, "pairs of letters": 0}
words, sure, right = 0, [], []
for start in range(0, 30_000, 3000):
    start = held_out.index(" ", start) + 1
    meant = held_out[start : held_out.index(" ", start + 45)]
    typed = typist.type_it(typist.encode(meant), noise, generator)
    letters, _ = viterbi(letter_A[0], letter_A, letter_E, typed[None])
    versions = typist.decode(typed), typist.decode(letters[0]), mend(typed)
    for name, text in zip(share, versions):
        share[name] += sum(a == b for a, b in zip(meant.split(), text.split()))
    words += len(meant.split())
    if len(sure) < 3:
        pairs = hmm_posterior(pair_start.view(-1), pair_A, pair_E, typed[None])[0]
        letters = pairs.view(-1, V, V).sum(1)  # (T, 27): over the first of the two
        sure.append(letters.amax(-1).mean().item())
        right.append((letters.argmax(-1) == typist.encode(meant)).float().mean().item())
print(f"letters: {np.mean(sure):.1%} expected right, {np.mean(right):.1%} are right")
show.hidden_states.words_right({name: n / words for name, n in share.items()}, noise)

# %% [markdown]
# Pairs bring most of the words back. Over 25 longer sentences we found 64 % of the words without an error as typed, 75 % with single letters and 90 % with pairs. The posterior even says how good it will be. If the model is true, no method can get more letters right than the mean of these largest probabilities. This bound is called the **Bayes accuracy**.
# The two percentages above lie within two points of each other.
#
# ## A telephone
#
# When you press 5 on a telephone, it plays two tones at once, 770 Hz for the row and 1336 Hz for the column. Listen. (If you see no player, go on.)

# %%
show.hidden_states.player(telephone.ring("5550199", rate=8000), 8000)

# %% [markdown]
# The oldest way to find out what is in such a sound is an **autoregressive model**. It predicts each value from the ones before it, as a language model does with tokens,
#
# $$x_t \approx a_1 x_{t-1} + a_2 x_{t-2} + \dots + a_p x_{t-p}.$$
#
# Why should that find a tone? A sine wave obeys $x_t = 2 \cos(\omega) \, x_{t-1} - x_{t-2}$, where $\omega$ is the angle it turns at each step. With $\omega = 60°$ the factor is 1, and a wave that was 0 and then 0.87 goes on as $0.87 - 0 = 0.87$, then $0.87 - 0.87 = 0$, then $-0.87$. Two weights hold the frequency. Two tones take four weights.
#
# The weights are found by **least squares**. For order 2 and the series 0, 1, 1, 0, −1 there are three equations, $1 = 1 a_1 + 0 a_2$, then $0 = 1 a_1 + 1 a_2$, and $-1 = 0 a_1 + 1 a_2$. They hold exactly with $a_1 = 1$ and $a_2 = -1$.
#
# ### Exercise: `fit_ar` (about 10 minutes)
#
# Return the weights that make the sum of squared errors smallest, the newest value's weight first. Every $t$ that has `order` values before it gives one equation. Add no constant, subtract no mean, and put nothing before the beginning. `torch.linalg.lstsq` solves such equations.


# %% solution="fit_ar"
def fit_ar(x: torch.Tensor, order: int) -> torch.Tensor:
    """x (T,) -> the weights (order,) of x[t - 1], x[t - 2], … in the prediction of x[t]."""
    ### BEGIN SOLUTION
    before = x.unfold(0, order, 1)[:-1].flip(1)  # (T - order, order), the newest first
    return torch.linalg.lstsq(before, x[order:, None]).solution[:, 0]
    ### END SOLUTION


# %% check="fit_ar"
check("fit_ar", fit_ar)

# %% [markdown]
# The polynomial $z^4 - a_1 z^3 - a_2 z^2 - a_3 z - a_4$ has four complex roots, whose angles are plus and minus those of the two tones. So the weights of a clean 5 give back 770 and 1336 Hz. How much noise does this method bear?


# %%
def key_of(sound):
    """The key whose tones are nearest to the angles that a predictor of order 4 finds."""
    angles = np.abs(np.angle(np.roots([1.0, *-fit_ar(sound, 4).numpy()])))
    found = torch.tensor(np.sort(angles)[[0, -1]] * telephone.RATE / (2 * np.pi))
    return int((telephone.tones(torch.arange(1, 11)) - found).abs().sum(1).argmin()) + 1


time = torch.arange(600, dtype=torch.float64) * 2 * torch.pi / telephone.RATE
levels, shares = [50, 40, 30, 25, 20, 15, 10, 5, 0], []
generator = torch.Generator().manual_seed(0)
for level in levels:
    hits = 0
    for label in torch.arange(1, 11).repeat(10):
        low, high = telephone.tones(label)
        hiss = torch.randn(600, generator=generator, dtype=torch.float64) * 10 ** (-level / 20)
        hits += key_of((low * time).sin() + (high * time).sin() + hiss) == int(label)
    shares.append(hits / 100)
low, high = telephone.tones(torch.tensor(5))
print("a clean 5:", fit_ar((low * time).sin() + (high * time).sin(), 4).numpy().round(4))
show.hidden_states.tone_reader(levels, shares)

# %% [markdown]
# On a quiet line the predictor is perfect, and on a bad one it fails. Noise is not a sum of two tones, and least squares tries to predict it all the same. It also needs a sound that is cut into digits already. Here is a whole call, as a network will hear it.

# %%
calls = telephone.draw(6, torch.Generator().manual_seed(44))
row = 0
frames, digits = calls.lengths[row], calls.targets[row, : calls.counts[row]].tolist()
marks = calls.starts[row, : len(digits)], calls.ends[row, : len(digits)]
show.hidden_states.call(calls.x[row, :, :frames], digits, *marks)

# %% [markdown]
# This is a spectrogram. Each column is a **frame** of 20 milliseconds, each row one of 32 bins of frequency, and the brightness is the logarithm of the power. Tones last 3 to 10 frames and pauses 2 to 8. Lines differ in noise, frequencies are slightly wrong, and the marks above the picture are for you alone. The network gets frames and the number.
#
# ## Causal convolutions
#
# A listener needs some memory of the last frames. A convolution over time is a small linear layer that slides along. Its weights are called the kernel, and one of them is a **tap**. It must be **causal**, so its output at $t$ may depend on the input up to $t$ and on nothing later. Let the kernel be $(1, 2, 3)$, and let the input be $5, 0, 4$. The last tap meets the present, and zeros stand before the beginning:
#
# | $t$ | inputs, two steps ago to now | output |
# |---|---|---|
# | 0 | 0, 0, 5 | $3 \cdot 5 = 15$ |
# | 1 | 0, 5, 0 | $2 \cdot 5 = 10$ |
# | 2 | 5, 0, 4 | $1 \cdot 5 + 3 \cdot 4 = 17$ |
#
# With a **dilation** of $d$ the taps stand $d$ steps apart, so three taps with $d = 4$ meet the present, the input four steps ago and the one eight steps ago. With $C$ channels coming in, $D$ going out and a kernel of width $k$,
#
# $$y_t = b + \sum_{i=0}^{k-1} W_i \, x_{t - (k-1-i) d}.$$
#
# ### Exercise: `causal_conv1d` (about 15 minutes)
#
# Return as many outputs as there are inputs, for any dilation. The input may be shorter than the kernel reaches. `F.conv1d` is allowed. It does not turn the kernel round, so what is left for you is the beginning.


# %% solution="causal_conv1d"
def causal_conv1d(
    x: torch.Tensor, W: torch.Tensor, b: torch.Tensor, dilation: int = 1
) -> torch.Tensor:
    """x (B, C, T), W (D, C, k), b (D,) -> (B, D, T); W[:, :, -1] meets the present."""
    ### BEGIN SOLUTION
    before = (W.shape[2] - 1) * dilation
    return F.conv1d(F.pad(x, (before, 0)), W, b, dilation=dilation)
    ### END SOLUTION


# %% check="causal_conv1d"
check("causal_conv1d", causal_conv1d)

# %% [markdown]
# One layer of width 3 and dilation 1 sees three inputs. A second one of dilation 2 looks at outputs of the first that are 0, 2 and 4 steps old, and the oldest of them looks back two steps more. So the stack sees $1 + 2 + 4 = 7$ inputs. That number is its **receptive field**.
#
# ### Exercise: `receptive_field` (about 5 minutes)
#
# From the oldest input that one output depends on to the input of its own step, how many are there, both counted? Inputs in between count, even if no tap meets them. So a single layer of width 2 with a dilation of 4 has a receptive field of 5. There is one layer for each dilation, and all have the same kernel width.


# %% solution="receptive_field"
def receptive_field(kernel: int, dilations: list[int]) -> int:
    """The number of inputs from the oldest that an output depends on to its own."""
    ### BEGIN SOLUTION
    return 1 + (kernel - 1) * sum(dilations)
    ### END SOLUTION


# %% check="receptive_field"
check("receptive_field", receptive_field)

# %%
for dilations in ([1, 1, 1, 1], [1, 2, 4, 8]):
    field = receptive_field(3, dilations)
    print(f"dilations {dilations}: {field} frames, {field * 20} milliseconds")

# %% [markdown]
# WaveNet (2016) doubled the dilation from layer to layer. Four layers then hear more than half a second. Unlike the hidden state of topic 03, all frames are computed at once.
#
# ## From frames to digits
#
# The network gives probabilities at each frame. But how many frames does a digit take? **Connectionist temporal classification** (CTC, 2006) does not need to know. It lets the network say a label or a **blank** at each frame, and collapses what was said in two steps. First repeats are joined, then blanks go. So `5 5 _ _ 7` becomes `5 _ 7` and then `5 7`.
# The blank is what keeps a doubled digit apart, because `5 _ 5` is two fives and `5 5` is one.
#
# ### Exercise: `ctc_collapse` (about 5 minutes)
#
# Return the labels that a path spells. The blank may have another number than 0, and the path stays as it was.


# %% solution="ctc_collapse"
def ctc_collapse(path: list[int], blank: int = 0) -> list[int]:
    """The path, one label a frame, with repeats joined first and blanks gone after that."""
    ### BEGIN SOLUTION
    return [label for label, _ in groupby(path) if label != blank]
    ### END SOLUTION


# %% check="ctc_collapse"
check("ctc_collapse", ctc_collapse)

# %% [markdown]
# To train, we need the probability that the network gives to the right number. Many paths spell it, so it is a sum again. Take three frames with the probabilities of blank, a and b:
#
# | frame | blank | a | b |
# |---|---|---|---|
# | 1 | 0.1 | 0.6 | 0.3 |
# | 2 | 0.5 | 0.3 | 0.2 |
# | 3 | 0.2 | 0.2 | 0.6 |
#
# Five paths spell *ab*:
#
# | `_ab` | `a_b` | `aab` | `ab_` | `abb` | **sum** |
# |---|---|---|---|---|---|
# | 0.018 | 0.18 | 0.108 | 0.024 | 0.072 | **0.402** |
#
# The loss is $-\ln 0.402 = 0.9113$. And *aa*? Only `a_a` spells it, with $0.6 \cdot 0.5 \cdot 0.2 = 0.06$. Its loss is 2.8134.
#
# Paths that spell *ab* are the paths of a small chain. Its states are `_ a _ b _`, a blank around each label. A path begins in one of the first two states and ends in one of the last two. At each frame it **stays**, goes **one** state on, or **skips** two. A skip leaves out the blank between two labels, so it is not allowed
# into a blank, nor between two labels that are equal. This is your forward algorithm, with the network's probabilities in place of $E$:
#
# $$\alpha_t(s) = p_t(\text{label of } s) \, \big( \alpha_{t-1}(s) + \alpha_{t-1}(s-1) + [\text{skip allowed}] \, \alpha_{t-1}(s-2) \big).$$
#
# The next cell makes the states of each target, and says where a skip may end.


# %%
def ctc_states(targets, target_lengths, blank=0):
    """The labels of the states (B, 2 L + 1), and whether a skip may lead to each."""
    real = torch.arange(targets.shape[1], device=targets.device) < target_lengths[:, None]
    states = targets.new_full((len(targets), 2 * targets.shape[1] + 1), blank)
    states[:, 1::2] = torch.where(real, targets, blank)
    skips = torch.zeros_like(states, dtype=torch.bool)
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    return states, skips


states, skips = ctc_states(torch.tensor([[5, 5, 7]]), torch.tensor([3]))
print("states:", states[0].tolist(), "\nskips: ", skips[0].int().tolist())

# %% [markdown]
# One trap is left, and it has destroyed many models. In the first frames most states cannot be reached, so their $\log \alpha$ is $-\infty$. The value of a `logsumexp` over nothing but $-\infty$ is right, it is $-\infty$. Its slope is $0/0$, which is NaN, and one NaN in a gradient is enough to turn every weight to NaN. The loss looks fine at the first step, and the second step has nothing left to train.
# Some people use a number like $-10^{30}$ for what is impossible. It is finite, so its slopes are, and $e^{-10^{30}}$ is zero all the same.
#
# ### Exercise: `ctc_loss` (about 30 minutes)
#
# Return $-\ln p(\text{target})$ for each call, divided by nothing. Call $b$ has `lengths[b]` frames and `target_lengths[b]` labels, and what comes after them is padding that may hold anything. A target may be empty. A target that does not fit into its frames, such as `5 5` into two, costs $\infty$, which is `torch.inf` and no large number. Where a loss is finite, its gradient is finite, too, even beside a target that does not fit.
# There may be hundreds of frames. Loop over time, and over nothing else. `F.ctc_loss` is the answer itself, so do not use it here, nor `torch.ctc_loss` or `nn.CTCLoss`.


# %% solution="ctc_loss"
def ctc_loss(
    log_p: torch.Tensor,
    lengths: torch.Tensor,
    targets: torch.Tensor,
    target_lengths: torch.Tensor,
    blank: int = 0,
) -> torch.Tensor:
    """log_p (B, T, V), lengths (B,), targets (B, L), target_lengths (B,) -> losses (B,)."""
    ### BEGIN SOLUTION
    never = -1e30
    states, skips = ctc_states(targets, target_lengths, blank)
    emitted = log_p.gather(2, states[:, None].expand(-1, log_p.shape[1], -1))  # (B, T, 2 L + 1)
    alpha = F.pad(emitted[:, 0, :2], (0, states.shape[1] - 2), value=never)
    for t in range(1, log_p.shape[1]):
        one = F.pad(alpha[:, :-1], (1, 0), value=never)
        two = torch.where(skips, F.pad(alpha[:, :-2], (2, 0), value=never), never)
        stepped = torch.stack([alpha, one, two]).logsumexp(0) + emitted[:, t]
        alpha = torch.where((t < lengths)[:, None], stepped, alpha)
    last = 2 * target_lengths[:, None]
    label = torch.where(last > 0, alpha.gather(1, (last - 1).clamp(min=0)), never)
    loss = -torch.cat([alpha.gather(1, last), label], dim=1).logsumexp(1)
    return torch.where(loss > 1e29, torch.inf, loss)
    ### END SOLUTION


# %% check="ctc_loss"
check("ctc_loss", ctc_loss)

# %%
p = torch.tensor([[[0.1, 0.6, 0.3], [0.5, 0.3, 0.2], [0.2, 0.2, 0.6]]]).expand(2, -1, -1)
targets = torch.tensor([[1, 2], [1, 1]])
losses = ctc_loss(p.log(), torch.tensor([3, 3]), targets, torch.tensor([2, 2]))
print("ab and aa cost", losses.numpy().round(4))

# %% [markdown]
# ## The task: read the number
#
# The batches hold spectrograms `x` of shape $(B, 32, T)$, `lengths` in frames, `targets` and `target_lengths`. The labels are 1 to 9, and 10 for the key 0, so that 0 is free for the blank. The padding behind a call is not silent. You hear the next caller dialling.
#
# ### Exercise: a reader of digits (about 20 minutes)
#
# The next cell makes the weights. Write `forward`, `read` and `train`. First `enter` makes 48 channels of the 32 bins. Then each layer adds $\text{ReLU}$ of its convolution to what came in, which is a residual connection. Your `causal_conv1d` computes it from the layer's `weight` and `bias`. Last, `leave` makes 11 scores of the 48 channels. `read` takes the most probable label of each frame, up to the call's length, and collapses the path. For the loss take your own `ctc_loss` or torch's `F.ctc_loss`, which is faster.
#
# We reached the bar with Adam, a learning rate of 0.005 that rises over the first 20 batches and falls to zero over the last third, and gradients clipped to a norm of 1. Be patient at the beginning. The model first learns to say nothing but blanks, and its loss rests on a plateau for 60 to 100 of the 240 batches. Then it drops within a few batches.
#
# `check` reads 200 numbers, and the judge reads 400 more at grading. For full marks, two measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | numbers that are read without an error | 97 % |
# | the same, of those with a doubled digit | 95 % |
#
# With 90 % and 85 % you get a part of the points. Points also depend on what your model does not do. If frames after $t$ change, then its log-probabilities up to $t$ must stay.


# %%
class Layers(nn.Module):
    """The weights of a reader; each of `layers` has the dilation of its place in `dilations`."""

    def __init__(self, width=48, dilations=(1, 2, 4, 8)):
        super().__init__()
        self.dilations = dilations
        self.enter = nn.Conv1d(telephone.BINS, width, 1)
        self.layers = nn.ModuleList(nn.Conv1d(width, width, 3) for _ in dilations)
        self.leave = nn.Conv1d(width, telephone.LABELS, 1)


# %% solution="hidden_states_task"
class DigitReader(Layers):
    """Hears frames, says a label or a blank at each, and reads the number."""

    def forward(self, x):
        """Frames x (B, 32, T) -> log-probabilities of the labels (B, T, 11)."""
        ### BEGIN SOLUTION
        h = self.enter(x)
        for layer, dilation in zip(self.layers, self.dilations):
            h = h + F.relu(causal_conv1d(h, layer.weight, layer.bias, dilation))
        return self.leave(h).log_softmax(1).transpose(1, 2)
        ### END SOLUTION

    def read(self, x, lengths):
        """Frames x (B, 32, T), lengths (B,) -> the numbers, a list of labels for each call."""
        ### BEGIN SOLUTION
        paths = self(x).argmax(-1).tolist()
        return [ctc_collapse(path[:length]) for path, length in zip(paths, lengths.tolist())]
        ### END SOLUTION


def train(model, batches):
    """Trains on `for x, lengths, targets, target_lengths in batches`, and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters())
    steps = len(batches)
    for step, (x, lengths, targets, target_lengths) in enumerate(batches):
        rate = 5e-3 * min(1, (step + 1) / 20, (steps - step) / (0.3 * steps))
        optimizer.param_groups[0]["lr"] = rate
        loss = ctc_loss(model(x), lengths, targets, target_lengths).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        batches.log(loss)
    ### END SOLUTION


# %%
seed(0)
record = fit("hidden_states_task", DigitReader, train)

# %% check="hidden_states_task"
check("hidden_states_task", record.model)

# %% [markdown]
# Here is the call from above, and below it what your reader says at each frame. The blue bands are the tones.

# %%
model = record.model
with torch.no_grad():
    log_p = model(calls.x.to(device())).cpu()
show.hidden_states.reading(calls.x[row, :, :frames], log_p[row, :frames], digits, *marks)

# %% [markdown]
# Ours says a digit for about as long as it sounds, and blanks in between. Yours may say it for a frame or two and go back to blanks, because both paths spell the same number. It was never told when to begin. How long does it wait? The next cell measures, over 300 calls, when a digit is said after its tone began. Before that, predict what happens if the two steps of the decoder are exchanged.

# %%
predict("path_of_a_doubled_digit")

# %%
many = telephone.draw(300, torch.Generator().manual_seed(9))
with torch.no_grad():
    paths = model(many.x.to(device())).argmax(-1).cpu()
right, exchanged, doubled, delays, early = [], [], [], [], []
for k in range(300):
    truth = many.targets[k, : many.counts[k]].tolist()
    path = paths[k, : many.lengths[k]].tolist()
    right.append(ctc_collapse(path) == truth)
    exchanged.append([a for a, _ in groupby(a for a in path if a)] == truth)
    doubled.append(any(a == b for a, b in pairwise(truth)))
    said = [t for t, a in enumerate(path) if a and (t == 0 or a != path[t - 1])]
    if right[-1]:
        marked = zip(said, many.starts[k].tolist(), many.ends[k].tolist())
        for t, start, end in marked:
            delays.append(t + 1 - start)
            early.append(t + 1 < end)
right, exchanged, doubled = map(np.array, (right, exchanged, doubled))
print(f"repeats first: {right.mean():.1%} right, {right[doubled].mean():.1%} of the doubled")
print(
    f"blanks first:  {exchanged.mean():.1%} right, {exchanged[doubled].mean():.1%} of the doubled"
)
print(f"a digit comes {np.median(delays):.1f} frames after its tone begins (median),")
print(f"and in {np.mean(early):.0%} of the cases before the tone ends")

# %% [markdown]
# Ours needed 3 frames, which are 60 milliseconds, and in 97 % of the cases the tone went on. The reader does not wait for the end of a tone, because nothing rewards waiting.
#
# A page of rules written by hand, with the frequencies of the ten keys and two thresholds, reads 99.7 % of these numbers. ELIZA's method works when you know the rules. Your reader found them in 3,840 calls. For speech there is no such page.
#
# ## Play
#
# First comes the typist of three keys. Type any letters of a, s and d, and move the noise. When do the best path and the best state of each position disagree? How much noise does it take until *sss* is the best path of `sds` no longer?

# %%
show.hidden_states.lattice(viterbi, hmm_posterior)

# %% [markdown]
# Now draw a path of CTC yourself, one sign for each frame, with `_` for the blank. How many frames does `5 5 0` need at least? Can you find a path that spells the same with blanks out first?

# %%
show.hidden_states.speller(ctc_collapse)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A hidden Markov model has a table that says which state follows which, and CTC has none. Why can the telephone reader do without it, and for which task would you miss it? A friend proposes to leave the blank out of CTC and to join repeats, nothing else. Which numbers could such a reader never write, and what else would it lose? Write five to eight sentences.

# %% [markdown] question="hidden_states_question"
# The table helps where what was said before makes some continuations likelier than others. Digits of a telephone number hardly depend on each other, so a table would say the same in each row, and the frames alone decide. For speech or typing I would miss it. "Tje" is mended only because "the" is likely, and given the sound
# CTC chooses each frame's label without knowing the labels that it chose before. (A language model beside CTC is the usual remedy.)
#
# Without the blank, two equal digits in a row would always be joined, so no number with a doubled digit could be written. Also the network would have to say some digit at every frame, during pauses and noise, too. It would have to decide exactly where each digit ends and the next begins, although no mark shows it.

# %%
rubric("hidden_states_question")

# %% [markdown]
# ## What you built
#
# You computed three sums over hidden paths, all with the same recursion. A path is in one state at a time, so what came before can be summed up in $S$ numbers.
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `eliza` | pattern matching, a rule-based chatbot | regular expressions anywhere |
# | `hmm_forward`, `hmm_posterior` | forward–backward algorithm | `hmmlearn`, factor graphs |
# | `viterbi` | Viterbi decoding | spelling correction, part-of-speech taggers |
# | `fit_ar` | linear prediction | time-series forecasting, speech codecs |
# | `causal_conv1d`, `receptive_field` | dilated causal convolution | WaveNet, `nn.Conv1d` |
# | `ctc_loss`, `ctc_collapse` | CTC, greedy decoding | `F.ctc_loss`, wav2vec 2.0 |
#
# ## Going further
#
# - **Learn the tables.** Here the tables were counted from texts in which the letters were known. The **Baum–Welch** algorithm learns them from what is seen alone. Your posterior is half of it. Count each step by its posterior probability, divide by the sums, and repeat.
# - **The gradient is a posterior.** Call `backward` on $\log p$ of `hmm_forward`, and look at the gradient of `log_E`. Its column for a symbol is your posterior, added up over the positions where this symbol was seen. Why?
# - **Both sides.** Pad your convolutions on both sides and train as a `variant`. Ours read as well as the causal ones and left the plateau earlier. What do you pay on a telephone?
# - **A loss without its mask.** Give `ctc_loss` the padded length for every call. The model then has to say the digits of one caller while the next one dials. Ours read 0 to 3 % of the numbers.
# - **Read.** L. Rabiner, *A tutorial on hidden Markov models and selected applications in speech recognition* (1989). A. Graves and others, *Connectionist temporal classification* (2006). A. van den Oord and others, [WaveNet](https://arxiv.org/abs/1609.03499) (2016). A. Gulati and others,
#   [Conformer](https://arxiv.org/abs/2005.08100) (2020), puts attention between the convolutions, and is trained with CTC in many systems. The Audio Spectrogram Transformer (topic 11) can be, too.
#
# <!-- needs: 15_gpt -->
# - **Next.** Topic 15 returns to language. It builds a GPT from the parts of topics 08 to 10 and the pieces of topic 13.
#
# **Now you can** sum over all hidden paths or find the best of them, and train a network on labels that nobody has aligned with the sound. Run the cell below to see which notebook comes next.

# %%
progress()
