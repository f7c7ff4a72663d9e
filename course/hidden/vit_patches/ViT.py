"""Hidden tests of `ViT`, a whole Vision Transformer, judged by laws."""

import torch
from torch.nn import functional as F

from course.exercise import build, exercise
from course.hidden.vit_patches.scaffold import class_words, patch_words
from course.reference import vit_patches as reference
from course.reference.vit_patches import patchify as cut
from course.reference.vit_patches import unpatchify as mend

SIZES = {"image_size": 6, "patch": 2, "channels": 3, "classes": 7, "d_model": 10, "n_heads": 2, "d_ff": 13}
"""Nine patches, and no two sizes that could be taken for one another."""

LOGITS = "a row of logits for each image"
"""The case that no constant passes, nor logits that were written down. All others count together with it."""


@exercise(
    reference.ViT,
    name="ViT",
    hints=(
        "Print the shape after each step for three images, from patches to logits. Where does N become N + 1?",
        "Exchange two patches of an image. The logits should change. Which of your parameters makes them change?",
        "Which of the N + 1 vectors does your output layer read? Which map did each layer leave behind in `weights`?",
        "Put the model into training mode with dropout=0.0 and call it twice. Are the logits the same?",
    ),
    forbidden=("blocks.ViT",),
)
def ViT(rng):
    """Its parameters are the student's own, so laws decide what each token may see and what must make a difference.

    With weak weights everything makes a difference. With very strong ones each token looks at a single other one. Then
    the [CLS] token of a single layer has seen exactly one patch, which is one square of the image.
    """

    images, copies = _pictures(rng, 5), rng.integers(0, 5, 11)
    yield from _logits_and_parameters(rng, images, copies)
    yield from _maps_and_marks(rng, images)
    yield from _norms(rng, images)
    yield from _words_and_layers(rng, images)
    yield from _images_and_places(rng, images)
    yield from _dropout(rng, images)
    yield from _pixels(rng, images)
    yield from _looks(rng)
    yield from _other_sizes(rng, images)


def _case(rng, title, scale=0.3, n_layers=3, sizes=SIZES, **settings):
    made = build(title, *sizes.values(), n_layers, **settings).laws_only().fill(rng, scale=scale)
    return made if title == LOGITS else made.counts_with(LOGITS)


def _maps(*shape):
    """What maps should be, whatever else is asked of them."""
    return {"of": "maps", "shape": shape, "meaning": "maps (n_layers, B, h, N + 1, N + 1)"}


def _pictures(rng, n, channels=3, side=6):
    return rng.normal(n, channels, side, side, dtype=torch.float32)


def _logits_and_parameters(rng, images, copies):
    """What comes out, and what learns."""
    yield (
        _case(rng, LOGITS, public=True)
        .call(images)
        .law("shape_is", shape=(5, 7), meaning="logits (B, classes), one row for each image")
        .law("finite")
        .law("no_probabilities")
        .call(images, into="again")
        .law("equal", to="again", within=1e-5, because="in evaluation, the same images get other logits the second "
             "time. Which step drops numbers, and does eval() switch it off?")
        .call(images[copies], into="copies")
        .law("rows_follow", of="copies", rows=copies, because="copies of an image should get the same logits, and "
             "other images should not. Do your logits depend on the pixels alone?")
    )  # fmt: skip
    yield (
        _case(rng, "every parameter takes part", public=True)
        .call(images)
        .gradients(wrt="parameters")
        .law("every_parameter_is_reached")
        .law("learns_at_least", numbers=3 * (4 * 10**2 + 2 * 10 * 13),
             because="it learns fewer numbers than three layers have. Has each layer its own weights, and does "
             "model.parameters() list them all?")
        .law("learns_by_place", places=[13, 26], because="no parameter is d_ff = 13 wide. How wide is the hidden "
             "layer of your feed-forward network?")
    )  # fmt: skip
    yield (
        _case(rng, "every position has an embedding that learns", sizes={**SIZES, "image_size": 8}, public=True)
        .call(_pictures(rng, 3, side=8))
        .gradients(wrt="parameters")
        .law("learns_by_place", places=[17, 16], because="no parameter has a row for each position. Does "
             "model.parameters() list your positional embeddings?")
    )  # fmt: skip


