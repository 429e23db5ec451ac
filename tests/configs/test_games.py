"""Game files are found by name or path, and what is wrong with one is told by line, key and what was meant."""

from pathlib import Path

import pytest

from punto.baccarat.table.settings import Settings
from punto.baccarat.wagers.definition import FACE_UP_ONLY
from punto.configs.game_files import load_game, shipped_games
from punto.configs.problems import ConfigError
from tests.command import punto

FOLDER = Path(__file__).parents[2] / "configs" / "games"
GOOD = (FOLDER / "dai-bacc.toml").read_text(encoding="utf-8")
OF_THE_LETTER = {
    "mini-baccarat",
    "midi-baccarat",
    *(f"dragon-bonus-{number}" for number in (1, 2, 3)),
    *(f"progressive-{table}" for table in ("1", "1-five-dollar", "2", "3")),
}
METERED = (FOLDER / "progressive-1.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", shipped_games())
def test_a_shipped_game_can_be_played_and_has_its_files_name(name):
    assert load_game(name).name == name
    assert load_game(str(FOLDER / f"{name}.toml")) == load_game(name)


@pytest.mark.parametrize("name", shipped_games())
def test_a_shoe_cannot_read_a_copy_of_a_variation_whose_cards_are_hidden(name, tmp_path):
    """By the letter's second requirement (sheet 001), whatever the copy says of itself."""
    text = "".join(
        line
        for line in (FOLDER / f"{name}.toml").read_text(encoding="utf-8").splitlines(keepends=True)
        if not line.startswith(("variation", "dealt", "reveal"))
    )
    own = tmp_path / "own.toml"
    own.write_text(f'reveal = "dealer"\n{text}', encoding="utf-8")
    with pytest.raises(ConfigError, match='hides the cards at first: write dealt = "face_down" too'):
        load_game(str(own))

    own.write_text(f'reveal = "dealer"\ndealt = "face_down"\n{text}', encoding="utf-8")
    if name in OF_THE_LETTER:
        assert Settings(table="baccarat-1", name="Baccarat 1", game=load_game(str(own))).cards == "shoe"
        return
    with pytest.raises(
        ConfigError, match=r"write variation = true\. Approval letter: \"The card recognition"
    ):
        load_game(str(own))

    own.write_text(f'reveal = "dealer"\ndealt = "face_down"\nvariation = true\n{text}', encoding="utf-8")
    with pytest.raises(ValueError, match="so its cards must be keyed"):
        Settings(table="baccarat-1", name="Baccarat 1", game=load_game(str(own)))


HIDING = 'variation = {variation}\ndealt = "face_down"\nreveal = "dealer"\n'
NATURAL = """[[wagers]]
name = "natural"
title = "Natural"
side = "player"
[[wagers.rules]]
name = "natural"
when = { winner = ["player"], natural = true }
pays = "5 to 1"
[[wagers.rules]]
name = "lose"
pays = "lose"
"""
NEAR = """[[wagers]]
name = "by_one"
title = "By one"
[[wagers.rules]]
name = "by_one"
when = { margin = [1] }
pays = "7 to 1"
[[wagers.rules]]
name = "lose"
pays = "lose"
"""
PAIRS = """[[wagers]]
name = "pairs"
title = "Two pairs"
progressive = { seed = 1_000_000, contribution = "20%" }
[[wagers.rules]]
name = "two_pairs"
when = { player_pair = true, banker_pair = true }
pays = "100% of the meter"
[[wagers.rules]]
name = "lose"
pays = "lose"
"""


