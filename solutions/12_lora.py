# %% [markdown]
# # 12 Fine-tuning a few numbers: LoRA
#
# Somebody hands you a trained network. It cost weeks and a power station, and it does nearly what you need. The lectures call the rest **fine-tuning**: go on training, on your own data, with a small learning rate. That works, and has a price. Every weight of the network moves, so what
# you have in the end is a second network, as large as the first. For one customer that is fine. For three hundred customers it is three hundred networks, and one of GPT-3's size fills 350 gigabytes.
#
# How much of that is needed? This notebook trains a Vision Transformer for a new scanner by moving *none* of its weights, and adding to each layer a correction so thin that all of them together would fit into an e-mail. The lectures call this **parameter-efficient fine-tuning**. You build the layer, put it into a model that you did not write, find out from the singular values how far one can
# go with it, and compare it with training everything and with training nothing but the biases.
#
# Nine short exercises, one training task, one written question; about two and a half hours. All training together takes about a minute on a laptop. Stuck? `hint("LoRALinear")` gives a hint, and a stronger one each time.

# %%
import copy
import math
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, progress, seed, show
from course.data import digits, negatives, pretrained

# %% [markdown]
# ## A reader, and a scanner it does not know
#
# `blocks.ViT` is the model of topic 11, here for scans of 8 × 8 pixels in patches of 2: two layers of width 40. Its weights come trained. They have seen the 1,400 upright digits of topic 11 and read new ones well.
#
# The second scanner gives negatives, and somebody put the paper in sideways.

# %%
seed(0)
scans, labels = digits.scans("test")  # (397, 1, 8, 8), none of them seen in training
turned, _ = negatives.scans("test")  # the same scans from the other scanner
show.vit_patches.scans(torch.cat([scans[:10], turned[:10]]), labels[:10].repeat(2))


# %%
def reader():
    """The trained Vision Transformer, as it was given to us."""
    model = blocks.ViT(**pretrained.SIZES)
    model.load_state_dict(pretrained.weights())
    return model.to(device()).eval()


def accuracy(model, images):
    """The share of held-out images (397, 1, 8, 8) that the model reads rightly."""
    with torch.no_grad():
        return (model(images.to(device())).argmax(1).cpu() == labels).float().mean().item()


base = reader()
print(f"upright:   {accuracy(base, scans):.0%} right")
print(f"negatives: {accuracy(base, turned):.0%} right")

# %% [markdown]
# On the negatives it might as well draw the answer from a hat. Nothing is missing from these images; a digit is a digit. But every number in the network was chosen for ink on paper, and not for paper on ink.
#
# **Dimensions**: a linear layer has a weight $W$ of shape (out, in), applied as $x W^\top + b$; $r$ is the rank of an update. (Elsewhere $B$ counts a batch; here, as in the paper, it is a matrix.)
#
# ## A detour beside the weight
#
# Fine-tuning takes a weight from $W$ to $W + \Delta W$. The idea of **LoRA**, low-rank adaptation, is to write the change as a product of two thin matrices and to train only those. For one word $x$, written as a column:
#
# $$y = W x + b + \frac{\alpha}{r}\, B A\, x \qquad A: (r, \text{in}), \quad B: (\text{out}, r)$$
#
# $A$ reads $r$ numbers off the word, $B$ writes them back. $W$ and $b$ are **frozen**. With $r = 2$ and $W$ of 40 × 40 there are 160 numbers to learn instead of 1,600; the saving grows with the width.
#
# Two choices make it work. $A$ starts random and **$B$ starts at zero**, so the first answer of the changed network is exactly that of the old one, and training begins from where pretraining ended. And the product is scaled by $\alpha / r$, which says how loud the detour is beside the road: $\alpha$ is chosen once, and dividing by $r$ keeps the sum of more terms from getting louder.
#
# ### Exercise: `LoRALinear` (about 25 minutes)
#
# Keep the given layer itself as `self.base`, freeze its parameters, and make `self.A` and `self.B` parameters of its dtype and on its device. Keep the two numbers as `self.r` and `self.alpha`; later functions ask for them. How large the random numbers in $A$ are is up to you; those of a fresh `nn.Linear`, about $1 / \sqrt{\text{in}}$, are a good choice.


