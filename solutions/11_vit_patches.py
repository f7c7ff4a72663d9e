# %% [markdown]
# # 11 Patches and the Vision Transformer
#
# Where do the words come from? In every notebook so far somebody had cut the text before you got it. The encoder of topic 10 does not mind what its words are; it wants a sequence
# of vectors, and that is all it ever asked for. So give it a photograph.
#
# The obvious words are pixels, and the lectures say why not: 224 × 224 pixels are a sequence of 50,176, and attention compares each with each. The way out has become famous
# under the title *An image is worth 16x16 words*: **cut the image into patches and call each patch a word**. In this notebook you cut, mend, turn patches into vectors, build
# the whole Vision Transformer around the encoder you know, and look at what it has found out about images, which nobody told it: that they have two dimensions.
#
# Seven short exercises, one training task, one written question; about two and a half hours. All training together takes about a minute on a laptop. Stuck? `hint("patchify")` gives a hint, and a stronger one each time.

# %%
import torch
from torch import nn
from torch.nn import functional as F

from course import blocks, check, data, device, fit, hint, progress, seed, show
from course.data import digits

# %% [markdown]
# ## Digits that will not stand still
#
# 1,797 digits, written by hand and scanned at 8 × 8 pixels; 1,400 to learn from, the rest held out. Every scan stands neatly in the middle (first picture). In the second picture
# each has been put at a random place on a larger canvas.

# %%
seed(0)
dice = torch.Generator().manual_seed(0)
scans, labels = digits.scans("train")  # (1400, 1, 8, 8), (1400,)
new_scans, new_labels = digits.scans("test")  # 397 of them
pages, new_pages = digits.place(scans, dice), digits.place(new_scans, dice)  # (..., 1, 12, 12)
show.vit_patches.scans(F.pad(scans[:10], (2, 2, 2, 2)), labels[:10])

# %%
show.vit_patches.scans(pages[:10], labels[:10])

# %% [markdown]
# How hard are they? Take the simplest model there is, one linear layer from pixels to ten scores (logistic regression), and give it the best conditions: all the data at once, and an optimizer
# that converges. For the canvas it sees every scan at five places.


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
many = torch.cat([digits.place(scans, dice) for _ in range(5)])
on_pages = linear_model(many, labels.repeat(5)).to(device())
print(f"in the middle: {accuracy(on_scans, new_scans, new_labels):.0%} right")
print(f"anywhere:      {accuracy(on_pages, new_pages, new_labels):.0%} right")

# %% [markdown]
# A linear model gives every pixel a fixed number for every class. In the middle that is nearly all one needs. On the canvas the same pixel is a stroke's end one time and paper the next, and there
# is nothing left to say about it. One must first *find* the digit, and look at pixels in relation to each other: a case for attention.
#
# **Dimensions:** $B$ images, $C$ channels (one here, three in colour), $H \times W$ pixels; $p$ the side of a patch, $N = \frac{H}{p} \cdot \frac{W}{p}$ patches; $D$ the width of a word, $h$ heads. A spectrogram has $F$ frequencies and $T$ times.
#
# ## Cutting
#
# A patch is a square of $p \times p$ pixels with all its channels. Patches are counted **row by row**, as you read. Each is flattened into $C \cdot p \cdot p$ numbers, **channel first**: all pixels
# of channel 0, row by row, then those of channel 1. The lecture's example: 224 × 224 pixels with $p = 16$ give $14 \times 14 = 196$ words of $3 \cdot 16 \cdot 16 = 768$ numbers.
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
# Each small square is one word of a sentence of sixteen. When a check fails, draw a patch before anything else: nearly every mistake in this function keeps the shape and shows in the picture.
#
# ### Exercise: `unpatchify` (about 10 minutes)
#
# And back. How many channels there are follows from the width of a patch.


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
# With both you can do to an image what you did to the sentence of topic 08: put its words in another order. Remember these pictures; your model will have to read some.


# %%
def disordered(images, moved, generator):
    """The images with `moved` of their 16 patches passed on, each to the place of another."""
    order = torch.arange(16)
    chosen = torch.randperm(16, generator=generator)[:moved]
    order[chosen] = chosen.roll(1)
    return unpatchify(patchify(images, 3)[:, order], 3, 12, 12)


