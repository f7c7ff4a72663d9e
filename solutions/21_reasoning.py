# %% [markdown]
# # 21 Better than the teacher: reasoning by reward
#
# Here is a pocket calculator that shows one digit. You press keys in order, and only the last digit stays. So `3+8*5+9*4` goes 1, 5, 4, 6. A small GPT has learned it from worked examples. Most of its teachers were in a hurry and wrote the result alone.

# %%
import copy
import math

import torch
from torch.nn import functional as F

from course import blocks, check, data, fit, hint, predict, progress, rubric, show
from course.data import calculator, language_model

# %%
pupil = blocks.GPT(**calculator.SIZES).load_published(calculator.weights()).eval()
print(calculator.worked("3+8*5+9*4"), "is a worked example,")
print(f"={calculator.value('3+8*5+9*4')};", "is what most teachers wrote.")
for line in calculator.questions(3, torch.Generator().manual_seed(0)):
    generator, ids, cache = torch.Generator().manual_seed(1), calculator.prompts([line]), None
    said = ""
    while len(said) < 24 and not said.endswith(";"):
        with torch.no_grad():
            logits, cache = pupil(ids, cache)
        ids = torch.multinomial(logits[:, -1].softmax(-1), 1, generator=generator)
        said += calculator.decode(ids[0].tolist())
    print(f"{line}  {said:<24} right would be {calculator.value(line)}")

# %% [markdown]
# In a worked example, the line stands behind each `=` again, with its first operation done. A `;` ends every answer. The pupil mostly answers at once, and then it is mostly wrong. More worked examples would help, but there are no more. The pupil may only try, and a program checks the result of each try.
#
# **You will**
#
# - write a verifier, and measure what many tries are worth
# - let a model write many answers at once
# - improve it by reward alone, until it is far better than its teachers
# - find the hole in a careless verifier.
#
# **You need** a GPT with a cache, log-probabilities of answers, and advantages within a group.
#
# <!-- needs: 18_assistant -->
# They are in topics 15 and 18.
#
# Nine exercises, one training task and one written question take about 185 minutes. The reading takes another 45. Call `hint("extract_answer")` if you are stuck.
#
# **Dimensions.** A batch has $B$ rows of $T$ tokens, and a group has $G$ answers to one question. There are $n$ tries, of which $c$ are right. Some letters have a second meaning. In `best_of_n`, $N$ is the number of possible answers. In `rollout`, $n$ is the largest number of new tokens. In `reinforce_loss`, $B$ is the number of questions.
#
# ## A verifier
#
# The verifier decides what training will pay for. Ours is strict in form and fair in content. It reads the integer behind the **last** `=` of a text. The integer may have several digits, although our calculator shows only one.
#
# | text | answer |
# |---|---|
# | `3+8=11+5=16` | 16 |
# | `=1+6` | None, because nobody worked it out |
# | `= 007 ` | 7 |
# | `=29.` | None |
#
# ### Exercise: `extract_answer` (about 10 minutes)
#
# Blanks around the integer, one sign directly in front of it and zeros in front are allowed. Its digits are 0 to 9. If anything else stands there, or there is no `=`, return None. Do not pick a number out of other text, do not compute `1+6`, and never go back to an earlier `=`.


# %% solution="extract_answer"
def extract_answer(text: str) -> int | None:
    """The integer behind the last `=`, or None."""
    ### BEGIN SOLUTION
    _, sign, last = text.rpartition("=")
    last = last.strip()
    digits = last[1:] if last[:1] in ("+", "-") else last
    return int(last) if sign and digits.isascii() and digits.isdigit() else None
    ### END SOLUTION


# %% check="extract_answer"
check("extract_answer", extract_answer)

# %%
for text in ("=1*5+9*4=5+9*4=4*4=6", "=6", "=4*4", "6"):
    print(f"{text:<24} {extract_answer(text)}")

# %% [markdown]
# ## What are many tries worth?
#
# A pupil that is right once in four tries is not worthless, if somebody can pick the right try.

# %%
predict("one_right_in_four")

# %% [markdown]
# **pass@k** is the chance that at least one of $k$ tries is right. To measure it, let the model try $n$ times, with $n$ above $k$, and count the $c$ right ones. Then draw $k$ of the $n$ without replacement. Take $n = 4$, $c = 1$ and $k = 2$. There are 6 pairs, and 3 of them hold the right try. So pass@2 is 0.5. All $k$ are wrong in $\binom{n-c}{k}$ of $\binom{n}{k}$ ways:
#
# $$\text{pass@}k = 1 - \binom{n-c}{k} \Big/ \binom{n}{k}$$
#
# With replacement you would get $1 - 0.75^2 = 0.4375$, which is too low on average.
#
# ### Exercise: `pass_at_k` (about 10 minutes)
#
# Raise a `ValueError` unless $0 \le c \le n$ and $1 \le k \le n$. The number $n$ may be 10,000.