def _maps_and_marks(rng, images):
    """What the figures below the exercise read from the model."""
    many = {**SIZES, "n_heads": 5}  # in six layers, chance does not make each map of each head flatter than the last
    yield (
        _case(rng, "the attention maps", n_layers=6, sizes=many, public=True)
        .call(images, method="attention_maps", into="maps")
        .law("shape_is", **_maps(6, 5, 5, 10, 10))
        .law("sums_to_one", of="maps", because="each row of a map should be the attention weights of one token, with "
             "a sum of 1")
        .law("bounded", of="maps", low=0.0, high=1.0, because="an attention weight lies between 0 and 1")
        .law("positive", of="maps", because="some attention weights are 0. Does a mask hide tokens? An image has no "
             "future to hide")
        .law("looks_reach_higher", of="maps", because="no attention weight ever grows from one layer to the next. Is "
             "each map its own layer's, or multiplied by those before?")
        .law("slices_differ", of="maps", dim=0, because="two layers show the same map")
        .law("slices_differ", of="maps", dim=1, because="two images show the same map")
        .law("slices_differ", of="maps", dim=2, because="two heads show the same map")
    )  # fmt: skip
    yield (
        _case(rng, "the positional embeddings, where the figures look for them", public=True)
        .read("positions")
        .law("shape_is", of="positions", shape=(10, 10), meaning="self.positions (N + 1, D)")
    )
    marks = rng.normal(10, 10, dtype=torch.float32)
    other = torch.cat([rng.normal(1, 10, dtype=torch.float32), marks[1:]])
    yield (
        _case(rng, "the [CLS] token has the first position", public=True)
        .load({"positions": marks})
        .call(images, method="attention_maps", into="maps")
        .load({"positions": other})
        .call(images, method="attention_maps", into="others")
        .law("shape_is", **_maps(3, 5, 2, 10, 10))
        .law("slices_differ", of="maps", dim=0, because="two layers show the same map")
        .law("shares_stay", of="maps", to="others", layers=[0], places=list(range(1, 10)), because="another row 0 of "
             "`positions` changes how patches attend to each other in the first layer. Row 0 should belong to the "
             "[CLS] token")
    )  # fmt: skip


def _norms(rng, images):
    """Positional embeddings of a million show where no norm stands before attention, or before the classes."""
    loud = {"positions": 1e6 * rng.normal(10, 10, dtype=torch.float32)}
    yield (
        _case(rng, "norms before attention and feed-forward")
        .load(loud)
        .call(images, method="attention_maps", into="maps")
        .law("shape_is", **_maps(3, 5, 2, 10, 10))
        .law("bounded", of="maps", low=0.0, high=0.999, because="with positional embeddings of a million, each token "
             "attends to one position alone. Print the size of what goes into each attention")
    )  # fmt: skip
    yield (
        _case(rng, "a norm before the classes")
        .load(loud)
        .call(images)
        .law("bounded", low=-1e3, high=1e3, because="with positional embeddings of a million, the logits run into "
             "the thousands. Print the size of what goes into the output layer")
    )  # fmt: skip


