from pathlib import Path

from benchmarks import scale

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "scale.md"


def test_the_page_has_what_is_computed():
    page = PAGE.read_text(encoding="utf-8")

    assert scale.measured_table() in page, "python -m benchmarks.scale"
    assert scale.houses_table() in page, "python -m benchmarks.scale"
    assert f"With {scale.most_tables()} tables it would use a whole hyperthread" in page
