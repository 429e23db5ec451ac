"""TOML files: every key is found on its line, and what is wrong is told there."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from punto.baccarat.wagers.condition import STRICT
from punto.configs.problems import ConfigError
from punto.configs.toml_file import TomlFile, dotted, read, typed

PLACES = '''\
# a comment with a [table] in it
version = 1
"quoted key".'and literal' = "= # [x]"

[table] # the table
id = 'a # b'   # not the end
name = """
[not.a.table]
also = "not a key" \\
"""
literal = \'\'\'
x = 1\'\'\'
a.b.c = [
  "]", # ]
  { inner = 1, deeper = { yes = true } },
]

[[wagers]]
name = "player"
when = { winner = ["player"], natural = false }

[[wagers.rules]]
pays = "1 to 1"

[[wagers.rules]]
pays = "push"

[[wagers]]
  name = "banker"
[wagers.limits]
minimum = 5
[[wagers.rules]]
pays = "2 to 1"
"\\u00e9" = ""
last = """"""
# of a table that has no header of its own
[[wager.rules]]
pays = "push"
[[wager.rules]]
pays = "lose"
[a.b.c]
[a.d]'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("version",), 2),
        (("quoted key",), 3),
        (("quoted key", "and literal"), 3),
        (("table",), 5),
        (("table", "id"), 6),
        (("table", "name"), 7),
        (("table", "literal"), 11),
        (("table", "a"), 13),
        (("table", "a", "b", "c"), 13),
        (("table", "a", "b", "c", 1, "inner"), 13),
        (("wagers",), 18),
        (("wagers", 0), 18),
        (("wagers", 0, "name"), 19),
        (("wagers", 0, "when"), 20),
        (("wagers", 0, "when", "natural"), 20),
        (("wagers", 0, "rules", 0), 22),
        (("wagers", 0, "rules", 0, "pays"), 23),
        (("wagers", 0, "rules", 1, "pays"), 26),
        (("wagers", 1), 28),
        (("wagers", 1, "name"), 29),
        (("wagers", 1, "limits"), 30),
        (("wagers", 1, "limits", "minimum"), 31),
        (("wagers", 1, "limits", "maximum"), 30),
        (("wagers", 1, "rules", 0), 32),
        (("wagers", 1, "rules", 0, "pays"), 33),
        (("wagers", 1, "rules", 0, "é"), 34),
        (("wagers", 1, "rules", 0, "last"), 35),
        (("wager",), 37),
        (("wager", "rules"), 37),
        (("wager", "rules", 0), 37),
        (("wager", "rules", 1), 39),
        (("wager", "rules", 1, "pays"), 40),
        (("a", "b"), 41),
        (("nothing",), 1),
        ((), 1),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_key_is_found_on_its_line(path, line, end):
    file = TomlFile.parse("a.toml", PLACES.replace("\n", end).encode())

    assert file.line_of(path) == line


def test_the_second_walk_finds_every_key_that_the_reader_does():
    file = TomlFile.parse("a.toml", PLACES.encode())

    assert set(file.document) <= {path[0] for path in file.lines}
    assert not [path for path in file.lines if "not" in path or "also" in path or "x" in path]


KEYS = st.sampled_from(["a", "b", '"c d"', "'e.f'", '"\\""'])
STRINGS = st.sampled_from(['"x"', "'y'", '"""p\nq = 1"""', "'''r\n[s]'''", '"#"', '"\\""', '""', "''''t'''"])
VALUES = st.one_of(STRINGS, st.lists(STRINGS, max_size=2).map(lambda found: "[\n" + ",\n".join(found) + "]"))


@given(st.lists(st.tuples(KEYS, VALUES), max_size=5, unique_by=lambda pair: pair[0]))
def test_any_value_ends_where_the_reader_says(pairs):
    text, starts = "", []
    for key, value in pairs:
        starts.append(text.count("\n") + 1)
        text += f"{key} = {value}  # = [\n"
    file = TomlFile.parse("a.toml", text.encode())

    assert [file.lines[key,] for key in file.document] == starts
    assert len(file.lines) == len(pairs)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            b"a = 1\nb = \nc = 3\n",
            (
                'a.toml:2: this is not TOML: a value is missing, or is text without straight quotes: write it "like this" '
                "(Invalid value)"
            ),
        ),
        (b"a = lose\n", "a.toml:1: this is not TOML: a value is missing, or is text without straight quotes"),
        ("a = \u201c30 to 1\u201d\n".encode(), "a.toml:1: this is not TOML: a value is missing, or is text without straight"),
        (
            b"a = 50 to 1\n",
            (
                'a.toml:1: this is not TOML: the line should end here: write text in straight quotes, "like this", and one key '
                "per line (Expected newline or end of document after a statement)"
            ),
        ),
        (b'a = "x"  b = "y"\n', "a.toml:1: this is not TOML: the line should end here"),
        (
            b"a = 1\na = 2\n",
            (
                "a.toml:2: this is not TOML: this name already exists: check whether a [[header]] is missing above it, or "
                "has only one bracket (Cannot overwrite a value)"
            ),
        ),
        (b"[a]\nb = 1\n[[a]]\nb = 2\n", "a.toml:3: this is not TOML: this name already exists"),
        (
            b"[[a]]\nb = 1\n\n[a]\nb = 2\n",
            (
                "a.toml:4: this is not TOML: this header already exists. If the file can have this header several times, write the header with two brackets, "
                "such as [[wagers]] (Cannot declare ('a',) twice)"
            ),
        ),
        (b'a = "lose\nb = 1\n', "a.toml:1: this is not TOML: the closing quote of a text is missing (Illegal character '\\n')"),
        (b'a = "lose', "a.toml:1: this is not TOML: the closing quote of a text is missing (Unterminated string"),
        (b'a = { b = ["x"] c = 1 }\n', "a.toml:1: this is not TOML: a comma or a closing bracket is missing (Unclosed inline table)"),
        (b'a = ["x"\nb = 1\n', "a.toml:2: this is not TOML: a comma or a closing bracket is missing (Unclosed array)"),
        (
            b"a = { b = 1,\n c = 1 }\n",
            (
                "a.toml:1: this is not TOML: write everything between { and } on one line, without a final comma "
                "(Invalid initial character for a key part)"
            ),
        ),
        (b'pays: "push"\n', "a.toml:1: this is not TOML: write a key, =, and its value (Expected '=' after a key"),
        (b"= 3\n", "a.toml:1: this is not TOML: Invalid statement"),
        (b'a = 1\n\nb = """', "a.toml:3: this is not TOML"),
        (b"a = 1\n# \xff\n", "a.toml:2: the text is not UTF-8 (byte 3 of the line is 0xff): save it as UTF-8"),
        (b"\xef\xbb\xbf\n# \xff\n", "a.toml:2: the text is not UTF-8 (byte 3 of the line is 0xff): save it as UTF-8"),
        ("a = 1\n".encode("utf-16"), "a.toml:1: the text is UTF-16, not UTF-8: save it as UTF-8"),
        (b"a = " + b"[" * 20_000, "a.toml:1: lists or tables are nested too deeply"),
        (b"a = 1\n" + b".".join([b"a"] * 17) + b" = 1", "a.toml:2: a key has more than 16 names joined by dots"),
        (b"[" + b" . ".join([b'"a.b"'] * 17) + b"]", "a.toml:1: a key has more than 16 names joined by dots"),
        (b"a = [\n{ " + b".".join([b"'a'"] * 2_000) + b" = 1 }]", "a.toml:2: a key has more than 16 names joined by dots"),
        (b'a = """"""\nb = [""" " """, ' + b"[" * 32, "a.toml:2: lists or tables are nested too deeply"),
        (b"a = " + b"{ a = " * 40, "a.toml:1: lists or tables are nested too deeply"),
        (b"a = 1\n" * 100_000, "a.toml: the file has more than 524,288 bytes"),
        (b"a = " + b"1" * 5_000, "a.toml:1: this is not TOML"),
    ],
)  # fmt: skip
def test_what_is_not_toml_is_reported_by_line(data, said):
    with pytest.raises(ConfigError) as error:
        TomlFile.parse("a.toml", data)

    assert str(error.value).startswith(said)


