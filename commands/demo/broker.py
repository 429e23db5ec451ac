"""The demo's own broker: loopback, for the demo alone, and gone with it."""

import asyncio
from asyncio import StreamReader, StreamWriter

from amqtt.broker import Broker


class DemoBroker(Broker):  # type: ignore[misc]  # amqtt comes without types
    """A broker that cuts its clients off when it is shut down.

    amqtt only cancels what reads from them, waits for that, and before Python 3.12 a cancellation is lost that comes with
    a packet (python/cpython 86296): a display that was still attached would then hold the demo up for as long as it stayed.
    """

    def __init__(self, port: int) -> None:
        super().__init__(
            {
                "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
                "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
            }
        )
        self._clients: set[StreamWriter] = set()

    async def stream_connected(self, reader: StreamReader, writer: StreamWriter, listener_name: str) -> None:
        """Serve a client until either ends."""
        self._clients.add(writer)
        try:
            await super().stream_connected(reader, writer, listener_name)
        finally:
            self._clients.discard(writer)
            writer.transport.abort()  # amqtt leaves some open

    async def shutdown(self) -> None:
        """Stop, whoever is attached."""
        for client in self._clients:
            client.transport.abort()
        await super().shutdown()
        await asyncio.sleep(0)  # the loop closes what was cut off
