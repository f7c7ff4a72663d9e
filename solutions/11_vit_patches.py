# %% [markdown]
# # 11 Patches and the Vision Transformer
#
# A photograph of 224 × 224 pixels is a sequence of 50,176 pixels. Attention compares each pixel with each other pixel, which makes two and a half billion scores for each head of each layer. That is far too many.
#
# The way out has a famous title, *An image is worth 16x16 words* (A. Dosovitskiy and others, 2021). This notebook calls it *the paper*. **Cut the image into patches and treat each patch as a token.** A Transformer encoder needs a sequence of vectors, and it does not care where the vectors come from.
#
# **You will**
#
# - cut images into patches, and turn the patches into a sequence of vectors
# - build a Vision Transformer (ViT) around an encoder, and train it to read digits
# - look at what it learned about the two dimensions of an image, and find out when a simpler model is the better choice.
#
# **You need** the encoder layer of a Transformer (topic 10), learned positional embeddings (topic 08), and one fact about self-attention (topic 06). Without positions, it ignores the order of its inputs.
#
# This notebook has seven short exercises, one training task and one written question. They take about 130 minutes. All training together takes about a minute on a laptop. If you are stuck, `hint("patchify")` gives a hint, and a stronger one each time.

# %%
import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, predict, progress, rubric, seed, show
from course.data import digits

# %% [markdown]
# ## Digits that will not stand still
#
# The data are 1,797 digits, written by hand and scanned at 8 × 8 pixels. You train on 1,400 of them, and the others are the held-out set. Every scan is centred, as the first picture shows. In the second picture each scan lies at a random place on a larger canvas.

# %%
seed(0)
generator = torch.Generator().manual_seed(0)
scans, labels = digits.scans("train")  # (1400, 1, 8, 8), (1400,)
new_scans, new_labels = digits.scans("test")  # 397 of them
pages = digits.place(scans, generator)  # (1400, 1, 12, 12)
new_pages = digits.place(new_scans, generator)  # (397, 1, 12, 12)
show.vit_patches.scans(F.pad(scans[:10], (2, 2, 2, 2)), labels[:10])

# %%
show.vit_patches.scans(pages[:10], labels[:10])

# %% [markdown]
# How hard are they? Start with the simplest baseline, logistic regression. It is one linear layer from the pixels to ten logits. Give it the best conditions, with all the data at once and an optimizer that converges. For the canvas it sees every scan at five places.


# %%
def linear_model(images, labels):
    """Logistic regression on the pixels, trained until it changes no more."""
    x, model = images.flatten(1), nn.Linear(images[0].numel(), 10)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        total = F.cross_entropy(model(x), labels) + 1e-4 * model.weight.square().sum()
        total.backward()
        return total

    optimizer.step(loss)
    return nn.Sequential(nn.Flatten(), model).eval()


def accuracy(model, images, labels):
    """The share of images (B, 1, H, W) that the model reads rightly."""
    with torch.no_grad():
        return (model(images.to(device())).argmax(1).cpu() == labels).float().mean().item()


on_scans = linear_model(scans, labels).to(device())
many = torch.cat([digits.place(scans, generator) for _ in range(5)])
on_pages = linear_model(many, labels.repeat(5)).to(device())
print(f"in the middle: {accuracy(on_scans, new_scans, new_labels):.0%} right")
print(f"anywhere:      {accuracy(on_pages, new_pages, new_labels):.0%} right")

