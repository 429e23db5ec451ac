"""The display's web service: the i-Score, the progressive's sign, their files, and their live streams."""

import asyncio
import hashlib
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, get_args
from urllib.parse import urlencode

from sse_starlette import ServerSentEvent
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from punto.displays.board import Board, follow
from punto.displays.feed import Feed
from punto.displays.house import LOGO_ADDRESS
from punto.displays.options import DisplayOptions, PageOptions
from punto.displays.words import CATALOGS, Words, languages
from punto.web.answers import stream
from punto.web.markup import spoken
from punto.web.server import SHARED, Server, address_of, listen

STATIC: Final = Path(__file__).parent / "static"
FILMS: Final = {".mp4", ".webm"}
PING_SECONDS: Final = 2  # the page treats a stream as dead after a few of these without data


def digest_of_pages() -> str:
    """Names the files of the pages, so that a page finds out that it is of an earlier version and loads itself again."""
    own_files = sorted(
        path for folder in (STATIC, SHARED, CATALOGS) for path in folder.rglob("*") if path.is_file()
    )
    return hashlib.sha256(b"".join(path.read_bytes() for path in own_files)).hexdigest()[:16]


class Pages:
    """The answers to browsers, from the boards of the configured tables."""

    def __init__(self, options: PageOptions, boards: dict[str, Board], feed: Feed) -> None:
        self._options = options
        self._boards = boards
        self._feed = feed
        self._house = options.house_theme()
        self._made = digest_of_pages()
        self._catalogs = {language: CATALOGS / f"{language}.json" for language in languages()}

    def application(self) -> Starlette:
        """All addresses; a browser's input is only looked up, never made into a path."""
        origins = self._options.origins
        return Starlette(
            routes=[
                Route("/", self.first_page),
                Route("/split", self.several_tables),
                Route("/wall", self.several_tables),
                Route("/events", self.several_streams),
                Route("/tables", self.tables),
                Route("/tables/{table}/i-score", self.i_score),
                Route("/progressive", self.first_sign),
                Route("/tables/{table}/progressive", self.sign),
                Route("/tables/{table}/events", self.stream),
                Route("/settings.json", self.settings),
                Route("/catalog/{language}.json", self.catalog),
                Route("/theme.css", self.theme),
                Route(LOGO_ADDRESS, self.logo),
                Route("/theme/pictures/{number:int}", self.picture),
                Route("/healthz", self.healthz),
                Mount("/static", StaticFiles(directory=STATIC)),
                Mount("/shared", StaticFiles(directory=SHARED)),
            ],
            middleware=[Middleware(CORSMiddleware, allow_origins=origins)] if origins else [],
        )

    # --- the pages

    async def first_page(self, request: Request) -> Response:
        """Redirect to the table's i-Score, or to the wall of all tables."""
        first = next(iter(self._boards))
        return _onwards(
            "/wall" if len(self._boards) > 1 else f"/tables/{first}/i-score", request.query_params
        )

    async def i_score(self, request: Request) -> Response:
        """One table's i-Score."""
        self._board(request.path_params["table"])
        return self._page(request, "i-score.html")

    async def first_sign(self, request: Request) -> Response:
        """Redirect to the sign of the first table's progressive."""
        return _onwards(f"/tables/{next(iter(self._boards))}/progressive", request.query_params)

    async def sign(self, request: Request) -> Response:
        """The sign of one table's progressive."""
        self._board(request.path_params["table"])
        return self._page(request, "progressive.html")

    async def several_tables(self, request: Request) -> Response:
        """The page with the tables that its query names; without any, a redirect to it with the configured ones."""
        path = request.scope["path"]
        split = path == "/split"
        if "tables" not in request.query_params:
            tables = list(self._boards)[: 2 if split else None]
            return _onwards(path, {**request.query_params, "tables": ",".join(tables)})
        boards = self._named(request)
        if split and len(boards) != 2:
            raise HTTPException(400, "A split shows two tables: write /split?tables=a,b")
        return self._page(request, "i-score.html")

    def _page(self, request: Request, name: str) -> Response:
        """A page, if its query asks for a layout, theme and language that there are."""
        fields = PageOptions.model_fields
        choices = {
            "layout": get_args(fields["layout"].annotation),
            "theme": get_args(fields["theme"].annotation),
            "lang": self._catalogs,
        }
        for key, known in choices.items():
            if request.query_params.get(key, next(iter(known))) not in known:
                raise HTTPException(400, f"There is no such {key}: choose one of {', '.join(known)}")
        language = request.query_params.get("lang", self._options.lang)
        theme = request.query_params.get("theme", self._options.theme)
        page = (STATIC / name).read_text(encoding="utf-8")
        return HTMLResponse(spoken(page, Words(language), {"lang": language, "data-theme": theme}))

    # --- its streams

    async def stream(self, request: Request) -> Response:
        """One table's events."""
        return stream(_news(self._board(request.path_params["table"])), PING_SECONDS, self._made)

    async def several_streams(self, request: Request) -> Response:
        """The events of the tables that the query names, of all if it names none, with the table in their names.

        One stream for all, because a browser opens only six connections to a server.
        """
        boards = self._named(request) if "tables" in request.query_params else list(self._boards.values())
        return stream(_named_news(boards), PING_SECONDS, self._made)

    # --- the data for the pages

    async def tables(self, _: Request) -> Response:
        """The tables in the configuration's order, with their own names."""
        return JSONResponse(
            [
                {"id": table, "name": None if board.state is None else board.state.name}
                for table, board in self._boards.items()
            ]
        )

    async def settings(self, _: Request) -> Response:
        """The page's defaults, unless its query overrides them, the house's name, and which files the pages are made of."""
        return JSONResponse(
            {
                "layout": self._options.layout,
                "theme": self._options.theme,
                "lang": self._options.lang,
                "names": self._house.file.names,
                "tables": self._house.file.tables,
                "logo": None if self._house.logo is None else LOGO_ADDRESS,
                "pictures": [
                    {"address": f"/theme/pictures/{number}", "film": path.suffix.lower() in FILMS}
                    for number, path in enumerate(self._house.pictures)
                ],
                "picture_seconds": self._house.file.picture_seconds,
                "made": self._made,
            }
        )

    async def catalog(self, request: Request) -> Response:
        """The page's words in a language."""
        language = request.path_params["language"]
        if language not in self._catalogs:
            raise HTTPException(404, f"There is no such language: choose one of {', '.join(self._catalogs)}")
        return FileResponse(self._catalogs[language])

    async def theme(self, _: Request) -> Response:
        """The house's colours."""
        return Response(self._house.css(), media_type="text/css")

    async def logo(self, _: Request) -> Response:
        """The house's logo."""
        if self._house.logo is None:
            raise HTTPException(404, "The house has no logo")
        return Response(self._house.logo.picture, media_type=self._house.logo.media_type)

    async def picture(self, request: Request) -> Response:
        """A picture or film of the house, by its place in the folder."""
        number = request.path_params["number"]
        if number >= len(self._house.pictures):
            raise HTTPException(404, "The house has no such picture")
        return FileResponse(self._house.pictures[number])

    async def healthz(self, _: Request) -> Response:
        """Whether each table is live, why not, when it was last seen, and the number of its refused payloads."""
        return JSONResponse(
            {
                table: {
                    "live": board.live_seconds > 0,
                    "situation": board.situation,
                    "reason": None if board.live_seconds else board.reason,
                    "seen": board.seen,
                    "refused": self._feed.refused[table],
                }
                for table, board in self._boards.items()
            }
        )

    def _board(self, table: str) -> Board:
        if table not in self._boards:
            raise HTTPException(404, f"This display has no such table: it has {', '.join(self._boards)}")
        return self._boards[table]

    def _named(self, request: Request) -> list[Board]:
        return [self._board(table) for table in dict.fromkeys(request.query_params["tables"].split(","))]


