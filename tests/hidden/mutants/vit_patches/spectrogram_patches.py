"""Wrong answers to `spectrogram_patches` that no misconception knows by name."""

from __future__ import annotations

from course.reference import vit_patches as reference


def _sound(spec, p, stride):
    return reference.spectrogram_patches(spec, p, stride)


def sound_as_pictures(spec, p, stride):
    return _sound(spec, p, stride).unflatten(2, (p, p))


def sound_with_a_channel(spec, p, stride):
    return _sound(spec, p, stride)[:, None]


def sound_upside_down(spec, p, stride):
    return _sound(spec.flip(1), p, stride)


def sound_overlap_in_frequency_only(spec, p, stride):
    _sound(spec, p, stride)
    return spec.unfold(1, p, stride).unfold(2, p, p).flatten(3).flatten(1, 2)


def sound_from_the_end(spec, p, stride):
    """Drops what is left over at the beginning."""
    _sound(spec, p, stride)
    f, t = ((size - p) % stride for size in spec.shape[1:])
    return _sound(spec[:, f:, t:], p, stride)


def sound_as_strips_of_time(spec, p, stride):
    """Whole columns, every frequency at once, as in speech recognition before."""
    _sound(spec, p, stride)
    return spec.unfold(2, p, stride).movedim(2, 1).flatten(2)


def sound_normalised(spec, p, stride):
    patches = _sound(spec, p, stride)
    return (patches - patches.mean(-1, keepdim=True)) / (patches.std(-1, keepdim=True) + 1e-6)


def sound_without_gradient(spec, p, stride):
    return _sound(spec.detach(), p, stride)


def sound_with_another_error(spec, p, stride):
    if min(spec.shape[1:]) < p:
        raise RuntimeError("too small")
    return _sound(spec, p, stride)


MUTANTS = [
    sound_as_pictures,
    sound_with_a_channel,
    sound_upside_down,
    sound_overlap_in_frequency_only,
    sound_from_the_end,
    sound_as_strips_of_time,
    sound_normalised,
    sound_without_gradient,
    sound_with_another_error,
]
