"""The roles in docs/reference/roles.md: as the catalogue has them, order by order."""

from pathlib import Path

from punto.baccarat.table.catalogue import CATALOGUE
from punto.commands.cli import main
from punto.commands.schema import BEGIN, END, with_tables
from punto.controller.accounts.roles import READS, Role

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "roles.md"


def rows(page: str) -> list[list[str]]:
    between = page.partition(BEGIN)[2].partition(END)[0]
    return [line[2:-2].split(" | ") for line in between.splitlines() if line.startswith("| ")]


def test_the_committed_page_is_what_the_catalogue_says():
    page = PAGE.read_text(encoding="utf-8")

    assert page == with_tables("roles.md", page), (
        "docs/reference/roles.md is not what the catalogue says: run make schema"
    )


def test_each_order_and_each_reading_has_a_row_with_its_roles():
    found = rows(PAGE.read_text(encoding="utf-8"))
    orders = [row for row in found if row[0].startswith("`")]

    assert [row[0] for row in orders] == [f"`{kind}`" for kind in CATALOGUE]
    for row, definition in zip(orders, CATALOGUE.values(), strict=True):
        assert row[1:3] == [definition.label, definition.sentence]
        assert {role for role, mark in zip(Role, row[3:], strict=False) if mark} == definition.roles
    readings = found[-len(READS[Role.EXECUTIVE]) :]
    assert {len(READS[role]) for role in Role} == {
        sum(bool(row[column]) for row in readings) for column in range(1, len(Role) + 1)
    }


def test_the_command_writes_them_where_the_page_has_room_for_them(tmp_path, capsys):
    page = tmp_path / "roles.md"
    page.write_text(f"# Before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    assert main(["schema", "--out", str(tmp_path)]) == 0
    written = page.read_text(encoding="utf-8")

    assert rows(written) == rows(PAGE.read_text(encoding="utf-8"))
    assert written.startswith("# Before\n")
    assert written.endswith(f"{END}\nafter\n")
    page.write_text("# No room\n", encoding="utf-8")
    assert main(["schema", "--out", str(tmp_path)]) == 1
    assert "write them where the tables go" in capsys.readouterr().err
