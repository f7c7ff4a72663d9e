# %% [markdown]
# # 12 Fine-tuning a few numbers: LoRA
#
# You are given a trained network. This first training, its *pretraining*, cost weeks and a great deal of electricity, and the network does nearly what you need. What is left to do is fine-tuning. You go on training the network on your own data, with a small learning rate. That works, and it has a price. Every weight moves, so you end with a second network as large as the first. For one customer that is fine. Three hundred customers need three hundred networks, and one network of GPT-3's size fills 350 gigabytes.
#
# How much of that is needed? In this notebook you train a Vision Transformer for a new scanner and move *none* of its weights. Each layer gets a small **low-rank update** instead. All the updates together fit into an e-mail. The lectures call this **parameter-efficient fine-tuning**.
#
# **You will**
#
# - write a LoRA layer, put it into a model that you did not write, and merge it away again
# - count trainable parameters, and save what was learned in a small file
# - compare low-rank updates with two baselines, which train all weights or only the biases.
#
# **You need** the Vision Transformer (topic 11), attention's four matrices (topic 07) and a training loop in PyTorch. One fact from linear algebra helps. A product of an $m \times r$ and an $r \times n$ matrix has rank $r$ at most.
#
# Nine short exercises, one training task and one written question take about 140 minutes. All training together takes about a minute on a laptop. Are you stuck? `hint("LoRALinear")` gives a hint, and a stronger one each time you call it.

# %%
import copy
import math
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show
from course.data import digits, negatives, pretrained

# %% [markdown]
# ## A reader, and a scanner it does not know
#
# `blocks.ViT` is the course's own version of the model that you built in topic 11. Here it reads scans of 8 × 8 pixels in patches of 2 × 2, with two layers of width 40. Its weights come trained. They have seen 1,400 upright digits, and the model reads new upright digits well.
#
# The second scanner makes negatives, with light ink on dark paper, and the sheets went in sideways.

# %%
seed(0)
scans, labels = digits.scans("test")  # (397, 1, 8, 8), none of them seen in training
turned, _ = negatives.scans("test")  # the same scans from the other scanner
show.vit_patches.scans(torch.cat([scans[:10], turned[:10]]), labels[:10].repeat(2))


# %%
def reader():
    """The trained Vision Transformer, as you were given it."""
    model = blocks.ViT(**pretrained.SIZES)
    model.load_state_dict(pretrained.weights())
    return model.to(device()).eval()


def accuracy(model, images):
    """The share of held-out images (397, 1, 8, 8) that the model reads correctly."""
    with torch.no_grad():
        return (model(images.to(device())).argmax(1).cpu() == labels).float().mean().item()


base = reader()
print(f"upright:   {accuracy(base, scans):.0%} right")
print(f"negatives: {accuracy(base, turned):.0%} right")

# %% [markdown]
# On the negatives it does about as well as a blind guess. The images still hold all that you need to tell the digits apart. But every number in the network was chosen for upright digits in dark ink on light paper.
#
# **Dimensions.** A linear layer has a weight $W$ of shape (out, in), and computes $x W^\top + b$. The rank of an update is $r$. In other notebooks $B$ counts a batch. Here it is a matrix, and $\alpha$ is a scale.
#
# ## A low-rank update beside the weight
#
# Fine-tuning takes a weight from $W$ to $W + \Delta W$. **LoRA**, low-rank adaptation, comes from a paper by E. J. Hu and others (2021), here called *the paper*. It writes the change as a product of two thin matrices, and trains only those two.
#
# Here is the smallest example, with every number. Let $W$ be the 2 × 2 identity and $b = 0$, and let $x = (3, 1)$. The frozen layer returns $W x = (3, 1)$. Take $r = 1$ and $\alpha = 2$, with one row $A = (1, 2)$ and one column $B = (0.2, -0.4)$.
#
# 1. $A$ reads one number from $x$. It is $1 \cdot 3 + 2 \cdot 1 = 5$.
# 2. $B$ writes that number back as a vector, $5 \cdot (0.2, -0.4) = (1, -2)$.
# 3. The factor $\alpha / r = 2$ makes it $(2, -4)$.
# 4. The layer returns the sum, $(3, 1) + (2, -4) = (5, -3)$.
#
# For any token $x$, written as a column, the layer computes
#
# $$y = W x + b + \frac{\alpha}{r}\, B A\, x \qquad A: (r, \text{in}), \quad B: (\text{out}, r)$$
#
# $A$ reads $r$ numbers from the token and $B$ writes them back. $W$ and $b$ are **frozen base weights**. With $r = 2$ and $W$ of 40 × 40 there are 160 trainable parameters instead of 1,600. The saving grows with the width.
#
# Two choices make it work. First, $A$ starts random and **$B$ starts at zero**. So the new layer begins with exactly the outputs of the old one, and training starts where pretraining ended. Second, the product is scaled by $\alpha / r$. You choose $\alpha$ once, and it sets how much the update counts beside the base. A larger $r$ adds more terms to the product, and dividing by $r$ keeps their sum from growing.
#
# ### Exercise: `LoRALinear` (about 25 minutes)
#
# Do not use the package `peft`, here or below, since it is the answer itself. Keep the given layer itself as `self.base` and freeze its parameters. Make `self.A` and `self.B` parameters with the base's dtype and on its device. Keep the two numbers as `self.r` and `self.alpha`, because later functions ask for them. You may choose how large the random numbers in $A$ are. About $1 / \sqrt{\text{in}}$, as in a fresh `nn.Linear`, is a good choice.


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
        update = F.linear(F.linear(x, self.A), self.B)  # (..., in) -> (..., r) -> (..., out)
        return self.base(x) + (self.alpha / self.r) * update
        ### END SOLUTION


