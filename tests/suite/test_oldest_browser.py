"""The checks of the pages find what the oldest browser, Chromium 87, does not know."""

import json
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]

STYLES = [
    ("a:has(b) { top: 0 }", ":has() needs Chromium 105"),
    ("a:not(.b, .c) { top: 0 }", ":not() needs Chromium 88"),
    ("a { color: color-mix(in srgb, red, blue) }", "color-mix() needs Chromium 111"),
    ("a { --mixed: color-mix(in srgb, red, blue) }", "color-mix() needs Chromium 111"),
    ("a { aspect-ratio: 1 }", "aspect-ratio needs Chromium 88"),
    ("a { overflow: clip }", "overflow: clip needs Chromium 90"),
    ("a { height: 100dvh }", "dvh needs Chromium 108"),
    ("a { width: 3cqw }", "cqw needs Chromium 105"),
    ("@container (min-width: 3px) { a { top: 0 } }", "@container needs Chromium 105"),
    ("@media (width > 3px) { a { top: 0 } }", "a range needs Chromium 104"),
    ("a { & b { top: 0 } }", "& needs Chromium 120"),
    ("a { b & { top: 0 } }", "Colon is expected needs Chromium 88 or newer"),
]  # fmt: skip
SYNTAX = [
    ("await fetch('/');", "await outside of a function needs Chromium 89"),
    ("class A { static { fetch('/'); } }", "a static block needs Chromium 94"),
    ("export class A { #b = 1; has(c) { return #b in c; } }", "#… in needs Chromium 91"),
    ("export const pattern = /a/d;", "the flag d needs Chromium 90"),
    ("document.querySelector('label:has(input)');", ":has() needs Chromium 105"),
]  # fmt: skip
NAMES = [
    "[1].at(-1)",
    "structuredClone({})",
    "Object.hasOwn({}, 'a')",
    "Map.groupBy([1], String)",
    "AbortSignal.timeout(1)",
]
KNOWN = """
a { position: fixed; inset: 0; display: flex; gap: 1px; width: min(1px, 2vw); -webkit-background-clip: text; background-clip: text }
a:not(.b):focus-visible { height: 100vh; height: 100dvh; outline: 1px solid red }
@supports (width: 3cqw) { a { width: 3cqw } }
"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What one run reports of a file for each case, and of one without a fault."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {f"{at}.css": style for at, (style, _) in enumerate(STYLES)} | {
        f"{at}.js": script for at, (script, _) in enumerate(SYNTAX)
    }
    for name, text in {**texts, "known.css": KNOWN}.items():
        (folder / name).write_text(f"\n{text}\n")
    tool = ["node", str(HERE / "tools/oldest_browser.mjs"), *sorted(each.name for each in folder.iterdir())]
    run = subprocess.run(tool, cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        (f"{at}.{ending}", fault)
        for ending, cases in (("css", STYLES), ("js", SYNTAX))
        for at, (_, fault) in enumerate(cases)
    ],
)
def test_what_the_oldest_browser_does_not_know_is_reported_with_its_line(reported, file, fault):
    assert [line for line in reported if line.startswith(f"{file}:2: {fault}")], reported


def test_what_the_oldest_browser_knows_or_has_another_style_for_is_not_reported(reported):
    assert [line for line in reported if line.startswith("known.css")] == []


def test_a_name_that_the_oldest_browser_lacks_is_an_error_of_types(tmp_path):
    known = "document.body.replaceChildren(String('a-b').replaceAll('-', ''));"
    (tmp_path / "page.js").write_text("\n".join([known, *NAMES]))
    config = {
        "extends": str(HERE / "tsconfig.json"),
        "include": ["page.js", str(HERE / "tools/chromium-87.d.ts")],
        "compilerOptions": {"typeRoots": [str(HERE / "node_modules/@types")], "paths": {}},
    }
    (tmp_path / "tsconfig.json").write_text(json.dumps(config))

    found = subprocess.run(
        [HERE / "node_modules/.bin/tsc", "-p", tmp_path],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    ).stdout

    lines = [
        int(line.partition("page.js(")[2].partition(",")[0])
        for line in found.splitlines()
        if "page.js(" in line
    ]
    assert lines == [*range(2, 2 + len(NAMES))], found
