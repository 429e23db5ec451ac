"""What monitoring sees of the Game Manager of a house."""

import json
from urllib.error import HTTPError
from urllib.request import urlopen

from prometheus_client.parser import text_string_to_metric_families

from punto.house.metrics import FAMILIES
from tests.controller.table_in_this_process import eventually
from tests.controller.table_on_a_machine import Broker
from tests.deadline import DEADLINE
from tests.house.house import GameManager, Tables
from tests.ports import free_port


class Monitored(GameManager):
    """A Game Manager with an address for monitoring."""

    def __init__(self, folder, broker):
        self.monitoring = free_port()
        more = f"[metrics]\nport = {self.monitoring}\n"
        super().__init__(folder, broker, f"{folder}/store.db", more=more)

    def get(self, path):
        try:
            with urlopen(f"http://127.0.0.1:{self.monitoring}{path}", timeout=DEADLINE) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            return error.code, error.read().decode()

    def values(self):
        families = text_string_to_metric_families(self.get("/metrics")[1])
        return {
            (sample.name, *sample.labels.values()): sample.value
            for family in families
            for sample in family.samples
        }


async def test_the_floor_is_monitored_and_not_ready_without_its_broker(tmp_path):
    with Broker(tmp_path) as broker, Monitored(tmp_path, broker.port) as house:
        async with Tables(["table-1"], broker.port).running():
            await eventually(lambda: house.opened, "the Game Manager is open")
            await eventually(
                lambda: ("punto_house_rounds_waiting", "table-1") in house.values(), "it follows the table"
            )
            await eventually(lambda: house.get("/readyz")[0] == 200, "it takes in")
            seen = house.values()
            assert house.get("/healthz")[0] == 200
        broker.kill()
        await eventually(
            lambda: "broker" in json.loads(house.get("/readyz")[1])["faults"], "the broker is missed"
        )

        assert house.get("/readyz")[0] == 503
        assert seen["punto_house_broker_connected",] == seen["punto_house_store_up",] == 1
        assert ("punto_house_table_live", "table-1") in seen
        assert {name for name, *_ in seen if name.startswith("punto_")} <= set(FAMILIES)
        assert house.values()["punto_house_broker_connected",] == 0
        assert house.get("/healthz")[0] == 200