# %% check="LoRALinear"
check("LoRALinear", LoRALinear)

# %% [markdown]
# Why does only $B$ start at zero? With both matrices at zero the layer would also begin as its base does. The gradients of the first step show the difference. The gradient of $A$ passes through $B$, and the gradient of $B$ passes through $A$.

# %%
predict("gradients_with_both_factors_zero")

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
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# With $B = 0$, $B$ learns in the first step and $A$ from the second step on. With both at zero neither ever moves, because each gradient is multiplied by the other matrix. With both random the layer would learn too, but it would start from a network that was just disturbed in every layer.
#
# </details>
#
# ## One layer again
#
# During training the update costs two thin multiplications. Afterwards it can cost nothing, because $W + \frac{\alpha}{r} B A$ is a matrix like any other. In the example above,
#
# $$2 \begin{pmatrix} 0.2 \\ -0.4 \end{pmatrix} \begin{pmatrix} 1 & 2 \end{pmatrix} = \begin{pmatrix} 0.4 & 0.8 \\ -0.8 & -1.6 \end{pmatrix} \qquad W + \frac{\alpha}{r} B A = \begin{pmatrix} 1.4 & 0.8 \\ -0.8 & -0.6 \end{pmatrix}$$
#
# and the last matrix takes $(3, 1)$ to $(5, -3)$, as before.
#
# A small trained addition like this is called an **adapter**. Other adapters are new layers *between* the old ones, and you cannot merge those away.
#
# ### Exercise: `merge` (about 10 minutes)
#
# Return a new, ordinary `nn.Linear` with a weight and a bias of its own. The layer you were given and its base must stay as they are, even when the new layer changes later. You may want to go on training the old one tomorrow. Do not use the package `peft`.


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
# Now go back. Subtract the update of `layer` from the weight of `merged`, and return a new layer with a weight and a bias of its own. `merged` stays as it is, even when the new layer changes later. `merged` may have been trained after the merge. What it learned then must remain. Do not use the package `peft`.


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
# For the outputs such differences do not matter. But the weights that came back are *not* exactly the weights you started from. Rounding changed their last bits, and it changes a little more with each swap. If you change adapters often, keep the base untouched and merge into a copy.
#
# ## Into a network that you did not write
#
# Our reader is full of linear layers. Each of its layers has `W_q`, `W_k`, `W_v` and `W_o` in attention, and `up` and `down` after it. You need not touch its code. `model.named_modules()` lists every part under its full name, such as `encoder.0.self_attention.W_q`. `setattr(owner, "W_q", other)` puts another module in its place.

# %%
for name, module in base.named_modules():
    if isinstance(module, nn.Linear) and not name.startswith("encoder.1"):
        print(f"{name:<32} {tuple(module.weight.shape)}")

# %% [markdown]
# ### Exercise: `add_lora` (about 20 minutes)
#
# Change the model itself:
#
# 1. Freeze all its parameters.
# 2. Replace every `nn.Linear` whose *last* name is in `targets` by a `LoRALinear` around it.
# 3. Return the number of trainable parameters.
#
# Raise `ValueError` if the model has LoRA layers already, or if no name matches. Without that error, a typo in `targets` could train for an hour and learn nothing. Collect the layers first and replace them afterwards, because the list of modules changes while you replace. `model.get_submodule(name)` finds the owner. Do not use `blocks.add_low_rank` or the package `peft`, since they are the answer themselves.


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
print(f"{add_lora(adapted, r=4, alpha=4, targets=EVERYWHERE):,} trainable parameters")
print(f"upright: {accuracy(base, scans):.0%} as it came, {accuracy(adapted, scans):.0%} adapted")

