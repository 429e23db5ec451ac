import pytest

from punto.baccarat.cards import Card
from punto.baccarat.coup import Coup
from punto.configs.game_files import load_game, shipped_games
from punto.simulators.shoe import ScenarioError, ShoeOptions, read_scenario
from punto.simulators.shoe.faults import Faults
from punto.simulators.shoe.scenario import Scenario, Step, parse_scenario, scenario_names
from punto.simulators.shoe.shuffle import shuffled, stacked


def test_a_scenario_says_what_it_says_and_nothing_else():
    assert parse_scenario("", "x") == Scenario()
    assert Scenario().settings() == {"steps": ()}


@pytest.mark.parametrize(
    ("text", "shoes"),
    [
        ('cards = ["AS", "KH"]', ((Card.AS, Card.KH),)),
        ('cards = ["AS KH", "TD"]', ((Card.AS, Card.KH, Card.TD),)),
        ('cards = [["AS"], ["KH TD"]]', ((Card.AS,), (Card.KH, Card.TD))),
    ],
)
def test_cards_are_one_shoe_or_several(text, shoes):
    assert parse_scenario(text, "x").shoes == shoes


def test_each_kind_of_step():
    text = """
        serial = "IS-1"
        decks = 6
        cut = 7
        faults = ["noise=0.1", "split"]
        steps = [
          { at = 1, do = "unread" }, { at = 2, shoe = 3, do = "unsure" }, { at = 3, do = "unsure", confidence = 0 },
          { at = 4, do = "overdraw" }, { at = 5, do = "ninth_copy" }, { at = 6, do = "reverse" },
          { after = 1, do = "lid", seconds = 2.5 }, { after = 0.5, do = "error", code = 17, text = "worn" },
          { at = 7, do = "unplug", seconds = 4 }, { at = 8, do = "power" }, { after = 9, do = "forget" },
        ]"""

    assert parse_scenario(text, "x") == Scenario(
        serial="IS-1",
        decks=6,
        cut=7,
        faults=Faults(noise=0.1, split=3),
        steps=(
            Step("unread", at=1),
            Step("unsure", at=2, shoe=3),
            Step("unsure", at=3, confidence=0),
            Step("overdraw", at=4),
            Step("ninth_copy", at=5),
            Step("reverse", at=6),
            Step("lid", after=1, seconds=2.5),
            Step("error", after=0.5, code=17, text="worn"),
            Step("unplug", at=7, seconds=4),
            Step("power", at=8),
            Step("forget", after=9),
        ),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cards = ", "scenario bad:1: this is not TOML: "),
        ("speed = 3", "speed is unknown: write one of serial, decks, cut, cards, coups, every, faults, steps"),
        ('decks = "8"', "decks is '8': write a whole number from 1 to 8"),
        ("decks = true", "decks is True: write a whole number"),
        ("decks = 9", "decks is 9: write a whole number from 1 to 8"),
        ("cut = -1", "cut is -1: write"),
        ("serial = 7", "serial is 7: write a text in quotes"),
        ('cards = "AS"', "cards is 'AS': write a list of cards, such as"),
        ("cards = []", "cards is []: write a list of cards"),
        ("cards = [[]]", "cards is [[]]: write a list of cards"),
        ('cards = [["AS"], "KH"]', "or a list of such lists, one for each shoe"),
        ('cards = [["AS"], [7]]', "or a list of such lists"),
        ('cards = ["AS", "1H"]', "cards: '1H' is not a card: write rank A23456789TJQK, then suit SHDC"),
        ('coups = "9S 4H"', "coups is '9S 4H': write a list of coups as they are dealt"),
        ('coups = ["9S 4H TD"]', "coups: 3 cards do not finish a coup"),
        ('coups = ["9S 4H TD 3C 2H"]', "coups: the coup is over after 4 cards"),
        ("every = 0", "every is 0: write a whole number from 1 to 100"),
        ("faults = 3", "faults is 3: write a list of faults as the option has them"),
        ('faults = ["noise=2"]', "fault noise=2: write a chance from 0 to 1"),
        ("steps = 3", "steps is 3: write [[steps]]"),
        ("steps = [{ at = 1 }]", "steps[1].do is None: write one of unread, unsure, overdraw,"),
        ('steps = [{ at = 1, do = "explode" }]', "steps[1].do is 'explode': write one of unread,"),
        ('steps = [{ at = 1, do = "unread" }, { do = "unread" }]', "steps[2].do is 'unread': write at (the number"),
        ('steps = [{ after = 1, do = "unread" }]', "write at (the number of a card from 1)"),
        ('steps = [{ do = "lid" }]', "write at or after, but not both"),
        ('steps = [{ at = 1, after = 1, do = "lid" }]', "write at or after, but not both"),
        ('steps = [{ at = 0, do = "lid" }]', "steps[1].at is 0: write a whole number from 1"),
        ('steps = [{ after = -1, do = "lid" }]', "steps[1].after is -1: write seconds, such as 2 or 0.5"),
        ('steps = [{ after = nan, do = "lid" }]', "steps[1].after is nan: write seconds"),
        ('steps = [{ after = inf, do = "lid" }]', "steps[1].after is inf: write seconds"),
        ('steps = [{ at = 1, do = "lid", seconds = "2" }]', "steps[1].seconds is '2': write seconds"),
        ('steps = [{ at = 1, do = "lid", code = 2 }]', "steps[1].code is unknown: write one of do, at, after,"),
        ('steps = [{ at = 1, do = "unsure", confidence = 101 }]', "steps[1].confidence is 101: write a whole"),
        ('steps = [{ at = 1, do = "error", code = 65536 }]', "steps[1].code is 65536: write a whole number"),
        (f'steps = [{{ at = 1, do = "error", text = "{"é" * 101}" }}]', "write at most 200 bytes"),
        ('steps = [{ at = 417, do = "unread" }]', "steps[1].at is 417: shoe 1 has only 416 cards"),
        ('decks = 1\ncards = ["AS"]\nsteps = [{ at = 53, shoe = 2, do = "lid" }]', "at is 53: shoe 2 has only 52 cards"),
        ('cards = ["AS KH"]\nsteps = [{ at = 3, do = "unread" }]', "steps[1].at is 3: shoe 1 has only 2 cards"),
        ('cards = ["AS AS KH"]\nsteps = [{ at = 3, do = "ninth_copy" }]', "steps[1].do is 'ninth_copy', but no card comes 8 times"),
    ],
)  # fmt: skip
def test_a_wrong_scenario_names_the_file_and_the_key_and_says_what_to_write(text, says):
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, "bad")

    assert str(caught.value).startswith("scenario bad")
    assert says in str(caught.value)


