"""A file with several tables: each `[[table]]` becomes the configuration of one table.

Sections outside `[[table]]` are shared by all tables. In a table, a key of its own section takes the place of the same key of
the shared section.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from punto.baccarat.table.meter_link import fixed
from punto.baccarat.table.terms import Terms, unlike
from punto.configs.problems import ConfigError, Problem, cut, nearest
from punto.configs.toml_file import Path_, TomlFile, read
from punto.controller.config.file import ConfigFile, ServiceConfig, config_of

SECTIONS: Final = frozenset(ConfigFile.model_fields) - {"version", "table"}
"""The sections that can be shared, or be a table's own: `[mqtt]` or `[table.mqtt]`."""
_DEVICE: Final = "a device"
_ONE_ADDRESS: Final = (
    "the tables of one service share one address for monitoring: write [metrics] once, outside [[table]]"
)
OWN: Final[Mapping[str, str]] = {
    "table.id": "the id",
    "record.path": "the record",
    "console.port": "the port of the consoles",
    "operator.socket": "the operators' socket",
    **{
        f"{section}.{key}": _DEVICE
        for section in ("shoe", "keypad", "coin_spot", "card_reader", "configuration_keypad")
        for key in ("port", "input", "path")
    },
}
"""The keys whose value no two tables of a file may have, and what each value is."""


def load_configs(path: Path) -> tuple[ServiceConfig, ...]:
    """Read the configurations of a file's tables: of all `[[table]]`, in their order, or of its one `[table]`.

    Raises:
        ConfigError: one of the files cannot be read or is invalid, two tables have the same id, record, port, socket or
            device, or the authority of a meter refuses a table. Each problem names its table, if there are several.
    """
    file = read(path)
    if not isinstance(file.document.get("table"), list):
        return (config_of(file, path),)
    if not file.document["table"]:
        raise ConfigError([file.problem(("table",), "must not be empty: write at least one [[table]]")])
    tables = [_table_of(file, number) for number in range(len(file.document["table"]))]
    titles = [_title(table, number) for number, table in enumerate(tables, 1)]
    configs = []
    problems: dict[Problem, list[str]] = {}
    for title, table in zip(titles, tables, strict=True):
        try:
            configs.append(config_of(table, path))
        except ConfigError as error:
            for each in error.problems:
                problems.setdefault(each, []).append(title)
    if not problems:
        problems = {each: [title] for title, each in _doubles(titles, tables, configs)}
    if not problems:
        problems = {
            tables[number].problem(("progressive", "authority"), message): [titles[number]]
            for number, message in link_problems(configs)
        }
    if not problems:
        problems = {
            table.problem(("metrics",), _ONE_ADDRESS): [title]
            for title, table, config in zip(titles, tables, configs, strict=True)
            if config.metrics != configs[0].metrics
        }
    if problems:
        named = [replace(each, key=f"{these(of)}: {each.key}") for each, of in problems.items()]
        raise ConfigError(sorted(named, key=lambda each: each.line or 0))
    return tuple(configs)


def load_table(path: Path, table: str | None) -> ServiceConfig:
    """Read the configuration of one table of a file: of the table with this id, or of the only one.

    Raises:
        ConfigError: as `load_configs`; or the file does not have this table, or has several and `table` is None.
    """
    configs = load_configs(path)
    if table is None and len(configs) == 1:
        return configs[0]
    ids = [config.table.id for config in configs]
    if table in ids:
        return configs[ids.index(table)]
    if table is None:
        problem = Problem(
            f"the file has {len(ids)} tables ({these(ids)}): name one of them with --table", str(path)
        )
    else:
        problem = Problem(
            f"the file has no table {cut(table)!r}; it has {these(ids)}",
            str(path),
            suggestion=nearest(table, ids),
        )
    raise ConfigError([problem])


def these(titles: Sequence[str]) -> str:
    """Some tables in words: all names if there are few, or the first and how many more."""
    few = 3
    return ", ".join(titles) if len(titles) <= few else f"{titles[0]} and {len(titles) - 1} more tables"


def _title(table: TomlFile, number: int) -> str:
    """The name of a table in messages: its id, or its place in the file if it has none."""
    id_ = table.document["table"].get("id")
    return cut(id_) if isinstance(id_, str) and id_.isprintable() and id_ else f"table[{number}]"


def _table_of(file: TomlFile, number: int) -> TomlFile:
    """The file as if this table, counted from 0, were its only one, with the lines of the whole file."""
    written = file.document["table"][number]
    if not isinstance(written, dict):
        raise ConfigError(
            [file.problem(("table", number), "must be a table: write [[table]] above its keys")]
        )
    # What is a table of keys is a section, also if its name is wrong: so the right name can be suggested.
    own = {name: value for name, value in written.items() if name in SECTIONS or isinstance(value, dict)}
    shared = {name: value for name, value in file.document.items() if name != "table"}
    document = _merged(shared, own)
    document["table"] = {name: value for name, value in written.items() if name not in own}
    lines: dict[Path_, int] = {path: line for path, line in file.lines.items() if path[0] != "table"}
    for path, line in file.lines.items():
        if path[:2] == ("table", number):
            inside = path[2:]
            lines[inside if inside and inside[0] in own else ("table", *inside)] = line
    lines[()] = file.line_of(("table", number))  # of a section that is missing
    return TomlFile(file.name, document, lines)