# %% solution="LoRALinear"
class LoRALinear(nn.Module):
    """A frozen linear layer with an update of rank r beside it, scaled by alpha / r."""

    def __init__(self, base: nn.Linear, r: int, alpha: float):
        super().__init__()
        ### BEGIN SOLUTION
        self.base = base
        for parameter in base.parameters():
            parameter.requires_grad = False
        out_features, in_features = base.weight.shape
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.randn(r, in_features, **like) / math.sqrt(in_features))
        self.B = nn.Parameter(torch.zeros(out_features, r, **like))
        self.r, self.alpha = r, alpha
        ### END SOLUTION

    def forward(self, x):
        """x (..., in) -> (..., out)."""
        ### BEGIN SOLUTION
        detour = F.linear(F.linear(x, self.A), self.B)  # (..., in) -> (..., r) -> (..., out)
        return self.base(x) + (self.alpha / self.r) * detour
        ### END SOLUTION


# %% check="LoRALinear"
check("LoRALinear", LoRALinear)

# %% [markdown]
# Why not both at zero, which would be just as harmless? Look at the gradients of the first step. The gradient of $A$ passes through $B$, and the gradient of $B$ through $A$.

# %%
seed(0)
x, wish = torch.randn(100, 40), torch.randn(100, 40)
for how in ("B zero, as it should be", "both zero"):
    layer = LoRALinear(nn.Linear(40, 40), r=2, alpha=4)
    if how == "both zero":
        nn.init.zeros_(layer.A)
    F.mse_loss(layer(x), wish).backward()
    sizes = {name: getattr(layer, name).grad.norm().item() for name in ("A", "B")}
    print(f"{how:<25} first gradients: A {sizes['A']:.4f}, B {sizes['B']:.4f}")

# %% [markdown]
# With $B = 0$, $B$ learns in the first step and $A$ from the second one on. With both at zero neither ever moves: each waits for the other. (Both random would learn, but from a network that has just been disturbed in every layer.)
#
# ## One layer again
#
# During training the detour costs two thin multiplications. Afterwards it need not cost anything, because $W + \frac{\alpha}{r} B A$ is a matrix like any other. (Such an addition is called an **adapter**. Other adapters are new layers *between* the old ones, and cannot be merged away.)
#
# ### Exercise: `merge` (about 10 minutes)
#
# Return a new, ordinary `nn.Linear`, with a weight and a bias of its own. The layer you were given, its base too, must stay as they are, whatever becomes of the new one: tomorrow somebody wants to train on.


# %% solution="merge"
def merge(layer: LoRALinear) -> nn.Linear:
    """An ordinary layer that does what base and update do together."""
    ### BEGIN SOLUTION
    merged = copy.deepcopy(layer.base)
    with torch.no_grad():
        merged.weight += (layer.alpha / layer.r) * (layer.B @ layer.A)
    return merged
    ### END SOLUTION


# %% check="merge"
check("merge", merge)

# %% [markdown]
# ### Exercise: `unmerge` (about 5 minutes)
#
# And back: take the update of `layer` off the weight of `merged` again, and return a new layer with a weight and a bias of its own; `merged` stays as it is, whatever becomes of the new one. (If somebody has trained `merged` in the meantime, what was learned must remain.)


# %% solution="unmerge"
def unmerge(merged: nn.Linear, layer: LoRALinear) -> nn.Linear:
    """A layer with the update taken off the merged weight again."""
    ### BEGIN SOLUTION
    back = copy.deepcopy(merged)
    with torch.no_grad():
        back.weight -= (layer.alpha / layer.r) * (layer.B @ layer.A)
    return back
    ### END SOLUTION


# %% check="unmerge"
check("unmerge", unmerge)

# %%
seed(0)
layer = LoRALinear(nn.Linear(40, 40), r=2, alpha=4)
nn.init.normal_(layer.B)
merged = merge(layer)
returned = unmerge(merged, layer)
with torch.no_grad():
    print(f"merged or not, the answers differ by {(merged(x) - layer(x)).abs().max():.1e}")
