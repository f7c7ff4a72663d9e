"""Hidden tests of `ViT`."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.exercise import build, exercise
from course.hidden.vit_patches.scaffold import _class, _cut, _words
from course.reference import vit_patches as reference
from course.reference.vit_patches import patchify as cut
from course.reference.vit_patches import unpatchify as mend

SIZES = {"image_size": 6, "patch": 2, "channels": 3, "classes": 7, "d_model": 10, "n_heads": 2, "d_ff": 13}
"""Nine patches; no two sizes that could be taken for one another."""

LOGITS = "a row of logits for each image"
"""The case that no constant passes, and nothing that was written down: all others count together with it."""


@exercise(
    reference.ViT,
    name="ViT",
    hints=(
        "Print the shape after each step for three images: patches, words, words with the class word, what comes out.",
        "Exchange two patches of an image. Do the logits change? They should, because of one of your parameters.",
        "Which of the N + 1 vectors does your last layer read? And which map did each layer leave behind in `weights`?",
        "Put the model into training mode with dropout=0.0 and call it twice. Where could chance still come in?",
    ),
    forbidden=("blocks.ViT",),
)
def ViT(rng):
    """Its parameters are the student's own, so laws decide: who may see whom, and what must make a difference.

    With weak weights everything makes a difference. With very strong ones each word looks at a single other one, and
    the class word of a single layer has seen exactly one patch: a square of the image, and no second one.
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
        .call(images[copies], into="copies")
        .law("rows_follow", of="copies", rows=copies, because="copies of an image should get the same logits, and "
             "other images others: do yours depend on the pixels, and on nothing else?")
    )  # fmt: skip
    yield (
        _case(rng, "every parameter takes part", public=True)
        .call(images)
        .gradients(wrt="parameters")
        .law("every_parameter_is_reached")
        .law("learns_at_least", numbers=3 * (4 * 10**2 + 2 * 10 * 13),
             because="it learns fewer numbers than three layers have: does each layer have weights of its own, and "
             "does model.parameters() know them all?")
        .law("learns_by_place", places=[13, 26], because="nothing that learns is d_ff = 13 wide: how wide is what each "
             "layer does to its words one by one?")
    )  # fmt: skip
    yield (
        _case(rng, "every place has a mark that learns", sizes={**SIZES, "image_size": 8}, public=True)
        .call(_pictures(rng, 3, side=8))
        .gradients(wrt="parameters")
        .law("learns_by_place", places=[17, 16], because="no parameter that learns has a row for each place: "
             "what are your marks, and does model.parameters() know them?")
    )  # fmt: skip


def _maps_and_marks(rng, images):
    """What the pictures below the exercise read of the model."""
    yield (
        _case(rng, "who looks at whom", public=True)
        .call(images, method="attention_maps", into="maps")
        .law("shape_is", of="maps", shape=(3, 5, 2, 10, 10),
             meaning="maps (n_layers, B, h, N + 1, N + 1)")
        .law("sums_to_one", of="maps", because="a row of a map should be how one word shares out its attention")
        .law("bounded", of="maps", low=0.0, high=1.0, because="a share of attention lies between 0 and 1")
        .law("positive", of="maps", because="some words get no share at all of another's attention: who hides them? In "
             "an image there is no future")
        .law("slices_differ", of="maps", dim=0, because="two layers show the same map")
        .law("slices_differ", of="maps", dim=1, because="two images show the same map")
        .law("slices_differ", of="maps", dim=2, because="two heads show the same map")
    )  # fmt: skip
    yield (
        _case(rng, "the marks, where the pictures look for them", public=True)
        .read("positions")
        .law("shape_is", of="positions", shape=(10, 10), meaning="self.positions (N + 1, D)")
    )


def _norms(rng, images):
    """Marks of a million show where no norm stands before the work, or before the classes."""
    loud = {"positions": 1e6 * rng.normal(10, 10, dtype=torch.float32)}
    yield (
        _case(rng, "norms before the work")
        .load(loud)
        .call(images, method="attention_maps", into="maps")
        .law("bounded", of="maps", low=0.0, high=0.999, because="with marks of a million each word looks at one place "
             "alone: in which of its steps does a layer bring its words to one scale?")
    )  # fmt: skip
    yield (
        _case(rng, "a norm before the classes")
        .load(loud)
        .call(images)
        .law("bounded", low=-1e3, high=1e3, because="with marks of a million the logits run into the thousands: who "
             "brings what the layers have added up back to one scale?")
    )  # fmt: skip


