"""The floor of docs/how-to/run-a-floor.md as machines: parts are killed, and no round is lost on its way to the house."""

import time
from collections.abc import Iterator

import pytest

from tests.cluster.floor import NEEDED, POSTGRESQL, Ear, Floor, FloorTable, deal, floor_folder, reach
from tests.cluster.machines import Network, missing
from tests.controller.table_on_a_machine import rounds, wait_until

ABSENT = [*missing(*NEEDED), *([] if POSTGRESQL.is_dir() else ["postgresql-15"])]
pytestmark = [
    pytest.mark.soak,
    # paho leaves a socket open when TLS fails
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(bool(ABSENT), reason=f"a floor needs {', '.join(ABSENT)}"),
]


@pytest.fixture
def floor(request) -> Iterator[Floor]:
    """Two tables; `linked` tables share a meter."""
    with Network() as network, floor_folder() as folder:
        floor = Floor(network, folder, ["t1", "t2"], linked=getattr(request, "param", "") == "linked")
        try:
            floor.start()
            yield floor
        finally:
            floor.stop()


def eight_more_rounds(ears: list[Ear], tables: list[FloorTable]) -> None:
    for goal in [reach(ear, table, 8) for ear in ears for table in tables]:
        wait_until(goal, "eight more rounds arrive")


def end_of_play(ears: list[Ear], tables: list[FloorTable]) -> list[dict[str, list[int]]]:
    """What each of the subscribers missed of each table, after all that was on its way has arrived."""
    for table in tables:
        table.order("close_table") if table.status()["phase"] == "betting" else table.kill()
    time.sleep(3)
    return [ear.missed(table) for ear in ears for table in tables]


NOTHING: dict[str, list[int]] = {"lost": [], "doubled": []}


def test_rounds_reach_the_other_nodes_while_a_node_is_killed(floor):
    first, *others = floor.nodes
    ears = [floor.ear(node) for node in others]
    deal(*floor.tables)
    eight_more_rounds(ears, floor.tables)
    first.power_cut()
    eight_more_rounds(ears, floor.tables)
    floor.start_node(0)
    ears.append(floor.ear(first))
    wait_until(lambda: ears[-1].of("punto/t2/info"), "the node that was killed has what is retained again")
    eight_more_rounds(ears, floor.tables)

    assert end_of_play(ears[:2], floor.tables) == [NOTHING] * 4


@pytest.mark.parametrize("away", ["cut", "frozen"])
def test_a_node_that_was_away_gets_the_rounds_of_that_time(floor, away):
    node = floor.nodes[0]
    ears = [floor.ear(each) for each in floor.nodes]
    deal(*floor.tables)
    eight_more_rounds(ears, floor.tables)
    node.cut() if away == "cut" else node.freeze()
    eight_more_rounds(ears[1:], floor.tables)
    time.sleep(20)  # the bridges give the connection up
    node.mend() if away == "cut" else node.thaw()
    eight_more_rounds(ears, floor.tables)

    missed = end_of_play(ears, floor.tables)
    assert [each["lost"] for each in missed] == [[]] * 6
    assert missed[2:] == [NOTHING] * 4


def test_a_table_pc_without_power_and_a_killed_bridge_lose_no_round(floor):
    ears = [floor.ear(floor.nodes[2])]
    t1, t2 = floor.tables
    deal(t1, t2)
    eight_more_rounds(ears, [t1, t2])
    t1.power_cut()
    assert t2.broker is not None
    t2.broker.kill()
    time.sleep(3)
    t1.start_broker()
    t1.start()
    t2.broker.start()
    eight_more_rounds(ears, [t1, t2])

    assert [each["lost"] for each in end_of_play(ears, [t1, t2])] == [[], []]


def test_a_request_comes_from_each_node_and_is_answered_once(floor):
    ears = [floor.ear(node, "t1-seat-1", "punto/t1/response/+") for node in floor.nodes]
    for number, ear in enumerate(ears):
        ear.publish("punto/t1/request/snapshot/by/t1-seat-1", {"id": f"from {number}"})
    for ear in ears:
        wait_until(lambda at=ear: len(at.of("punto/t1/response/snapshot")) == 3, "each node has all answers")  # type: ignore[misc]
    time.sleep(1)

    for ear in ears:
        answered = sorted(each["request"] for each in ear.of("punto/t1/response/snapshot"))
        assert answered == ["from 0", "from 1", "from 2"]