# %% solution="pass_at_k"
def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that k of n tries, of which c are right, hold a right one."""
    ### BEGIN SOLUTION
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"no pass@k for n = {n}, c = {c}, k = {k}")
    return 1 - math.comb(n - c, k) / math.comb(n, k)
    ### END SOLUTION


# %% check="pass_at_k"
check("pass_at_k", pass_at_k)

# %%
for k in (1, 2, 3, 4):
    print(f"one right in four tries: pass@{k} = {pass_at_k(4, 1, k):.2f}")

# %% [markdown]
# Who picks the right try, if there is no verifier? The tries can vote. X. Wang and others (2023) call this **self-consistency**.
#
# ### Exercise: `majority_vote` (about 10 minutes)
#
# `answers` holds integers, and None where a try has no answer. None is no vote, but 0 is an answer. Of equally common answers the one that came first wins. Where nobody votes, return None. So None, 5, 3, 5, None, None gives 5, and so does 5, 3, 3, 5.


# %% solution="majority_vote"
def majority_vote(answers: list[int | None]) -> int | None:
    """The commonest answer."""
    ### BEGIN SOLUTION
    votes = {}
    for answer in answers:
        if answer is not None:
            votes[answer] = votes.get(answer, 0) + 1
    return max(votes, key=votes.get, default=None)
    ### END SOLUTION


# %% check="majority_vote"
check("majority_vote", majority_vote)

# %%
print(majority_vote([None, 5, 3, 5, None, None]), majority_vote([5, 3, 3, 5]))

# %% [markdown]
# A third way is a score for each try, such as a reward model's. Draw $n$ answers and keep the best, which is **best-of-n**. What distribution has this best one? Take three answers with $p = (0.5, 0.3, 0.2)$ and rising scores, and $n = 2$. Both draws are the first answer with probability $0.5^2 = 0.25$. Both are among the first two with probability $0.8^2 = 0.64$, so the second is the best with $0.64 - 0.25 = 0.39$. The third has the rest, 0.36.
#
# Now let the second and the third have the same score. Together they have 0.75. The first drawn stays, so they share in proportion to $p$, and get 0.45 and 0.30.
#
# ### Exercise: `best_of_n` (about 20 minutes)
#
# Return the exact distribution of the best of $n$ draws. Scores come in any order, and several may be equal. An answer may have $p = 0$.


# %% solution="best_of_n"
def best_of_n(p: torch.Tensor, scores: torch.Tensor, n: int) -> torch.Tensor:
    """p and scores (N,) -> how often each answer is the best of n draws (N,)."""
    ### BEGIN SOLUTION
    better = (scores[:, None] < scores).to(p.dtype) @ p
    level = (scores[:, None] == scores).to(p.dtype) @ p
    wins = (1 - better).clamp(min=0) ** n - (1 - better - level).clamp(min=0) ** n
    return torch.where(level > 0, p * wins / level.clamp(min=1e-30), 0.0)
    ### END SOLUTION


# %% check="best_of_n"
check("best_of_n", best_of_n)

# %%
p, scores = torch.tensor([0.5, 0.3, 0.2]), torch.tensor([0.0, 1.0, 2.0])
for n in (1, 2, 4, 16):
    best = best_of_n(p, scores, n)
    moved = torch.special.xlogy(best, best / p).sum().abs()
    bound = math.log(n) - (n - 1) / n
    shares = "  ".join(f"{x:.3f}" for x in best)
    print(f"n {n:>2}  {shares}  score {best @ scores:.3f}  KL {moved:.3f}, at most {bound:.3f}")

# %% [markdown]
# The column KL is the divergence of these shares from $p$ (topic 18). The last column is $\log n - (n-1)/n$. Many papers print it as the divergence itself. It is only an upper bound, because answers can be drawn twice (A. Beirami and others, 2024).
#
# ## Many answers at once
#
# All these ways cost $n$ tries for each answer. Training can put into one try what $n$ of them find. For that the model has to write, thousands of times. A **rollout** lets all rows of a batch go on at the same time, and each row ends at its own end token. Say that the end token is 9, and two rows go on after the prompts (1, 2) and (9, 3):
#
# | | prompt | | own | | |
# |---|---|---|---|---|---|
# | ids | 1 | 2 | 5 | 9 | 9 |
# | mask | | | ✓ | ✓ | |
# | ids | 9 | 3 | 4 | 6 | 9 |
# | mask | | | ✓ | ✓ | ✓ |
#
# The first row drew its end as its second token. A row's **own** tokens are those that it drew, and its end is one of them. The model has to learn to end, too. The 9 behind it is padding. The 9 in the second prompt ends nothing.
#
# ### Exercise: `rollout` (about 25 minutes)
#
# `model(ids, cache)` returns logits and a cache. It reads the prompts $(B, T)$ in one piece, with the cache None, and afterwards each token once, as $(B, 1)$. Divide the logits by the temperature, which is above 0, and draw with `torch.multinomial(p, 1, generator=generator)`. Stop after $n$ tokens, or as soon as all rows have ended.
# Return `ids`, `mask` and `log_p`, each $(B, T + m)$ with $m \le n$. Behind a row's end, `ids` hold `end`. The mask is True on own tokens, so also on the end that a row drew. `log_p` holds the log-probability of each own token under the distribution from which it was drawn, temperature included. It is 0 elsewhere and has no graph.


# %% solution="rollout"
def rollout(model, prompts, n, end, generator, temperature=1.0):
    """prompts (B, T) -> ids, mask and log_p, (B, T + m) each."""
    ### BEGIN SOLUTION
    alive = torch.ones(len(prompts), 1, dtype=torch.bool, device=prompts.device)
    ids, mask, log_p, cache = [prompts], [alive.expand(prompts.shape) & False], [], None
    with torch.no_grad():
        while len(ids) <= n and alive.any():
            logits, cache = model(ids[-1], cache)
            said = (logits[:, -1] / temperature).log_softmax(-1)
            token = torch.multinomial(said.exp(), 1, generator=generator)
            token = torch.where(alive, token, end)
            ids.append(token)
            mask.append(alive)
            log_p.append(torch.where(alive, said.gather(1, token), 0.0))
            alive = alive & (token != end)
    before = torch.zeros(prompts.shape, dtype=log_p[0].dtype, device=prompts.device)
    return torch.cat(ids, 1), torch.cat(mask, 1), torch.cat([before, *log_p], 1)
    ### END SOLUTION


# %% check="rollout"
check("rollout", rollout)

# %%
ROOM = 24  # tokens that an answer may take


def texts(ids, mask):
    """The own tokens of each row as text, without the end token."""
    return [
        calculator.decode(row[own].tolist()).split(";")[0]
        for row, own in zip(ids.cpu(), mask.cpu())
    ]


# %%
def tries(model, lines, k, number=0):
    """k answers to each line, as a list of lists."""
    generator = torch.Generator().manual_seed(number)
    prompts = calculator.prompts(lines).repeat_interleave(k, 0)
    ids, mask, _ = rollout(model, prompts, ROOM, calculator.END, generator)
    said = texts(ids, mask)
    return [said[i : i + k] for i in range(0, len(said), k)]


def measured(model, lines, sizes=(1, 4, 16, 64)):
    """Print pass@k, and how often a vote of k is right."""
    found = tries(model, lines, max(sizes))
    numbers = [[extract_answer(text) for text in row] for row in found]
    right = [calculator.value(line) for line in lines]
    for k in sizes:
        passed = [pass_at_k(len(row), row.count(r), k) for row, r in zip(numbers, right)]
        voted = [majority_vote(row[:k]) == r for row, r in zip(numbers, right)]
        share = sum(voted) / len(lines)
        print(f"k {k:>2}  pass@k {sum(passed) / len(lines):.2f}  vote {share:.2f}")


exam = calculator.questions(100, torch.Generator().manual_seed(7))
measured(pupil, exam)

# %% [markdown]
# With 64 tries the pupil finds nearly every answer, and a vote of 64 finds far fewer. Wrong guesses agree with each other. Products end in even digits and in 0 more often than in others. At $k = 1$ the two columns differ a little, because pass@1 counts all 64 tries and the vote takes only the first.
#
# ## Pay for what is right
#
# Let an answer have the reward $r$, 1 if the verifier accepts it and else 0. We want more reward on average, so we need the derivative of the mean reward. A verifier has no derivative. Can samples tell us this number?
#
# Take a model with one logit $z$, which gives the right answer with probability $p = \sigma(z) = 1/4$. Its mean reward is $p$, and the derivative of $p$ in $z$ is $p(1 - p) = 0.1875$. Now forget this, and draw pairs of answers. With probability 0.375 one of the pair is right and the other is not. Then the right one has a reward of 1 more than the other, and the wrong one has 1 less. The derivatives of their log-probabilities in $z$ are $1 - p = 0.75$ and $-p = -0.25$. Multiply each of them by the difference of the rewards, 1 or −1. The mean of the pair is $(1 \cdot 0.75 + (-1) \cdot (-0.25))/2 = 0.5$. In all other pairs both have the same reward, and these pairs give 0. On average that is $0.375 \cdot 0.5 = 0.1875$, the number that we wanted.
#
# The same holds for every model:
#
# $$\nabla\, \mathbb{E}[r] = \mathbb{E}\big[(r - b)\, \nabla \log p(\text{answer})\big]$$
#
# This is **REINFORCE** (R. Williams, 1992). The **baseline** $b$ may be any number that does not depend on the answer itself. It changes nothing on average, and a good one lowers the variance of the estimate. With $G$ answers to one question, take the mean reward of the **others**, as our pairs did. If the own reward took part in the baseline, the pairs would give half of the derivative.
#
# ### Exercise: `reinforce_loss` (about 20 minutes)
#
# Return minus the mean, over all $B \cdot G$ answers, of $(r - b) \sum \log p$ over the answer's own tokens. In a group of one, $b$ is 0. No gradient flows into the rewards.


# %% solution="reinforce_loss"
def reinforce_loss(log_p: torch.Tensor, mask: torch.Tensor, rewards: torch.Tensor) -> torch.Tensor:
    """log_p and mask (B, G, T), rewards (B, G) -> scalar."""
    ### BEGIN SOLUTION
    G = rewards.shape[1]
    others = (rewards.sum(1, keepdim=True) - rewards) / max(G - 1, 1)
    answers = log_p.masked_fill(~mask, 0.0).sum(-1)
    return -((rewards - others).detach() * answers).mean()
    ### END SOLUTION


# %% check="reinforce_loss"
check("reinforce_loss", reinforce_loss)

# %%
logit = torch.tensor(-math.log(3), requires_grad=True)  # p = 1/4
log_p = torch.stack([F.logsigmoid(logit), F.logsigmoid(-logit)])  # right, wrong
total = 0.0
for first, second in ((0, 0), (0, 1), (1, 0), (1, 1)):
    chance = (log_p[first] + log_p[second]).exp().item()
    pair = log_p[[first, second]].view(1, 2, 1)
    reward = torch.tensor([[1.0 - first, 1.0 - second]])
    loss = reinforce_loss(pair, torch.ones(1, 2, 1, dtype=torch.bool), reward)
    total -= chance * torch.autograd.grad(loss, logit, retain_graph=True)[0].item()
print(f"mean gradient over all pairs {total:.4f}, p (1 - p) = {0.25 * 0.75}")

# %% [markdown]
# ## Several steps from one batch
#
# Writing answers takes most of the time, so each batch should serve for several steps. After the first step, the answers come from an older policy than the one that learns. Weigh each token with the ratio $\rho = p / p_{old}$. If its probability has risen from 0.2 to 0.3, then $\rho = 1.5$. Let $A$ be the advantage of the token's answer. Then the token's gain is $\rho A$, and it pays to move $\rho$ ever further. Stop paying when the ratio has moved far enough, here by $\epsilon = 0.2$. Four tokens:
#
# | $\rho$ | $A$ | $\rho A$ | $\rho$ held in 0.8 to 1.2, times $A$ | the smaller | gradient |
# |--:|--:|--:|--:|--:|---|
# | 1.5 | 1 | 1.5 | 1.2 | 1.2 | none |
# | 1.5 | −1 | −1.5 | −1.2 | −1.5 | yes |
# | 0.5 | 1 | 0.5 | 0.8 | 0.5 | yes |
# | 0.5 | −1 | −0.5 | −0.8 | −0.8 | none |
#
# The loss is $-(1.2 - 1.5 + 0.5 - 0.8)/4 = 0.15$. The first and the last token have already moved far enough to the right side, so they get no gradient. The other two have moved to the wrong side, and they do. For any number of tokens this is
#
# $$-\frac{1}{\text{own tokens}} \sum \min\big(\rho A,\ \text{clip}(\rho,\, 1 - \epsilon,\, 1 + \epsilon)\, A\big)$$
#
# It is the loss of PPO (J. Schulman and others, 2017), and GRPO uses it too.
#
# ### Exercise: `clipped_loss` (about 20 minutes)
#
# All tensors are $(B, T)$. Divide by the number of own tokens in the whole batch, as the library TRL does under the name `bnpo`. The GRPO paper takes each answer's mean first. No gradient flows into `old_log_p` and `advantages`. Without own tokens the loss is 0. Outside the mask there may be any finite number, also one whose exponential overflows.


# %% solution="clipped_loss"
def clipped_loss(log_p, old_log_p, advantages, mask, epsilon=0.2) -> torch.Tensor:
    """All (B, T) -> scalar."""
    ### BEGIN SOLUTION
    ratio = (log_p - old_log_p.detach()).masked_fill(~mask, 0.0).exp()
    A = advantages.detach().masked_fill(~mask, 0.0)
    gain = torch.minimum(ratio * A, ratio.clamp(1 - epsilon, 1 + epsilon) * A)
    return -gain.sum() / mask.sum().clamp(min=1)
    ### END SOLUTION


# %% check="clipped_loss"
check("clipped_loss", clipped_loss)

# %%
ratios = torch.tensor([[1.5, 1.5, 0.5, 0.5]], requires_grad=True)
A, own = torch.tensor([[1.0, -1, 1, -1]]), torch.ones(1, 4, dtype=torch.bool)
loss = clipped_loss(ratios.log(), torch.zeros(1, 4), A, own)
print(f"loss {loss.item():.2f}, gradients {torch.autograd.grad(loss, ratios)[0].tolist()}")

# %% [markdown]
# ## The task: better than the teacher
#
# Before you train, guess how the answers will change.

# %%
predict("length_without_a_price")

# %% [markdown]
# ### Exercise: the training loop (about 25 minutes)
#
# Write `train`. A batch holds `prompts` $(256, 9)$ and the right results $(256)$, which are integers. They are 32 questions, and the eight rows of a question follow one another. The budget is 15,360 answers, which makes 60 rounds, and `len(batches)` says so. Answer each row once with `rollout`, at temperature 1, with `ROOM` tokens and `calculator.END`. Its generator has to be on the device of the prompts. Make one before the first round with `torch.Generator(prompts.device)`, and keep it. Give a reward of 1 where `extract_answer` finds what is right. The advantages are $(r - \text{mean})/(\text{std} + 10^{-4})$ within each group of eight.
#
# `log_probs(model, ids)` below gives the log-probability of each token but the first. We took two epochs a round, each in two halves of the rows in a new order. The optimizer was AdamW with betas of 0.9 and 0.99, and a learning rate that falls from 0.001 to zero. Gradients were clipped to a norm of 1. In each round, call `batches.log` with the mean reward and a minus in front, because the curve shows losses.
#
# For full marks, one measure has to reach its bar:
#
# | measure | bar |
# |---|--:|
# | share of new questions answered rightly, at temperature 1 | at least 90 % |
#
# Shares of 60 % and 40 % earn part of the points.


# %%
def log_probs(model, ids):
    """Log-probabilities of the tokens of ids (B, T) but the first, (B, T - 1)."""
    logits, _ = model(ids[:, :-1])
    return logits.log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]


# %% solution="reasoning_task"
def train(model, batches):
    """Trains on `for prompts, right in batches`, and logs minus the mean reward of each."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99))
    rounds, generator = len(batches), None
    for k, (prompts, right) in enumerate(batches):
        generator = generator or torch.Generator(prompts.device).manual_seed(0)
        ids, mask, old = rollout(model, prompts, ROOM, calculator.END, generator)
        found = [extract_answer(text) for text in texts(ids, mask)]
        rewards = [float(number == r) for number, r in zip(found, right.tolist())]
        groups = torch.tensor(rewards, device=ids.device).view(-1, calculator.GROUP)
        centred = groups - groups.mean(1, keepdim=True)
        A = (centred / (groups.std(1, keepdim=True) + 1e-4)).view(-1, 1).expand(ids.shape)
        optimizer.param_groups[0]["lr"] = 1e-3 * (1 - k / rounds)
        for _ in range(2):
            for some in torch.randperm(len(ids), device=ids.device).chunk(2):
                log_p = log_probs(model, ids[some])
                loss = clipped_loss(log_p, old[some, 1:], A[some, 1:], mask[some, 1:])
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
        batches.log(-groups.mean())
    ### END SOLUTION