def hidden(tmp_path, name: str, replaced: tuple[str, str] = ("", ""), more: str = "", *, variation=False):
    """A copy of a shipped game whose cards the dealer turns, with a change and another wager."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith(("variation", "dealt", "reveal")))
    own = tmp_path / "own.toml"
    assert replaced[0] in text
    said = HIDING.format(variation=str(variation).lower())
    own.write_text(said + "\n".join(lines).replace(*replaced) + "\n" + more, encoding="utf-8")
    return str(own)


@pytest.mark.parametrize(
    ("name", "replaced", "more", "title"),
    [
        ("mini-baccarat", ("", ""), NATURAL, "Natural"),
        ("mini-baccarat", ("", ""), NEAR, "By one"),
        ("mini-baccarat", ("", ""), PAIRS, "Two pairs"),
        ("mini-baccarat", ("less 5%", "less 4%"), "", "Banker"),
        ("mini-baccarat", ("8 to 1", "9 to 1"), "", "Tie"),
        ("dragon-bonus-1", ("30 to 1", "29 to 1"), "", "Dragon Bonus Player"),
        ("progressive-2", ("25% of the meter", "26% of the meter"), "", "Dragon Bonus Progressive"),
    ],
)
def test_a_wager_that_no_game_of_the_letter_has_makes_hidden_cards_a_variation(
    tmp_path, name, replaced, more, title
):
    """Sheet 001, first requirement: whatever is like one of these wagers, and pays otherwise, is another."""
    with pytest.raises(
        ConfigError, match=f"{title} is not a wager of the games that a shoe may read face down"
    ):
        load_game(hidden(tmp_path, name, replaced, more))

    keyed = load_game(hidden(tmp_path, name, replaced, more, variation=True))
    with pytest.raises(ValueError, match="so its cards must be keyed"):
        Settings(table="baccarat-1", name="Baccarat 1", game=keyed)


@pytest.mark.parametrize(
    ("name", "replaced"),
    [
        ("progressive-1", ('margin = [9], natural = false }\npays = "10 for 1"', 'margin = [9] }\npays = "10 for 1"')),
        ("dragon-bonus-3", ('requires_base = "same_side"', 'requires_base = "any"')),
        ("dragon-bonus-1", ("maximum = 10000", "maximum = 20000")),
    ],
)  # fmt: skip
def test_what_the_letter_leaves_to_the_house_is_still_one_of_its_games(tmp_path, name, replaced):
    game = load_game(hidden(tmp_path, name, replaced))

    assert Settings(table="baccarat-1", name="Baccarat 1", game=game).cards == "shoe"


def test_dai_bacc_is_dealt_face_down_whatever_a_copy_says_of_itself(tmp_path):
    """Sheet 003, 2: all cards are dealt face down. Its wagers say that it is Dai Bacc, whatever they pay."""
    lines = (FOLDER / "dai-bacc.toml").read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith(("variation", "dealt", "reveal")))
    for copy in (text, text.replace("40 to 1", "39 to 1")):
        own = tmp_path / "own.toml"
        own.write_text(copy, encoding="utf-8")
        with pytest.raises(
            ConfigError, match="Ox 6 is a wager of Dai Bacc, whose cards are all dealt face down"
        ):
            load_game(str(own))


@pytest.mark.parametrize("name", sorted({*shipped_games()} - {"dai-bacc"}))
def test_no_other_shipped_game_is_taken_for_dai_bacc(name, tmp_path):
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(text, encoding="utf-8")

    assert load_game(str(own)).dealt == ("face_down" if name == "midi-baccarat" else "face_up")


def test_all_that_is_in_the_folder_ships():
    assert shipped_games() == sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_a_path_is_relative_to_the_folder_given(tmp_path):
    (tmp_path / "own.toml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "mini-baccarat").write_text(GOOD, encoding="utf-8")

    assert load_game("own.toml", tmp_path).name == "dai-bacc"
    assert load_game("./mini-baccarat", tmp_path).name == "dai-bacc"
    assert load_game("mini-baccarat", tmp_path).name == "mini-baccarat"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "dai-bac",
            "there is no game 'dai-bac'; the shipped games are: canberra, canberra-high-limit, dai-bacc",
        ),
        ("dai-bac", "(did you mean dai-bacc?)"),
        ("own.toml", "there is no game file"),
        ("./dai-bacc", "there is no game file"),
        ("", "there is no game ''; the shipped games"),
        ("a" * 5000, f"there is no game '{'a' * 60}…'; the shipped games"),
        ("a/" + "b" * 5000, "there is no game file "),
    ],
)
def test_a_game_that_is_not_there(name, said, tmp_path):
    with pytest.raises(ConfigError) as error:
        load_game(name, tmp_path)

    assert said in str(error.value)


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        ('name = "dai-bacc"', 'nam = "dai-bacc"', ":{line}: nam: no such key (did you mean name?)"),
        ("decks = 8", "decks = 13", ":{line}: decks: decks must be from 1 to 12, not 13"),
        ('title = "Dai Bacc"', 'title = " "', ":{line}: title: must be one line of 1 to 200 printable characters, not ' '"),
        ('sheet = "003"', 'sheet = "003\\n004"', ":{line}: sheet: must be one line of 1 to 200 printable characters, not '003\\n004'"),
        ('title = "Ox 6"', 'title = "Ox\\u001b[31m 6"', ":{line}: wagers[4].title: must be one line of 1 to 200 printable characters, not 'Ox\\x1b[31m 6'"),
        ('dealt = "face_down"', 'dealt = "face_donw"', ":{line}: dealt: must be 'face_up' or 'face_down', not 'face_donw' (did you mean \"face_down\"?)"),
        ("maximum_wagers = 4", "maximum_wagers = 0", ":{line}: maximum_wagers: maximum_wagers must be at least 1, not 0"),
        ('name = "ox_6"', 'name = "ox:6"', ":{line}: wagers[4].name: 'ox:6' cannot be a name: write small letters, digits and _, such as big_six"),
        (
            'name = "three_card_six_wins"',
            'name = "(no rule)"',
            ":{line}: wagers[4].rules[1].name: '(no rule)' cannot be a name: write small letters, digits and _, such as big_six",
        ),
        ('name = "kill"', 'name = "ox_6"', ":{line}: wagers[5].name: two wagers have the name 'ox_6': give each its own name"),
        ('title = "Ox 6"', 'title = "Player"', ":{line}: wagers[4].title: two wagers have the title 'Player': give each its own title"),
        ('title = "Ox 6"', 'title = "\uff30layer"', ":{line}: wagers[4].title: two wagers have the title '\uff30layer': give each its own title"),
        ('title = "Kill"', 'title = "Kill"\nshort = "Ox 6"', ":{line}: wagers[5].short: two wagers have the short name 'Ox 6': give each its own"),
        ('title = "Ox 6"', 'title = "Ox 6"\nshort = "Ox\\t6"', ":{line}: wagers[4].short: must be one line of 1 to 200 printable characters, not 'Ox\\t6'"),
        (
            'name = "three_card_six_killed"',
            'name = "three_card_seven_killed"',
            (
                ":{line}: wagers[5].rules[2].name: two rules of kill have the name 'three_card_seven_killed': give each its "
                "own name"
            ),
        ),
        (
            'title = "Kill"',
            'title = "Kill"\nlimits = { minimum = 150, step = 100 }',
            (
                ":{line}: wagers[5].limits: the minimum 150 is not a multiple of the step 100: write a multiple of the step, such as "
                "200"
            ),
        ),
        (
            'name = "three_card_six_killed"',
            'name = "three_card_six_killed"\nlimits = { minimum = 500 }',
            (
                ":{line}: wagers[5].rules[2].limits: no such key here: limits belongs to wagers[5], so write it above its first "
                "[[wagers.rules]]"
            ),
        ),
        (
            'name = "three_card_six_killed"',
            'name = "three_card_six_killed"\ndecks = 8',
            (
                ":{line}: wagers[5].rules[2].decks: no such key here: decks belongs to the top of the file, so write it above "
                "its first [[wagers]]"
            ),
        ),
        (
            'name = "three_card_six_killed"\nwhen = {',
            'name = "three_card_six_killed"\nwhen = { pays = "30 to 1",',
            (
                ":{line}: wagers[5].rules[2].when.pays: no such key here: pays belongs to wagers[5].rules[2], so write it "
                "outside wagers[5].rules[2].when"
            ),
        ),
        (
            'when = { winner = ["player"], player_cards = [3], player_total = [6] }',
            'when = { winner = ["plaier"], player_cards = [3], player_total = [6] }',
            """:{line}: wagers[4].rules[1].when.winner[1]: must be 'player', 'banker' or 'tie', not 'plaier' (did you mean "player"?)""",
        ),
        (
            'when = { winner = ["player"], player_cards = [3], player_total = [6] }',
            'when = { winner = ["player"], player_cards = [4], player_total = [6] }',
            ":{line}: wagers[4].rules[1].when: player_cards must list values from 2 to 3, not [4]",
        ),
    ],
)  # fmt: skip
def test_a_fault_in_a_game_file_is_reported_on_its_line(good, bad, problem, tmp_path):
    refused(tmp_path, GOOD, good, bad, problem)


def refused(folder: Path, text: str, good: str, bad: str, problem: str) -> None:
    """Put `bad` for the one `good` in a game file; `problem` is told, `{line}` the last line of what was put."""
    assert good in text
    before, _, after = text.partition(good)
    path = folder / "own.toml"
    path.write_text(before + bad + after, encoding="utf-8")
    line = before.count("\n") + 1 + bad.count("\n")

    with pytest.raises(ConfigError) as error:
        load_game(str(path))
    assert f"{path}{problem.format(line=line)}" in str(error.value).splitlines()


TOP = "wagers[6].rules[1]"


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        # unknown keys and values
        (
            'winning_suit = ["D"]',
            'suited = "D"',
            (
                f":{{line}}: {TOP}.when.suited: no such key; there are winner, player_cards, banker_cards, coup_cards, "
                "player_total, banker_total, margin, natural, player_pair, banker_pair, player_perfect_pair, "
                "banker_perfect_pair, winning_ranks, winning_suit, coup_suit"
            ),
        ),
        ('winning_suit = ["D"]', 'winning_suit = ["d"]', f":{{line}}: {TOP}.when.winning_suit[1]: must be 'S', 'H', 'D' or 'C', not 'd'"),
        ("seed = 1000000, ", "", ":{line}: wagers[6].progressive.seed: is missing"),
        # values that no coup or meter can have
        *(
            (
                'winning_ranks = ["2-3-4"], margin = [9], winning_suit = ["D"]',
                f'winning_ranks = ["{hand}"], margin = [9]',
                (
                    f":{{line}}: {TOP}.when: winning_ranks must list hands of two or three ranks of A23456789TJQK, such as "
                    f"2-3-4, not '{hand}'"
                ),
            )
            for hand in ("2-3-10", "9", "2,3,4")
        ),
        ('winning_suit = ["D"]', "winning_suit = []", f":{{line}}: {TOP}.when: winning_suit is an empty list, so no coup can meet it: write S, H, D or C"),
        ('winning_suit = ["D"]', "coup_cards = [3]", f":{{line}}: {TOP}.when: coup_cards must list values from 4 to 6, not [3]"),
        ("seed = 1000000", "seed = -1", ":{line}: wagers[6].progressive: seed must be 0 minor units or more, not -1"),
        ('contribution = "20%"', 'contribution = "120%"', ":{line}: wagers[6].progressive: contribution must be from 0% to 100%, not '120%'"),
        ('contribution = "20%"', 'contribution = "0.2"', ":{line}: wagers[6].progressive: '0.2' is not a percentage: write it as \"26%\""),
        ('contribution = "20%"', "contribution = 20", ':{line}: wagers[6].progressive.contribution: must be text in quotes, such as "26%"'),
        # pays
        ('pays = "10% of the meter"', 'pays = "5.5 to 1"', ":{line}: wagers[6].rules[2].pays: pays = '5.5 to 1' is not in whole numbers: write \"11 to 2\""),
        ('pays = "10% of the meter"', 'pays = "1 for 1"', ':{line}: wagers[6].rules[2].pays: "1 for 1" returns the stake and nothing more: write "push"'),
        (
            'pays = "10% of the meter"',
            'pays = "1 for 2"',
            (
                ':{line}: wagers[6].rules[2].pays: "1 for 2" returns only a part of the stake, which is not possible: write "push" '
                'to return the whole stake, or "lose" to return nothing'
            ),
        ),
        ('pays = "100% of the meter"', "pays = 100", f':{{line}}: {TOP}.pays: must be text in quotes, such as "30 to 1"'),
        (
            'pays = "10% of the meter"',
            'pays = "ten to 1"',
            (
                ':{line}: wagers[6].rules[2].pays: pays = \'ten to 1\' is not a pay: write "30 to 1", "1000 for 1", "1 to 1 less 5%", '
                '"10% of the meter", "push" or "lose"'
            ),
        ),
        (
            'pays = "10% of the meter"',
            'pays = "110% of the meter"',
            ":{line}: wagers[6].rules[2].pays: pays = '110% of the meter' is not a share of a meter: write more than 0% and at most 100%",
        ),
        # wagers that contradict themselves
        (
            'requires_base = "any"\n',
            "",
            (
                ":{line}: wagers[6].requires_base_win: requires_base_win of progressive needs a base wager: write requires_base = "
                '"any" or "same_side" too'
            ),
        ),
    ],
)  # fmt: skip
def test_a_fault_in_a_wager_that_pays_from_a_meter_is_reported_on_its_line(good, bad, problem, tmp_path):
    refused(tmp_path, METERED, good, bad, problem)


def test_a_misspelt_header_is_reported_on_its_line(tmp_path):
    path = tmp_path / "own.toml"
    before, _, after = GOOD.rpartition("[[wagers.rules]]")
    path.write_text(f"{before}[[wager.rules]]{after}", encoding="utf-8")

    with pytest.raises(ConfigError) as error:
        load_game(str(path))
    assert (
        str(error.value) == f"{path}:{before.count(chr(10)) + 1}: wager: no such key (did you mean wagers?)"
    )


def test_a_wager_that_pays_from_a_meter_says_what_is_on_it(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        "".join(line for line in METERED.splitlines(keepends=True) if not line.startswith("progressive =")),
        encoding="utf-8",
    )

    with pytest.raises(ConfigError) as error:
        load_game(str(path))
    (problem,) = error.value.problems
    assert (problem.key, problem.message) == (
        "wagers[6]",
        (
            "progressive pays two_three_four_diamonds from a meter: give it progressive = { seed = ..., "
            "contribution = ... }"
        ),
    )
    header = path.read_text(encoding="utf-8").splitlines().index('name = "progressive"')
    assert problem.line == header


OX_6 = 'when = { winner = ["player"], player_cards = [3], player_total = [6] }\n'
KILL = 'when = { winner = ["banker", "tie"], player_cards = [3], player_total = [6] }\n'
TIGER_7 = """\
when = { winner = ["banker"], banker_cards = [3], banker_total = [7] }
pays = "40 to 1"

