"""The pages look as they were approved: docs/developers/pages.md says how a picture is approved."""

import io

import pytest
from PIL import Image, ImageChops

from tools.screenshots import approved, consoles, displays, game_manager, house
from tools.screenshots.approved import Kept, approve, differing, fault
from tools.screenshots.displays import SHOTS, shoot

pytestmark = pytest.mark.asyncio(loop_scope="session")

FEW = {
    "board-landscape-lacquer-en",
    "board-landscape-banker-jade-en",
    "board-phone-jade-zh-Hant",
    "sign-portrait-award-lacquer-zh-Hant",
}
"""Those of `make test`: a board and a sign, a moment, each Chinese and Latin typeface, the largest and the smallest screen."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FEW else [pytest.mark.soak]) for name in SHOTS]
)
async def test_a_display_looks_as_approved(browser, tmp_path, name):
    assert fault(name, await shoot(browser, tmp_path, SHOTS[name])) is None


@pytest.mark.soak
@pytest.mark.parametrize("series", [consoles, game_manager, house], ids=lambda each: each.__name__)
async def test_the_pages_of_the_staff_look_as_approved(browser, series):
    found = {}

    async def keep(name: str, shot: bytes) -> None:
        found[name] = fault(name, shot)

    await series.take(browser, series.NAMES, keep)

    assert set(found) == set(series.NAMES)
    assert [each for each in found.values() if each is not None] == []


# --- what the comparison reports


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def moved(image, box, down):
    """The picture with a part of it moved down."""
    changed = image.copy()
    changed.paste(image.crop(box), (box[0], box[1] + down))
    return changed


def recoloured(image, colour, to):
    """The picture with a colour replaced."""
    changed = image.copy()
    one = ImageChops.difference(image, Image.new("RGB", image.size, colour)).convert("L")
    changed.paste(to, mask=one.point([255 if level == 0 else 0 for level in range(256)]))
    return changed


def redrawn(image):
    """The picture with every edge drawn a little otherwise, as another browser would."""
    smaller = (image.width - 2, image.height - 1)
    return image.resize(smaller, Image.Resampling.BICUBIC).resize(image.size, Image.Resampling.BICUBIC)


LIMITS = (40, 180, 370, 225)
"""A line of small letters: the limits of Tie."""
QUIET, QUIETER = "#d9bf92", "#d9bf7e"
"""The colour of the smallest captions of the lacquer board, and one with 20 levels less of blue."""


async def test_a_picture_differs_if_a_row_moved_or_a_colour_changed_and_not_by_its_antialiasing(
    browser, tmp_path
):
    shot = await shoot(browser, tmp_path, SHOTS["board-landscape-lacquer-en"])
    board = Image.open(io.BytesIO(shot)).convert("RGB")

    def differs(changed: Image.Image) -> bool:
        return differing(Kept.of(png(changed)), Kept.read(Kept.of(shot).file)) is not None

    assert not differs(board)
    assert not differs(board.point([min(255, level + 2) for level in range(256)] * 3))
    assert not differs(redrawn(board))
    assert differs(moved(board, LIMITS, 3))
    assert differs(recoloured(board, QUIET, QUIETER))


async def test_a_difference_is_reported_with_its_pictures_and_is_gone_once_it_is_approved(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(approved, "GALLERY", tmp_path / "gallery")
    monkeypatch.setattr(approved, "DIFFERENCES", tmp_path / "differences")
    was, now = (png(Image.new("RGB", (640, 400), colour)) for colour in ("#2b0407", "#2b2407"))

    assert fault("a", was) == (
        "a: there is no approved picture. Look at build/pictures/a-*.webp; to approve it, run: make pictures NAMES=a"
    )
    assert approve("a", was)
    assert fault("a", was) is None
    assert not approve("a", was)
    assert "differs from the approved picture in (0, 0, 640, 400)" in str(fault("a", now))
    assert {each.name for each in (tmp_path / "differences").iterdir()} == {
        *("a-got.webp", "a-approved.webp", "a-difference.webp"),
    }
    assert approve("a", now)
    assert fault("a", now) is None


async def test_every_page_is_taken_in_each_theme_and_language_and_the_board_in_each_pair():
    taken = {(shot.page, shot.theme, shot.language) for shot in SHOTS.values()}
    pairs = {(theme, language) for page, theme, language in taken if page == "board-landscape"}

    assert len(pairs) == len(displays.THEMES) * len(displays.LANGUAGES)
    for page in set(displays.PAGES) - {"board-720p", "board-4k"}:
        assert {theme for of, theme, _ in taken if of == page} == set(displays.THEMES), page
        assert {language for of, _, language in taken if of == page} == set(displays.LANGUAGES), page