def _words_and_layers(rng, images):
    """What a word holds, reads and keeps, seen in how the words look at each other."""
    painted = _pictures(rng, 11)
    repainted = painted.clone()
    repainted[:, :, 4:, 4:] = _pictures(rng, 11)[:, :, 4:, 4:]
    begun = painted.clone()
    begun[:, :, :2, :2] = repainted[:, :, 4:, 4:]
    yield (
        _case(rng, "a layer reads what the one before has written", scale=0.8, public=True)
        .call(painted, method="attention_maps", into="maps")
        .call(begun, method="attention_maps", into="begun")
        .law("shares_change", of="maps", to="begun", layers=[1, 2], places=[0, *range(2, 10)],
             because="another first patch changes nothing in how the other words look at each other, in no layer: "
             "which words does the second layer read?")
    )  # fmt: skip
    yield (
        _case(rng, "each word holds a patch of its own", public=True)
        .call(painted, method="attention_maps", into="maps")
        .call(repainted, method="attention_maps", into="repainted")
        .law("shares_stay", of="maps", to="repainted", layers=[0], places=list(range(9)),
             because="another last patch changes how the other words look at each other, in the first layer already: "
             "does each word hold one patch, and all of it?")
    )  # fmt: skip
    yield (
        _case(rng, "a word stays itself from layer to layer", public=True)
        .call(images, method="attention_maps", into="maps")
        .law("looks_differ", of="maps", layers=[1, 2], because="in a later layer all words look at the others in the "
             "same way: after attention has mixed them, what is left of each word's own?")
    )  # fmt: skip


def _images_and_places(rng, images):
    """No image sees another, and a patch knows its place."""
    yield (
        _case(rng, "alone and in company", public=True)
        .call(images)
        .map([(image[None],) for image in images], into="alone")
        .law("same_rows", to="alone", because="an image gets other logits in a batch than it gets alone")
    )
    shuffled = mend(cut(images, 2)[:, [4, 2, 0, 8, 1, 3, 7, 5, 6]], 2, 6, 6)
    yield (
        _case(rng, "patches in another order", public=True)
        .call(images)
        .call(shuffled, into="other")
        .law("slices_differ", within=1e-7, because="two images get the same logits: what does the class word see?")
        .law("differ_by_share", to="other", share=1e-3, because="the same patches in other places get the same logits: "
             "what tells the model where a patch stands?")
    )  # fmt: skip


