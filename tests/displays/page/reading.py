"""The roads as they are read off the page, and as a scoreboard says that they must be there."""

from typing import Any

from punto.baccarat.roads.drawing import shown_columns
from punto.messages.models import Scoreboard

ROADS = ("bead_plate", "big_road", "big_eye_boy", "small_road", "cockroach_pig")

READ_ROADS = """
function readRoads(board) {
  return Object.fromEntries([...board.querySelectorAll(".road svg")].map(drawing => {
    const columns = +drawing.dataset.columns;
    const pitch = drawing.viewBox.baseVal.width / columns;
    return [drawing.dataset.road, { columns, cells: [...drawing.querySelectorAll(".cell")].map(cell => {
      const { e, f } = cell.transform.baseVal[0].matrix;
      const derived = cell.querySelector(".mark");
      return {
        row: +cell.dataset.row,
        col: +cell.dataset.col,
        x: Math.round((e + 5) / pitch - 0.5),
        y: f / 10,
        what: cell.classList[1],
        letter: cell.querySelector(".letter")?.textContent ?? null,
        mark: derived ? derived.classList[1] : cell.querySelector(".ring") ? "ring" : null,
        natural: cell.querySelector(".natural, .inner") !== null,
        ties: cell.querySelector(".ties") === null ? 0 : +(cell.querySelector(".tie-count")?.textContent ?? 1),
        banker_pair: cell.querySelector(".dot.banker-pair") !== null,
        player_pair: cell.querySelector(".dot.player-pair") !== null,
      };
    }) }];
  }));
}
"""
READ_ASKS = """
function readAsks(board) {
  return Object.fromEntries(["banker", "player"].map(side => [side, Object.fromEntries(
    [...board.querySelectorAll(`[data-ask="${side}"] svg`)].map(mark => [
      mark.dataset.road,
      mark.firstElementChild === null ? null : mark.firstElementChild.classList[2],
    ]))]));
}
"""
MARKS = {"big_eye_boy": "hollow", "small_road": "solid", "cockroach_pig": "slash"}


def expected(scoreboard: Scoreboard, road: str, width: int) -> list[dict[str, Any]]:
    """What a grid of `width` columns shows of a published road."""
    cells: tuple[Any, ...] = getattr(scoreboard, road)
    columns = shown_columns(cells, width)
    return [_expected(road, cell, columns) for cell in cells if cell.col in columns]


def _expected(road: str, cell: Any, columns: range) -> dict[str, Any]:
    place = {"row": cell.row, "col": cell.col, "x": cell.col - columns.start, "y": cell.row}
    if road in MARKS:
        nothing = {"natural": False, "ties": 0, "banker_pair": False, "player_pair": False}
        return {**place, "what": cell.color.value, "letter": None, "mark": MARKS[road], **nothing}
    bead = road == "bead_plate"
    return {
        **place,
        "what": "waiting" if cell.winner is None else cell.winner.value,
        "letter": cell.winner.value[0].upper() if bead else None,
        "mark": None if bead or cell.winner is None else "ring",
        "natural": cell.natural,
        "ties": 0 if bead else cell.ties,
        "banker_pair": cell.banker_pair,
        "player_pair": cell.player_pair,
    }


def expected_asks(scoreboard: Scoreboard) -> dict[str, dict[str, str | None]]:
    return {"banker": scoreboard.ask_banker.model_dump(), "player": scoreboard.ask_player.model_dump()}
