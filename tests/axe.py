"""Whether everybody can use a page, by the rules that axe-core recommends."""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page


async def faults_of(page: Page) -> list[str]:
    """Each fault of the page, serious or not, with the element that has it.

    Axe's half a megabyte of script is loaded once into a page, because loading it takes longer than a check. It is evaluated
    there instead of linked, because the page's policy lets in no script of another's.
    """
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE_SCRIPT)
    found = await page.evaluate("axe.run({ resultTypes: ['violations'] }).then(found => found.violations)")
    return [
        f"{each['impact']} {each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"]
    ]
