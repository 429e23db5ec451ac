"""The demo's broker: on loopback, and only while the demo runs."""

import asyncio
import logging
from asyncio import StreamReader, StreamWriter

from amqtt.broker import Broker
from amqtt.session import Session

_LOG = logging.getLogger("amqtt.broker")


def _is_no_late_acknowledgement(record: logging.LogRecord) -> bool:
    """Whether to log it: amqtt waits five seconds for an acknowledgement, and then shows an error with its traceback.

    The message was sent before, so nothing is lost if the machine sleeps for a while or has much else to do.
    """
    return record.exc_info is None or not isinstance(record.exc_info[1], TimeoutError)


class DemoBroker(Broker):  # type: ignore[misc]  # amqtt comes without types
    """A broker that disconnects its clients when it is shut down, and sends them only what they subscribed to.

    At a shutdown, amqtt only cancels the tasks that read from clients, and waits for them. Before Python 3.12, a cancellation
    that comes together with a packet is lost (python/cpython 86296). A connected display could then delay the end of the demo.
    """

    def __init__(self, port: int) -> None:
        super().__init__(
            {
                "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
                "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
            }
        )
        self._clients: set[StreamWriter] = set()
        _LOG.addFilter(_is_no_late_acknowledgement)

    async def stream_connected(self, reader: StreamReader, writer: StreamWriter, listener_name: str) -> None:
        """Serve a client until either ends."""
        self._clients.add(writer)
        try:
            await super().stream_connected(reader, writer, listener_name)
        finally:
            self._clients.discard(writer)
            writer.transport.abort()  # amqtt leaves some connections open

    async def _publish_retained_messages_for_subscription(
        self, subscription: tuple[str, int], session: Session
    ) -> None:
        # amqtt also calls this at each connection, for the subscriptions of all clients. It then fails if another client
        # subscribes meanwhile.
        if any(of is session for of, _ in self._subscriptions.get(subscription[0], ())):
            await super()._publish_retained_messages_for_subscription(subscription, session)

    async def shutdown(self) -> None:
        """Disconnect all clients and stop."""
        for client in self._clients:
            client.transport.abort()
        await super().shutdown()
        await asyncio.sleep(0)  # lets the event loop close the connections