def _dropout(rng, images):
    """In training, with a chance of 0 and of a half."""
    yield (
        _case(rng, "nothing is dropped unless it is asked for", public=True)
        .train()
        .call(images)
        .call(images, into="again")
        .law("equal", to="again", within=1e-5, because="in training, the same images get other logits the second time, "
             "and dropout is 0: who drops something all the same?")
    )  # fmt: skip
    yield (
        _case(rng, "dropout, when it is asked for", dropout=0.5)
        .train()
        .call(images)
        .call(images, into="again")
        .law("different", to="again", because="dropout=0.5 changes nothing: does it reach the layers?")
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
    """What the class word reads is one patch, and the one that its map tells."""
    yield _looking_at_one(rng, 1, "one channel")
    for title in ("three channels", "three channels, once more", "three channels, a third time"):
        yield _looking_at_one(rng, 3, title, weight=0.4)
    yield _read_as_mapped(rng, 1, "do maps and logits come from one pass, of the same words?")
    for which in ("", ", with other weights"):  # heads merged across words: once in forty draws nothing shows of it
        asks = "are map and logits of one pass, and does what a head has seen reach the word that looked?"
        yield _read_as_mapped(rng, 2, asks, which, weight=0.5)


def _other_sizes(rng, images):
    """The least there can be, many classes; and dropout once training is over."""
    one = {"image_size": 5, "patch": 5, "channels": 1, "classes": 3, "d_model": 4, "n_heads": 1, "d_ff": 7}
    yield (
        _case(rng, "a single patch, a single layer", n_layers=1, sizes=one)
        .call(_pictures(rng, 2, 1, 5))
        .call(_pictures(rng, 2, 1, 5), method="attention_maps", into="maps")
        .law("shape_is", shape=(2, 3))
        .law("shape_is", of="maps", shape=(1, 2, 1, 2, 2))
    )
    yield (
        _case(rng, "scores for many classes", 3.0, n_layers=1, sizes={**SIZES, "classes": 23}, weight=0.5)
        .call(images)
        .law("some_below_zero")
        .law(
            "exceeds",
            value=1.0,
            because="with strong weights scores are large, and none of yours is beyond 1: what has been done to them?",
        )
    )
    yield (
        _case(rng, "dropout, when training is over", dropout=0.5, weight=0.5)
        .call(images)
        .call(images, into="again")
        .law("equal", to="again", within=1e-5, because="in evaluation, the same images get other logits the second "
             "time: who goes on dropping, and who would know that training is over?")
    )  # fmt: skip


def _read_as_mapped(rng, heads, question, which="", **settings):
    """With one head nothing can be merged in a wrong order: a map that is wrong there is a map of something else."""
    many = rng.normal(17, 3, 10, 10, dtype=torch.float32).requires_grad_()
    title = "the map shows what is read" + ("" if heads == 1 else ", by two heads") + which
    because = f"patches make a difference at which, by your map, no head of the class word looks: {question}"
    return (
        build(title, 10, 2, 3, 5, 8, heads, 13, 1, **settings)
        .laws_only()
        .fill(rng, scale=5.0)
        .call(many)
        .gradients()
        .call(many, method="attention_maps", into="maps")
        .law("felt_where_looked", side=2, to="maps", because=because)
        .counts_with(LOGITS)
    )


def _looking_at_one(rng, channels, title, **settings):
    """One layer, one head, weights so strong that softmax chooses: of an image one patch, or the class word itself."""
    strong = "with weights so strong that each word looks at one other, "
    images = rng.normal(17, channels, 10, 10, dtype=torch.float32).requires_grad_()
    title = f"each word looks at a single other one, {title}"
    asked = build(title, 10, 2, channels, 5, 8, 1, 13, 1, public=channels == 1, **settings)
    asked = asked.laws_only().fill(rng, scale=5.0).call(images).gradients().counts_with(LOGITS)
    if channels == 1:
        asked = asked.law(
            "squares_that_matter", side=1, each=4 * 2,
            because=strong + "everything still makes a difference: whose vector do you read in the end?",
        ).law(
            "squares_that_matter", side=1, each=4,
            because=strong + "a second patch makes a difference: whose vector do you read in the end?",
        )  # fmt: skip
    return asked.law(
        "squares_that_matter", side=2, each=1,
        because=strong + "what makes a difference is no square of the image: what do your patches hold?",
    )  # fmt: skip


class _Open(reference.ViT):
    """The reference with its pieces laid open, for wrong ones to take their place."""

    def words(self, images):
        return reference.embed_patches(images, self.patches.weight, self.patches.bias, self.cls, self.positions)

    def choose(self, z):
        return z[:, 0]

    def through(self, layer, z):
        return layer(z)

    def _read(self, images):
        z, maps = self.drop(self.words(images)), []
        for layer in self.layers:
            z, weights = self.through(layer, z)
            maps.append(weights)
        return z, maps

    def forward(self, images):
        return self.classify(self.norm(self.choose(self._read(images)[0])))


@ViT.misconception("Exchange two patches of an image: the logits stay as they are. Which parameter should know better?")
class WithoutPositions(_Open):
    def words(self, images):
        weights = self.patches.weight, self.patches.bias, self.cls
        return reference.embed_patches(images, *weights, 0 * self.positions)


@ViT.misconception("Of N + 1 vectors one has no patch of its own, and gathers what the image is. Do you read that one?")
class ReadsTheLastPatch(_Open):
    def choose(self, z):
        return z[:, -1]


@ViT.misconception(
    "Reading all words together, as their mean, works as well in practice. Here only the class word is read, as in the "
    "paper.",
    convention="pooling over all words, mostly their mean, instead of a class word",
)
class ReadsTheMean(_Open):
    def choose(self, z):
        return z.mean(1)


@ViT.misconception("Change one patch of an image. In how many of the words, before any layer, does it show?")
class WordsReshapedNotTransposed(_Open):
    def words(self, images):
        words = _words(images, self.patches.weight, self.patches.bias)
        mixed = words.mT.reshape(words.shape)
        return torch.cat([_class(words, self.cls), mixed], dim=1) + self.positions


@ViT.misconception("Let every word look at all words equally. What is left of a word itself, after two such layers?")
class WithoutResiduals(_Open):
    def through(self, layer, z):
        words = layer.norms[0](z)
        seen, weights = layer.attention(words, words, words, average_attn_weights=False)
        return layer.drop(layer.mlp(layer.norms[1](layer.drop(seen)))), weights


@ViT.misconception(
    "Make your marks a million times larger. How sharply does each word look in the first layer, and what was done to "
    "the words before they were compared?",
    convention="norms after the work, as in the Transformer of 2017",
)
class NormsAfterTheWork(_Open):
    def through(self, layer, z):
        seen, weights = layer.attention(z, z, z, average_attn_weights=False)
        z = layer.norms[0](z + layer.drop(seen))
        return layer.norms[1](z + layer.drop(layer.mlp(z))), weights


@ViT.misconception(
    "Make your marks a million times larger. How large do the logits become? Each layer adds to the words: who brings "
    "the sum back to one scale?"
)
class WithoutTheLastNorm(_Open):
    def forward(self, images):
        return self.classify(self.choose(self._read(images)[0]))


@ViT.misconception("The pictures below look for your marks. Under which name, and in which shape?")
class MarksUnderAnotherName(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=dropout)
        self.marks = self.positions
        del self.positions

    def words(self, images):
        return reference.embed_patches(images, self.patches.weight, self.patches.bias, self.cls, self.marks)


@ViT.misconception(
    "Print self.positions.shape. How many axes, and how many rows, do embed_patches and the pictures below ask for?"
)
class MarksWithABatchAxis(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=dropout)
        self.positions = nn.Parameter(self.positions.detach()[None])

    def words(self, images):
        return reference.embed_patches(images, self.patches.weight, self.patches.bias, self.cls, self.positions[0])


@ViT.misconception("Build it with d_ff=13 and print the shapes of its parameters. Where is the 13?")
class WidthOfItsOwn(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes[:6], 4 * sizes[4], *sizes[7:], dropout=dropout)


@ViT.misconception(
    "Print what goes into the first layer when you ask for logits, and when you ask for the maps. Is it the same?"
)
class MapsOfOtherWords(_Open):
    def attention_maps(self, images):
        z, maps = self.drop(self.words(images)), []
        for layer in self.layers:
            maps.append(layer.attention(z, z, z, average_attn_weights=False)[1])
            z, _ = self.through(layer, z)
        return torch.stack(maps)


@ViT.misconception(
    "Number what your heads have seen: 10·word + head. In which order of axes does it lie when you reshape it to D "
    "numbers for each word?"
)
class HeadsMergedAcrossWords(_Open):
    def through(self, layer, z):
        attention, words = layer.attention, layer.norms[0](z)
        three = F.linear(words, attention.in_proj_weight, attention.in_proj_bias)
        q, k, v = three.unflatten(2, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)  # (B, h, T, D/h) each
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        z = z + layer.drop(attention.out_proj((weights @ v).reshape(z.shape)))
        return z + layer.drop(layer.mlp(layer.norms[1](z))), weights


@ViT.misconception(
    "Draw the map of the first layer. Who may not look at whom, and is there a future in an image that must be hidden?"
)
class LooksBackOnly(_Open):
    def through(self, layer, z):
        words, future = layer.norms[0](z), torch.ones(z.shape[1], z.shape[1], dtype=torch.bool).triu(1)
        seen, weights = layer.attention(words, words, words, attn_mask=future, average_attn_weights=False)
        z = z + layer.drop(seen)
        return z + layer.drop(layer.mlp(layer.norms[1](z))), weights


@ViT.misconception("Build it with n_layers=1 and ask for the maps. Of how many layers are they?")
class OneLayerTooMany(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes[:7], sizes[7] + 1, dropout=dropout)


@ViT.misconception("Is what one word holds a square of the image? Use the patchify that you have checked.")
class CutsStrips(_Open):
    def words(self, images):
        p = round((self.patches.in_features / images.shape[1]) ** 0.5)
        strips = mend(_cut(images, p, 0, 1, 2, 3, 4, 5), p, *images.shape[2:])
        return super().words(strips)


@ViT.misconception(
    "Call it twice in training mode, with dropout=0.0. Who still draws by chance, and was never told 0.0?"
)
class AlwaysDrops(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=0.1)


@ViT.misconception("Build it with dropout=0.5. Where does the number go?")
class NeverDrops(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=0.0)


@ViT.misconception("Put it into eval(), with dropout=0.5, and call it twice. Which part does not know of eval()?")
class DropsInEvaluation(_Open):
    def words(self, images):
        return F.dropout(super().words(images), self.drop.p)


@ViT.misconception("Count its parameters with n_layers=1 and with n_layers=3. Is [layer] * 3 three layers, or one?")
class OneLayerManyTimes(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=dropout)
        self.layers = nn.ModuleList([self.layers[0]] * len(self.layers))


@ViT.misconception(
    "Count model.parameters() with n_layers=1 and with n_layers=3. Who of torch should keep your layers?"
)
class LayersInAPlainList(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=dropout)
        layers = list(self.layers)
        del self.layers
        self.layers = layers


@ViT.misconception("Print the names in model.state_dict(). Are the marks among them, to be trained and kept?")
class MarksNoParameter(_Open):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=dropout)
        marks = self.positions.detach()
        del self.positions
        self.positions = marks


