"""What several exercises of this topic are examined with."""


def words(text: str) -> list[str]:
    return text.split()


def bananas() -> list[str]:
    """The lecture's three sentences, as one text."""
    return words("yes , we have no bananas say yes for bananas no bananas , we say")