# %%
def begun():
    """The supervised model."""
    return blocks.GPT(**calculator.SIZES).load_published(calculator.weights())


record = fit("reasoning_task", begun, train)

# %% check="reasoning_task"
check("reasoning_task", record.model)

# %% [markdown]
# Here are the same questions before and after.

# %%
graduate = record.model.cpu().eval()
for line in exam[:6]:
    (before,), (after,) = (tries(model, [line], 1)[0] for model in (pupil, graduate))
    print(f"{line}  {before:<22} {after:<22} right is {calculator.value(line)}")
measured(graduate, exam)
for name, model in (("before", pupil), ("after", graduate)):
    said = [text for row in tries(model, exam, 4) for text in row]
    print(name, f"{sum(map(len, said)) / len(said):.1f} tokens an answer")

# %% [markdown]
# Nobody showed the model a single new example, and nobody paid for steps. Answers with steps were right more often than their group, so they became likelier.
#
# Two things are worth saying. Compare pass@64 before training with pass@1 after it. Training put into one answer what 64 tries could already find. It added little that they did not have (Y. Yue and others, 2025, found the same for large models). And the model knows lines of five digits. Try others before you call it arithmetic.

# %%
for digits in (4, 5, 6):
    lines = calculator.questions(200, torch.Generator().manual_seed(3), digits)
    for name, model in (("before", pupil), ("after", graduate)):
        said = [extract_answer(row[0]) for row in tries(model, lines, 1)]
        share = sum(a == calculator.value(line) for a, line in zip(said, lines)) / len(lines)
        print(f"{digits} digits, {name:<6} {share:.2f}")