@ViT.misconception("Classify an image alone and in a batch. Over which axis does your attention run?")
class AttendsAcrossTheBatch(_Open):
    def through(self, layer, z):
        z, weights = layer(z.transpose(0, 1))
        return z.transpose(0, 1), weights


@ViT.misconception("Logits are scores. Sum a row of yours: has softmax been there already?")
class GivesProbabilities(_Open):
    def forward(self, images):
        return super().forward(images).softmax(-1)


@ViT.misconception("There is a map for each layer. Which layers are yours of?")
class MapOfTheLastLayerOnly(_Open):
    def attention_maps(self, images):
        return super().attention_maps(images)[-1:].expand(len(self.layers), -1, -1, -1, -1)


@ViT.misconception(
    "Print what goes into each layer when you ask for the maps. Who reads what the layer below has written?"
)
class EveryLayerReadsTheFirstWords(_Open):
    def attention_maps(self, images):
        z = self.words(images)
        return torch.stack([layer(z)[1] for layer in self.layers])


@ViT.misconception(
    "A map for each head of each layer is asked for. Print the shape: which axis stands where, and is one lost?"
)
class MapsAveragedOverHeads(_Open):
    def attention_maps(self, images):
        return super().attention_maps(images).mean(2)


@ViT.misconception(
    "Sum the rows of a map, then its columns. Who shares out attention: the one who looks, or the one who is seen?"
)
class MapsTurnedRound(_Open):
    def attention_maps(self, images):
        return super().attention_maps(images).mT


