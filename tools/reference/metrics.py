"""The tables of metrics in docs/reference/metrics.md, from the families that the programs have."""

from punto.controller import metrics as of_a_table
from punto.house import metrics as of_a_house


def metrics_tables() -> str:
    """The metrics of a table, and those of a house."""
    parts = []
    for title, families in (
        ("A table", of_a_table.FAMILIES),
        ("The Game Manager of a house", of_a_house.FAMILIES),
    ):
        parts += [f"## {title}", "| Metric | Kind | Labels | What |\n| --- | --- | --- | --- |"]
        for name, family in families.items():
            labels = ", ".join(f"`{each}`" for each in family.labels)
            parts[-1] += f"\n| `{name}` | {family.kind} | {labels} | {family.about} |"
    return "\n\n".join(parts)
