"""Building blocks for notebooks: thin layers over torch's own, with the interfaces of earlier exercises."""

from .attention import MultiHeadAttention
from .gpt import GPT
from .hidden_words import mlm_corrupt
from .low_rank import add_low_rank
from .open_gpt import OpenGPT
from .policy import TablePolicy
from .positions import rope, rope_base, sinusoids
from .recall import FlatSlots, PairSlots
from .recurrent import ElmanClassifier, OneGate
from .relations import ChildSlots
from .seq2seq import AttentionSeq2Seq
from .threads import one_thread
from .transformer import EncoderLayer
from .vit import ViT

__all__ = [
    "GPT",
    "AttentionSeq2Seq",
    "ChildSlots",
    "ElmanClassifier",
    "EncoderLayer",
    "FlatSlots",
    "MultiHeadAttention",
    "OneGate",
    "OpenGPT",
    "PairSlots",
    "TablePolicy",
    "ViT",
    "add_low_rank",
    "mlm_corrupt",
    "one_thread",
    "rope",
    "rope_base",
    "sinusoids",
]
