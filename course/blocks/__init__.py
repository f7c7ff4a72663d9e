"""What notebooks build on: parts thin over torch's own layers, with the interfaces of the exercises before them."""

from .recall import FlatSlots, PairSlots

__all__ = ["FlatSlots", "PairSlots"]