# %% [markdown]
# You replaced twelve layers, and the model's outputs did not change.
#
# ### Exercise: `add_bitfit` (about 10 minutes)
#
# A simpler baseline is **BitFit**. It trains the biases, those of `nn.LayerNorm` included, and freezes everything else. The last part of a parameter's name says what it is.


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
# How many parameters are trainable, and how many are there in all? Count a tensor that two layers share once. Many Transformers share one tensor between the embedding and the output layer. Buffers, such as a table of sines, are not parameters.


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
# You can count the parameters of an update before there is a model. For $W$ of 40 × 40 and $r = 2$, $A$ has $2 \cdot 40 = 80$ numbers and $B$ has $40 \cdot 2 = 80$. Together they have 160.


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
# The last line is the paper's best-known result. GPT-3 was adapted with one ten-thousandth of its numbers. Training time falls by much less than that, because the forward pass is as long as ever and the gradient still has to come back through all layers. Memory is what you save. Adam keeps two numbers for every trainable parameter. For the largest models, that memory decides whether you can train them at all.
#
# ### Exercise: `lora_state` (about 10 minutes)
#
# What do you have to keep of a fine-tuned model? Only what was added. Return `A` and `B` of every LoRA layer under the names that they have in `model.state_dict()`, and nothing else. Choose them by those names, so that your function also works for LoRA layers of another class.


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
# ## How good can a low-rank matrix be?
#
# So far you have only hoped that a low-rank change is enough. What *is* the best matrix of rank $r$?
#
# Begin with a matrix where you can see it. Let $W$ be diagonal, with 3, 2 and 1. Rank 1 allows you to keep one of the three numbers, and you keep the 3. The 2 and the 1 are missing, so the error is $\sqrt{2^2 + 1^2} \approx 2.24$. Rank 2 keeps the 3 and the 2, and its error is 1.
#
# The **singular value decomposition** brings any matrix into this form. It writes $W = U \Sigma V^\top$ as a sum of products of a column and a row, $\sigma_1 u_1 v_1^\top + \sigma_2 u_2 v_2^\top + \dots$, with singular values $\sigma_1 \ge \sigma_2 \ge \dots \ge 0$. Keep the first $r$ terms. No matrix of rank $r$ comes nearer to $W$, and the error comes only from the terms you left out (Eckart and Young, 1936). In this formula, $\lVert M \rVert_F$ is the root of the sum of all squared entries of $M$.
#
# $$\min_{B, A} \lVert W - B A \rVert_F = \sqrt{\sigma_{r+1}^2 + \sigma_{r+2}^2 + \dots}$$
#
# ### Exercise: `best_rank_r` (about 15 minutes)
#
# You may share $\Sigma$ between the two factors as you like.


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
# A trained weight does *not* have low rank. Even when you keep sixteen of forty terms, the error is large. LoRA does not claim that weights have low rank. It claims that the **change** has, and you can test that once you have trained one.
#
# ## The task: another scanner, few numbers
#
# ### Exercise: adapt the reader (about 20 minutes)
#
# Write `build`, which returns a reader that is ready to be adapted, and the training loop `train`. Each batch holds 50 of the 1,400 negatives for training, `images` $(50, 1, 8, 8)$ and `classes` $(50,)$. The budget is 30,000 images. That makes 600 batches, or four times as many on a GPU. Give the loss of each step to `batches.log(loss)`. It draws the curve below the cell and keeps the losses, and it has no effect on the training. Do not use `blocks.add_low_rank` or the package `peft`.
#
# For full marks, three measures have to reach their bars:
#
# | measure | bar |
# |---|--:|
# | held-out negatives that are read correctly | 88 % |
# | trainable parameters (less than a tenth of the reader) | at most 2,500 |
# | base weights that have changed, even in the last bit | none |
#
# A part of the points comes from 60 % on.
#
# You decide three things. They are the layers that get an update (`ATTENTION` and `EVERYWHERE` are two choices), the rank, and the learning rate. New small matrices need larger steps than weights that are nearly right. A learning rate that falls towards the end gains a few per cent. Give the optimizer only the trainable parameters. `train` multiplies your learning rate by `factor`. It is 1 here, and smaller in one of the comparisons below.


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
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=len(batches))
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
# ## Compare with the baselines
#
# Now train the other ways with your own loop, the same batches and the same budget. One baseline trains all weights, and one only the biases. Then come other ranks, in every layer and with your $\alpha$. When all weights are trained, the steps must be smaller. `variant` keeps these checkpoints apart from the one that is graded.


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
predict("accuracy_of_biases_and_rank_one")


