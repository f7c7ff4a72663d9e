"""Hidden tests of `ViT`: logits and attention maps of weights that are loaded by name."""

import torch

from course.exercise import build, exercise
from course.hidden.shapes import shapes_of
from course.reference import vit_patches as reference

SIZES = {"image_size": 6, "patch": 2, "channels": 3, "classes": 7, "d_model": 10, "n_heads": 2, "d_ff": 13}


@exercise(
    reference.ViT,
    name="ViT",
    hints=(
        "Write down the shape after each step for three images, from patches to logits. Where does N become N + 1?",
        "Which of the N + 1 vectors does your output layer read? Exchange two patches of an image. The logits should "
        "change. Which of your parameters makes them change?",
        "Put the model into training mode with dropout=0.0 and call it twice. Are the logits the same? Ask for the "
        "maps of images that the model has not read before. Are they the maps of these images?",
        "Begin with the table of names, and print the name and shape of each parameter. Then write `forward` up to "
        "the tokens (B, N + 1, D) before you send them through a layer. What does each layer leave behind for "
        "`attention_maps`?",
    ),
    forbidden=("blocks.ViT",),
    tolerance=1e-5,
    calls=(
        "ViT(6, 2, 3, 5, 4, 2, 8, 1)(numbers(2, 3, 6, 6)).shape",
        "ViT(6, 3, 1, 7, 4, 2, 8, 1)(numbers(2, 1, 6, 6)).shape",
        "ViT(6, 2, 3, 5, 4, 2, 8, 1).attention_maps(numbers(7, 3, 6, 6)).shape",
        "ViT(6, 3, 3, 5, 4, 1, 8, 2).attention_maps(numbers(7, 3, 6, 6)).shape",
        "model = set_all(ViT(2, 1, 1, 3, 4, 2, 8, 1), 0); model(ones(1, 1, 2, 2))",
        "model = set_all(ViT(2, 2, 1, 3, 4, 2, 8, 1), 0); model.attention_maps(ones(1, 1, 2, 2))",
    ),
)
def ViT(rng):
    """Loaded by name. Maps are asked for behind other images, and with a dropout of 1 only `[CLS]` is left."""

    def model(title, n_layers=3, dropout=0.0, public=False, weight=1.0, **sizes):
        sizes = {**SIZES, **sizes}
        made = build(title, *sizes.values(), n_layers, dropout=dropout, public=public, weight=weight)
        shapes = shapes_of(reference.ViT, *sizes.values(), n_layers)
        state = {name: rng.normal(*shape) / (2 if len(shape) > 1 else 1) for name, shape in shapes.items()}
        return made.call(method="double", into="model").load(state)

    def pictures(n, channels=3, side=6):
        return rng.normal(n, channels, side, side)

    yield model("logits", public=True, weight=2.0).call(pictures(5))
    read = model("attention maps of other images", public=True, weight=2.0).call(pictures(2))
    yield read.call(pictures(5), method="attention_maps", into="maps")
    learning = model("gradients of images and weights", public=True).call(pictures(3).requires_grad_())
    yield learning.gradients().call(pictures(2), into="again").gradients("again", "parameters")
    yield model("five heads, six layers", 6, n_heads=5).call(pictures(3), method="attention_maps", into="maps")
    yield model("one layer, nine patches of a colour", 1, channels=1, d_ff=17).call(pictures(2, 1))
    one = {"image_size": 5, "patch": 5, "channels": 1, "classes": 3, "d_model": 4, "n_heads": 1, "d_ff": 7}
    yield model("a single patch", 2, **one).call(pictures(2, 1, 5))
    silent = model("in training, nothing is dropped unless it is asked for", public=True).laws_only().train()
    images = pictures(3)
    yield (
        silent.call(images).call(images, into="again").counts_with("logits")
        .law("equal", to="again", within=1e-5, because="in training with a dropout of 0, the same images get other "
             "logits the second time. Which step drops numbers?")
    )  # fmt: skip
    yield model("in training, everything dropped", dropout=1.0, weight=0.5).train().call(pictures(2))
    yield model("in evaluation, nothing dropped", dropout=0.5, weight=0.5).call(pictures(2))


class Open(reference.ViT):
    """The reference with its pieces laid open, for wrong ones to take their place."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        for layer in self.layers:
            layer.self_attention.register_forward_hook(self.keep)

    def keep(self, attention, words, found):
        attention.weights = found[1].detach()

    def through(self, z):
        for layer in self.layers:
            z = layer(z)
        return z

    def read(self, z):
        return self.classify(self.norm(z[:, 0]))

    def forward(self, images):
        return self.read(self.through(self.tokens(images)))

    def attention_maps(self, images):
        self(images)
        return torch.stack([layer.self_attention.weights for layer in self.layers])


@ViT.misconception(
    "Exchange two patches of an image. Your logits stay the same. Which parameter should make a difference?"
)
class WithoutPositions(Open):
    def tokens(self, images):
        return super().tokens(images) - self.positions


@ViT.misconception("Print token 0 before the first layer, minus `cls`. Is it row 0 of `positions`?")
class PositionsBeforeTheClassToken(Open):
    def tokens(self, images):
        return super().tokens(images) - self.positions + self.positions.roll(1, 0)


@ViT.misconception("Print token 0 before the first layer, minus `cls`. Is it row 0 of `positions`, or is it zero?")
class PositionsWithoutTheClassToken(Open):
    def tokens(self, images):
        places = self.positions.roll(1, 0) * (torch.arange(len(self.positions)) > 0)[:, None]
        return super().tokens(images) - self.positions + places


@ViT.misconception(
    "Of the N + 1 vectors, one has no patch of its own. Change only that one before the output. Do the logits move?"
)
class ReadsTheLastPatch(Open):
    def read(self, z):
        return super().read(z[:, -1:])


@ViT.misconception(
    "Change the last token's vector before the output. Do the logits move? Reading the mean works in practice, but "
    "here only [CLS] is read.",
    convention="pooling over all tokens, mostly their mean, instead of a [CLS] token",
)
class ReadsTheMean(Open):
    def read(self, z):
        return super().read(z.mean(1, keepdim=True))


@ViT.misconception(
    "Print the `norm` of your first layer, and mean and variance of a token behind it. Where does that norm stand?",
    convention="post-norm, as in the Transformer of 2017",
)
class PostNorm(Open):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        for layer in self.layers:
            layer.norm = "post"


@ViT.misconception(
    "Print mean and variance of what goes into `classify` while the weight of `norm` is 1 and its bias 0."
)
class NoNormAtTheEnd(Open):
    def read(self, z):
        return self.classify(z[:, 0])


@ViT.misconception("Make weight and bias of `classify` ten times as large. Are the logits ten times as large, too?")
class ProbabilitiesForLogits(Open):
    def read(self, z):
        return super().read(z).softmax(-1)