def _words_and_layers(rng, images):
    """What a token holds, reads and keeps, seen in the attention maps."""
    painted = _pictures(rng, 11)
    repainted = painted.clone()
    repainted[:, :, 4:, 4:] = _pictures(rng, 11)[:, :, 4:, 4:]
    begun = painted.clone()
    begun[:, :, :2, :2] = repainted[:, :, 4:, 4:]
    yield (
        _case(rng, "a layer reads the output of the one before", scale=0.8, public=True)
        .call(painted, method="attention_maps", into="maps")
        .call(begun, method="attention_maps", into="begun")
        .law("shape_is", **_maps(3, 11, 2, 10, 10))
        .law("shares_change", of="maps", to="begun", layers=[1, 2], places=[0, *range(2, 10)],
             because="another first patch changes no attention weight among the other tokens, in any layer. What "
             "does the second layer read?")
    )  # fmt: skip
    yield (
        _case(rng, "each token holds a patch of its own", public=True)
        .call(painted, method="attention_maps", into="maps")
        .call(repainted, method="attention_maps", into="repainted")
        .call(painted, method="attention_maps", into="again")
        .law("shape_is", **_maps(3, 11, 2, 10, 10))
        .law("equal", of="maps", to="again", within=1e-5, because="in evaluation, the same images show other maps "
             "the second time. Which step drops numbers?")
        .law("slices_differ", of="maps", dim=0, because="two layers show the same map")
        .law("shares_stay", of="maps", to="repainted", layers=[0], places=list(range(9)),
             because="another last patch changes attention weights among the other tokens in the first layer. Does "
             "each token hold exactly one patch?")
    )  # fmt: skip
    yield (
        _case(rng, "a token stays itself from layer to layer", public=True)
        .call(images, method="attention_maps", into="maps")
        .law("shape_is", **_maps(3, 5, 2, 10, 10))
        .law("looks_differ", of="maps", layers=[1, 2], because="in a later layer all tokens have the same attention "
             "weights. After attention has mixed them, what is left of each token's own vector?")
    )  # fmt: skip


def _images_and_places(rng, images):
    """No image sees another, and a patch knows its position."""
    yield (
        _case(rng, "alone and in company", public=True)
        .call(images)
        .map([(image[None],) for image in images], into="alone")
        .law("same_rows", to="alone", because="an image gets other logits in a batch than alone")
    )
    shuffled = mend(cut(images, 2)[:, [4, 2, 0, 8, 1, 3, 7, 5, 6]], 2, 6, 6)
    yield (
        _case(rng, "patches in another order", public=True)
        .call(images)
        .call(shuffled, into="other")
        .law("slices_differ", within=1e-7, because="two images get the same logits. What does the [CLS] token see?")
        .law("differ_by_share", to="other", share=1e-3, because="the same patches at other positions get the same "
             "logits. What tells the model where a patch stands?")
    )  # fmt: skip


def _dropout(rng, images):
    """In training, with a chance of 0 and of a half."""
    yield (
        _case(rng, "nothing is dropped unless it is asked for", public=True)
        .train()
        .call(images)
        .call(images, into="again")
        .law("equal", to="again", within=1e-5, because="in training with a dropout of 0, the same images get other "
             "logits the second time. Which step drops numbers?")
    )  # fmt: skip
    yield (
        _case(rng, "dropout, when it is asked for", dropout=0.5)
        .train()
        .call(images)
        .call(images, into="again")
        .law("different", to="again", because="dropout=0.5 changes nothing. Does it reach the layers?")
    )


def _pixels(rng, images):
    """All of an image is read."""
    yield (
        _case(rng, "every pixel makes a difference")
        .call(images.clone().requires_grad_())
        .gradients()
        .law("squares_that_matter", side=1, at_least=5 * 36, because="some pixels make no difference to the logits")
    )
    for channel in (1, 2):
        recoloured = images.clone()
        recoloured[:, channel] = _pictures(rng, 5)[:, channel]
        yield (
            _case(rng, f"another channel {channel}", weight=0.5)
            .call(images)
            .call(recoloured, into="other")
            .law("different", to="other", because="one of the channels makes no difference to the logits")
        )


def _looks(rng):
    """The [CLS] token reads one patch, and it is the one that its map shows."""
    yield _looking_at_one(rng, 1, "one channel")
    for title in ("three channels", "three channels, once more", "three channels, a third time"):
        yield _looking_at_one(rng, 3, title, weight=0.4)
    yield _read_as_mapped(rng, 1, "do maps and logits come from one pass, over the same tokens?")
    for which in ("", ", with other weights"):  # heads merged across words: once in forty draws nothing shows of it
        asks = "do maps and logits come from one pass, and does what a head has seen reach the token that looked?"
        yield _read_as_mapped(rng, 2, asks, which, weight=0.5)