@ViT.misconception(
    "Ask for the maps of a model of one layer, then of two. Which place does the first layer's map take?"
)
class MapsFromTheLastLayerDown(_Open):
    def attention_maps(self, images):
        return super().attention_maps(images).flip(0)


@ViT.misconception(
    "Half of your maps is empty. Does attention itself know that triangle, or is it cut out of the maps?"
)
class MapsCutToATriangle(_Open):
    def attention_maps(self, images):
        kept = super().attention_maps(images).tril()
        return kept / kept.sum(-1, keepdim=True)


@ViT.misconception(
    "Sum the rows of a map, then its columns. Who shares out attention: the one who looks, or the one who is seen?"
)
class SoftmaxOverTheQueries(_Open):
    def through(self, layer, z):
        attention, words = layer.attention, layer.norms[0](z)
        three = F.linear(words, attention.in_proj_weight, attention.in_proj_bias)
        q, k, v = three.unflatten(2, (3, attention.num_heads, -1)).permute(2, 0, 3, 1, 4)  # (B, h, T, D/h) each
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-2)
        z = z + layer.drop(attention.out_proj((weights @ v).transpose(1, 2).flatten(2)))
        return z + layer.drop(layer.mlp(layer.norms[1](z))), weights


@ViT.misconception(
    "Count how often your loop runs with n_layers=1, and with 3. Which layer's result reaches the logits?"
)
class LastLayerLeftOut(_Open):
    def forward(self, images):
        z = self.drop(self.words(images))
        for layer in self.layers[:-1]:
            z, _ = self.through(layer, z)
        return self.classify(self.norm(self.choose(z)))


@ViT.misconception(
    "Put it into eval() and call it twice. What is drawn at each call, and could training ever change it?"
)
class ClassWordDrawnAnew(_Open):
    def words(self, images):
        drawn = torch.randn_like(self.cls)
        return reference.embed_patches(images, self.patches.weight, self.patches.bias, drawn, self.positions)