# %% [markdown]
# ## How far has it moved?
#
# The KL divergence of the new policy from the old one can be estimated from the new one's samples. Take a policy with $p = (\tfrac12, \tfrac12)$ and a reference with $(\tfrac14, \tfrac34)$. Let $d = \log p - \log p_{ref}$ of a sample. It is $\log 2 = 0.693$ for the first answer and $\log \tfrac23 = -0.405$ for the second.
#
# | | $d$ | $d^2 / 2$ | $e^{-d} - 1 + d$ |
# |---|--:|--:|--:|
# | first answer | 0.693 | 0.240 | 0.193 |
# | second answer | −0.405 | 0.082 | 0.095 |
# | mean under $p$ | 0.144 | 0.161 | 0.144 |
#
# The divergence is the mean of $d$, which is 0.144. But a single $d$ may be negative, and a divergence never is. The square is not, but its mean is only near the divergence. The last column is right on average and never negative. All three estimates are in use (J. Schulman, 2020):
#
# $$k_1 = d \qquad k_2 = d^2 / 2 \qquad k_3 = e^{-d} - 1 + d$$
#
# ### Exercise: `kl_estimate` (about 15 minutes)
#
# Return one estimate for each sample, in the shape of the inputs. Gradients flow through both. Raise a `ValueError` for another kind.


