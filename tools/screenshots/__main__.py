"""Takes the pictures of the pages.

python -m tools.screenshots [NAME ...]            # into docs/images those that the documents show: `make screenshots`
python -m tools.screenshots --approve [NAME ...]  # into docs/gallery those that differ from the approved ones: `make pictures`

NAME is a part of a picture's name; without it, all pictures are taken.
"""

import argparse
import asyncio
import sys

from playwright.async_api import async_playwright, expect

from tests.deadline import DEADLINE
from tests.displays.parts import CHROMIUM, CHROMIUM_ARGS
from tools.screenshots import consoles, displays, game_manager, house
from tools.screenshots.approved import approve, approved_file
from tools.screenshots.pictures import IMAGES, ROOT, shown

SERIES = (displays, consoles, game_manager, house)
"""Each has the `NAMES` of its pictures, and takes those that are chosen."""


async def take(chosen: set[str], *, approving: bool) -> None:
    """Take the pictures, and keep each where it belongs."""

    async def keep(name: str, shot: bytes) -> None:
        if name not in chosen:
            return  # it was on the way to another
        chosen.discard(name)
        if not approving:
            (IMAGES / f"{name}.png").write_bytes(shot)
        elif approve(name, shot):
            print(f"approved: {approved_file(name).relative_to(ROOT)}", flush=True)

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGS)
        for series in SERIES:
            if wanted := [name for name in series.NAMES if name in chosen]:
                await series.take(browser, wanted, keep)
        await browser.close()


def main() -> int:
    """Take what the arguments name; 1 if a picture was not taken."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--approve", action="store_true", help="write docs/gallery instead of docs/images")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only pictures with this in their names")
    arguments = parser.parse_args()
    names = {name for series in SERIES for name in series.NAMES}
    if not arguments.approve:
        names &= {file.removeprefix("images/").removesuffix(".png") for file in shown()}
    chosen = {name for name in names if not arguments.names or any(part in name for part in arguments.names)}
    if not chosen:
        print(f"no picture is named like {' or '.join(arguments.names)}", file=sys.stderr)
        return 1
    expect.set_options(timeout=DEADLINE * 1000)  # as in the tests: a busy machine makes no picture fail
    asyncio.run(take(chosen, approving=arguments.approve))
    if chosen:
        print(f"not taken: {', '.join(sorted(chosen))}", file=sys.stderr)
    return bool(chosen)


if __name__ == "__main__":
    sys.exit(main())