def _other_sizes(rng, images):
    """A single patch and layer, many classes, and dropout once training is over."""
    one = {"image_size": 5, "patch": 5, "channels": 1, "classes": 3, "d_model": 4, "n_heads": 1, "d_ff": 7}
    yield (
        _case(rng, "a single patch, a single layer", n_layers=1, sizes=one)
        .call(_pictures(rng, 2, 1, 5))
        .call(_pictures(rng, 2, 1, 5), method="attention_maps", into="maps")
        .law("shape_is", shape=(2, 3))
        .law("shape_is", of="maps", shape=(1, 2, 1, 2, 2))
    )
    yield (
        _case(rng, "logits for many classes", 3.0, n_layers=1, sizes={**SIZES, "classes": 23}, weight=0.5)
        .call(images)
        .law("some_below_zero")
        .law(
            "exceeds",
            value=1.0,
            because="with strong weights logits are large, and none of yours is above 1. What happens to them at the "
            "end?",
        )
    )
    yield (
        _case(rng, "dropout, when training is over", dropout=0.5, weight=0.5)
        .call(images)
        .call(images, into="again")
        .law("equal", to="again", within=1e-5, because="in evaluation, the same images get other logits the second "
             "time. Which step still drops numbers, and does eval() reach it?")
    )  # fmt: skip


def _read_as_mapped(rng, heads, question, which="", **settings):
    """With one head nothing can be merged in a wrong order, so a wrong map there is a map of something else."""
    many = rng.normal(17, 3, 10, 10, dtype=torch.float32).requires_grad_()
    title = "the map shows what the [CLS] token reads" + ("" if heads == 1 else ", by two heads") + which
    because = f"some patches change the logits, though your map gives them no weight. So {question}"
    return (
        build(title, 10, 2, 3, 5, 8, heads, 13, 1, **settings)
        .laws_only()
        .fill(rng, scale=5.0)
        .call(many)
        .gradients()
        .call(many, method="attention_maps", into="maps")
        .law("shape_is", **_maps(1, 17, heads, 26, 26))
        .law("felt_where_looked", side=2, to="maps", because=because)
        .counts_with(LOGITS)
    )


def _looking_at_one(rng, channels, title, **settings):
    """One layer, one head, and weights so strong that softmax chooses one patch of an image, or the [CLS] token."""
    strong = "with weights so strong that each token attends to one other, "
    images = rng.normal(17, channels, 10, 10, dtype=torch.float32).requires_grad_()
    title = f"each token attends to a single one, {title}"
    asked = build(title, 10, 2, channels, 5, 8, 1, 13, 1, public=channels == 1, **settings)
    asked = asked.laws_only().fill(rng, scale=5.0).call(images).gradients().counts_with(LOGITS)
    if channels == 1:
        asked = asked.law(
            "squares_that_matter", side=1, each=4 * 2,
            because=strong + "everything still makes a difference. Which token's vector do you read in the end?",
        ).law(
            "squares_that_matter", side=1, each=4,
            because=strong + "a second patch makes a difference. Which token's vector do you read in the end?",
        )  # fmt: skip
    return asked.law(
        "squares_that_matter", side=2, each=1,
        because=strong + "the pixels that make a difference form no square. Which pixels do your patches hold?",
    )  # fmt: skip


class Open(reference.ViT):
    """The reference with its pieces laid open, for wrong ones to take their place."""

    def words(self, images):
        return reference.embed_patches(images, self.patches.weight, self.patches.bias, self.cls, self.positions)

    def through(self, layer, z):
        return layer(z)

    def choose(self, z):
        return z[:, 0]

    def _read(self, images):
        z, maps = self.drop(self.words(images)), []
        for layer in self.layers:
            z, weights = self.through(layer, z)
            maps.append(weights)
        return z, maps

    def forward(self, images):
        return self.classify(self.norm(self.choose(self._read(images)[0])))


