"""What several exercises of this topic are examined with."""

MEET_AT_THE_END = (
    "Write both shapes below each other, aligned at their ends, as broadcasting does. Which axes meet, and which one "
    "is missing?"
)

OF_ONE_SENTENCE = (
    "Count the axes of your result that count sentences. A query should meet the keys of its own sentence alone. Which "
    "axis does it need for that?"
)

ONE_NUMBER = "A score is one number for one query and one key. Which axis has to disappear in the sum?"

SHAPE_OF_T = "keys has three axes. Print the shapes of keys and of keys.T. Which two axes should change places?"