def _onwards(path: str, query: Mapping[str, str]) -> Response:
    # An address on this server, whatever host the request names.
    return RedirectResponse(f"{path}?{urlencode(query, safe=',')}" if query else path)


async def _news(board: Board) -> AsyncIterator[ServerSentEvent]:
    async for _, name in follow(board):
        yield ServerSentEvent(event=name, data=board.json(name))


async def _named_news(boards: list[Board]) -> AsyncIterator[ServerSentEvent]:
    async for board, name in follow(*boards):
        yield ServerSentEvent(event=f"{board.table}/{name}", data=board.json(name))


async def serve(options: DisplayOptions, started: Callable[[str], None] | None = None) -> None:
    """Show the tables until cancelled; `started` receives the first page's address once browsers can open it.

    Raises:
        ConfigError: the server cannot listen on the address.
    """
    boards = {table: Board(table) for table in options.display.tables}
    feed = Feed(options.mqtt, boards.values())
    where, remedy = options.display, "choose another with --host and --port"
    with listen(where.host, where.port, remedy=remedy, reserved=where.reserved) as listener:
        pages = Pages(where, boards, feed).application()
        server = Server(pages, reserved=where.reserved, framed=True)
        if started is not None:
            started(address_of(listener))
        async with asyncio.TaskGroup() as group:
            group.create_task(feed.run())
            group.create_task(_run(server, listener, boards.values()))


async def _run(server: Server, listener: socket.socket, boards: Iterable[Board]) -> None:
    """Run the web server; when cancelled, end the streams first, so that it can stop in order."""
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    finally:
        for board in boards:
            board.close()
        server.stop()
        await serving