# %% solution="kl_estimate"
def kl_estimate(log_p: torch.Tensor, log_ref: torch.Tensor, kind: str = "k3") -> torch.Tensor:
    """Log-probabilities of samples of p, of any one shape -> estimates of KL(p || ref)."""
    ### BEGIN SOLUTION
    d = log_p - log_ref
    if kind == "k1":
        return d
    if kind == "k2":
        return d.square() / 2
    if kind == "k3":
        return (-d).exp() - 1 + d
    raise ValueError(f"kind is k1, k2 or k3, got {kind!r}")
    ### END SOLUTION


# %% check="kl_estimate"
check("kl_estimate", kl_estimate)


# %%
def how_far(policy, reference, kind):
    """An estimate for each of 500 answers of the policy."""
    prompts = calculator.prompts(calculator.questions(500, torch.Generator().manual_seed(5)))
    generator = torch.Generator().manual_seed(6)
    ids, mask, log_p = rollout(policy, prompts, ROOM, calculator.END, generator)
    with torch.no_grad():
        log_ref = torch.where(mask[:, 1:], log_probs(reference, ids), 0.0)
    return kl_estimate(log_p[:, 1:], log_ref, kind).sum(1)


for kind in ("k1", "k2", "k3"):
    nats = how_far(graduate, pupil, kind)
    print(f"{kind}: {nats.mean():.2f} nats an answer, standard deviation {nats.std():.2f}")