# %%
def spent(model):
    """The number of trainable parameters, and the accuracy on the negatives."""
    return trainable_parameters(model)[0], accuracy(model, turned)


show.lora.by_parameters(
    {r: spent(model) for r, model in ranks.items()},
    {"everything": spent(full), "BitFit": spent(biases), "yours": spent(record.model)},
    accuracy(base, turned),
)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Read the figure from the left. **Biases** can only shift what a layer returns. In a negative, ink is light and paper is dark. A bright pixel that spoke against a stroke must now speak for it, so weights must change their sign. A shift cannot do that. On language BitFit did better. Its authors found it about as good as training everything, as long as there was little data. A new task on language mostly asks for what the model already knows. Here the images themselves are new.
#
# **Rank 1** has one column and one row for each layer, and already goes most of the way. Rank 4 reads about as well as training everything, with a sixth of the numbers. Our model of rank 2 comes near it with a twelfth of the numbers. Rank 16 gains nothing more. All ranks were trained with the same $\alpha$ and the same learning rate. You try others under *Going further*.
#
# Runs differ a little. We trained each way five times.
#
# | trained | negatives read correctly |
# |---|---|
# | BitFit | 46 to 57 % |
# | rank 1 | 85 to 94 % |
# | rank 2 | 94 to 95 % (92 to 96 % in forty runs of the task) |
# | ranks 4 and 16 | about 96 % |
# | everything | 94 to 97 % |
#
# So start with a low rank. How low you can go depends on how far the new domain lies from the old one. The held-out scans will tell you.
#
# </details>
#
# ## What happened to the old scanner?

# %%
readers = {"as it came": base, "everything trained": full, "LoRA, yours": record.model}
print(f"{'':<22}{'negatives':>10}{'upright':>10}")
for name, model in readers.items():
    print(f"{name:<22}{accuracy(model, turned):>10.0%}{accuracy(model, scans):>10.0%}")

# %% [markdown]
# Training for the new scanner makes the model forget the old one. This is called **catastrophic forgetting**, and it happens both ways here. But with LoRA you still have the old reader, because the base weights under the update never moved. Take the update away, and the model reads upright digits as it did at first. Put it back, and the model reads negatives. You need one base, and one adapter for each scanner.
#
# ## An adapter in a file
#
# Save only what was learned, in a `safetensors` file. Such a file holds names and numbers, and no code that could run. Then imagine a colleague who has the reader already and gets your file by e-mail.

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
# The adapter is about a tenth of the reader. The paper's adapter for GPT-3 has 35 megabytes, beside 350 gigabytes. `strict=False` lets the file leave out names, and here it leaves out those of the base.
#
# ## Did the change have low rank?
#
# Here is one layer of the reader with rank 4. On the left you see the frozen weight. Then come $B$, $A$, and the change that they make together.

# %%
layer = ranks[4].encoder[0].self_attention.W_v
show.lora.update(layer.base.weight, layer.B, layer.A, layer.alpha / layer.r)

# %% [markdown]
# Every row of the change is a mixture of the same four rows. That is what rank 4 means. LoRA forces this rank, and full training does not force any. Which rank does its change have?

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
# The singular values of the weight fall no faster than those of a random matrix, so no low-rank copy of it would do. Those of the change fall about twice as fast. The change does not have low rank, but a few directions hold most of it. Are the other directions needed? Your `best_rank_r` can tell. After training, cut the change of every linear layer but the last down to rank $r$, and measure the accuracy again.


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
# At rank 8, a fifth of the full rank, little is lost. Most of the directions that full training changed did neither harm nor good. But at rank 1 the cut reader reads poorly, while the reader *trained* at rank 1 reads well. Full training had no reason to keep its change in one direction, so it spread the change over many. LoRA had only one direction for each layer, and training found a good one.
#
# ## Play
#
# Choose a matrix and a rank. From which rank on do you recognise the digit? How does the change differ from the weight, and the weight from the random matrix? Up to which rank do two factors cost less than the matrix itself?

# %%
digit = F.interpolate(scans[3:4], scale_factor=5, mode="bicubic")[0, 0]  # (40, 40)
matrices = {**matrices, "a digit": digit}
show.lora.explorer(matrices, best_rank_r)

