"""docs/reference/i-score.md, "What it costs", has the sizes of the fonts that ship."""

from pathlib import Path

from tests.controller.table_in_this_process import HERE

FONTS = HERE / "punto" / "web" / "shared" / "fonts"


def kilobytes(*files: Path) -> str:
    return f"{sum(file.stat().st_size for file in files) / 1000:.0f} kB"


def test_the_page_has_the_sizes_of_the_fonts():
    page = (HERE / "docs" / "reference" / "i-score.md").read_text(encoding="utf-8")
    latin = kilobytes(*FONTS.glob("arimo-*.woff2"))
    traditional, simplified = (kilobytes(FONTS / f"noto-sans-{name}-700.woff2") for name in ("tc", "sc"))

    assert f"| The Latin font, in two weights | | {latin} |" in page
    assert f"| A Chinese font | | {traditional} (traditional), {simplified} (simplified) |" in page
