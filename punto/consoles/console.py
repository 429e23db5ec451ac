"""The consoles' service: sessions, and the web server at the configured address."""

import asyncio
from pathlib import Path
from typing import Final

import structlog

from punto.baccarat.progressive.events import PrintWinPage
from punto.consoles.diagnostics import Doctor
from punto.consoles.guard import Guard
from punto.consoles.web import Parts, application
from punto.controller.accounts.gate import Gate
from punto.controller.accounts.refusals import AccountsError
from punto.controller.config.sections import ConsoleConfig, ProgressiveConfig
from punto.controller.engine import Engine
from punto.controller.orders.desk import Desk
from punto.reports.shift import Reports
from punto.reports.web import House
from punto.runtime import clock
from punto.runtime.pace import pages_of
from punto.runtime.tls import server_tls
from punto.web.server import Server, address_of, listen

_TEND_SECONDS: Final = 1
_PACE_SECONDS: Final = 10

_log = structlog.get_logger("punto.consoles")


class Console:
    """The consoles of one table. The constructor opens the address; `serve` serves it and closes it."""

    def __init__(
        self,
        config: ConsoleConfig,
        desk: Desk,
        gate: Gate,
        record: Path,
        progressive: ProgressiveConfig | None = None,
        doctor: Doctor | None = None,
    ) -> None:
        """Open certificate and address. `progressive` has the printer of slips, and `doctor` examines the PC.

        Raises:
            ConfigError: the certificate or the address cannot be used.
        """
        tls = server_tls(config.certificate, config.key, "console")
        self._listener = listen(config.host, config.port, "console.port", reserved=config.reserved)
        self._gate = gate
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._parts = Parts(
            desk=desk,
            gate=gate,
            reports=Reports(record),
            house=_house(desk.engine, record, progressive),
            notice=config.notice,
            sounds=config.sounds,
            lang=config.lang,
            port=self._listener.getsockname()[1],
            tls=tls is not None,
            doctor=doctor,
        )
        self._server = Server(
            Guard(application(self._parts), tls=tls is not None, failed=self._fail),
            tls=tls,
            reserved=config.reserved,
        )

    async def serve(self) -> None:
        """Serve until cancelled.

        Raises:
            RecordError: an order or a sign-on could not be recorded.
        """
        self._parts.desk.engine.watch(lambda *_: self._parts.changes.notify())
        serving = asyncio.create_task(self._server.serve(sockets=[self._listener]))
        _log.info("consoles open", address=address_of(self._listener, tls=self._parts.tls))
        tending = asyncio.create_task(self._tend())
        try:
            await asyncio.wait([serving, tending, self._failure], return_when=asyncio.FIRST_COMPLETED)
            for ended in (self._failure, tending, serving):
                if ended.done():
                    ended.result()
        finally:
            # The streams first, so that the server can end cleanly.
            self._parts.changes.close()
            self._server.stop()
            tending.cancel()
            await asyncio.wait([serving, tending])
            self.close()  # a server that is stopped before it has started leaves it open

    def close(self) -> None:
        """Close the port. `serve` does this too."""
        self._listener.close()

    def _fail(self, error: Exception) -> None:
        if not self._failure.done():
            self._failure.set_exception(error)

    async def _tend(self) -> None:
        """End the sessions that must end, and update the hands an hour."""
        last_round, looked, engine = -1, 0, self._parts.desk.engine
        while True:
            try:
                await self._gate.sweep()
            except AccountsError as error:
                _log.warning("accounts cannot be read", reason=str(error))
            looked += 1
            if engine.state.round.number != last_round or looked >= _PACE_SECONDS:
                last_round, looked = engine.state.round.number, 0
                self._parts.pace = await asyncio.to_thread(self._parts.reports.hands_an_hour, clock.now())
            await asyncio.sleep(_TEND_SECONDS)


def _house(engine: Engine, record: Path, config: ProgressiveConfig | None) -> House:
    async def record_print(print_: PrintWinPage) -> int:
        engine.pace.charge(pages_of(print_.who))  # each print is on the record
        (handled,) = await engine.submit([print_], f"operator {print_.who}")
        return handled.seq

    of = (record, lambda: engine.state, record_print)
    if config is None:
        return House(*of, engine.calendar)
    return House(*of, engine.calendar, config.slip_printer, config.slip_encoding)
