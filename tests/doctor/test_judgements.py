"""How the doctor judges facts that no test can plant on a machine: clock, disk, units, displays, and the texts of /proc."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from punto.doctor import certificates, displays
from punto.doctor.broker import files_of
from punto.doctor.checks import Job, examine
from punto.doctor.findings import Finding, once, status_of
from punto.doctor.machine import DiskFacts, judged_address, judged_clock, judged_disk, judged_unit
from punto.doctor.patient import Process, holders, listeners, unit_in
from punto.runtime.broker_login import BrokerConfig
from tests.ports import free_port

DAY = timedelta(days=1)
SOUND = DiskFacts(
    free=80_000_000_000, size=1_000_000, days=10, fsync_seconds=0.004, sqlite=(3, 40, 1), options=frozenset()
)


@pytest.mark.parametrize(("synchronised", "level"), [(True, "ok"), (False, "wrong"), (None, "not checked")])
def test_a_clock_that_nobody_synchronises_is_wrong(synchronised, level):
    found = judged_clock(synchronised)

    assert found.level == level
    assert found.command == ("timedatectl set-ntp true" if level == "wrong" else None)


@pytest.mark.parametrize(
    ("changes", "what", "level", "words"),
    [
        ({}, "/r", "ok", "80.0 GB free, and the record grows by 0.1 MB a day: enough for 800,000 days"),
        ({"free": 100_000_000}, "/r", "wrong", "0.1 GB free"),
        ({"size": 40_000_000_000}, "/r", "warning", "the record grows by 4000.0 MB a day: enough for 20 days"),
        ({"days": 0.5}, "/r", "ok", "80.0 GB free"),
        ({"fsync_seconds": 0.25}, "commits", "warning", "took 250.0 ms: each card waits for it"),
        ({"fsync_seconds": None}, "commits", "not checked", "run the command as root"),
        ({"sqlite": (3, 34, 1)}, "SQLite 3.34.1", "wrong", "the record needs 3.37 or newer"),
        ({"options": frozenset({"OMIT_WAL"})}, "SQLite 3.40.1", "wrong", "it is compiled with OMIT_WAL"),
    ],
)  # fmt: skip
def test_the_disk(changes, what, level, words):
    facts = DiskFacts(**{**{name: getattr(SOUND, name) for name in DiskFacts.__slots__}, **changes})
    (found,) = [each for each in judged_disk(facts, "/r") if each.what == what]

    assert found.level == level
    assert words in found.how


RUNS = {"LoadState": "loaded", "ActiveState": "active", "Result": "success", "NRestarts": "0", "WatchdogUSec": "20s", "UnitFileState": "enabled"}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "level", "command"),
    [
        ({}, "ok", None),
        ({"LoadState": "not-found", "ActiveState": "inactive"}, "not checked", None),
        ({"ActiveState": "failed", "Result": "exit-code"}, "wrong", "systemctl restart punto@t"),
        ({"ActiveState": "inactive"}, "wrong", "systemctl enable --now punto@t"),
        ({"UnitFileState": "disabled"}, "warning", "systemctl enable punto@t"),
        ({"NRestarts": "9"}, "warning", "systemctl reset-failed punto@t"),
        ({"WatchdogUSec": "0"}, "warning", "cp systemd/punto@.service /etc/systemd/system/ && systemctl daemon-reload && systemctl restart punto@t"),
    ],
)  # fmt: skip
def test_a_unit(changes, level, command):
    found = judged_unit({**RUNS, **changes}, "punto@t")

    assert (found.level, found.command) == (level, command)


@pytest.mark.parametrize("changes", [{"ActiveState": "failed", "Result": "exit-code"}, {"NRestarts": "9"}])
def test_a_unit_that_fails_is_named_with_the_last_line_of_its_log(changes):
    last = "punto run: there is no group 'punto-operators' on this machine"

    assert last in judged_unit({**RUNS, **changes}, "punto@t", last).how
    assert "`journalctl -u punto@t` says why" in judged_unit({**RUNS, **changes}, "punto@t").how


STRANGER, SERVICE = Process(7, "nginx", "nginx.service"), Process(8, "punto", None)


@pytest.mark.parametrize(
    ("holder", "service", "level", "command"),
    [
        (None, None, "ok", None),
        (SERVICE, SERVICE, "ok", None),
        (STRANGER, None, "wrong", "systemctl stop nginx.service"),
        (STRANGER, SERVICE, "wrong", "systemctl stop nginx.service"),
        (None, SERVICE, "wrong", "kill 8"),
        (Process(0, "a program of another user", None), SERVICE, "not checked", None),
    ],
)
def test_the_port_of_the_consoles(holder, service, level, command):
    found = judged_address(8090, holder, service)

    assert (found.level, found.command) == (level, command)


@pytest.mark.parametrize(
    ("health", "level", "words"),
    [
        ({"live": True, "reason": None, "seen": "T", "refused": {}}, "ok", "it is live"),
        ({"live": False, "reason": "The display has no broker", "seen": None, "refused": {}}, "wrong", "it is not live: The display has no broker; last seen: never"),
        ({"live": True, "reason": None, "seen": "T", "refused": {"state": 3}}, "warning", "3 messages do not match this version"),
    ],
)  # fmt: skip
def test_the_tables_of_a_display(health, level, words):
    (found,) = displays.judged({"table-1": health}, "http://127.0.0.1:8080/healthz")

    assert found.level == level
    assert words in found.how


def test_a_display_that_does_not_answer_is_wrong():
    file = Path("/etc/punto-display/table-1.toml")
    screen = displays.Screen(file, "127.0.0.1", free_port(), ("table-1",), BrokerConfig())
    (found,) = displays.check(screen, frozenset())

    assert (found.level, found.command) == ("wrong", "systemctl restart punto-display@table-1")


@pytest.mark.parametrize(
    ("known", "command"),
    [
        ((), None),
        (("table-9",), None),
        (("table-1",), 'sed -i \'s/"table-9"/"table-1"/\' /d.toml'),
        (("studio", "vip"), "none"),
    ],
)
def test_a_display_of_a_table_that_is_not_here_is_named(known, command):
    found = [*displays.strangers(Path("/d.toml"), ("table-9",), frozenset(known))]

    assert [each.level for each in found] == ["warning"] * (command is not None)
    assert [each.command or "none" for each in found] == [command] * (command is not None)


@pytest.mark.parametrize(
    ("since", "until", "level"),
    [(-9, 90, "ok"), (-9, 29, "warning"), (-9, 0, "wrong"), (-9, -1, "wrong"), (1, 90, "wrong")],
)
def test_the_dates_of_a_certificate(since, until, level):
    now = datetime(2026, 3, 14, tzinfo=UTC)
    found = certificates.judged(Path("c.pem"), now + since * DAY, now + until * DAY, now, "make")

    assert found.level == level


def test_a_lock_belongs_to_its_holder_and_not_to_those_who_wait():
    locks = "1: FLOCK  ADVISORY  WRITE 12 00:1a:77 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 13 00:1a:77 0 EOF\n2: POSIX  ADVISORY  READ 14 00:1a:78 0 EOF\n"

    assert holders(locks, 77) == [12]
    assert holders(locks, 79) == []


def test_only_a_socket_that_listens_has_a_port():
    table = (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:1F9A 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1\n"
        "   1: 0100007F:1F9A 0100007F:D0F0 01 00000000:00000000 00:00000000 00000000     0        0 222 1\n"
    )

    assert listeners(table, 8090) == {"socket:[111]"}
    assert listeners(table, 8091) == set()


@pytest.mark.parametrize(
    ("groups", "unit"),
    [
        ("0::/system.slice/system-punto.slice/punto@table-1.service\n", "punto@table-1.service"),
        ("0::/system.slice/mosquitto.service\n", "mosquitto.service"),
        ("0::/user.slice/user-0.slice/session-1.scope\n", None),
        ("0::/user.slice/user-0.slice/user@0.service/app.slice/x.service\n", None),
    ],
)
def test_the_unit_of_a_process(groups, unit):
    assert unit_in(groups) == unit


def test_the_files_of_a_broker_are_those_of_its_folder_too(tmp_path):
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "a.conf").write_text("password_file /etc/mosquitto/own passwords\n")
    (tmp_path / "mosquitto.conf").write_text(
        f"acl_file /acl\n# password_file /no\ninclude_dir {tmp_path}/conf.d\n"
    )

    found = files_of(tmp_path / "mosquitto.conf")
    assert found == {"acl_file": Path("/acl"), "password_file": Path("/etc/mosquitto/own passwords")}


def test_a_check_that_fails_or_hangs_is_reported_and_holds_up_nothing():
    def fails() -> list[Finding]:
        raise ValueError("odd")

    def hangs() -> list[Finding]:
        import threading

        threading.Event().wait()
        return []

    fine = Finding("c", "ok", "w", "h")
    jobs = [
        Job("a", fails, 9),
        Job("b", hangs, 0.05),
        Job("c", lambda: [fine], 9, "table-1"),
        Job("d", list, 9),
    ]
    found = examine(jobs)

    assert [(each.check, each.level) for each in found] == [
        ("a", "not checked"),
        ("b", "not checked"),
        ("c", "ok"),
    ]
    assert [each.how for each in found[:2]] == [
        "the check failed: ValueError: odd",
        "it took longer than 0.05 s",
    ]
    assert found[2].table == "table-1"


def test_a_user_who_may_not_look_is_told_to_be_root():
    def refused() -> list[Finding]:
        raise PermissionError(13, "Permission denied", "/var/lib/punto/table-1")

    (found,) = examine([Job("record", refused, 9)])

    assert found.level == "not checked"
    assert found.how == "you may not look at /var/lib/punto/table-1: run the command as root"


def test_only_what_is_wrong_changes_the_status_and_a_command_is_given_once():
    warned, wrong = Finding("a", "warning", "w", "h", "x"), Finding("b", "wrong", "w", "h", "x")

    assert status_of([warned]) == 0
    assert status_of([warned, wrong]) == 1
    assert list(once([warned, wrong, wrong, Finding("c", "ok", "w", "h")])) == [
        wrong,
        Finding("c", "ok", "w", "h"),
    ]
    assert list(once([warned, warned])) == [warned]


def test_a_warning_about_a_path_that_is_wrong_is_left_out():
    wrong = Finding("keys", "wrong", "shoe.key_file /k", "the file does not exist", "punto device-key /k")
    same = Finding("configuration", "warning", "check-config", "shoe.key_file /k does not exist")
    other = Finding("configuration", "warning", "check-config", "shoe.key_file /k2 does not exist")

    assert list(once([same, other, wrong])) == [other, wrong]