# %% [markdown]
# ## In your own words (about 10 minutes)
#
# A hospital has one large reader of X-ray images and forty machines. Each machine makes its images look a little different. One colleague proposes forty fine-tuned copies, a second one reader with forty LoRA adapters, and a third forty sets of biases. What would you advise? What do you need to know before you decide, and when would you merge?
# Support what you say with two numbers from this notebook. Write four to six sentences.

# %% [markdown] question="lora_question"
# The forty machines share what a bone or a lung looks like and differ in how they show it, so most of what the reader knows serves all of them. I advise one reader with forty adapters. In this notebook an update of rank 2 had 2,240 numbers against the 27,890 of the whole reader. That is eleven kilobytes a machine instead of a hundred and twelve, and it read
# nearly as well as training everything. The base stays untouched to the last bit, so a new machine cannot spoil what the others do, while the fully trained copy forgot the old scanner. Biases would be cheaper still, with 810 numbers, but they only shift what a layer returns, and read about half of the negatives. If the machines differed in brightness alone they might do, and that is worth a try first.
#
# Before deciding I want to know how different the machines are. The further they are from the base, the larger the rank, and for something altogether new one trains everything. I also want to know how many images each of them has to learn from, and whether one computer serves all forty. If it does, I keep base and adapters apart and exchange eleven kilobytes. A machine with a computer of its own gets a merged copy, because
# the update costs time in every layer, and there nobody needs the base again.

# %%
rubric("lora_question")

# %% [markdown]
# ## What you built
#
# You adapted a trained model with a tenth of its numbers or less, and left its weights alone.
#
# | you wrote | the field says | you meet it again as |
# |---|---|---|
# | `LoRALinear`, `add_lora` | low-rank adaptation | `LoraConfig` and `get_peft_model` in the library `peft` |
# | `merge`, `unmerge` | merging an adapter | `merge_and_unload` in `peft` |
# | `add_bitfit` | bias-only fine-tuning | the BitFit paper |
# | `trainable_parameters` | trainable parameters | `print_trainable_parameters` in `peft` |
# | `lora_state` | an adapter checkpoint | `adapter_model.safetensors` |
# | `best_rank_r` | truncated SVD | `torch.svd_lowrank` |
#
# <!-- needs: 13_tokens -->
# Here the first volume of this course ends. It began with a table of counts, and by now you have built every part of a Transformer and adapted a trained one. The second volume begins with topic 13, and builds language models of today from these parts.
#
# ## Going further
#
# - **Where to spend.** Give all 2,500 numbers to one kind of layer. Try only `W_q` and `W_v`, as in the paper's first experiments, and then only `up` and `down`. Which gains most here? The paper compared the layers within attention. Later work found that the layers after attention are worth adapting, too.
# - **One factor alone.** Freeze $A$ at its random numbers and train $B$ alone. How much of the accuracy do you keep with half of the numbers? Then freeze a random $B$ and train $A$ from zero. Why is there a difference?
# - **Ranks and rates.** With $\alpha$ fixed, does one learning rate serve all ranks? Train ranks 1 and 16 with 3e-3, 1e-2 and 3e-2 each. And what happens when $\alpha$ grows with $r$, as $\alpha = 4 r$?
# - **Few examples.** Learn from 100 negatives instead of 1,400. Does LoRA still do worse than training everything?
# - **Four bits.** Keep the frozen weights in four bits and train LoRA on top. This is QLoRA (T. Dettmers and others, [2023](https://arxiv.org/abs/2305.14314)), and it lets you fine-tune large models on one graphics card.
# - **Read.** E. J. Hu and others, [LoRA](https://arxiv.org/abs/2106.09685) (2021), asks in section 7, for a language model, what we asked about rank. E. Ben Zaken and others, [BitFit](https://arxiv.org/abs/2106.10199) (2022). A. Aghajanyan and others, [Intrinsic dimensionality](https://arxiv.org/abs/2012.13255) (2021), is where the idea of low-rank changes comes from.
#
# <!-- needs: 13_tokens -->
# - **Next.** So far a word was a row of a table. Topic 13 cuts words into pieces, so that no text is unknown.
#
# <!-- needs: 16_bert -->
# Topic 16 keeps the frozen weights in four bits and trains LoRA on top of them.
#
# <!-- needs: 18_assistant -->
# - **An adapter that talks.** Topic 18 makes an assistant of a language model, and the adapter that does it is of the kind that you wrote here.
#
# **Now you can** fine-tune a trained model with a tenth of its numbers, merge the update or take it off again, and keep it in a small file of its own. Run the cell below to see which notebook comes next.

# %%
progress()
