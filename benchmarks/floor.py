"""The floor: os.read, one durable SQLite commit, one paho QoS 1 publish, and nothing else, in a process of its own."""

import os
import sqlite3
import sys

from benchmarks.client import connected, ready


def main() -> None:
    """For each line read from the terminal: commit it, publish it."""
    terminal, port, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    line = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
    record = sqlite3.connect(path, isolation_level=None)
    record.execute("PRAGMA journal_mode = WAL")
    record.execute("PRAGMA synchronous = FULL")
    record.execute("CREATE TABLE inputs (seq INTEGER PRIMARY KEY, payload BLOB)")
    client = connected(port)
    client.loop_start()
    ready()
    rest = b""
    while data := os.read(line, 4096):
        *payloads, rest = (rest + data).split(b"\n")
        for payload in payloads:
            record.execute("INSERT INTO inputs (payload) VALUES (?)", (payload,))
            client.publish("floor/event", payload, qos=1)


main()