gap = (returned.weight - layer.base.weight).abs()
print(f"there and back, weights differ by {gap.max():.1e}, {(gap > 0).float().mean():.0%} of them")

# %% [markdown]
# For an answer such differences are nothing. But the weights that came back are *not* the weights that went: the last bits were lost in rounding, a little more with each swap. Whoever changes adapters every minute keeps the base untouched and merges into a copy.
#
# ## Into a network that somebody else wrote
#
# Our reader is full of linear layers: `W_q`, `W_k`, `W_v` and `W_o` in attention, `up` and `down` behind it, in each layer. We need not touch its code. `model.named_modules()` lists every part under its full name, such as `encoder.0.self_attention.W_q`, and `setattr(owner, "W_q", other)` puts another module in its place.

# %%
for name, module in base.named_modules():
    if isinstance(module, nn.Linear) and not name.startswith("encoder.1"):
        print(f"{name:<32} {tuple(module.weight.shape)}")

# %% [markdown]
# ### Exercise: `add_lora` (about 20 minutes)
#
# Change the model itself:
#
# 1. freeze all its parameters;
# 2. replace every `nn.Linear` whose *last* name is in `targets` by a `LoRALinear` around it;
# 3. return how many numbers can learn.
#
# A model that has LoRA layers already, or in which no name matches, raises `ValueError`: a typo in `targets` should not train for an hour and learn nothing. (Collect first and replace afterwards; a list that changes while you walk along it holds surprises. `model.get_submodule(name)` finds the owner.)


# %% solution="add_lora"
def add_lora(model: nn.Module, r: int, alpha: float, targets) -> int:
    """Freezes the model, adapts the linear layers called `targets`; returns what can learn.

    Raises ValueError when the model has LoRA layers already, and when no name matches.
    """
    ### BEGIN SOLUTION
    modules = dict(model.named_modules())
    if any(isinstance(module, LoRALinear) for module in modules.values()):
        raise ValueError("this model has LoRA layers already")
    chosen = {
        name: module
        for name, module in modules.items()
        if isinstance(module, nn.Linear) and name.split(".")[-1] in targets
    }
    if not chosen:
        raise ValueError(f"no linear layer is called {', '.join(targets)}")
    model.requires_grad_(False)
    for name, module in chosen.items():
        owner, _, last = name.rpartition(".")
        setattr(modules[owner], last, LoRALinear(module, r, alpha))
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
    ### END SOLUTION


# %% check="add_lora"
check("add_lora", add_lora)

# %%
ATTENTION, EVERYWHERE = ("W_q", "W_v"), ("W_q", "W_k", "W_v", "W_o", "up", "down")
adapted = reader()
print(f"{add_lora(adapted, r=4, alpha=4, targets=EVERYWHERE):,} numbers can learn")
print(f"upright: {accuracy(base, scans):.0%} as it came, {accuracy(adapted, scans):.0%} adapted")

# %% [markdown]
# Twelve layers have been exchanged under a running network, and it did not notice.
#
# ### Exercise: `add_bitfit` (about 10 minutes)
#
# The rival is simpler still. **BitFit** trains the biases, those of `nn.LayerNorm` too, and freezes everything else. Parameters tell what they are by the last part of their names.


# %% solution="add_bitfit"
def add_bitfit(model: nn.Module) -> int:
    """Freezes all but the biases; returns how many numbers can learn."""
    ### BEGIN SOLUTION
    learning = 0
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name.split(".")[-1] == "bias"
        learning += parameter.numel() * parameter.requires_grad
    return learning
    ### END SOLUTION


# %% check="add_bitfit"
check("add_bitfit", add_bitfit)

# %% [markdown]
# ## What does it cost?
#
# ### Exercise: `trainable_parameters` (about 10 minutes)
#
# How many numbers can learn, and how many are there? A tensor that two layers share (as the Transformer of topic 10 shares its embedding) counts once; buffers, such as a table of sines, are not parameters.


