"""Convert a playground to a sequence of vectors, with one position for each child, in any order."""

from __future__ import annotations

from torch import Tensor, nn

N_NAMES, N_NUMBERS = 26, 10


class ChildSlots(nn.Module):
    """The sum of four embeddings for each child, of its name, its number, its friend's and its rival's name: (B, S, D).

    The arguments are names, numbers, friends and rivals, all (B, S). The three kinds of names have separate tables,
    because being called k, having k as a friend and having k as a rival are three different facts.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.names, self.friends, self.rivals = (nn.Embedding(N_NAMES, width) for _ in range(3))
        self.numbers = nn.Embedding(N_NUMBERS, width)

    def forward(self, names: Tensor, numbers: Tensor, friends: Tensor, rivals: Tensor) -> Tensor:
        """Return vectors (B, S, D) for four int64 tensors (B, S)."""
        return self.names(names) + self.numbers(numbers) + self.friends(friends) + self.rivals(rivals)