def test_a_scenario_is_found_by_name_or_by_path(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("decks = 2")

    assert read_scenario("overdraw").shoes is not None
    assert read_scenario(str(file)).decks == 2


def test_a_scenario_that_is_not_there_is_answered_with_those_that_are(tmp_path):
    with pytest.raises(
        ScenarioError, match=r"there is no scenario overdrow: write a file's path, or one of .*overdraw"
    ):
        read_scenario("overdrow")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    file = tmp_path / "card.png"
    file.write_bytes(b"\x89PNG\xff")

    with pytest.raises(ScenarioError, match=r"cannot read the scenario .*card\.png"):
        read_scenario(str(file))
    with pytest.raises(ScenarioError, match=r"cannot read the scenario .*directory"):
        read_scenario(str(tmp_path))


@pytest.mark.parametrize("name", scenario_names())
def test_each_scenario_that_comes_along_can_be_used(name, tmp_path):
    ShoeOptions(store=tmp_path, **read_scenario(name).settings())


def test_the_overdraw_that_comes_along_is_the_card_after_a_finished_coup():
    scenario = read_scenario("overdraw")
    assert scenario.shoes is not None
    cards = scenario.shoes[0]
    coups = [Coup.complete(cards[first:last]) for first, last in ((3, 7), (8, 12), (12, 16))]

    assert [step.at for step in scenario.steps] == [8]
    assert [(coup.player_total, coup.banker_total) for coup in coups] == [(9, 7), (6, 7), (6, 9)]


# --- coups that are put into shuffled shoes


def test_coups_are_put_into_each_shuffled_shoe(tmp_path):
    settings = parse_scenario('every = 3\ncoups = ["9S 4H TD 3C"]', "x").settings()
    options = ShoeOptions(store=tmp_path / "store", **settings)

    for shoe in (1, 2):
        assert options.cards(shoe) == tuple(stacked(shuffled("1", shoe, 8), settings["coups"], 3))


def test_exact_cards_are_left_as_they_are(tmp_path):
    settings = parse_scenario('cut = 0\ncards = ["2H KD TC", "6S TS KH 7H"]\ncoups = ["9S 4H TD 3C"]', "x")

    assert settings.shoes is not None
    assert ShoeOptions(store=tmp_path / "store", **settings.settings()).cards(1) == settings.shoes[0]


def test_each_tier_of_a_progressive_is_won_by_a_coup_of_the_scenario_with_its_games_name():
    games = [game for game in map(load_game, shipped_games()) if game.name.startswith("progressive-")]
    assert len(games) == 4
    for game in games:
        (wager,) = (each for each in game.wagers if each.progressive is not None)
        coups = read_scenario(game.name).coups or ()
        won = [rule.name for each in coups if (rule := wager.deciding_rule(Coup.complete(each))) is not None]

        assert sorted(won) == sorted(rule.name for rule in wager.rules if rule.wins)