# %% solution="trainable_parameters"
def trainable_parameters(model: nn.Module) -> tuple[int, int]:
    """(numbers that can learn, numbers in all), each tensor counted once."""
    ### BEGIN SOLUTION
    sizes = [(p.numel(), p.requires_grad) for p in model.parameters()]
    return sum(n for n, learns in sizes if learns), sum(n for n, _ in sizes)
    ### END SOLUTION


# %% check="trainable_parameters"
check("trainable_parameters", trainable_parameters)

# %% [markdown]
# ### Exercise: `lora_parameters` (about 5 minutes)
#
# With a formula one can count before there is a model.


# %% solution="lora_parameters"
def lora_parameters(shapes: list[tuple[int, int]], r: int) -> int:
    """What updates of rank r for weights of these shapes, (out, in) each, add up to."""
    ### BEGIN SOLUTION
    return r * sum(map(sum, shapes))
    ### END SOLUTION


# %% check="lora_parameters"
check("lora_parameters", lora_parameters)

# %%
print(f"our reader: {trainable_parameters(adapted)[0]:,} of {trainable_parameters(base)[1]:,}")
models = {"ViT-Base": (12, 768, 86e6), "GPT-3": (96, 12288, 175e9)}
for name, (layers, width, total) in models.items():
    learning = lora_parameters([(width, width)] * 2 * layers, r=4)
    print(f"{name}: {learning:,}, one in {total / learning:,.0f}  (r = 4 for W_q and W_v)")

# %% [markdown]
# The last line is the paper's headline: GPT-3 adapted with one ten-thousandth of its numbers. Training gets cheaper by less than that. The forward pass is as long as ever, and so is the gradient's way back. What falls away is the memory for what Adam keeps about every weight that learns, two numbers each: for the largest models
# that decides whether it fits into a machine at all.
#
# ### Exercise: `lora_state` (about 10 minutes)
#
# What must be kept of a fine-tuned model? Only what was added. Give `A` and `B` of every LoRA layer under the names that they have in `model.state_dict()`, and nothing else. Go by those names: then it works for everybody's LoRA layers, and not only for your class.


# %% solution="lora_state"
def lora_state(model: nn.Module) -> dict[str, torch.Tensor]:
    """The entries of model.state_dict() that are the A and B of LoRA layers."""
    ### BEGIN SOLUTION
    everything = model.state_dict()
    return {name: everything[name] for name in everything if name.split(".")[-1] in ("A", "B")}
    ### END SOLUTION


# %% check="lora_state"
check("lora_state", lora_state)

# %% [markdown]
# ## How good can a thin matrix be?
#
# Everything so far rests on the hope that a change of low rank is enough. What *is* the best matrix of rank $r$? The singular value decomposition answers: $W = U \Sigma V^\top$ writes any matrix as a sum of products of a column and a row, $\sigma_1 u_1 v_1^\top + \sigma_2 u_2 v_2^\top + \dots$, with $\sigma_1 \ge \sigma_2 \ge \dots \ge 0$.
# Keep the first $r$ terms. No product of rank $r$ comes nearer, and what is missing is just what was left out (Eckart and Young, 1936):
#
# $$\min_{B, A} \lVert W - B A \rVert_F = \sqrt{\sigma_{r+1}^2 + \sigma_{r+2}^2 + \dots}$$
#
# ### Exercise: `best_rank_r` (about 15 minutes)
#
# How you share $\Sigma$ between the two factors is up to you.


# %% solution="best_rank_r"
def best_rank_r(W: torch.Tensor, r: int) -> tuple[torch.Tensor, torch.Tensor]:
    """W (out, in) -> B (out, r), A (r, in) with B A as near to W as rank r allows."""
    ### BEGIN SOLUTION
    U, sigma, Vt = torch.linalg.svd(W, full_matrices=False)
    share = sigma[:r].sqrt()
    return U[:, :r] * share, share[:, None] * Vt[:r]
    ### END SOLUTION


# %% check="best_rank_r"
check("best_rank_r", best_rank_r)

# %%
W = base.encoder[0].self_attention.W_q.weight.detach().cpu()
for r in (1, 2, 4, 8, 16, 40):
    B, A = best_rank_r(W, r)
    missing = torch.linalg.svdvals(W)[r:].square().sum().sqrt()
    print(f"r = {r:>2}: error {(W - B @ A).norm():.3f}, the theorem says {missing:.3f}")

