"""Checks the documents that people write: each link leads somewhere, and the prose follows docs/developers/writing.md.

    python -m tools.documents

It reads what stands above a mark such as `<!-- Written by ... -->`. Vale was rejected, because its package on PyPI contains no
program and downloads one when it first runs.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = sorted((ROOT / "docs").rglob("*.md"))
PAGES: Final = [*sorted(ROOT.glob("*.md")), ROOT / "examples" / "README.md", *DOCS]
SHORT, LONG = 10, 50
"""In words: three sentences in a row that are shorter than the one must be joined, and a sentence that is longer than the other split."""
MEAN, ARTICLES, ENOUGH = 13, 1 / 3, 20
"""Of a page with enough sentences: the words of a sentence at least, and how many may begin with *The* or *This* at most."""
WORDS: Final = {
    r"(?<!there )\b(is|are|has|have|may) none\b": "the sentence with *not* or *no*, such as *is invalid* or *must not*",
    r"(?<!there )\b(is|are) no (?!longer|more|less)": "*is not a*, *is not*",
    r"\banew\b": "*again*",
    r"\bby and by\b": "*later*",
    r"\bthe one the other\b": "*each other*",
    r"\bwhom?(so)?ever\b|\b(some|any)body\b|\bone's\b": "the actor: *the dealer*, *each user*, *anyone*",
    r"\bshall\b": "*must*, or the present tense",
    r"^(?-i:Is|Are|Has|Have|Does|Was) [^?]*,": "*If* or *When* before a condition",
}
VERBS: Final = r"(Let|Say|Have|Hold|Give|Name|Mend|Tell)\b"


def links(page: Path) -> list[str]:
    """What a page links to, outside its blocks of code and not on the network."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [to for to in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in to]


def anchors(page: Path) -> set[str]:
    """The names of its headings, as a forge makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> Iterator[str]:
    """The links that lead nowhere; a file that .gitignore names may be absent, because make writes it."""
    for link in links(page):
        path, _, anchor = link.partition("#")
        to = (page.parent / path).resolve() if path else page
        if not to.exists():
            if not made(to):
                yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(to):
            yield f"{link}: the page has no such heading"


def made(path: Path) -> bool:
    """Whether .gitignore names a file of the checkout by its path."""
    patterns = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    fitting = [
        each for each in patterns if "/" in each[:-1] and fnmatch(str(path), f"{ROOT}/{each.lstrip('!/')}")
    ]
    return bool(fitting) and not fitting[-1].startswith("!")


def written(text: str) -> str:
    """What a person wrote of a page, with an empty line in place of each line of code."""
    above = re.split(r"^<!-- Written by", text, maxsplit=1, flags=re.MULTILINE)[0]
    return re.sub(r"^ *```(?s:.*?)^ *```", lambda code: "\n" * code[0].count("\n"), above, flags=re.MULTILINE)


def sentences(line: str) -> list[str]:
    """The sentences of a paragraph or list item, where code is one word."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"^ *([-*]|\d+\.) +", "", line))
    return re.split(r"(?<=[.!?])[\"')*]* +(?=[\"'(*]*[A-Z0-9])", re.sub(r"`+[^`]*`+", "Code", words))


def words_of(sentence: str) -> int:
    """How many words a sentence has."""
    return len(re.findall(r"\S*\w\S*", sentence))


def begins_with_article(sentence: str) -> bool:
    """Whether a sentence begins with *The* or *This*, which many in a row do if they were split."""
    return bool(re.match(r"[\"'(*]*(The|This|These)\b", sentence))


def unclear(paragraph: list[str]) -> Iterator[str]:
    """What is wrong with the sentences of a paragraph."""
    lengths = [words_of(each) for each in paragraph]
    articles = [begins_with_article(each) for each in paragraph]
    for at, sentence in enumerate(paragraph):
        for wrong, right in WORDS.items():
            if found := re.search(wrong, sentence, re.IGNORECASE):
                yield f"{found[0]!r}: write {right}"
        if lengths[at] > LONG:
            yield f"a sentence has {lengths[at]} words: split it ({sentence[:40]})"
        if at > 1 and max(lengths[at - 2 : at + 1]) < SHORT:
            yield f"join three short sentences with because, so, which or although ({sentence[:40]})"
        if at > 1 and all(articles[at - 2 : at + 1]):
            yield f"three sentences in a row begin with The or This ({sentence[:40]})"


def faults(text: str) -> Iterator[str]:
    """What is wrong with the prose of a page, with the lines."""
    prose = written(text)
    every: list[str] = []
    for at in re.finditer(r"^\w.*\n(?=\w)(?!\d+\. )", prose, re.MULTILINE):
        yield f"{prose.count(chr(10), 0, at.start()) + 1}: one paragraph is one line"
    for number, line in enumerate(prose.splitlines(), 1):
        if line.strip() and not re.match(r" *([|#<>]|!\[|\[[^]]*\]:)", line):
            every += (paragraph := sentences(line))
            yield from (f"{number}: {fault}" for fault in unclear(paragraph))
    if len(every) >= ENOUGH:
        mean = sum(map(words_of, every)) / len(every)
        if mean < MEAN:
            yield f"1: the sentences have {mean:.1f} words on average: join those that say why ({MEAN} at least)"
        if (count := sum(map(begins_with_article, every))) > ARTICLES * len(every):
            yield f"1: {count} of {len(every)} sentences begin with The or This ({ARTICLES:.0%} at most)"


def main() -> int:
    """Print what is wrong; 1 if something is."""
    read = [page for page in PAGES if page.name != "CHANGELOG.md" and not made(page)]  # which is a list
    found = [f"{page.relative_to(ROOT)}: {each}" for page in PAGES for each in broken(page)]
    found += [f"{page.relative_to(ROOT)}:{each}" for page in read for each in faults(page.read_text("utf-8"))]
    log = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%s"], text=True, capture_output=True, check=False
    )
    if len(subject := log.stdout.strip()) > 60 or re.match(VERBS, subject):
        found.append(f"{subject}: a commit's subject has at most 60 characters, and begins with a plain verb")
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
