"""What several exercises of this topic are examined with."""

from __future__ import annotations

import torch

tanh = torch.tanh
