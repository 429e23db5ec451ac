"""Compares pictures of pages with the approved ones.

A picture is kept at half its size as WebP, so that all of them together are small. Its losses would hide a colour that changed a
little, so the file also has, as its XMP, the exact mean colour of each block of `BLOCK` x `BLOCK` pixels of the screen, and these are
compared. Antialiasing, which another version of a browser may do differently, hardly changes a mean, but a row that moves or a word
that changes brings other pixels into a block.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image, ImageChops

from tools.screenshots.pictures import GALLERY, ROOT

BLOCK: Final = 16
TOLERANCE: Final = 4
"""By so many of 255 levels a channel of a block's mean may differ. A board whose letters are all drawn at a thousandth of another
size differs by 3; one whose quietest colour changes by 20 levels, by 7; one in which a line moves by 3 pixels, by 23.
"""
QUALITY: Final = 70
"""Of WebP's 100: the gold lines of a board are still sharp, and a board has some 50 kB."""
DIFFERENCES: Final = ROOT / "build" / "pictures"


@dataclass(frozen=True)
class Kept:
    """A picture as its file keeps it."""

    file: bytes
    means: Image.Image

    @classmethod
    def of(cls, shot: bytes) -> "Kept":
        """The picture of a screenshot."""
        whole = Image.open(io.BytesIO(shot)).convert("RGB")
        half = whole.resize((whole.width // 2, whole.height // 2), Image.Resampling.BOX)
        means = whole.reduce(BLOCK)
        return cls(_webp(half, quality=QUALITY, xmp=_webp(means, lossless=True)), means)

    @classmethod
    def read(cls, file: bytes) -> "Kept":
        """The picture in a file."""
        return cls(file, Image.open(io.BytesIO(Image.open(io.BytesIO(file)).info["xmp"])).convert("RGB"))


def approved_file(name: str) -> Path:
    """Where the approved picture is."""
    return GALLERY / f"{name}.webp"


def differing(got: Kept, approved: Kept) -> Image.Image | None:
    """The blocks that differ, each a white pixel, or None if the pictures are the same within the tolerance."""
    if got.means.size != approved.means.size:
        return Image.new("L", got.means.size, 255)
    red, green, blue = ImageChops.difference(got.means, approved.means).split()
    largest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    found = largest.point([255 if level > TOLERANCE else 0 for level in range(256)])
    return found if found.getbbox() else None


def fault(name: str, shot: bytes) -> str | None:
    """What is wrong with a screenshot, or None; if something is, build/pictures has it beside the approved picture."""
    got, file = Kept.of(shot), approved_file(name)
    kept, why = {"got": got.file}, "there is no approved picture"
    if file.is_file():
        approved = Kept.read(file.read_bytes())
        if (blocks := differing(got, approved)) is None:
            return None
        kept |= {"approved": approved.file, "difference": _lit(got, blocks)}
        box = tuple(BLOCK * each for each in blocks.getbbox() or ())
        why = f"it differs from the approved picture in {box} (left, top, right, bottom)"
    DIFFERENCES.mkdir(parents=True, exist_ok=True)
    for what, picture in kept.items():
        (DIFFERENCES / f"{name}-{what}.webp").write_bytes(picture)
    return (
        f"{name}: {why}. Look at build/pictures/{name}-*.webp; to approve it, run: make pictures NAMES={name}"
    )


def approve(name: str, shot: bytes) -> bool:
    """Keep a screenshot as approved if it differs from the approved picture; whether it did."""
    got, file = Kept.of(shot), approved_file(name)
    if file.is_file() and differing(got, Kept.read(file.read_bytes())) is None:
        return False
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(got.file)
    return True


def _lit(got: Kept, blocks: Image.Image) -> bytes:
    """The picture in dark grey, and in its own colours what differs."""
    image = Image.open(io.BytesIO(got.file)).convert("RGB")
    dark = image.convert("L").point([level // 3 for level in range(256)]).convert("RGB")
    size = (BLOCK // 2 * blocks.width, BLOCK // 2 * blocks.height)
    dark.paste(image, mask=blocks.resize(size, Image.Resampling.NEAREST).crop((0, 0, *image.size)))
    return _webp(dark, quality=QUALITY)


def _webp(image: Image.Image, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, "WEBP", method=6, **options)
    return out.getvalue()
