"""An address for monitoring, at loopback alone: `/metrics` for Prometheus, `/healthz` and `/readyz` for what starts the program.

It is read-only and has no player's data, so it asks nobody to sign on. It only reads what the program knows, when it is asked.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol

import structlog
from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from punto.runtime.metrics import Family, Sample
from punto.web.server import Server, address_of, listen

_HOST: Final = "127.0.0.1"

_log = structlog.get_logger("punto.web")


class Monitored(Protocol):
    """A program as monitoring sees it."""

    families: Mapping[str, Family]

    async def samples(self) -> Iterable[Sample]:
        """The present values."""

    def stuck(self) -> Mapping[str, str]:
        """The parts that make no progress, each with the reason: a restart may help."""

    def unready(self) -> Mapping[str, str]:
        """The parts that cannot do their work now, each with the reason."""


@asynccontextmanager
async def monitoring(port: int, program: Monitored) -> AsyncIterator[str]:
    """Serve the address of a program, which is given.

    Raises:
        ConfigError: the port cannot be listened on.
    """
    listener = listen(_HOST, port, "metrics.port")
    server = Server(application(program))
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="metrics")
    try:
        address = address_of(listener)
        _log.info("metrics open", address=f"{address}metrics")
        yield address
    finally:
        server.stop()
        await asyncio.wait([serving])
        listener.close()


def application(program: Monitored) -> Starlette:
    """The three pages."""

    async def metrics(request: Request) -> Response:
        registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=registry)
        registry.register(_Values([*_filled(program.families, await program.samples())]))
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"Content-Type": content_type})

    async def healthz(_: Request) -> Response:
        return _answer(program.stuck())

    async def readyz(_: Request) -> Response:
        return _answer(program.unready())

    return Starlette(
        routes=[Route("/metrics", metrics), Route("/healthz", healthz), Route("/readyz", readyz)],
        # Else a page of another site, whose name was made to mean this machine, could read the figures.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=[_HOST, "localhost"])],
    )


def _answer(faults: Mapping[str, str]) -> Response:
    return JSONResponse({"ok": not faults, "faults": dict(faults)}, 503 if faults else 200)


class _Values(Collector):
    """What was collected for one answer."""

    def __init__(self, values: Iterable[Metric]) -> None:
        self._values = values

    def collect(self) -> Iterable[Metric]:
        """All of it."""
        return self._values


def _filled(families: Mapping[str, Family], samples: Iterable[Sample]) -> Iterator[Metric]:
    """The families that have values."""
    kinds = {"gauge": GaugeMetricFamily, "counter": CounterMetricFamily, "histogram": HistogramMetricFamily}
    found: dict[str, Any] = {
        name: kinds[family.kind](name, family.about, labels=family.labels)
        for name, family in families.items()
    }
    for name, labels, value in samples:
        found[name].add_metric(labels, *value)
    return (each for each in found.values() if each.samples)