page = pages[:1]
puzzle = {f"{moved} moved": disordered(page, moved, dice)[0] for moved in (0, 4, 8, 16)}
show.vit_patches.in_a_row(puzzle)

# %% [markdown]
# ## From patches to words
#
# One linear map turns the numbers of a patch into a word, the same map for every patch: $x_n = W \cdot \text{patch}_n + b$ with $W$ of shape $(D, C \cdot p \cdot p)$. Two things are added, both learned:
#
# - a **class word** $c$, a vector with no patch of its own, put *before* the others. It belongs to no place in the image, so it can gather what the whole image says. BERT reads sentences the same way;
# - **positions** $P$, a mark for each of the $N + 1$ places, as in your `LearnedPositions`. Row 0 is for the class word.
#
# $$z = [\,c;\; x_1;\; \dots;\; x_N\,] + P$$
#
# ### Exercise: `embed_patches`, words of an image (about 15 minutes)
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
    """images (B, C, H, W) -> words (B, N + 1, D), the class word first.

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
# ## You have seen this layer before
#
# Take row $d$ of $W$ and fold it up like a patch: $C$ little pictures of $p \times p$. To compute number $d$ of a word, lay them over the patch, multiply and add. Then move on by $p$ pixels and do it again. That is a
# **convolution** with $D$ kernels and a stride of $p$, and most libraries cut their patches in just this way, in one call of `conv2d`.
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
print(f"words {tuple(linear.shape)}, as a map {tuple(convolved.shape)}, apart by {gap:.6f}")

# %% [markdown]
# 14 × 14 words of width 768, as in the lecture. This is the last convolution you meet here, and the only one: after it, no layer knows which patches are neighbours.
#
# ## The whole model
#
# The rest is topic 10. `blocks.EncoderLayer(d_model, n_heads, d_ff, dropout, norm="pre")` is its encoder layer: called with words `(B, N + 1, D)` it gives words, and keeps the attention of that call as `layer.weights`,
# `(B, h, N + 1, N + 1)`. The Vision Transformer puts its norms *before* the work, and so needs one more at the end:
#
# 1. images to words, by your `embed_patches`;
# 2. `n_layers` encoder layers;
# 3. the class word's vector through a last `nn.LayerNorm`, and a linear layer to the classes.
#
# ### Exercise: `ViT` (about 25 minutes)
#
# Keep the marks as `self.positions`, a parameter of shape `(N + 1, D)` with the class word's in row 0: the pictures below look for it under that name. They read each layer's own map, too. Everything else you may call what you like. A word on the first values of the marks: the words of our patches start out
# with a spread of about 0.2. Marks ten times smaller take long to be noticed, and marks ten times larger drown the digits.


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
        """Who looks at whom: (n_layers, B, h, N + 1, N + 1), place 0 being the class word."""
        ### BEGIN SOLUTION
        self(images)
        return torch.stack([layer.weights for layer in self.layers])
        ### END SOLUTION


# %% check="ViT"
check("ViT", ViT)

# %% [markdown]
# The paper's smallest model, ViT-Base, reads images of 224 × 224 in patches of 16 with 12 layers of width 768, 12 heads, 3,072 between the two linear maps, and knows 1,000 classes; the paper gives it 86 million parameters. Count yours
# (on the device `meta`, which has shapes and no numbers, so nothing is computed):

# %%
with torch.device("meta"):
    base = ViT(224, 16, 3, 1000, d_model=768, n_heads=12, d_ff=3072, n_layers=12)
print(f"{sum(parameter.numel() for parameter in base.parameters()):,} parameters")
print(f"positions {tuple(base.positions.shape)}: 14 × 14 patches and the class word")
for p in (1, 4, 16, 32):
    N = (224 // p) ** 2
    print(f"p = {p:>2}: {N + 1:>6,} words, {(N + 1) ** 2:>13,} scores for each head of each layer")

# %% [markdown]
# ## The task: digits anywhere
#
# Two layers of width 64, and patches of 3 × 3 on a canvas of 12 × 12: 16 words and the class word. Each batch holds 50 scans at places that are drawn anew each time.
#
# ### Exercise: the training loop (about 20 minutes)
#
# Full marks for 90 % on scans that nobody has trained on. The budget is 100,000 images, which makes 2,000 batches (four times as many on a GPU). Plain Adam with a good learning rate gets there, just; a learning rate that **falls towards the end** gets there safely. Topic 10's schedule does it, or the straight line of topic 04:
# `torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=2000)`, whose `.step()` is called once a batch.


# %% solution="vit_patches_task"
def build():
    """The model for the task."""
    return ViT(12, 3, 1, 10, d_model=64, n_heads=4, d_ff=128, n_layers=2)


def train(model, batches):
    """Trains on `for images, labels in batches`, and logs each loss."""
    ### BEGIN SOLUTION
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    steps = 2000 if device().type == "cpu" else 8000
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=steps)
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
# Your encoder got sixteen vectors in a row and sixteen marks that began as random numbers. Nobody said that patch 4 lies below patch 0. What has training added to the marks? `fit` starts from your folder's own seed, and so does `seed()`: the very marks that training began with can be built again, and subtracted.
#
# Compare what was added to each mark with what was added to all others, by cosine, and draw each comparison as a little map of the canvas, at the place of its own patch (the orange cross). Figure 7 of the paper shows this for a large ViT, whose marks have long outgrown their start.

# %%
seed()
start = build().positions.detach()
added = record.model.positions.detach().cpu() - start
show.vit_patches.similarity(added)

# %% [markdown]
# Under the cross it is bright by definition. Look at what is bright *beside* it: its neighbours above all, and now and then a place further off that often holds the same, as two edges do that face each other. A digit that moves by three pixels moves its strokes from one patch to the next, so the two places have to be read
# alike, and training pushed their marks the same way. The lecture's sentence *ViT learns the grid like structure of the image patches via its position embeddings* is this picture; more training makes it clearer.
#
# ### A puzzle, with and without positions
#
# How much does it use them? Train a second model that differs in one thing: its marks are zero and stay zero. Then disturb the order of the patches.


# %%
def build_without():
    """The same model, blind to places."""
    model = build()
    nn.init.zeros_(model.positions).requires_grad_(False)
    return model


without = fit("vit_patches_task", build_without, train, variant="without").model

# %%
moved = [0, 2, 4, 8, 12, 16]
dice = torch.Generator().manual_seed(1)
puzzles = [disordered(new_pages, k, dice) for k in moved]
models = {"with positions": record.model, "without": without}
curves = {
    name: [accuracy(model, images, new_labels) for images in puzzles]
    for name, model in models.items()
}
show.vit_patches.disorder(curves, moved)

# %% [markdown]
# Without positions the curve is flat, to the last digit, as the theorem of topic 06 demands. **What is surprising is how high it lies.** A bag of sixteen snippets, nine pixels each, and about nine digits in ten are recognised: a loop's bend, a crossing, an end are enough, wherever they were.
# With positions the model is better as long as the order is right, and pays for it when it is not. In the paper, too, positions are worth a few per cent (table 8 there), and not everything.
#
# ## When not to use it
#
# Now be fair to the linear model. It was made for scans that stand still.

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
# On scans that stand in the middle the linear model, 650 numbers that were fitted in a second, reads about as well as your ViT, which has a hundred times as many and spent its training on finding what here need not be searched.
#
# And if a ViT gets just what the linear model gets, scans in the middle and nothing else? Then it depends on how many there are. Both learn below from the first 20 to 1,400 scans; the ViT has patches of 4 × 4, so four words and a class word, and 300 batches each time.


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
# With twenty scans, about two of each digit, the linear model is far ahead. It *cannot* learn anything but which pixel speaks for which class, and here that is a good thing to be limited to. The ViT could learn nearly anything, even that the order of patches does not matter, and so it needs examples for
# everything it should rather not believe. At some two hundred scans the curves meet, and from all 1,400 the ViT has learned a little more. The paper tells the same story five orders of magnitude higher: trained on a million photographs ViT loses to a good convolutional network, and on 300 million it wins.
#
# ## A larger canvas
#
# Your model knows a canvas of 4 × 4 patches. On one of 15 × 15 pixels there are 5 × 5, and the table of positions has too few rows. Every other part of the model would do: the linear map sees one patch, and attention never cared how many words there are.
#
# The marks are a picture: 4 × 4 pixels with $D$ channels. **Draw it larger.** Between two marks comes a mixture of both, as in any image that is enlarged (bilinear or bicubic, as you like). The middle of the old grid stays the middle of the new one. The class word has no place in the picture, and keeps its mark.
#
# ### Exercise: `interpolate_positions`, positions for another grid (about 15 minutes)


# %% solution="interpolate_positions"
def interpolate_positions(positions: torch.Tensor, new_grid: tuple[int, int]) -> torch.Tensor:
    """positions (N + 1, D) of a square grid -> (height·width + 1, D), the class row kept.

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
# Two ways to the larger canvas, with all other weights the trained model's: your marks drawn larger, and new random ones. Both are tested straight away, and again after 50 batches of the new size.


