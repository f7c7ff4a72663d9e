"""Read a platform's token from the environment or the system's keyring, and keep it out of everything that is shown."""

from __future__ import annotations

import os

from course.outline import Place
from course.problem import Problem

USER = "course"
"""The name under which the keyring has a token; its service is the site's address."""


class Token:
    """A token, which shows itself neither as text nor in a traceback."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Token(hidden)"

    def reveal(self) -> str:
        """Return the token itself, to be put into a request and nowhere else."""
        return self._text

    def hide(self, text: str) -> str:
        """Return a platform's message without the token."""
        return text.replace(self._text, "(token)")


def variable(platform: str) -> str:
    """Return the environment variable with the token for a platform, `canvas` or `moodle`."""
    return f"COURSE_{platform.upper()}_TOKEN"


def read_token(platform: str, place: Place) -> Token:
    """Return the token for a site: that in the environment, else that in the system's keyring.

    Raises:
        Problem: there is none, or it cannot be a token.
    """
    text = os.environ.get(variable(platform), "").strip() or _in_keyring(place.address)
    if not text:
        raise Problem(
            f"there is no token for {place.address}. Run `keyring set {place.address} {USER}`, which asks for it and "
            f"keeps it in the system's keyring, or set {variable(platform)}"
        )
    if not text.isascii() or not text.isprintable() or " " in text:
        raise Problem(f"the token for {place.address} has a character that no token has. Copy it again")
    return Token(text)


def _in_keyring(address: str) -> str:
    """Return the keyring's token for a site, or "" if there is none, or no keyring."""
    import keyring
    from keyring.errors import KeyringError

    try:
        return (keyring.get_password(address, USER) or "").strip()
    except KeyringError:
        return ""