def _look(layer, words, **options):
    """What the tokens see of each other in a layer, and the map of it."""
    return layer.attention(words, words, words, average_attn_weights=False, **options)


def _onwards(layer, z, seen):
    """The tokens z behind a layer in which attention has `seen` this."""
    z = z + layer.drop(seen)
    return z + layer.drop(layer.mlp(layer.norms[1](z)))


@ViT.misconception(
    "Exchange two patches of an image. Your logits stay the same. Which parameter should make a difference?"
)
class WithoutPositions(Open):
    def words(self, images):
        weights = self.patches.weight, self.patches.bias, self.cls
        return reference.embed_patches(images, *weights, 0 * self.positions)


@ViT.misconception(
    "Of the N + 1 vectors, one has no patch of its own. Change only that one before the output. Do the logits move?"
)
class ReadsTheLastPatch(Open):
    def choose(self, z):
        return z[:, -1]


@ViT.misconception(
    "Change the last token's vector before the output. Do the logits move? Reading the mean works in practice, but "
    "here only [CLS] is read.",
    convention="pooling over all tokens, mostly their mean, instead of a [CLS] token",
)
class ReadsTheMean(Open):
    def choose(self, z):
        return z.mean(1)


@ViT.misconception("Change one patch of an image. How many tokens change before the first layer?")
class WordsReshapedNotTransposed(Open):
    def words(self, images):
        words = patch_words(images, self.patches.weight, self.patches.bias)
        mixed = words.mT.reshape(words.shape)
        return torch.cat([class_words(words, self.cls), mixed], dim=1) + self.positions


@ViT.misconception(
    "Let every token attend to all tokens equally. What is left of each token's own vector after two such layers?"
)
class WithoutResiduals(Open):
    def through(self, layer, z):
        seen, weights = _look(layer, layer.norms[0](z))
        return layer.drop(layer.mlp(layer.norms[1](layer.drop(seen)))), weights


@ViT.misconception(
    "Make your positional embeddings a million times larger. How sharp are the attention weights of the first "
    "layer? How large are the vectors that are compared?",
    convention="post-norm, as in the Transformer of 2017",
)
class NormsAfterTheWork(Open):
    def through(self, layer, z):
        seen, weights = _look(layer, z)
        z = layer.norms[0](z + layer.drop(seen))
        return layer.norms[1](z + layer.drop(layer.mlp(z))), weights


@ViT.misconception(
    "Print what goes into the first layer when you ask for logits, and when you ask for the maps. Is it the same?"
)
class MapsOfOtherWords(Open):
    def attention_maps(self, images):
        z, maps = self.drop(self.words(images)), []
        for layer in self.layers:
            maps.append(_look(layer, z)[1])
            z, _ = self.through(layer, z)
        return torch.stack(maps)


@ViT.misconception(
    "Fill what your heads have seen with 10·token + head. In which order do the axes lie when you reshape it to D "
    "numbers for each token?"
)
class HeadsMergedAcrossWords(Open):
    def through(self, layer, z):
        attention, words = layer.attention, layer.norms[0](z)
        three = F.linear(words, attention.in_proj_weight, attention.in_proj_bias)
        q, k, v = three.unflatten(2, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)  # (B, h, T, D/h) each
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return _onwards(layer, z, attention.out_proj((weights @ v).reshape(z.shape))), weights


@ViT.misconception("Draw the map of the first layer. Which weights are 0? Has an image a future that must be hidden?")
class LooksBackOnly(Open):
    def through(self, layer, z):
        future = torch.ones(z.shape[1], z.shape[1], dtype=torch.bool).triu(1)
        seen, weights = _look(layer, layer.norms[0](z), attn_mask=future)
        return _onwards(layer, z, seen), weights


@ViT.misconception("Classify an image alone and in a batch. Over which axis does your attention run?")
class AttendsAcrossTheBatch(Open):
    def through(self, layer, z):
        z, weights = layer(z.transpose(0, 1))
        return z.transpose(0, 1), weights
