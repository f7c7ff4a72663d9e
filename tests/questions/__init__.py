"""Questions about the code of an answer."""