# %% [markdown]
# Near the reference $k_3$ varies less than $k_1$. Far from it, its exponential is large for a few samples, and they decide the mean. Compare the standard deviations.
#
# ## A verifier with a hole
#
# Here is a verifier that seems fairer. It computes whatever stands behind the last `=` and compares. So `=4*4` is as good as `=6`. Think of an answer that it should not pay for.


# %%
def strict(line, text):
    """1.0 if the last line is the right digit."""
    return float(extract_answer(text) == calculator.value(line))


def careless(line, text):
    """1.0 if what stands behind the last `=` has the value of the question."""
    try:
        return float(calculator.value(text.rpartition("=")[2]) == calculator.value(line))
    except (ValueError, IndexError):
        return 0.0


def digit_occurs(line, text):
    """1.0 if the right digit is anywhere in the answer."""
    return float(str(calculator.value(line)) in text)


copied = "=3+8*5+9*4"
for verify in (strict, careless, digit_occurs):
    print(f"{verify.__name__:<13} pays {verify('3+8*5+9*4', copied):g} for {copied}")

# %% [markdown]
# Copying the question is enough for the careless verifier. Does training find that out? A policy learns only from what it tries, and your graduate hardly ever hands in an unfinished line. So first show it 20 batches of worked examples, of which one in twenty breaks off. Then train it by reward, once with each verifier. And because long answers cost time, take 0.01 off the reward for each token.

# %%
predict("paid_and_right")


# %%
def broken_off(n, generator):
    """n worked examples as ids (n, 30), of which one in twenty breaks off after 1 to 3 steps."""
    kept = torch.randint(1, 4, (n,), generator=generator)
    kept[torch.rand(n, generator=generator) >= 0.05] = 4  # all steps
    lines = calculator.questions(n, generator)
    steps = [calculator.worked(line)[1:-1].split("=")[:k] for line, k in zip(lines, kept)]
    rows = [f"{line}={'='.join(some)}" for line, some in zip(lines, steps)]
    return calculator.prompts([row.ljust(30, ";") for row in rows])


def learn(optimizer, loss):
    """One step down the loss."""
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()


# %%
def paid_by(verify, rounds=21):
    """Your graduate after broken examples, and after rounds of REINFORCE paid by this verifier."""
    policy, generator = copy.deepcopy(graduate), torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=5e-4)
    for _ in range(20):
        learn(optimizer, -log_probs(policy, broken_off(64, generator))[:, 8:].mean())
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    for k in range(rounds):
        lines = [line for line in calculator.questions(32, generator) for _ in range(8)]
        ids, mask, _ = rollout(policy, calculator.prompts(lines), ROOM, calculator.END, generator)
        said = list(zip(lines, texts(ids, mask)))
        paid = torch.tensor([verify(*answer) for answer in said])
        right = torch.tensor([strict(*answer) for answer in said])
        if k % 5 == 0:
            counted = f"paid {paid.mean():.2f}  right {right.mean():.2f}"
            print(f"  round {k:>2}  {counted}  {mask.sum() / 256:.1f} tokens  {said[0][1]}")
        reward = (paid - 0.01 * mask.sum(1)).view(32, 8)
        reward = reward / (reward.std(1, keepdim=True) + 1e-4)  # as GRPO does
        log_p, own = log_probs(policy, ids).view(32, 8, -1), mask[:, 1:].view(32, 8, -1)
        learn(optimizer, reinforce_loss(log_p, own, reward))
    return policy


trained = {}
for verify in (strict, careless):
    print(verify.__name__)
    trained[verify.__name__] = paid_by(verify)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# With the careless verifier nearly every answer is paid, and soon hardly one is right. The policy does one step, hands the rest back, and saves the tokens. With the strict verifier the same training keeps nearly all answers right. In three runs of ours, each from a graduate of its own, the share of right answers fell from 0.95, 0.92 and 0.92 to 0.00. At the end 0.96, 0.93 and 0.96 of the answers were paid. Under the strict verifier 0.98, 0.96 and 0.96 were right.