# %% [markdown]
# A linear model gives every pixel a fixed weight for every class. For centred scans that is nearly enough. On the canvas the same pixel is the end of a stroke in one image and empty paper in the next, so a fixed weight says little. The model must first *find* the digit, and it must relate pixels to each other. Attention can do both.
#
# **Dimensions.** $B$ images have $C$ channels (one here, three in colour), height $H$ and width $W$ in pixels. A patch has side $p$, so an image has $N = \frac{H}{p} \cdot \frac{W}{p}$ patches. A patch embedding has $D$ numbers, and attention has $h$ heads. A spectrogram has $F$ frequencies and $T$ times.
#
# ## Cutting
#
# Take an image of 4 × 4 pixels with one channel, numbered row by row from 1 to 16, and cut it with $p = 2$. The first patch is $(1, 2, 5, 6)$ and the second is $(3, 4, 7, 8)$. The third is $(9, 10, 13, 14)$ and the last is $(11, 12, 15, 16)$.
#
# In general a patch is a square of $p \times p$ pixels with all its channels. Patches are counted **row by row**, as you read. Each patch is flattened into $C \cdot p \cdot p$ numbers, **channel first**. All pixels of channel 0 come first, row by row, then those of channel 1. In the lecture's example, 224 × 224 pixels with $p = 16$ give $14 \times 14 = 196$ patches of $3 \cdot 16 \cdot 16 = 768$ numbers.
#
# ### Exercise: `patchify` (about 15 minutes)
#
# Where $p$ does not divide height and width, raise `ValueError`.


# %% solution="patchify"
def patchify(images: torch.Tensor, p: int) -> torch.Tensor:
    """images (B, C, H, W) -> patches (B, N, C·p·p), row by row, each flattened channel first.

    Raises ValueError when p does not divide H and W.
    """
    ### BEGIN SOLUTION
    B, C, H, W = images.shape
    if H % p or W % p:
        raise ValueError(f"{H} × {W} pixels cannot be cut into squares of {p}")
    tiles = images.reshape(B, C, H // p, p, W // p, p)
    return tiles.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * p * p)
    ### END SOLUTION


# %% check="patchify"
check("patchify", patchify)

# %%
show.vit_patches.cut(pages[0], patchify, p=3)

# %% [markdown]
# Each small square is one of sixteen patches. When a check fails, draw a patch before anything else. Nearly every mistake in this function keeps the shape and shows in the picture.
#
# ### Exercise: `unpatchify` (about 10 minutes)
#
# Now go back from patches to images. The number of channels follows from the length of a patch.