@pytest.mark.parametrize("many", ["".join, "[{(a.b".join, ".".join], ids=["letters", "brackets", "dots"])
@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_what_is_between_quotes_or_in_a_comment_has_no_depth(quote, many):
    value = many(["x"] * 100)
    told = f"# {value}\na = [{quote}{value}{quote}] # {value}\n" + ".".join(["b"] * 16) + " = 1"

    assert TomlFile.parse("a.toml", told.encode()).document["a"] == [value]


@pytest.mark.parametrize(
    "quoted", ['"' + r"\"" * 200_000, '"""' + r"\"" * 200_000, '"' * 400_000, "'" * 400_000]
)
def test_no_text_without_its_last_quote_is_read_twice(quoted):
    """A walk that tried each quote as the first one would take hours."""
    with pytest.raises(ConfigError, match="this is not TOML"):
        TomlFile.parse("a.toml", f"a = {quoted}".encode())


def test_the_mark_that_some_editors_begin_a_file_with_is_passed_over():
    file = TomlFile.parse("a.toml", b"\xef\xbb\xbfa = 1\r\nb = 2\r\n")

    assert file.document == {"a": 1, "b": 2}
    assert file.lines == {("a",): 1, ("b",): 2}


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match=r"there.toml: cannot be read: No such file or directory"):
        read(tmp_path / "there.toml")


