"""Reports to systemd that the service is ready, alive or stopping (sd_notify(3)). Without systemd it does nothing."""

import os
import socket

import structlog

_log = structlog.get_logger("punto.runtime")


def notify(message: str) -> None:
    """Send "READY=1", "WATCHDOG=1" or "STOPPING=1". If systemd does not receive it, the table continues."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as to_systemd:
        to_systemd.setblocking(False)
        try:
            to_systemd.connect(f"\0{address[1:]}" if address.startswith("@") else address)
            to_systemd.send(message.encode())
        except OSError as error:
            _log.warning("systemd not notified", message=message, reason=str(error))
