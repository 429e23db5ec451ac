"""Runs the tests that a change touches: `make quick`.

A change is all that differs from `main`; on `main` itself, all that is not committed, or else the last commit. It touches the
modules of tests that import a changed module, or that name a changed file of another kind, such as a page or a document. Of a
changed module that no test imports, it touches what the modules that import it touch.

So that this takes seconds, modules of tests that took long in the last `make test` are left out and named. It replaces no
`make test`: what a program does in a process of its own, or what pages do together, no import shows.

python -m tools.quick [PYTEST'S OPTIONS]
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

HERE: Final = Path(__file__).parents[1]
RESULTS: Final = HERE / "build" / "results"
SECONDS: Final = 60.0
"""What the modules may have taken together, when other tests ran beside them: alone, they take a fraction of it."""
PAGES: Final = {
    "punto/consoles": ("tests/consoles/pages",),
    "punto/web/shared": ("tests/consoles/pages", "tests/displays/page"),
    "punto/displays": ("tests/displays/page",),
    "punto/house": ("tests/house/pages",),
    "punto/reports": ("tests/reports/pages",),
}
_PAGE: Final = {".js", ".css", ".html", ".json", ".svg", ".woff2"}
_IMPORT: Final = re.compile(
    r"^\s*from ((?:punto|tests|tools)[\w.]*) import (\([^)]*\)|.*)|^\s*import ((?:punto|tests|tools)[\w.]*)",
    re.MULTILINE,
)


def module_of(path: str) -> str:
    """The name by which a file is imported."""
    parts = Path(path).with_suffix("").parts
    package = () if parts[0] in {"punto", "tests", "tools"} else ("punto",)
    return ".".join((*package, *parts)).removesuffix(".__init__")


def imports(text: str) -> set[str]:
    """What a module imports, and the names that it imports from there, because each may be a module."""
    found: set[str] = set()
    for package, names, module in _IMPORT.findall(text):
        found |= {module or package}
        found |= {f"{package}.{name}" for name in re.findall(r"[\w]+", names)}
    return found


def touched(changed: Iterable[str], sources: Mapping[str, str]) -> set[str]:
    """The modules of tests that a change of these files touches; `sources` are all Python files with their texts."""
    importing: dict[str, set[str]] = {}
    for path, text in sources.items():
        for name in imports(text):
            importing.setdefault(name, set()).add(path)
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [path for path in changed if path.endswith(".py")]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if is_test(path):
            found.add(path)
            continue
        by = importing.get(module_of(path), set())
        tests = {each for each in by if each.startswith("tests/")}
        waiting += tests or by
    for path in changed:
        if not path.endswith(".py"):
            found |= {test for test, text in sources.items() if is_test(test) and Path(path).name in text}
            found |= {test for test in sources if is_test(test) and test.startswith(_of_pages(path))}
    return found & sources.keys()


def is_test(path: str) -> bool:
    """Whether this is a module of tests, and not what they are made of."""
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def _of_pages(path: str) -> tuple[str, ...]:
    if Path(path).suffix not in _PAGE:
        return ()
    return tuple(
        f"{folder}/" for room, folders in PAGES.items() if path.startswith(f"{room}/") for folder in folders
    )


def within(tests: Iterable[str], took: Mapping[str, float], changed: Iterable[str]) -> list[str]:
    """Those that are changed themselves, and then as many of the others as have the time, the quickest first."""
    own = set(changed)
    chosen, seconds = [], 0.0
    for test in sorted(tests, key=lambda each: (each not in own, took.get(each, 0.0), each)):
        seconds += took.get(test, 0.0)
        if test in own or seconds <= SECONDS:
            chosen.append(test)
    return chosen


def times() -> dict[str, float]:
    """What each module of tests took in the last `make test`."""
    took: dict[str, float] = {}
    for file in RESULTS.glob("test-*.xml"):
        for case in ET.parse(file).iter("testcase"):  # noqa: S314 - pytest's own
            path = case.get("classname", "").replace(".", "/") + ".py"
            took[path] = took.get(path, 0.0) + float(case.get("time", 0))
    return took


def changes() -> list[str]:
    """The files that differ from `main`, or from the last commit, or that the last commit changed."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    new = _git("ls-files", "--others", "--exclude-standard")
    if base == _git("rev-parse", "HEAD"):
        return [*_git("diff", "--name-only", "HEAD"), *new] or _git("diff", "--name-only", "HEAD~1")
    return [*_git("diff", "--name-only", *base), *new]


def _git(*command: str) -> list[str]:
    ran = subprocess.run(["git", *command], cwd=HERE, capture_output=True, text=True, check=False)
    return ran.stdout.splitlines()


def main(options: list[str]) -> int:
    """Run them, and say which are left out."""
    changed = changes()
    sources = {
        path: (HERE / path).read_text(encoding="utf-8")
        for path in _git("ls-files", "--cached", "--others", "--exclude-standard", "*.py")
        if (HERE / path).exists()
    }
    tests = touched(changed, sources)
    chosen = within(tests, times(), changed)
    print(f"{len(changed)} changed files touch {len(tests)} modules of tests, of which {len(chosen)} run")
    for each in sorted(tests - set(chosen)):
        print(f"  left out, because it takes long: {each}")
    if not chosen:
        return 0
    workers = str(2 * (os.cpu_count() or 1))
    command = [sys.executable, "-m", "pytest", "-q", "--workers", workers, "-m", "not soak and not punctual"]
    return subprocess.run([*command, *options, *chosen], cwd=HERE, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