def _merged(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables of keys in one; where both have a value, the own one applies."""
    found = dict(shared)
    for name, value in own.items():
        both = isinstance(value, dict) and isinstance(found.get(name), dict)
        found[name] = _merged(found[name], value) if both else value
    return found


def _doubles(
    titles: Sequence[str], tables: Sequence[TomlFile], configs: Sequence[ServiceConfig]
) -> Iterator[tuple[str, Problem]]:
    """The values that two tables must not have both, each with the title of the later table."""
    for number, owner, key, value in _twice(configs):
        section, name = key.split(".")
        where = "[[table]]" if section == "table" else f"[table.{section}]"
        of = "another table" if key == "table.id" else titles[owner]
        message = f"{value} is also {OWN[key]} of {of}: write another {name} in {where}"
        yield titles[number], tables[number].problem((section, name), message)


def doubles_of_files(files: Sequence[tuple[Path, ServiceConfig]]) -> Iterator[Problem]:
    """The values that tables of different files must not have both, because the tables are on one PC."""
    for number, owner, key, value in _twice([config for _, config in files]):
        (path, _), (other, of) = files[number], files[owner]
        if path != other:
            section, name = key.split(".")
            table = other if key == "table.id" else f"{of.table.id} in {other}"
            message = f"{value} is also {OWN[key]} of {table}: write another {name}"
            yield read(path).problem((section, name), message)
    monitored: dict[int, Path] = {}
    for path, config in files:
        if config.metrics is not None and config.metrics.port:
            other = monitored.setdefault(config.metrics.port, path)
            if other != path:
                message = (
                    f"{config.metrics.port} is also the port of the metrics of {other}: write another port"
                )
                yield read(path).problem(("metrics", "port"), message)


def _twice(configs: Sequence[ServiceConfig]) -> Iterator[tuple[int, int, str, str | int | Path]]:
    """The values that an earlier table has too: the numbers of both tables from 0, the key, and the value."""
    owners: dict[tuple[str, str], int] = {}
    for number, config in enumerate(configs):
        for key, value in _own_values(config):
            place = str(value.resolve() if isinstance(value, Path) else value)
            owner = owners.setdefault((OWN[key], place), number)
            if owner != number:
                yield number, owner, key, value


def link_problems(configs: Sequence[ServiceConfig]) -> Iterator[tuple[int, str]]:
    """The tables that the authority of their meter refuses, if it is here too: the number of each, from 0, and why."""
    services = {config.table.id: config.settings() for config in configs}
    shared = {
        (kept.progressive, each.table): kept.authority
        for service in services.values()
        if (kept := service.progressive) is not None and kept.authority == service.table
        for each in kept.tables
    }
    for number, config in enumerate(configs):
        table = services[config.table.id]
        own = table.progressive
        listed = (
            None if own is None or own.authority is not None else shared.get((own.progressive, table.table))
        )
        if own is not None and listed is not None:
            message = (
                f"{listed} has {table.table} in tables, but {table.table} keeps a meter of {own.progressive} itself: write "
                f'authority = "{listed}" in [progressive] of {table.table}, or another id'
            )
            yield number, message
        authority = services.get("" if table.progressive is None else table.progressive.authority or "")
        if table.progressive is None or authority is None or authority is table:
            continue
        here, kept = table.progressive, authority.progressive
        if kept is None or kept.authority != authority.table or kept.progressive != here.progressive:
            yield number, f"{authority.table} does not keep the meter of {here.progressive} for other tables"
        elif table.table not in {each.table for each in kept.tables}:
            yield (
                number,
                f"{table.table} is not linked to {here.progressive}: add it to tables of {authority.table}",
            )
        elif (
            objection := unlike(Terms.of(table, here), Terms.of(authority, kept), here.progressive)
        ) is not None:
            yield number, objection
        elif fixed(here) != fixed(kept):
            message = f"{authority.table} has another pay table or game for {here.progressive}: configure both alike"
            yield number, message


def _own_values(config: ServiceConfig) -> Iterator[tuple[str, str | int | Path]]:
    """The values of the keys in `OWN`. A device is a `Path` too, because several names can lead to the same device."""
    for key, what in OWN.items():
        section, name = key.split(".")
        value = getattr(getattr(config, section, None), name, None)
        if value is not None:
            yield key, Path(value) if what == _DEVICE else value