# %% [markdown]
# A trained weight is *not* of low rank: even with sixteen of forty the error is large. LoRA does not claim that weights are thin. It claims that the **change** is, and that is something we can test, as soon as there is one.
#
# ## The task: another scanner, few numbers
#
# ### Exercise: adapt the reader (about 20 minutes)
#
# Write `build`, which gives a reader that is ready to be adapted, and the training loop. Each batch holds 50 of the 1,400 negatives for training; the budget is 30,000 images, which makes 600 batches (four times as many on a GPU). Full marks for
#
# - 88 % of new negatives read rightly,
# - with **at most 2,500 numbers** that can learn, less than a tenth of the reader,
# - and **every weight of the reader as it was**, to the last bit.
#
# Three things decide: which layers get an update (`ATTENTION` and `EVERYWHERE` are two choices), of which rank, and the learning rate. Fresh little matrices want larger steps than weights that are nearly right; and as in topic 11 a rate that falls towards the end is worth a few per cent. Give the optimizer the parameters that can learn, and no others. (`train` takes a factor for your learning rate, 1 unless somebody says otherwise, because other ways will want smaller steps.)


# %% solution="lora_task"
def build():
    """The trained reader, with updates that can learn."""
    ### BEGIN SOLUTION
    model = reader()
    add_lora(model, r=2, alpha=8, targets=EVERYWHERE)
    return model
    ### END SOLUTION