def test_a_user_of_a_node_may_do_what_the_access_list_says(floor):
    intruder = floor.ear(floor.nodes[0], "t1-display")
    surveillance = floor.ear(floor.nodes[0])
    intruder.publish("punto/t1/state", {"phase": "closed"})
    intruder.publish("punto/t1/request/snapshot/by/t1-seat-1", {"id": "in another's name"})
    wait_until(lambda: intruder.of("punto/t1/state"), "the state")
    time.sleep(1)

    assert not {topic for topic, _ in intruder.heard if topic.startswith(("punto/t2/", "punto/t1/info"))}
    assert {"phase": "closed"} not in surveillance.of("punto/t1/state")
    assert surveillance.of("punto/t1/response/snapshot") == []


@pytest.mark.parametrize("floor", ["linked"], indirect=True)
def test_a_linked_meter_counts_each_wager_once_while_a_node_is_killed(floor):
    t1, t2 = floor.tables
    authority = floor.authority
    for table in (t1, t2):
        table.order("sign_on")
        wait_until(lambda at=table: at.progressive.link.online, "the table hears its authority")  # type: ignore[misc]
        table.order("change_shoe")
    floor.nodes[0].power_cut()
    for number, table in enumerate((t1, t2), 1):
        wait_until(lambda at=table: at.status()["phase"] == "betting", "betting opens")  # type: ignore[misc]
        table.order("wager_placed", seat=1)
        table.order("start_game", round=table.status()["round"])
        wait_until(
            lambda sum_=number: authority.progressive.books.ledger.contributions == sum_ * 20_000_000,  # type: ignore[misc]
            "the authority counts the wager",
        )
    authority.power_cut()
    wait_until(lambda: not t1.progressive.link.online, "the table knows that its authority is away")
    authority.start_all()
    floor.start_node(0)
    wait_until(lambda: t1.progressive.link.online, "the authority is back")
    assert authority.progressive.books.ledger.contributions == 2 * 20_000_000


def test_the_replica_takes_over_what_the_primary_had(floor):
    first, second, _ = floor.nodes
    primary = floor.start_database(0, "primary")
    floor.start_database(1, "replica", first.address)
    floor.sql(0, "CREATE TABLE rounds AS SELECT generate_series(1, 1000)", "game-manager")
    wait_until(
        lambda: (
            floor.sql(1, "SELECT count(*) FROM pg_tables WHERE tablename = 'rounds'", "game-manager") == "1"
        ),
        "the replica follows",
    )
    assert floor.primary() == first.address
    primary.kill()
    floor.promote()
    wait_until(lambda: floor.sql(1, "SELECT pg_is_in_recovery()") == "f", "the replica is the primary")

    assert floor.primary() == second.address
    assert floor.sql(1, "SELECT count(*) FROM rounds", "game-manager") == "1000"
    floor.remove_database(0)
    floor.start_database(0, "replica", second.address)
    wait_until(
        lambda: floor.sql(1, "SELECT state FROM pg_stat_replication") == "streaming",
        "the old primary follows",
    )
    assert floor.sql(0, "SELECT count(*) FROM rounds", "game-manager") == "1000"


def test_the_game_manager_has_every_round_after_it_and_its_database_were_killed(floor):
    primary = floor.start_database(0, "primary")
    floor.start_database(1, "replica", floor.nodes[0].address)
    leader = floor.start_game_manager(0)
    wait_until(lambda: "taking in" in leader.printed(), "the first Game Manager leads")
    floor.start_game_manager(1)
    deal(*floor.tables)
    for table in floor.tables:
        wait_until(lambda at=table: len(stored(floor, 0, at.name)) > 8, "rounds are stored")  # type: ignore[misc]
    leader.kill()
    for table in floor.tables:
        goal = len(stored(floor, 0, table.name)) + 8
        wait_until(lambda at=table, goal=goal: len(stored(floor, 0, at.name)) > goal, "the second one leads")  # type: ignore[misc]
    primary.kill()
    floor.promote()
    for table in floor.tables:
        goal = len(rounds(table.record)) + 8
        wait_until(lambda at=table, goal=goal: len(stored(floor, 1, at.name)) > goal, "the replica stores")  # type: ignore[misc]

    for table in floor.tables:
        found = stored(floor, 1, table.name)
        assert found == list(range(1, len(found) + 1))


def stored(floor: Floor, number: int, table: str) -> list[int]:
    """The rounds of a table in a node's database."""
    found = (
        f"""SELECT round FROM rounds JOIN records ON id = record_id WHERE "table" = '{table}' ORDER BY 1"""  # noqa: S608 - ours
    )
    return [int(each) for each in floor.sql(number, found, "game-manager").split()]
