"""A page with its first words, so that it shows no other language's while its scripts are on their way."""

import re
from collections.abc import Callable, Mapping
from html import escape


def spoken(page: str, words: Callable[[str], str], attributes: Mapping[str, str]) -> str:
    """The page with the words of the elements that name a key, and these attributes of the page, such as its language."""
    named = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    page = re.sub(r"<html [^>]*>", lambda _: f"<html {named}>", page, count=1)
    return re.sub(
        r'(<[^<>]*\bdata-word="([^"]+)"[^<>]*>)[^<>]*', lambda found: found[1] + escape(words(found[2])), page
    )
