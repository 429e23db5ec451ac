"""From a frame written to the pseudo-terminal to a message in another process, beside the floor."""

import random
import statistics
import time
from pathlib import Path

from benchmarks.bench import Floor, HandHeldShoe, Helper, Line, Service, mosquitto, say, wait_until
from punto.drivers.framing import encode

SAMPLES = 1500
BLOCK = 50
BLOCKS_A_SHOE = 8
GAP_SECONDS = 0.008


def measure(folder: Path) -> list[Line]:
    """The service's latency beside the floor's, in milliseconds."""
    with mosquitto(folder) as broker:
        floor, ours = _seconds(folder, broker)
    say(f"From a frame on the pseudo-terminal to a message in another process, {SAMPLES} cards each,")
    say("in alternating blocks; the floor is os.read, one durable SQLite commit, one paho QoS 1 publish.\n")
    lines = []
    for percent, most in ((50, 1.5), (99, 2.0)):
        base, own = (1000 * statistics.quantiles(taken, n=100)[percent - 1] for taken in (floor, ours))
        figure = f"{own:.2f} ms, floor {base:.2f} ms, ratio {own / base:.2f}"
        lines.append(Line(f"latency p{percent}", figure, f"at most {most}", own / base <= most))
    return lines


def _seconds(folder: Path, broker: int) -> tuple[list[float], list[float]]:
    """What each line takes at the floor and each card in the service, in alternating blocks of one run."""
    shoe = HandHeldShoe()
    service = Service(folder, broker, shoe.path)
    service.start()
    service.order(order="sign_on")
    wait_until(lambda: service.order(order="status")["state"]["shoe"]["online"])
    events = Helper("subscriber", broker, "punto/bench/event")
    floor = Floor(folder, broker)
    time.sleep(1)

    sent: list[float] = []
    draw = random.Random(1)
    for block in range(SAMPLES // BLOCK):
        if block % BLOCKS_A_SHOE == 0:
            _load(service, shoe)
        for number in range(BLOCK):
            data = encode(shoe.card(2 + block % BLOCKS_A_SHOE * BLOCK + number))
            sent.append(time.monotonic())
            shoe.send(data)
            time.sleep(GAP_SECONDS * draw.uniform(0.5, 1.5))
        for _ in range(BLOCK):
            floor.write()
            time.sleep(GAP_SECONDS * draw.uniform(0.5, 1.5))
    dealt = [at for at, payload in events.finish() if payload["happening"]["kind"] == "card_dealt"]
    at_the_floor = floor.finish()
    service.kill()
    return at_the_floor, [there - here for here, there in zip(sent, dealt, strict=True)]


def _load(service: Service, shoe: HandHeldShoe) -> None:
    """Change the shoe, and burn: an ace, so one card more."""
    if _phase(service) == "dealing":
        service.order(order="void_coup", reason="the measurement's end of a shoe")
    service.order(order="change_shoe")
    for number in (0, 1):
        shoe.send(encode(shoe.card(number)))
    wait_until(lambda: _phase(service) == "betting")


def _phase(service: Service) -> str:
    """The table's phase."""
    found: str = service.order(order="status")["state"]["phase"]
    return found