def train(model, batches, factor=1.0):
    """Trains on `for images, classes in batches`, and logs each loss.

    The steps are `factor` times as large as you choose them.
    """
    ### BEGIN SOLUTION
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(learning, lr=1e-2 * factor)
    steps = 600 if device().type == "cpu" else 2400
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=steps)
    for images, classes in batches:
        loss = F.cross_entropy(model(images), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        falling.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("lora_task", build, train)

# %% check="lora_task"
check("lora_task", record.model)

# %% [markdown]
# ## All the ways there are
#
# Now the others, with your own loop, the same batches and the same budget: everything, only the biases, and other ranks, in every layer and with your $\alpha$. (Where all weights learn, the steps must be smaller. `variant` keeps the checkpoints apart from the one that is graded.)


# %%
alpha = next((part.alpha for part in record.model.modules() if hasattr(part, "alpha")), 4)  # yours


def of_rank(r):
    """A reader with updates of rank r in every layer, trained as yours."""

    def other():
        model = reader()
        add_lora(model, r, alpha, EVERYWHERE)
        return model

    return fit("lora_task", other, train, variant=f"rank{r}").model


def with_biases():
    """A reader whose biases can learn."""
    model = reader()
    add_bitfit(model)
    return model


def careful(model, batches):
    """Your loop in steps a fifth as large."""
    train(model, batches, factor=0.2)


full = fit("lora_task", reader, careful, variant="full").model

# %%
biases = fit("lora_task", with_biases, train, variant="bitfit").model

# %%
ranks = {1: of_rank(1)}

# %%
ranks[4] = of_rank(4)

# %%
ranks[16] = of_rank(16)


# %%
def spent(model):
    """How many numbers learned, and what share of the negatives is read rightly."""
    return trainable_parameters(model)[0], accuracy(model, turned)


show.lora.by_parameters(
    {r: spent(model) for r, model in ranks.items()},
    {"everything": spent(full), "BitFit": spent(biases), "yours": spent(record.model)},
    accuracy(base, turned),
)

# %% [markdown]
# Read it from the left. **Biases** can only shift what a layer says, and shifting turns no image round: what spoke for a stroke has to speak against it now, so weights must change their sign. (On language, where a new task mostly asks for what is there already, BitFit's authors found it about as good as training everything, as long as the data were not many. Here it is not the question that is new, but the world.)
#
# **Rank 1**, one column and one row for each layer, already goes most of the way. Rank 4 reads about as well as training everything, with a sixth of the numbers, and a model like ours of rank 2 comes near it with a twelfth; rank 16 buys nothing more. All ranks share one $\alpha$ and one learning rate; the last section lets you try others.
#
# Runs differ a little. In five of ours, BitFit read 46 to 57 % rightly, rank 1 85 to 94 %, rank 2 94 to 95 % (in forty runs of the task, 92 to 96 %), ranks 4 and 16 both about 96 %, and everything 94 to 97 %.
#
# So start low. How low one can go depends on how far the new domain lies from the old one, and that is a question for the held-out scans.
#
# ## What has become of the old scanner?

# %%
readers = {"as it came": base, "everything trained": full, "LoRA, yours": record.model}
print(f"{'':<22}{'negatives':>10}{'upright':>10}")
for name, model in readers.items():
    print(f"{name:<22}{accuracy(model, turned):>10.0%}{accuracy(model, scans):>10.0%}")

# %% [markdown]
# Whoever trains for the new scanner forgets the old one. That is called **catastrophic forgetting**, and both ways do it. But with LoRA the old reader is still there: it lies below the update, untouched. Take the update away, and it reads upright digits as on the first day; put it back, and it reads negatives. One base, as many adapters as there are scanners.
#
# ## An adapter in a file
#
# Save what was learned, and nothing else, in a `safetensors` file: names and numbers, and nothing that could run. Then pretend to be somebody who has the reader already and gets your file by e-mail.

# %%
file = Path("adapter.safetensors")
save_file({name: tensor.cpu() for name, tensor in lora_state(record.model).items()}, file)
whole = sum(tensor.nbytes for tensor in base.state_dict().values())
print(f"the reader: {whole / 1000:.0f} kB, the adapter: {file.stat().st_size / 1000:.0f} kB")

theirs = build()
print(f"before: {accuracy(theirs, turned):.0%}")
missing, unexpected = theirs.load_state_dict(load_file(file), strict=False)
print(f"after:  {accuracy(theirs, turned):.0%}, {len(unexpected)} names unknown")
file.unlink()

# %% [markdown]
# About a tenth; the paper's adapter for GPT-3 has 35 megabytes, beside 350 gigabytes. `strict=False` allows for names that the file lacks: those of the base.
#
# ## Was the change thin?
#
# Here is one layer of the reader with rank 4. Left, the weight that nobody touched; then $B$, $A$, and the change that they make together.

# %%
layer = ranks[4].encoder[0].self_attention.W_v
show.lora.update(layer.base.weight, layer.B, layer.A, layer.alpha / layer.r)

# %% [markdown]
# Rank 4 in a picture: every row of the change is a mixture of the same four rows. That was forced upon it. Training *everything* forced nothing. What rank did it choose?

# %%
before = base.get_submodule("encoder.0.up").weight.detach()
changed = full.get_submodule("encoder.0.up").weight.detach() - before
chance = torch.randn(before.shape, generator=torch.Generator().manual_seed(0))
matrices = {
    "what training changed": changed,
    "the weight itself": before,
    "a random matrix": chance,
}
show.lora.spectra(matrices)

# %% [markdown]
# The weight itself falls off no faster than pure chance, and so no thin copy of it would do. The change falls about twice as fast: it is not thin, but it leans on few directions. Are the others needed? Your `best_rank_r` can tell. Cut the change of every linear layer but the last down to rank $r$, after training, and read on.


# %%
def thinned(r):
    """The reader trained as a whole, each layer but the last with its change cut down to rank r."""
    model = copy.deepcopy(full)
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and name != "head":
            begun = base.get_submodule(name).weight.detach()
            B, A = best_rank_r(module.weight.detach() - begun, r)
            module.weight.data = begun + B @ A
    return model


for r in (1, 2, 4, 8, 16, 40):
    print(f"change of rank {r:>2}: {accuracy(thinned(r), turned):.0%}")

# %% [markdown]
# At rank 8, a fifth of the full rank, little is lost: most of what training everything has changed did no harm and no good. But cut down to rank 1 this reader has become a poor one, while the one that was *trained* at rank 1 reads well. Nobody had told full training to be thin, and it spread over many directions what nearly fits into one. LoRA had only one, and found out what to do with it.
#
# ## Play
#
# Choose a matrix and a rank. Questions to try: from which rank on do you recognise the digit? How does the change differ from the weight, and the weight from pure chance? Up to which rank do two factors cost less than the matrix itself?

# %%
digit = F.interpolate(scans[3:4], scale_factor=5, mode="bicubic")[0, 0]  # (40, 40)
matrices = {**matrices, "a digit": digit}
show.lora.explorer(matrices, best_rank_r)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A hospital has one large reader of X-ray images and forty machines, each of which paints its images a little differently. Somebody proposes forty fine-tuned copies, somebody else one reader with forty LoRA adapters, a third one forty sets of biases. What would you advise, what do you need to know before you decide, and when would you merge?
# Support what you say with two numbers from this notebook. Four to six sentences.

# %% [markdown] question="lora_question"
# The forty machines share what a bone or a lung looks like and differ in how they paint it, so most of what the reader knows serves all of them: one reader with forty adapters. In this notebook an update of rank 2 had 2,240 numbers against the 27,890 of the whole reader, eleven kilobytes a machine instead of a hundred and twelve, and read
# nearly as well as training everything. The base stays untouched to the last bit, so a new machine cannot spoil what the others do, while the fully trained copy forgot the old scanner. Biases would be cheaper still, 810 numbers, but they only shift what a layer says, and read about half of the negatives; if the machines differed in brightness alone they might do, and that is worth a try first.
#
# Before deciding I should want to know how different the machines are (the further from the base, the larger the rank; for something altogether new one trains everything), how many images each of them has to learn from, and whether one computer serves all forty. If it does, I keep base and adapters apart and exchange eleven kilobytes. A machine with a computer of its own gets a merged copy: the
# detour costs time in every layer, and there nobody needs the base again.

# %% [markdown]
# ## Looking back
#
# You have come a long way from counting letters. An n-gram model knew the last few of them and nothing else (01). Vectors made words comparable (02), a recurrent state carried them along (03), gates kept it from fading (04), and attention let a decoder look back at what no state could hold (05). Then attention became the whole model (06): several heads for several
# questions (07), marks for places (08), masks for what must not be seen (09), two towers that translate (10), and images cut into words (11). What began as a table of counts is now something that somebody else has trained, and that you adapt in seconds.
#
# One habit was meant to stay, whatever becomes of the models: a falling loss proves little. You checked every part by itself, measured against a floor or a rival, and looked at what had been learned.
#
# ## Going further
#
# - **Where to spend.** Give all 2,500 numbers to one kind of layer: only `W_q` and `W_v`, as in the paper's first experiments, or only `up` and `down`. Which buys most here? (The paper compared within attention; later work found that the layers behind it deserve their share.)
# - **One factor alone.** Freeze $A$ at its random numbers and train $B$ alone. Half the numbers; how much of the accuracy? Then freeze a random $B$ and train $A$ from zero. Why is there a difference?
# - **Ranks and rates.** With $\alpha$ fixed, does one learning rate serve all ranks? Train ranks 1 and 16 with 3e-3, 1e-2 and 3e-2 each. And what happens when $\alpha$ grows with $r$, as $\alpha = 4 r$?
# - **Few examples.** Learn from 100 negatives instead of 1,400. Does the thin update still lose against training everything?
# - **Four bits.** Keep the frozen weights in four bits and train LoRA on top: that is QLoRA (T. Dettmers and others, [2023](https://arxiv.org/abs/2305.14314)), and how large models are fine-tuned on one graphics card.
# - **Read.** E. J. Hu and others, [LoRA](https://arxiv.org/abs/2106.09685) (2021): section 7 asks our questions about rank of a language model. E. Ben Zaken and others, [BitFit](https://arxiv.org/abs/2106.10199) (2022). A. Aghajanyan and others, [Intrinsic dimensionality](https://arxiv.org/abs/2012.13255) (2021), is where the idea of thin changes comes from.
# - **And then?** Read a model that is used: [nanoGPT](https://github.com/karpathy/nanoGPT) is a few hundred lines, and there is no part of it that you have not written yourself. L. Tunstall, L. von Werra and T. Wolf, *Natural Language Processing with Transformers* (2022), shows how the trained ones are put to work.

# %%
progress()
