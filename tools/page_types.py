"""Writes the JSON Schema of what the pages are sent, one file for each server, for the types of their scripts.

`make check` makes TypeScript's declarations of them: `python -m tools.page_types FOLDER`. They are not committed: they
follow from the models, and making them takes two seconds.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from punto.commands.setup.questions import Form
from punto.commands.setup.web import Progress
from punto.consoles import api, view
from punto.consoles.diagnostics import Examination
from punto.controller.orders.doors import OrderAnswer, Preview
from punto.house import alarms, edge_alarms, live, people
from punto.house import books as house_books
from punto.house import reports as floor_reports
from punto.house import web as floor_web
from punto.messages import books
from punto.messages.models import Progressive, Scoreboard, State
from punto.reports import awards, printed, web
from punto.reports import shift as reports

SENT: Final[dict[str, Sequence[type[BaseModel]]]] = {
    "consoles": [
        api.GameOnOffer,
        api.OrderOnOffer,
        api.Refusal,
        api.SignedOnAnswer,
        Examination,
        OrderAnswer,
        Preview,
        reports.RoundInputs,
        reports.Rounds,
        printed.Report,
        view.View,
    ],
    "displays": [Progressive, Scoreboard, State],
    "floor": [
        alarms.AlarmChoices,
        alarms.AlarmsView,
        edge_alarms.ShoesReport,
        floor_reports.Days,
        floor_reports.FloorReport,
        floor_reports.ShiftReport,
        floor_web.Reader,
        house_books.HouseBooks,
        live.FloorView,
        people.PeopleReport,
    ],
    "game-manager": [
        awards.Awards,
        books.Day,
        books.Week,
        books.Reconciliation,
        web.Overview,
    ],
    "setup": [Form, Progress],
}
"""What each server sends; what is in it follows."""


class _AsSent(GenerateJsonSchema):
    """Each field is sent, also one with a default; and none has a title, of which the declarations would make a type."""

    def field_is_required(self, *_: Any, **__: Any) -> bool:
        return True

    def field_title_should_be_set(self, _: Any) -> bool:
        return False


def main(folder: Path) -> None:
    """Write them."""
    folder.mkdir(parents=True, exist_ok=True)
    for server, models in SENT.items():
        _, schema = models_json_schema([(each, "serialization") for each in models], schema_generator=_AsSent)
        (folder / f"{server}.json").write_text(json.dumps(schema), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
