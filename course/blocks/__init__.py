"""What notebooks build on: parts thin over torch's own layers, with the interfaces of the exercises before them."""

from .attention import MultiHeadAttention
from .recall import FlatSlots, PairSlots
from .recurrent import ElmanClassifier, OneGate

__all__ = ["ElmanClassifier", "FlatSlots", "MultiHeadAttention", "OneGate", "PairSlots"]