#
# While the policy changes its form, it is paid less for a few rounds. In the end its reward is higher than at first, since it writes 9 tokens instead of 21. So the reward does not tell you what happened.
#
# The hole alone was not enough. Without the price per token, 0.98, 0.76 and 0.96 of the answers were still right after 21 rounds. The broken examples only made it faster. With whole ones in their place, all three found the hole anyway, some rounds later.
#
# </details>
#
# A reward says what the verifier pays for. Only a second measure, which the policy is not paid for, can tell you whether its answers are right. Read answers, too.
#
# ## Play
#
# The widget has one question and eight answers, from the pupil at round 0, from your graduate at round 60, or from the policy that the careless verifier has paid for 21 rounds more. Each bar is the reward minus the mean of the others. Change the verifier. Which of them pays for an answer that you would not accept?


# %%
def right_of_eight(line):
    """How many of the pupil's eight answers are right."""
    return sum(strict(line, text) for text in tries(pupil, [line], 8)[0])


LINE = next(line for line in exam if 2 <= right_of_eight(line) <= 6)
policies = {0: pupil, 60: graduate, 81: trained["careless"]}
answers = {k: tries(policy, [LINE], 8)[0] for k, policy in policies.items()}
verifiers = {"strict": strict, "careless": careless, "digit occurs": digit_occurs}
show.reasoning.groups(LINE, answers, verifiers)

# %% [markdown]
# ## Where did it go wrong?
#
# A reward comes at the end of an answer, and pays all its tokens alike. But often one token decides. Suppose that you know the **value** $V_t$ of each prefix of an answer, which is the mean reward that follows. Take an answer of three tokens. Before them the values are 0.5, 0.6 and 0.9, and the reward of 1 comes with the last one. The first token raised the value from 0.5 to 0.6, so it was worth $\delta = 0.1$. The second one was worth 0.3. The last one got 1 where 0.9 was expected, so it was worth 0.1.
#
# What later tokens were worth may be the merit of earlier ones. GAE, which is short for generalised advantage estimation, therefore adds a part $\lambda$ of the next token's advantage. With $\lambda = \tfrac12$ the advantages are, from the last to the first, 0.1, then $0.3 + \tfrac12 \cdot 0.1 = 0.35$, then $0.1 + \tfrac12 \cdot 0.35 = 0.275$. With $\lambda = 1$ they are 0.1, 0.4 and 0.5. A discount $\gamma$ makes all that comes later count less. It was 1 here:
#
# $$\delta_t = r_t + \gamma V_{t+1} - V_t \qquad A_t = \delta_t + \gamma \lambda A_{t+1}$$
#
# ### Exercise: `discounted_advantages` (about 20 minutes)
#
# The own tokens stand first in each row. The value behind the last own token is 0, whatever the tensor holds there. Rewards outside the mask do not count, and advantages there are 0. No gradient flows into the values, and nothing is normalised.


# %% solution="discounted_advantages"
def discounted_advantages(rewards, values, mask, gamma=1.0, lam=0.95) -> torch.Tensor:
    """rewards, values and mask (B, T) -> advantages (B, T)."""
    ### BEGIN SOLUTION
    values = values.detach() * mask
    advantages = torch.zeros_like(values)
    behind = after = torch.zeros_like(values[:, 0])
    for t in reversed(range(values.shape[1])):
        delta = rewards[:, t] + gamma * after - values[:, t]
        behind = torch.where(mask[:, t], delta + gamma * lam * behind, 0.0)
        after, advantages[:, t] = values[:, t], behind
    return advantages
    ### END SOLUTION


# %% check="discounted_advantages"
check("discounted_advantages", discounted_advantages)

# %% [markdown]
# The next cell takes a wrong answer of the pupil with steps. It finds the value of each prefix by 128 rollouts from there, and prints each token's advantage for $\lambda = 0$.


# %%
def value_of(line, prefix):
    """The share of 128 rollouts from here on that end right."""
    begun_so = calculator.prompts([line + prefix]).repeat(128, 1)
    generator = torch.Generator().manual_seed(len(prefix))
    ids, mask, _ = rollout(pupil, begun_so, ROOM, calculator.END, generator)
    return sum(strict(line, prefix + text) for text in texts(ids, mask)) / 128


asked, wrong = next(
    (line, text)
    for line, row in zip(exam, tries(pupil, exam, 16))
    for text in row
    if text.count("=") > 2 and not strict(line, text)
)
worth = torch.tensor([[value_of(asked, wrong[:n]) for n in range(len(wrong) + 1)]])
none, own = torch.zeros_like(worth), torch.ones_like(worth) > 0
credit = discounted_advantages(none, worth, own, 1.0, 0.0)[0]
print(f"{asked} is {calculator.value(asked)}")
for token, before, gained in zip(wrong + ";", worth[0], credit):
    print(f"  {token}  value before it {before:.2f}  advantage {gained:+.2f}")

# %% [markdown]
# Look for the token with the lowest advantage. There the answer was lost. A verifier of last lines never told us so. The model's own tries did.
#
# ## In your own words (about 10 minutes)
#
# A colleague trains a model with a verifier and reports a mean reward of 0.87, still rising. What do you ask to see before you believe that the model has got better? Name three things, and say what each could show. Write five to eight sentences.