[[wagers.rules]]
name = "lose"
pays = "lose"
"""


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        (
            OX_6,
            'when = { winner = ["tie"], player_cards = [3], margin = [6] }\n',
            (
                "wagers[4].rules[1]: no coup can meet three_card_six_wins, because no coup has "
                'winner = ["tie"] and margin = [6]'
            ),
        ),
        (
            KILL,
            'when = { winner = ["player"], banker_cards = [3], banker_total = [7], natural = false }\n',
            (
                "wagers[5].rules[2]: three_card_six_killed can never decide, because earlier rules "
                "(three_card_seven_killed) decide every coup that meets it: move three_card_six_killed above them, "
                "or leave three_card_six_killed out"
            ),
        ),
        (
            OX_6,
            "",
            (
                "wagers[4].rules[2]: lose can never decide, because earlier rules (three_card_six_wins) decide every coup "
                "that meets it: narrow these earlier rules, or leave lose out"
            ),
        ),
        (
            TIGER_7,
            'when = { winner = ["banker"], banker_cards = [3], banker_total = [7] }\npays = "40 to 1"\n',
            "wagers[3]: no rule decides a coup such as Player TS KD TC, Banker TH KC TD. End the rules",
        ),
        (
            TIGER_7,
            (
                'when = { player_pair = true }\npays = "11 to 1"\n\n[[wagers.rules]]\nname = "none"\n'
                'when = { player_pair = false }\npays = "lose"\n'
            ),
            "wagers[3]: no rule decides a coup such as Player TS KD TC, Banker TH KC TD. End the rules",
        ),
    ],
)
def test_a_rule_that_never_decides_and_a_coup_that_no_rule_decides_are_reported(good, bad, problem, tmp_path):
    assert good in GOOD
    path = tmp_path / "own.toml"
    path.write_text(GOOD.replace(good, bad), encoding="utf-8")

    with pytest.raises(ConfigError) as error:
        load_game(str(path))
    (found,) = error.value.problems
    told = f"{found.key}: {found.message}"
    key = found.key.split(".")[-1].partition("[")[0]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert told.startswith(problem)
    assert lines[(found.line or 0) - 1] in {f"[[{key}]]", f"[[wagers.{key}]]"}


def test_the_rules_faults_are_reported_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        GOOD.replace(
            'name = "lose"\npays = "lose"', 'name = "pair"\nwhen = { player_pair = true }\npays = "push"'
        ).replace("player_total = [6]", "player_total = [6], natural = true"),
        encoding="utf-8",
    )

    with pytest.raises(ConfigError) as error:
        load_game(str(path))
    problems = error.value.problems
    assert [problem.key for problem in problems] == [
        *("wagers[1]", "wagers[2]", "wagers[3]"),
        *("wagers[4]", "wagers[4].rules[1]", "wagers[5]", "wagers[5].rules[2]"),
    ]
    assert [problem.line for problem in problems] == sorted(problem.line or 0 for problem in problems)


def test_every_problem_is_reported_in_the_order_of_the_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(GOOD.replace("decks", "deks").replace("pays", "pay"), encoding="utf-8")

    with pytest.raises(ConfigError) as error:
        load_game(str(path))
    lines = [problem.line or 0 for problem in error.value.problems]
    assert len(lines) == 1 + 2 * GOOD.count("pays = ")
    assert lines == sorted(lines)


@pytest.mark.parametrize(("command", "status"), [(["check-config"], 1), (["run", "--config"], 2)])
def test_a_shoe_that_would_read_dai_bacc_is_refused_with_the_letters_sentence(command, status, tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(
        'version = 1\n[table]\nid = "t"\nname = "T"\ngame = "dai-bacc"\n[shoe]\nport = "/dev/null"\nlink_version = 1\n'
        f'[record]\npath = "{tmp_path}/t.db"\n[operator]\nsocket = "{tmp_path}/t.sock"\n',
        encoding="utf-8",
    )

    done = punto(*command, str(path))

    assert done.returncode == status
    assert done.stderr == (
        f"{path}:5: table.game: Dai Bacc is a variation dealt face down, so its cards must be keyed (cards = "
        f'"keyed"). Approval letter: "{FACE_UP_ONLY}"\n'
    )
    assert not (tmp_path / "t.db").exists()