def test_a_pipe_a_device_or_a_folder_is_not_a_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, said in (
        (pipe, "it is a pipe: name a file"),
        (Path("/dev/zero"), "it is a device: name a file"),
        (tmp_path, "Is a dir"),
    ):
        with pytest.raises(ConfigError, match=f"{path}: cannot be read: {said}"):
            read(path)


def test_numbers_with_a_point_can_be_kept_as_they_are_written(tmp_path):
    (tmp_path / "a.toml").write_text("a = 2.50\nb = [3, -0.10]\n", encoding="utf-8")

    assert read(tmp_path / "a.toml", parse_float=str).document == {"a": "2.50", "b": [3, "-0.10"]}
    assert read(tmp_path / "a.toml").document == {"a": 2.5, "b": [3, -0.1]}


@dataclass(frozen=True)
class Inner:
    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    count: int
    names: tuple[str, ...] = ()
    first_word: str = ""
    last_word: str = ""


@dataclass(frozen=True)
class Outer:
    __pydantic_config__: ClassVar[dict[str, Any]] = STRICT

    inner: Inner
    more: tuple[Inner, ...] = ()
    by_name: dict[str, Inner] | None = None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[inner]\ncount = '1'", "a.toml:2: inner.count: must be a whole number, not '1'"),
        ("[inner]\ncount = true", "a.toml:2: inner.count: must be a whole number, not true"),
        ("[inner]\ncount = 1.0", "a.toml:2: inner.count: must be a whole number, not 1.0"),
        ("[inner]\ncount = 2024-01-01", "a.toml:2: inner.count: a date or time cannot be a value here: write text in quotes or a number"),
        ("[inner]\ncount = 12:00:00", "a.toml:2: inner.count: a date or time cannot be a value here: write text in quotes or a number"),
        ("\n[inner]\n", "a.toml:2: inner.count: is missing"),
        ("", "a.toml:1: inner: is missing"),
        ("inner = 3", "a.toml:1: inner: must be a table: write inner = { ... }, with its keys between the braces, not 3"),
        ("more = [true]\n[inner]\ncount = 1", "a.toml:1: more[1]: must be a table: write { ... }, with its keys between the braces, not true"),
        ("[inner]\ncount = 1\nnames = [\n1]", "a.toml:3: inner.names[1]: must be text in quotes, not 1"),
        ("[inner]\ncount = 1\nfirst_word = 1", 'a.toml:3: inner.first_word: must be text in quotes, such as "one"'),
        ("[inner]\ncount = 1\nlast_word = 1", "a.toml:3: inner.last_word: must be text in quotes, not 1"),
        ("[inner]\ncount = 1\nword = 'x'", "a.toml:3: inner.word: no such key (did you mean first_word or last_word?)"),
        ("[inner]\ncount = 1\nmore = []", "a.toml:3: inner.more: no such key here: more belongs to the top of the file, so write it outside inner"),
        (
            "[inner]\ncount = 1\n[[more]]\ncount = 1\n[[more]]\ncount = 2\nby_name = {}",
            (
                "a.toml:7: more[2].by_name: no such key here: by_name belongs to the top of the file, so write it above its "
                "first [[more]]"
            ),
        ),
        ("[inner]\ncount = 1\nnames = 'é'", 'a.toml:3: inner.names: must be a list: ["é"]'),
        ("[inner]\ncount = 1\nnames = true", "a.toml:3: inner.names: must be a list: [true]"),
        ("[inner]\ncount = 1\n[more]\ncount = 2", "a.toml:3: more: must be a list: write [[more]], with two brackets"),
        ("[inner]\ncount = 1\n[[more]]\ncount = 1\n[[more]]\n\ncount = 'x'", "a.toml:7: more[2].count: must be a whole number, not 'x'"),
        ("[inner]\ncount = 0x" + "f" * 5000, "a.toml: a number has more digits than can be read"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_reported_by_line_and_key(text, said):
    file = TomlFile.parse("a.toml", text.encode())
    with pytest.raises(ConfigError) as error:
        typed(file, Outer, such_as={"first_word": '"one"'})

    assert str(error.value).startswith(said)
    assert len(error.value.problems) == 1


def test_a_path_as_people_write_it():
    assert dotted(("wagers", 1, "rules", 0, "pays")) == "wagers[2].rules[1].pays"
