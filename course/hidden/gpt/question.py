"""How `hint` helps with the written question on GPT. No hint gives an answer."""

from __future__ import annotations

HINTS = (
    "Write down what the model has read when it defines your word: which tokens, and nothing else. Where could it have "
    "learned what `blorbel` means?",
    "Compare one word under two kinds, and two words under one kind. Which of the two decides more?",
    "Look at the bits a byte in the model card. What does the loss reward, and what does it never ask?",
)
