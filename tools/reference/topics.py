"""The table of topics in docs/reference/topics.md, from the channels."""

from punto.messages.topics import CHANNELS


def topics_table() -> list[list[str]]:
    """Each topic: whether it is retained, its description, and the messages that it has."""
    rows = [["Topic", "Retained", "What", "Payload"]]
    for each in CHANNELS:
        retained = "in" if each.direction == "receive" else "yes" if each.retained else "no"
        answer = f" The answer comes on {_written(each.answered_on)}." if each.answered_on else ""
        payload = ", ".join(f"`{model.__name__}`" for model in each.messages)
        rows.append([_written(each.name), retained, each.about + answer, payload])
    return rows


def _written(name: str) -> str:
    return f"`{name.replace('{', '<').replace('}', '>')}`"