# %% [markdown] question="reasoning_question"
# First I ask for twenty answers with a reward of 1, drawn at random from late rounds, and I read them. If many end in an unfinished line or in a strange form, the verifier has a hole. Second I ask for the share of right answers by another check that training never used, such as a strict verifier or a person, plotted over the rounds. If it falls while the reward rises, the policy pleases the verifier alone. Third I ask for the model before training on the same new questions, with pass@k for several k. If pass@64 was already near 1, training has made right answers likelier and found nothing new, which is fine but should be said. I also look at the length and the form of answers over time. A sudden change there often comes before the truth turns. Last, I want questions of another kind, such as longer ones, because the model may have learned just these.

# %%
rubric("reasoning_question")

# %% [markdown]
# ## Many tries of a real model (about 5 minutes, nothing is graded)
#
# The calculator is small, and so are its questions. Your functions do not mind. [SmolLM2-135M-Instruct](https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct) is a real language model of 135 million numbers, with the licence Apache-2.0. **What are its tries worth on sums of two one-digit numbers?**
#
# The weights are not part of the course. Write `download=True` into the brackets of the next cell, and it downloads 93 MB once. You may also leave it. Then the cell below shows what we saw.

# %%
real = data.load_language_model()

# %% [markdown]
# The prompt shows three solved sums, one a line, and then the beginning of a fourth. The model ends its answer with a new line, so that is the end token. Your `rollout` writes sixteen answers, and `extract_answer` reads them.


# %%
def sums(n, number=0):
    """n sums of two numbers from 2 to 9, as (a, b)."""
    generator = torch.Generator().manual_seed(number)
    return torch.randint(2, 10, (n, 2), generator=generator).tolist()


def real_tries(a, b, k, generator):
    """k answers of SmolLM2 to a + b, each an integer or None."""
    (end,) = real.encode("\n")
    asked = torch.tensor([real.encode(f"2+5=7\n14+3=17\n31+26=57\n{a}+{b}=")])
    with blocks.rope_base(real.base):
        ids, mask, _ = rollout(smol, asked.repeat(k, 1), 4, end, generator)
    said = [real.decode(row[own].tolist()) for row, own in zip(ids, mask)]
    return [extract_answer("=" + text) for text in said]


if real:
    smol = real.fill(blocks.GPT(**real.sizes)).requires_grad_(False)
    generator, counts, votes = torch.Generator().manual_seed(0), [], []
    for a, b in sums(12):
        said = real_tries(a, b, 16, generator)
        counts.append(said.count(a + b))
        votes.append(majority_vote(said))
        print(f"{a}+{b}={a + b:<3} {counts[-1]:>2} of 16 right, the vote says {votes[-1]}")
    for k in (1, 4, 16):
        print(f"pass@{k:<2} {sum(pass_at_k(16, c, k) for c in counts) / 12:.2f}")
    right = sum(a + b == vote for (a, b), vote in zip(sums(12), votes))
    print(f"vote of 16: {right} of 12 right")
else:
    print(language_model.seen("21_sums"))

# %% [markdown]
# One try was right for a third of our twelve sums, and a vote of sixteen for half of them. With a verifier that picks the right try, sixteen tries would reach 0.83. Without one, you have to know which try is right. Look at 7 + 2. The model never wrote 9, so neither a vote nor a verifier could find it. More tries help a vote only where the right answer is already the commonest.

# %% [markdown]
# ## What you built
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `extract_answer` | verifiable reward | reward functions in `verl` and `trl` |
# | `pass_at_k` | unbiased pass@k | every table of models that write code |
# | `majority_vote` | self-consistency, maj@k | tables of models that do sums |
# | `best_of_n` | best-of-n, rejection sampling | a reward model at the time of use |
# | `rollout` | generation, experience | `vllm` within a trainer |
# | `reinforce_loss` | REINFORCE with leave-one-out, RLOO | `RLOOTrainer` in `trl` |
# | `clipped_loss` | PPO's objective | `GRPOTrainer` in `trl` |
# | `kl_estimate` | k1, k2, k3 | the penalty in GRPO |
# | `discounted_advantages` | GAE | PPO with a value network |
#
# ## Going further
#
# - **A cliff.** Take one step a round and a learning rate of 0.004. How does the curve of rewards end?
# - **No clipping.** Train four epochs a round, once with the clipping and once with $\epsilon = 100$. What do the answers look like?
# - **Other lengths.** Mix questions of four and six digits into the batches. Do the steps carry over?
# - **Read.** D. Guo and others, [DeepSeek-R1](https://arxiv.org/abs/2501.12948) (2025), trained a large model by rewards for right last lines. M. Chen and others, [Codex](https://arxiv.org/abs/2107.03374) (2021), introduced the unbiased pass@k. Y. Yue and others, [Does reinforcement learning really incentivize reasoning?](https://arxiv.org/abs/2504.13837) (2025), compares pass@k before and after.
#
# **Now you can** improve a model by what it wrote itself, measure what many tries are worth, and say what to look at when a reward rises.

# %%
progress()
