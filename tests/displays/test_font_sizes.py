"""docs/reference/i-score.md, "What it costs", has the sizes of the fonts that ship."""

from pathlib import Path

from tests.controller.table_in_this_process import HERE

SHARED = HERE / "punto" / "web" / "shared" / "fonts"
FONTS = HERE / "punto" / "displays" / "static" / "fonts"


def kilobytes(*files: Path) -> str:
    return f"{sum(file.stat().st_size for file in files) / 1000:.0f} kB"


def test_the_page_has_the_sizes_of_the_fonts():
    page = (HERE / "docs" / "reference" / "i-score.md").read_text(encoding="utf-8")
    latin, traditional, simplified = (
        kilobytes(*(folder / f"{name}.woff2" for name in names))
        for folder, *names in (
            (SHARED, "label", "heading", "figures"),
            (FONTS, "serif-tc"),
            (FONTS, "serif-sc"),
        )
    )

    assert f"| The Latin fonts | | {latin} |" in page
    assert f"| A Chinese font | | {traditional} (traditional), {simplified} (simplified) |" in page


def test_no_font_ships_twice():
    fonts = [font.read_bytes() for folder in (SHARED, FONTS) for font in folder.glob("*.woff2")]
    names = [font.name for folder in (SHARED, FONTS) for font in folder.glob("*.woff2")]
    assert len(set(fonts)) == len(fonts)
    assert len(set(names)) == len(names)