# %% solution="unpatchify"
def unpatchify(patches: torch.Tensor, p: int, H: int, W: int) -> torch.Tensor:
    """patches (B, N, C·p·p) -> images (B, C, H, W), the inverse of patchify.

    Raises ValueError when p does not divide H and W.
    """
    ### BEGIN SOLUTION
    if H % p or W % p:
        raise ValueError(f"squares of {p} cannot make {H} × {W} pixels")
    tiles = patches.reshape(len(patches), H // p, W // p, -1, p, p)
    return tiles.permute(0, 3, 1, 4, 2, 5).reshape(len(patches), -1, H, W)
    ### END SOLUTION


# %% check="unpatchify"
check("unpatchify", unpatchify)

# %% [markdown]
# With both functions you can put the patches of an image in another order. Remember these pictures, because your model will read some like them.


# %%
def disordered(images, moved, generator):
    """The images with `moved` of their 16 patches exchanged, each moved to another's place."""
    order = torch.arange(16)
    chosen = torch.randperm(16, generator=generator)[:moved]
    order[chosen] = chosen.roll(1)
    return unpatchify(patchify(images, 3)[:, order], 3, 12, 12)


page = pages[:1]
puzzle = {f"{moved} moved": disordered(page, moved, generator)[0] for moved in (0, 4, 8, 16)}
show.vit_patches.in_a_row(puzzle)

# %% [markdown]
# ## From patches to tokens
#
# One linear map turns each patch into a vector, its **patch embedding**. A small example has a patch $(1, 0, 0, 1)$, a matrix $W$ with the rows $(1, 1, 0, 0)$ and $(0, 0, 1, 1)$, and a bias $b = (0, 1)$. The patch embedding is $(1 + 0,\; 1 + 1) = (1, 2)$. If the positional embedding of this patch is $(0.5, -0.5)$, the encoder reads the sum $(1.5, 1.5)$.
#
# The map is the same for every patch, $x_n = W \cdot \text{patch}_n + b$ with $W$ of shape $(D, C \cdot p \cdot p)$. The model then adds two things, and learns both:
#
# - The **`[CLS]` token** $c$ is a vector that has no patch. It stands *before* the patch embeddings. It belongs to no part of the image, so it can gather what the whole image says. BERT reads sentences in the same way.
# - The **positional embeddings** $P$ have one row for each of the $N + 1$ positions. Row 0 belongs to the `[CLS]` token.
#
# $$z = [\,c;\; x_1;\; \dots;\; x_N\,] + P$$
#
# ### Exercise: `embed_patches`, tokens of an image (about 15 minutes)
#
# Patches are square, so $p$ follows from the shape of `W` and the number of channels.


# %% solution="embed_patches"
def embed_patches(
    images: torch.Tensor,
    W: torch.Tensor,
    b: torch.Tensor,
    cls: torch.Tensor,
    positions: torch.Tensor,
) -> torch.Tensor:
    """images (B, C, H, W) -> vectors (B, N + 1, D), the [CLS] token first.

    W (D, C·p·p), b (D,), cls (D,), positions (N + 1, D).
    """
    ### BEGIN SOLUTION
    p = round((W.shape[1] / images.shape[1]) ** 0.5)
    words = patchify(images, p) @ W.T + b  # (B, N, D)
    first = cls.expand(len(images), 1, -1)  # (B, 1, D)
    return torch.cat([first, words], dim=1) + positions
    ### END SOLUTION


# %% check="embed_patches"
check("embed_patches", embed_patches)

# %% [markdown]
# ## The same layer as a convolution
#
# Take the row $(1, 1, 0, 0)$ of the small example and fold it into a square with the rows $(1, 1)$ and $(0, 0)$. Lay it over the patch with the rows $(1, 0)$ and $(0, 1)$, multiply and add. You get 1, the first number of the embedding before the bias.
#
# Every row $d$ of $W$ folds into $C$ squares of $p \times p$. Lay them over a patch to compute number $d$ of its embedding, then move on by $p$ pixels and do it again. This is called a **convolution**. A folded row is a **kernel**, and the step of $p$ pixels is the **stride**. Most libraries compute their patch embeddings in this way, with one call of `conv2d`.
#
# ### Exercise: `linear_to_conv`, the same weights as a convolution (about 10 minutes)


# %% solution="linear_to_conv"
def linear_to_conv(W: torch.Tensor, C: int, p: int) -> torch.Tensor:
    """W (D, C·p·p) -> kernels (D, C, p, p) for a convolution with stride p."""
    ### BEGIN SOLUTION
    return W.reshape(-1, C, p, p)
    ### END SOLUTION


# %% check="linear_to_conv"
check("linear_to_conv", linear_to_conv)

# %%
seed(0)
photo, W = torch.randn(1, 3, 224, 224), torch.randn(768, 3 * 16 * 16) / 28
linear = patchify(photo, 16) @ W.T
kernels = linear_to_conv(W, C=3, p=16)
convolved = F.conv2d(photo, kernels, stride=16)  # (1, 768, 14, 14)
gap = (linear - convolved.flatten(2).mT).abs().max()
print(f"embeddings {tuple(linear.shape)}, as a map {tuple(convolved.shape)}, apart by {gap:.6f}")

# %% [markdown]
# You get 14 × 14 patch embeddings of width 768, as in the lecture. This is the only convolution in the model. After it, no layer knows which patches are neighbours.
#
# ## The whole model
#
# The rest is a Transformer encoder. Each of its layers is a `blocks.EncoderLayer(d_model, n_heads, d_ff, dropout, norm="pre")`. It takes vectors of shape `(B, N + 1, D)` and returns vectors of the same shape. After each call `layer.weights` holds the attention weights of that call, of shape `(B, h, N + 1, N + 1)`. The Vision Transformer normalises *before* attention and before the feed-forward network, so it needs one more norm at the end:
#
# 1. `embed_patches` turns the images into vectors.
# 2. The vectors pass through `n_layers` encoder layers.
# 3. The output at the `[CLS]` token passes through a last `nn.LayerNorm` and a linear layer, which gives the logits of the classes.
#
# ### Exercise: `ViT` (about 25 minutes)
#
# Give the parts these names. Published weights come by such names, and so do the weights that the check loads into your model.
#
# | name | what it is |
# |---|---|
# | `self.project` | an `nn.Linear` from the numbers of a patch to its embedding |
# | `self.cls` | a parameter of shape `(D,)` for the `[CLS]` token |
# | `self.positions` | a parameter of shape `(N + 1, D)`, with the `[CLS]` token's positional embedding in row 0 |
# | `self.layers` | an `nn.ModuleList` of the encoder layers, each with the model's `dropout` |
# | `self.norm`, `self.classify` | the last norm, and the `nn.Linear` that gives the logits |
#
# Only the layers drop numbers in training. `attention_maps` reads images and returns the weights that each layer has left behind. Do not use `blocks.ViT`, since it is the answer itself.
#
# The first values of the positional embeddings matter. The patch embeddings of this task start with a standard deviation of about 0.2. Positional embeddings ten times smaller take long to have an effect, and ten times larger ones hide the digits.


# %% solution="ViT"
class ViT(nn.Module):
    """A Vision Transformer for square images (B, channels, image_size, image_size)."""

    def __init__(
        self, image_size, patch, channels, classes, d_model, n_heads, d_ff, n_layers, dropout=0.0
    ):
        super().__init__()
        ### BEGIN SOLUTION
        N = (image_size // patch) ** 2
        self.project = nn.Linear(channels * patch**2, d_model)
        self.cls = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(0.2 * torch.randn(N + 1, d_model))
        self.layers = nn.ModuleList(
            blocks.EncoderLayer(d_model, n_heads, d_ff, dropout, norm="pre")
            for _ in range(n_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        self.classify = nn.Linear(d_model, classes)
        ### END SOLUTION

    def forward(self, images):
        """images (B, C, H, W) -> logits (B, classes)."""
        ### BEGIN SOLUTION
        z = embed_patches(images, self.project.weight, self.project.bias, self.cls, self.positions)
        for layer in self.layers:
            z = layer(z)
        return self.classify(self.norm(z[:, 0]))
        ### END SOLUTION

    def attention_maps(self, images):
        """Attention weights (n_layers, B, h, N + 1, N + 1), with the [CLS] token at position 0."""
        ### BEGIN SOLUTION
        self(images)
        return torch.stack([layer.weights for layer in self.layers])
        ### END SOLUTION


# %% check="ViT"
check("ViT", ViT)

# %% [markdown]
# The paper's smallest model, ViT-Base, reads images of 224 × 224 in patches of 16. It has 12 layers of width 768 with 12 heads, and 3,072 numbers in the middle of each feed-forward network. It tells 1,000 classes apart. The paper gives it 86 million parameters. Count yours. The device `meta` has shapes and no numbers, so this computes nothing.

# %%
with torch.device("meta"):
    base = ViT(224, 16, 3, 1000, d_model=768, n_heads=12, d_ff=3072, n_layers=12)
print(f"{sum(parameter.numel() for parameter in base.parameters()):,} parameters")
print(f"positions {tuple(base.positions.shape)}: 14 × 14 patches and the [CLS] token")
for p in (1, 4, 16, 32):
    N = (224 // p) ** 2
    print(f"p = {p:>2}: {N + 1:>6,} tokens, {(N + 1) ** 2:>13,} scores for each head of each layer")

# %% [markdown]
# ## The task: digits anywhere
#
# Your model has two layers of width 64. It cuts a canvas of 12 × 12 into patches of 3 × 3, so it reads 16 patches and the `[CLS]` token. In each batch, each scan lies at a place drawn anew.
#
# ### Exercise: the training loop (about 20 minutes)
#
# A batch is `images` $(50, 1, 12, 12)$ and `labels` $(50,)$. `for images, labels in batches` gives you one batch after another until the budget is used up. Call `batches.log(loss)` once in each step. It records the loss, and `fit` draws the curve from it. Do not train `blocks.ViT` in place of your own model.
#
# The budget is 100,000 images, which makes 2,000 batches (four times as many on a GPU). For full marks, one measure has to reach its bar:
#
# | measure | bar |
# |---|--:|
# | held-out scans, each at a random place, that are read correctly | 90 % |
#
# Plain Adam with a good learning rate only just gets there. A learning rate that **falls towards the end** gets there safely. It may fall in a straight line, as with `torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=len(batches))`. Call its `.step()` once a batch.


# %% solution="vit_patches_task"
def build():
    """The model for the task."""
    return ViT(12, 3, 1, 10, d_model=64, n_heads=4, d_ff=128, n_layers=2)


def train(model, batches):
    """Trains on `for images, labels in batches`, and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=len(batches))
    for images, labels in batches:
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        falling.step()
        batches.log(loss)
    ### END SOLUTION


# %%
record = fit("vit_patches_task", build, train)

# %% check="vit_patches_task"
check("vit_patches_task", record.model)

# %% [markdown]
# ## What it found out about images
#
# Your encoder got sixteen patch embeddings in a row, and positional embeddings that began as random numbers. Nothing told it that patch 4 lies below patch 0. What has training added to the positional embeddings? `fit` and `seed()` start from the same seed, so you can build the same initial values again and subtract them.
#
# The next picture compares what training added to each position with what it added to all others, by cosine. Each small map shows the canvas for one patch, and an orange cross marks that patch. Figure 7 of the paper shows the same for a large ViT, whose positional embeddings have moved far from their first values.

# %%
seed()
start = build().positions.detach()
added = record.model.positions.detach().cpu() - start
show.vit_patches.similarity(added)

# %% [markdown]
# Under the cross the map is bright by definition. Look at what is bright *beside* it. You see mostly its neighbours, and now and then a patch further away that often holds a similar part of a digit. When a digit moves by three pixels, its strokes move from one patch to the next. The model has to read both patches alike, so training pushes their positional embeddings the same way.
#
# The lecture says that *ViT learns the grid like structure of the image patches via its position embeddings*. This picture shows it, and more training makes it clearer.
#
# ### A puzzle, with and without positions
#
# How much does the model use its positional embeddings? Train a second model that differs in one thing. Its positional embeddings are zero and stay zero. Then change the order of the patches.


# %%
def build_without():
    """The same model without positional embeddings."""
    model = build()
    nn.init.zeros_(model.positions).requires_grad_(False)
    return model


without = fit("vit_patches_task", build_without, train, variant="without").model

# %%
predict("digits_without_positions")

# %%
moved = [0, 2, 4, 8, 12, 16]
generator = torch.Generator().manual_seed(1)
puzzles = [disordered(new_pages, k, generator) for k in moved]
models = {"with positions": record.model, "without": without}
curves = {
    name: [accuracy(model, images, new_labels) for images in puzzles]
    for name, model in models.items()
}
show.vit_patches.disorder(curves, moved)

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# Without positional embeddings the curve is exactly flat, because self-attention alone ignores the order. **What is surprising is how high it lies.** The model reads a bag of sixteen snippets of nine pixels each, and it still recognises about nine digits in ten. A bend, a crossing or an end of a stroke is enough, wherever it was.
#
# With positional embeddings the model is better while the order is right, and it pays when the order is wrong. In the paper, too, positional embeddings are worth a few per cent (table 8 there).
#
# </details>
#
# ## A fair comparison
#
# Now be fair to the linear baseline, which was made for centred scans.

# %%
middle = F.pad(new_scans, (2, 2, 2, 2))  # the same scans in the middle of a canvas
readers = {
    "linear, trained on scans in the middle": (on_scans, new_scans, None),
    "linear, trained on scans anywhere": (on_pages, middle, new_pages),
    "ViT, trained on scans anywhere": (record.model, middle, new_pages),
}
for name, (model, still, moving) in readers.items():
    found = f"{accuracy(model, still, new_labels):.0%} in the middle"
    if moving is not None:
        found += f", {accuracy(model, moving, new_labels):.0%} anywhere"
    print(f"{name:<40}{found}")

# %% [markdown]
# On centred scans the linear model reads about as well as your ViT. It has 650 parameters and trained in a second. The ViT has about a hundred times as many, and it spent its training on finding digits that are already in the middle here.
#
# What if a ViT trains on centred scans alone, as the linear model did? Both models below learn from the first 20, 50, 200 and 1,400 scans. The ViT cuts them into patches of 4 × 4, so it reads four patches and the `[CLS]` token. It trains for 300 batches each time.

# %%
predict("vit_or_linear_model")


# %%
def small_vit(images, labels, batches=300):
    """A ViT for 8 × 8 pixels in four patches, trained from scratch."""
    seed(0)
    model = ViT(8, 4, 1, 10, d_model=64, n_heads=4, d_ff=128, n_layers=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    rounds = -(-50 * batches // len(labels))
    order = torch.cat([torch.randperm(len(labels)) for _ in range(rounds)])
    for chosen in order[: 50 * batches].split(50):
        loss = F.cross_entropy(model(images[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.eval()


sizes, learned = [20, 50, 200, 1400], {"linear": [], "ViT, from scratch": []}
for n in sizes:
    for name, learn in (("linear", linear_model), ("ViT, from scratch", small_vit)):
        model = learn(scans[:n], labels[:n]).to(device())
        learned[name].append(accuracy(model, new_scans, new_labels))
show.vit_patches.by_examples(learned, sizes, "Scans in the middle")

# %% [markdown]
# <details><summary>What does it show, and why? Run the cell above, then open this.</summary>
#
# With twenty scans, about two of each digit, the linear model is far ahead. It *cannot* learn anything but a weight for each pixel and class, and with so few examples this limit helps. The ViT could learn nearly anything, even that the order of patches does not matter. It needs more examples, because so many wrong rules fit a few. At about two hundred scans the curves meet, and from all 1,400 scans the ViT has learned a little more.
#
# The paper finds the same with far more images. ViT loses to a good convolutional network when both train on a million photographs, and it wins on 300 million.
#
# </details>
#
# ## A larger canvas
#
# Your model knows a canvas of 4 × 4 patches. A canvas of 15 × 15 pixels has 5 × 5 patches, so the table of positional embeddings has too few rows. The rest of the model fits. The linear map sees one patch at a time, and attention works for any number of tokens.
#
# The positional embeddings form a picture of 4 × 4 pixels with $D$ channels. **Enlarge this picture.** Here is an example with one row and one channel. Two values 0 and 4 become the four values 0, 1, 3, 4 by linear interpolation. The middle of the old row stays the middle of the new one.
#
# The same happens along both axes, which is called **bilinear** interpolation. The `[CLS]` token has no place in the picture and keeps its positional embedding.
#
# ### Exercise: `interpolate_positions`, positions for another grid (about 15 minutes)


# %% solution="interpolate_positions"
def interpolate_positions(positions: torch.Tensor, new_grid: tuple[int, int]) -> torch.Tensor:
    """positions (N + 1, D) of a square grid -> (height·width + 1, D), the [CLS] row kept.

    new_grid is (height, width), counted in patches.
    """
    ### BEGIN SOLUTION
    side = round((len(positions) - 1) ** 0.5)
    picture = positions[1:].reshape(1, side, side, -1).movedim(3, 1)  # (1, D, side, side)
    larger = F.interpolate(picture, size=tuple(new_grid), mode="bilinear")
    return torch.cat([positions[:1], larger[0].flatten(1).T])
    ### END SOLUTION


# %% check="interpolate_positions"
check("interpolate_positions", interpolate_positions)

# %% [markdown]
# You can now prepare the trained model for the larger canvas in two ways. One takes your positional embeddings enlarged, the other takes new random ones. All other weights stay. The cell tests both at once, and again after 50 batches of the new size.


# %%
def larger_model(positions):
    """The trained model for 15 × 15 pixels, with these positional embeddings (26, D)."""
    model = ViT(15, 3, 1, 10, d_model=64, n_heads=4, d_ff=128, n_layers=2)
    model.load_state_dict({**record.model.state_dict(), "positions": positions})
    return model.to(device())


def learn_more(model, batches):
    """Train for some more batches, on canvases of 15 × 15."""
    stream = digits.batches(generator, canvas=15)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(batches):
        images, classes = (tensor.to(device()) for tensor in next(stream))
        loss = F.cross_entropy(model(images), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


learned_positions = record.model.positions.detach()
wide_pages = digits.place(new_scans, generator, canvas=15)
for name, positions in (
    ("interpolated", interpolate_positions(learned_positions, (5, 5))),
    ("random", torch.cat([learned_positions[:1], 0.2 * torch.randn(25, 64).to(device())])),
):
    model = larger_model(positions)
    at_once = accuracy(model, wide_pages, new_labels)
    learn_more(model, batches=50)
    later = accuracy(model, wide_pages, new_labels)
    print(f"positions {name:<14}{at_once:.0%} at once, {later:.0%} after 50 batches")

# %% [markdown]
# The enlarged positional embeddings still say more or less where a patch stands. A little more training does most of the rest. This is **fine-tuning**. ViTs are often **pretrained**, which means trained first on very many images. That happens at 224 pixels, where the sequence is short, and the fine-tuning at 384.
#
# <!-- needs: 12_lora -->
# Topic 12 fine-tunes a model with few numbers.
#
# ## Sound is an image, too
#
# A **spectrogram** shows how strong each frequency of a sound is at each moment. It is an image of one channel with $F$ frequencies upwards and $T$ times to the right. The Audio Spectrogram Transformer (AST) reads it as a ViT reads a photograph, and even starts from the weights of a ViT.
#
# One thing is new. The patches **overlap**. A patch of 16 × 16 begins every 10 steps in both directions, so no event falls into a gap between two patches. For example, along 36 steps the patches begin at 0, 10 and 20, and the last one ends exactly at step 36.
#
# ### Exercise: `spectrogram_patches`, patches of sound (about 10 minutes)
#
# Go through one band of frequencies after another, and within each band through the times in order. Within a patch, too, time runs fastest. Drop what is left over at the ends. If the spectrogram is smaller than one patch, raise `ValueError`.


# %% solution="spectrogram_patches"
def spectrogram_patches(spec: torch.Tensor, p: int, stride: int) -> torch.Tensor:
    """spec (B, F, T) -> patches (B, N, p·p), a new one every `stride` steps.

    Raises ValueError when not a single patch fits.
    """
    ### BEGIN SOLUTION
    if min(spec.shape[1:]) < p:
        raise ValueError(f"a patch of {p} × {p} does not fit into {tuple(spec.shape)}")
    windows = spec.unfold(1, p, stride).unfold(2, p, stride)  # (B, bands, times, p, p)
    return windows.flatten(3).flatten(1, 2)
    ### END SOLUTION


# %% check="spectrogram_patches"
check("spectrogram_patches", spectrogram_patches)

# %% [markdown]
# The next sound lasts two seconds. It is a rising whistle with its overtone, and three taps. The outlines are the first three patches. The lines above them show when each patch begins and ends. Each patch shares six columns with the next.

# %%
t = torch.arange(16_000) / 8_000  # two seconds, 8,000 numbers each
whistle = sum(torch.sin(6.283 * k * (300 * t + 180 * t**2)) / k for k in (1, 2))
taps = torch.exp(-400 * ((t % 0.6) - 0.3).abs()) * torch.randn(16_000)
waves = torch.stft(whistle + 2 * taps, 254, 80, window=torch.hann_window(254), return_complex=True)
spec = waves.abs().add(0.1).log()  # (128, 201)
print("patches:", spectrogram_patches(spec[None], 16, 10).shape[1])
print(
    "ten seconds, as AST reads them:",
    spectrogram_patches(torch.zeros(1, 128, 1024), 16, 10).shape[1],
)
print("the same without overlap:", spectrogram_patches(torch.zeros(1, 128, 1024), 16, 16).shape[1])
show.vit_patches.spectrogram(spec, p=16, stride=10)

# %% [markdown]
# Ten seconds become 1,212 patches. The overlap more than doubles their number, and the cost of attention grows with its square.
#
# ## Play
#
# The left side shows an image and its patches, in a size of your choice. The right side shows where the `[CLS]` token of your trained model attends. Its own patches are always 3 × 3. Here are three questions to try:
#
# - With which patch size do you stop recognising the digit, and what would attention cost there?
# - Do the two layers attend to the same patches?
# - Is there a head that attends to paper rather than ink?

# %%
chosen = new_pages[:20].to(device())
show.vit_patches.explorer(record.model.attention_maps, chosen, patchify)

# %% [markdown]
# The next picture shows both layers for eight digits, averaged over the heads.

# %%
with torch.no_grad():
    maps = record.model.attention_maps(chosen[:8])
    said = record.model(chosen[:8]).argmax(1)
show.vit_patches.looks(maps, chosen[:8], new_labels[:8], said)

# %% [markdown]
# In our run, 70 % of the attention on patches went to patches with ink. Only about half of the patches have ink. In fifteen of these sixteen maps, a patch with ink got the most. Nothing had told the model where on the canvas the digit stands.
#
# ## In your own words (about 10 minutes)
#
# The model without positional embeddings gives the same answer for a digit and for its puzzle, and it is right nine times in ten. How can that be, and what do positional embeddings add?
#
# A friend has 300 photographs of leaves, each laid flat in the middle of the same frame. The friend wants to train a ViT from scratch to tell six trees apart. What do you advise, and why? Write four to six sentences.

# %% [markdown] question="vit_patches_question"
# Without positional embeddings the encoder sees a set of sixteen snippets. Any order of them gives the same set, hence the same logits. But a set says a lot. A snippet of nine pixels shows a bend, an end, a crossing or a slope, and each digit has its own collection of these. A digit can be anywhere, so the place of a snippet on the canvas says little by itself. Positional embeddings add how the snippets are put together. A 6 and a 9 have nearly the same parts, one with the loop below and the other with the loop above. That is worth the last few per cent. It is also why the model with positional embeddings fails on puzzles, because it relies on the places.
#
# A ViT from scratch must learn from examples that neighbours belong together and that the same shape may appear elsewhere. Fifty leaves of each tree are far too few for that. The leaves always lie in the same place, so a linear model or a small convolutional network will do better. The alternative is a ViT that was pretrained on millions of photographs, fine-tuned on the leaves. If the photographs have more pixels than it was trained on, its positional embeddings can be interpolated to the larger grid.

# %%
rubric("vit_patches_question")

# %% [markdown]
# ## What you built
#
# You built a Vision Transformer. Patch embeddings, a `[CLS]` token and positional embeddings turn an image or a sound into a sequence, and the encoder stack is the one you had. A patch embedding is a convolution with a stride. The model learns from examples that an image has two dimensions, and you can interpolate its positional embeddings when the image grows.
#
# You meet the same model again as `ViTModel` in Hugging Face `transformers` and as `torchvision.models.vit_b_16`. The model for sound is called `ASTModel` in `transformers`.
#
# ## Going further
#
# - **Sizes of patches.** Try patches of 2, 4 and 6 pixels. Which is best within the same number of images, and which within the same time? A patch of 12 covers the whole canvas. What has become of the model then?
# - **A constant learning rate.** Train once more with a constant learning rate, and compare the end of the curves. What is the falling one worth, and why at the end?
# - **Given positions.** Give the positional embeddings a structure instead of letting the model learn it. Use a table for rows plus a table for columns, or sinusoids for each. Draw their similarity. Are they better with 400 batches? With 2,000?
# - **No `[CLS]` token.** Read the mean of all outputs instead of the `[CLS]` token's. In our runs this made no difference to the accuracy, and the attention map was harder to read.
# - **Masked patches.** Hide half of the patches and let the model predict them. BERT does this with words, and here it is a way to learn from images without labels (K. He and others, [Masked autoencoders](https://arxiv.org/abs/2111.06377), 2021).
# - **More training.** On a GPU the budget is 400,000 images. Draw the similarity of the positional embeddings after so many. Is the grid clearer?
# - **Read.** A. Dosovitskiy and others, [An image is worth 16x16 words](https://arxiv.org/abs/2010.11929) (2021). Its figure 7 has your similarities and how far heads look. Y. Gong and others, [AST: Audio Spectrogram Transformer](https://arxiv.org/abs/2104.01778) (2021).
#
# <!-- needs: 12_lora -->
# - **Next.** For the photographs of leaves in the written question you need a large pretrained model, and your computer may have no room to train all of its weights. Topic 12 trains hardly any.
#
# <!-- needs: 18_assistant -->
# - **Pictures among words.** Topic 18 puts patch vectors into a chat, and a language model says which digit they show.
#
# **Now you can** cut images and sound into tokens, train a Vision Transformer on them, and carry its positional embeddings over to a larger grid. Run the cell below to see which notebook comes next.

# %%
progress()