# %%
def larger_model(positions):
    """The trained model for 15 × 15 pixels, with these marks (26, D)."""
    model = ViT(15, 3, 1, 10, d_model=64, n_heads=4, d_ff=128, n_layers=2)
    model.load_state_dict({**record.model.state_dict(), "positions": positions})
    return model.to(device())


def learn_more(model, batches):
    """Goes on training, on canvases of 15 × 15."""
    stream, optimizer = digits.batches(dice, canvas=15), torch.optim.Adam(model.parameters(), 1e-3)
    for _ in range(batches):
        images, classes = (tensor.to(device()) for tensor in next(stream))
        loss = F.cross_entropy(model(images), classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


marks = record.model.positions.detach()
wide_pages = digits.place(new_scans, dice, canvas=15)
for name, positions in (
    ("drawn larger", interpolate_positions(marks, (5, 5))),
    ("random", torch.cat([marks[:1], 0.2 * torch.randn(25, 64).to(marks)])),
):
    model = larger_model(positions)
    at_once = accuracy(model, wide_pages, new_labels)
    learn_more(model, batches=50)
    later = accuracy(model, wide_pages, new_labels)
    print(f"marks {name:<14}{at_once:.0%} at once, {later:.0%} after 50 batches")

# %% [markdown]
# Enlarged, the marks still say more or less where a patch stands, and a little more training does most of the rest (**fine-tuning**: topic 12). This is how ViTs are used: pretrained at 224 pixels, where the sequence is short, and finished at 384.
#
# ## Sound is an image, too
#
# Ask of a sound how strong each frequency is at each moment, and you have a **spectrogram**, an image of one channel with $F$ frequencies upwards and $T$ times to the right. The Audio Spectrogram Transformer reads it as a ViT reads a photograph, and even starts from a ViT's weights. One thing is new:
# its patches **overlap**. A patch of 16 × 16 begins every 10 steps, in both directions, so that no event falls into a gap between two.
#
# ### Exercise: `spectrogram_patches`, patches of sound (about 10 minutes)
#
# One band of frequencies after another, and within each band the times in order; within a patch, too, time runs fastest. What is left over at the ends is dropped, and a spectrogram that is smaller than one patch raises `ValueError`.


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
# Two seconds of a rising whistle with its overtone, and three taps. The outlines are the first three patches, and the lines above them say once more when each begins and ends: it shares six columns with the next.

# %%
t = torch.arange(16_000) / 8_000  # two seconds, 8,000 numbers each
whistle = sum(torch.sin(6.283 * k * (300 * t + 180 * t**2)) / k for k in (1, 2))
taps = torch.exp(-400 * ((t % 0.6) - 0.3).abs()) * torch.randn(16_000)
waves = torch.stft(whistle + 2 * taps, 254, 80, window=torch.hann_window(254), return_complex=True)
spec = waves.abs().add(0.1).log()  # (128, 201)
print("words:", spectrogram_patches(spec[None], 16, 10).shape[1])
print(
    "ten seconds, as in the paper:", spectrogram_patches(torch.zeros(1, 128, 1024), 16, 10).shape[1]
)
print("the same without overlap:", spectrogram_patches(torch.zeros(1, 128, 1024), 16, 16).shape[1])
show.vit_patches.spectrogram(spec, p=16, stride=10)

# %% [markdown]
# 1,212 words for ten seconds. Overlap more than doubles them, and attention pays for that squared.
#
# ## Play
#
# Left, an image and what is left of it in patches of your choice; right, where the class word of your trained model looks (its own patches are always 3 × 3). Questions to try: with which patch size do you stop recognising the digit, and what would attention cost there? Do the two layers look at the same things?
# Is there a head that looks at paper rather than ink?

# %%
chosen = new_pages[:20].to(device())
show.vit_patches.explorer(record.model.attention_maps, chosen, patchify)

# %% [markdown]
# Both layers side by side, the heads averaged, for eight digits:

# %%
with torch.no_grad():
    maps = record.model.attention_maps(chosen[:8])
    said = record.model(chosen[:8]).argmax(1)
show.vit_patches.looks(maps, chosen[:8], new_labels[:8], said)

# %% [markdown]
# Ours spent most of that attention on patches with ink, though these are fewer than half: in the second layer four fifths and more, and there it hardly ever looked most at an empty one. Nobody told it where on the canvas the digit stands.
#
# ## In your own words (about 10 minutes)
#
# The model without positions gives the same answer for a digit and for its puzzle, and is right nine times in ten. How can that be, and what do positions add? Then: a friend has 300 photographs of leaves, each laid flat in the middle of the same frame, and wants to train a ViT from scratch to tell six trees apart. What do you
# advise, and why? Four to six sentences.

# %% [markdown] question="vit_patches_question"
# Without positions the encoder sees a set of sixteen snippets, and any order of them gives the same set, hence the same logits. But a set says a lot: a snippet of nine pixels shows a bend, an end, a crossing or a slope, each digit has its own collection of these, and because a digit
# stands anywhere, the place of a snippet on the canvas says little by itself. Positions add what the collection leaves open, how the snippets are put together: a 6 and a 9 have nearly the same parts, one with the loop below and the other with the loop above. That is worth the last few per cent, and it is
# why the model with positions fails on puzzles: it believes the places.
#
# A ViT from scratch must learn from examples what a picture is, that neighbours belong together and that the same shape may stand elsewhere; 50 leaves of each tree are far too few for that, and as the leaves always lie in the same place, a model that can learn less (linear, or a small convolutional network) will do better. The alternative is a ViT
# that has been pretrained on millions of photographs, fine-tuned on the leaves; if the photographs have more pixels than it was trained on, its positions can be interpolated to the larger grid.

# %% [markdown]
# ## What to take with you
#
# Cut, project, mark: after these three steps an image, or a sound, is a sentence, and the encoder is the one you had. A patch that is projected is a convolution with a stride. That an image has two dimensions the model has to find out from examples, and a grid of marks can be drawn larger when the image grows.
#
# ## Going further
#
# - **Sizes of patches.** Patches of 2, 4 and 6 pixels: which is best within the same number of images, and which within the same time? Patches of 12 make one word of the whole canvas. What has become of the model then?
# - **A rate that stays.** Train once more with a constant learning rate, and compare the end of the curves. What is the falling one worth, and why at the end?
# - **Given positions.** Give the marks a structure instead of learning it: a table for rows plus a table for columns, or your `sinusoidal` for each. Draw their similarity. Are they better with 400 batches? With 2,000?
# - **No class word.** Read the mean of all words instead of the class word. In our runs it made no difference; the map of who looks at whom becomes harder to read.
# - **Hide and guess.** Hide half of the patches and let the model say what was there: words that are masked out are BERT's idea of topic 09, and a way to learn from images without labels (K. He and others, [Masked autoencoders](https://arxiv.org/abs/2111.06377), 2021).
# - **More training.** On a GPU the budget is 400,000 images. Draw the similarity of the marks after so many: is the grid clearer?
# - **Read.** A. Dosovitskiy and others, [An image is worth 16x16 words](https://arxiv.org/abs/2010.11929) (2021): figure 7 has your similarities and how far heads look. Y. Gong and others, [AST: Audio Spectrogram Transformer](https://arxiv.org/abs/2104.01778) (2021).
# - **Next.** The leaves of the question want a large pretrained model, and you have no room to train all of its weights. Topic 12 trains hardly any.

# %%
progress()
