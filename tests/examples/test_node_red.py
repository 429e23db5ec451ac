"""The flow for Node-RED shows what happens at a table, in a real Node-RED."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.controller.table_on_a_machine import Broker, Program, Shoe, Table, wait_until
from tests.ports import free_port

HERE = Path(__file__).parents[2]
FLOW = HERE / "examples" / "node-red.json"
NODE_RED = HERE / "build" / "node-red" / "node_modules" / "node-red" / "red.js"
SETTINGS = """
module.exports = {
    flowFile: "flow.json", uiHost: "127.0.0.1", uiPort: %d, credentialSecret: false, telemetry: { enabled: false },
    logging: { console: { level: "info" } },
};
"""


class NodeRed(Program):
    """A Node-RED with the flow, whose broker is on this port."""

    def __init__(self, folder: Path, broker: int) -> None:
        folder.mkdir()
        nodes = json.loads(FLOW.read_text(encoding="utf-8"))
        (of_the_table,) = (node for node in nodes if node["type"] == "mqtt-broker")
        of_the_table |= {"broker": "127.0.0.1", "port": str(broker)}
        (folder / "flow.json").write_text(json.dumps(nodes))
        (folder / "settings.js").write_text(SETTINGS % free_port())
        command = ("node", str(NODE_RED), "--userDir", str(folder), "--settings", str(folder / "settings.js"))
        super().__init__(folder / "node-red.log", *command)

    def shown(self, name: str) -> list[str]:
        """What the node for debugging with this name has shown so far."""
        return re.findall(rf"\[debug:{name}\]\s+'?(.*?)'?$", "\n".join(self.said()), re.MULTILINE)


def test_each_node_of_the_flow_leads_to_another_and_the_last_ones_show():
    nodes = {node["id"]: node for node in json.loads(FLOW.read_text(encoding="utf-8"))}
    wired = [each for node in nodes.values() for output in node.get("wires", []) for each in output]

    assert {*wired} <= nodes.keys()
    assert {node["broker"] for node in nodes.values() if node["type"] == "mqtt in"} <= nodes.keys()
    ends = {node["type"] for node in nodes.values() if node.get("wires") == []}
    assert ends == {"debug"}


@pytest.mark.soak
@pytest.mark.skipif(not NODE_RED.exists(), reason="Node-RED is not here: run `make build/node-red/.ready`")
def test_node_red_shows_a_table(tmp_path):
    with Broker(tmp_path) as broker:
        table, node_red = Table(tmp_path, broker), NodeRed(tmp_path / "node-red", broker.port)
        with node_red, table, Shoe(table.port, "--pace", "0.01", "--seed", "log"):
            wait_until(lambda: "online: running" in node_red.shown("Availability"), "the table is online")
            wait_until(lambda: node_red.shown("State") == ["locked"], "the table is locked")
            table.begin_shoe()
            wait_until(lambda: node_red.shown("Rounds"), "a round")
            table.order("call_supervisor", reason="a dispute")
            called = ", a supervisor is called: a dispute"
            wait_until(lambda: any(called in each for each in node_red.shown("State")), "the call")
            assert table.stop() == 0
            wait_until(
                lambda: "offline: the service was stopped" in node_red.shown("Availability"), "its end"
            )

        assert re.fullmatch("round 1: (player|banker|tie)", node_red.shown("Rounds")[0])
        states = node_red.shown("State")
        assert all(now != before for before, now in pairwise(states)), "only changes"
