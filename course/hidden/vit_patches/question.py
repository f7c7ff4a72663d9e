"""How `hint` helps with the written question on Vision Transformers. No hint gives an answer."""

HINTS = (
    "Cut a 6 and a 9 into patches on paper, and put the pieces of each into a bag. Mix each bag. Which digits "
    "could you still tell apart?",
    "Look up in this notebook how many scans the ViT was trained on, and how well the linear model did. Compare "
    "with your friend's leaves.",
    'Begin your advice with "For each tree there are … photographs, and in all of them the leaf …, so I would …".',
)
