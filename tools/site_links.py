"""For MkDocs: the checkout's files beside docs/ that pages link to are part of the site, and missing pictures are replaced by text.

README.md and the like become pages of their own, and what is not Markdown, such as configs/table.toml, is served as it is.
"""

import logging
import re
import runpy
from os.path import relpath
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PAGES = {"README.md": "overview.md", "examples/README.md": "examples.md"} | {
    f"{name}.md": f"{name.lower()}.md" for name in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "SECURITY")
}
LINK = re.compile(r"(?<=\]\()([^)\s:#]+)(?=[)#])")
"""The path that a link leads to, without its anchor."""
PICTURES = runpy.run_path(str(ROOT / "tools" / "screenshots" / "pictures.py"))
CODE = re.compile(r"(^```.*?^```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the checkout's root, and the files that any page links to."""
    for name, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / name)))
    for source in [ROOT / name for name in PAGES] + [
        Path(each.abs_src_path) for each in files.documentation_pages()
    ]:
        for link in LINK.findall(CODE.sub("", source.read_text(encoding="utf-8"))):
            found = (source.parent / link).resolve()
            to = _in_site(found)
            if found.is_file() and ROOT in found.parents and to not in files.src_uris:
                files.append(File.generated(config, to, abs_src_path=str(found)))
    if absent := PICTURES["missing"]():
        logging.getLogger("mkdocs.hooks").info(
            "%d of %d pictures are missing, so their pages show text: `make screenshots` and `make pictures` make them",
            len(absent),
            len(PICTURES["shown"]()),
        )
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Have each link lead to where its file is in the site."""
    source = Path(page.file.abs_src_path)
    at = Path(page.file.src_uri).parent

    def moved(link: re.Match[str]) -> str:
        found = (source.parent / link[0]).resolve()
        return relpath(_in_site(found), at) if found.is_file() and ROOT in found.parents else link[0]

    parts = CODE.split(PICTURES["without"](markdown, PICTURES["missing"]()))  # every second one is code
    return "".join(part if i % 2 else LINK.sub(moved, part) for i, part in enumerate(parts))


def on_page_content(html: str, **_: object) -> str:
    """Have a picture load when its reader comes near it: the gallery has more than a hundred."""
    return html.replace("<img ", '<img loading="lazy" ')


def _in_site(file: Path) -> str:
    name = file.relative_to(ROOT).as_posix() if ROOT in file.parents else file.as_posix()
    return PAGES.get(name, name.removeprefix("docs/") if name.startswith("docs/") else f"files/{name}")
