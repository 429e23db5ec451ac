"""`punto setup --web`: the questions on a page, for the one browser that opens the address with its token first.

The page shows what `Progress` says, and a person there answers as at a terminal: the setup runs in a thread of its own, and waits for
the page where it would wait for a key of the terminal. The address's token is in its fragment, which no browser sends or logs; the page
changes it for a session, once. The session is no cookie, because a browser gives cookies to every port of a host.
"""

import asyncio
import hashlib
import secrets
import ssl
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from socket import gethostname
from typing import Any, Final, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from punto.commands.certificate import make
from punto.commands.key_words import modules_of, words_of
from punto.commands.setup.answers import Answers
from punto.commands.setup.found import Finder, addresses
from punto.commands.setup.machine import SetupError
from punto.commands.setup.questions import CATALOGS, Form, Found, form
from punto.commands.setup.setting_up import set_up
from punto.commands.signals import until_stopped
from punto.configs.faults import first_fault
from punto.configs.problems import ConfigError
from punto.configs.text_file import TextError
from punto.consoles.guard import Guard
from punto.runtime.made_files import OWN, write_file
from punto.runtime.tls import server_tls
from punto.web.answers import json_of
from punto.web.markup import spoken
from punto.web.server import SHARED, Server, address_of, listen

PAGES: Final = Path(__file__).parent / "pages"
Language = Literal["en", "zh-Hans", "zh-Hant"]
LOOK_SECONDS: Final = 2.0
"""The pause between two looks for devices."""
HOLD_SECONDS: Final = 20.0
"""How long the page's question for something new is held."""
IDLE_SECONDS: Final = 3600.0
"""The command ends if no page has asked for anything for so long."""
CLOSED_SECONDS: Final = 60.0
"""The same after the end: the page asks more often, so it is closed."""
_LOOPBACK: Final = {"127.0.0.1", "localhost", "::1"}
_ENDED: Final = "the setup was ended: run the command again"


class Prompt(BaseModel):
    """What the setup waits for. `secret` is a random password, or a device's key, which has words and a QR code too."""

    number: int
    kind: Literal["password", "random_password", "key", "test"]
    name: str = ""
    secret: str = ""
    words: Sequence[str] = ()
    modules: Sequence[Sequence[bool]] = ()


class Progress(BaseModel):
    """How far the setup is. Each change has the next number. `looked` is false until the PC's devices are known.

    `name` and `rows` are those of the page for the pit, at the end.
    """

    number: int = 0
    stage: Literal["questions", "working", "done"] = "questions"
    looked: bool = False
    lines: Sequence[str] = ()
    prompt: Prompt | None = None
    fault: str = ""
    name: str = ""
    rows: Mapping[str, str] = {}


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Token(_Sent):
    """The token of the address."""

    token: str


class Texts(_Sent):
    """The texts that a person has given, by question."""

    texts: dict[str, str]


class Reply(_Sent):
    """The answer to a prompt."""

    number: int
    text: str


class Visit:
    """The setup as the page sees it, and the person at the page as the setup sees them."""

    def __init__(self, known: Answers, root: Path | None, *, rehearsal: bool) -> None:
        self.known = known
        self.progress = Progress()
        self.found = Found()
        self.ended = asyncio.Event()
        self._root = root
        self._rehearsal = rehearsal
        self._loop = asyncio.get_running_loop()
        self.failure = self._loop.create_future()
        self._changed = asyncio.Event()
        self._replies = SimpleQueue[str | None]()
        self._finder = Finder()
        self._at_ports = asyncio.Lock()
        self._working: threading.Thread | None = None
        self._prompts = 0
        self._over = False

    # --- for the page

    async def news(self, after: int) -> Progress:
        """The progress, as soon as it is another than number `after`, or unchanged after a while."""
        if self.progress.number == after and not self._over:
            with suppress(TimeoutError):
                async with asyncio.timeout(HOLD_SECONDS):
                    await self._changed.wait()
        return self.progress

    def form(self, texts: Mapping[str, str]) -> Form:
        """The questions with these texts."""
        return form(texts, self.known, self.found)

    async def follow_devices(self) -> None:
        """Look for devices as long as there are questions."""
        while True:
            await self.look(self._finder.look)
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self, looking: Callable[[], Any] | None = None) -> None:
        """Look for devices; those that nobody knows are asked again unless another way to look is given."""
        async with self._at_ports:
            if self.progress.stage != "questions":
                return
            ports = await asyncio.to_thread(looking or self._finder.look_again)
            found = Found(ports, [*addresses()])
        if found != self.found or not self.progress.looked:
            self.found = found
            self._publish(looked=True)

    async def begin(self, answers: Answers) -> None:
        """Begin to set up, when no device is being asked."""
        async with self._at_ports:
            if self.progress.stage == "questions":
                self.known = answers
                self._publish(stage="working", lines=(), fault="")
                self._working = threading.Thread(target=self._work, args=(answers,), name="setup")
                self._working.start()

    def reply(self, reply: Reply) -> None:
        """Take the answer to the prompt that is shown; another one is of a page that was late."""
        prompt = self.progress.prompt
        if prompt is not None and prompt.number == reply.number:
            self._publish(prompt=None)
            self._replies.put(reply.text)

    async def end(self) -> None:
        """End the setup, at the next prompt if it is at work, and answer the page that waits for news."""
        if self._working is not None:
            self._replies.put(None)
            await asyncio.to_thread(self._working.join)
        self._over = True
        self._publish()

    def _publish(self, **changes: Any) -> None:
        number = self.progress.number + 1
        self.progress = self.progress.model_copy(update={**changes, "number": number})
        before, self._changed = self._changed, asyncio.Event()
        before.set()

    def fail(self, error: Exception) -> None:
        """End the command with this error."""
        if not self.failure.done():
            self.failure.set_exception(error)

    # --- for the setup, in its thread

    def _work(self, answers: Answers) -> None:
        try:
            rows = set_up(answers, self._root, self, rehearsal=self._rehearsal)
        except (ConfigError, SetupError, TextError) as error:
            self._tell(stage="questions", prompt=None, fault=str(error))
        except OSError as error:
            self._tell(stage="questions", prompt=None, fault=f"{error.filename}: {error.strerror}")
        except Exception as error:  # noqa: BLE001 - it ends the command, which would wait for this thread for ever
            self._loop.call_soon_threadsafe(self.fail, error)
        else:
            self._tell(stage="done", name=answers.name, rows=rows)

    def _tell(self, **changes: Any) -> None:
        self._loop.call_soon_threadsafe(lambda: self._publish(**changes))

    def _asked(self, kind: str, **values: Any) -> str:
        self._prompts += 1
        self._tell(prompt=Prompt.model_validate({"number": self._prompts, "kind": kind, **values}))
        given = self._replies.get()
        if given is None:
            raise SetupError(_ENDED)
        return given

    def show(self, text: str) -> None:
        """Show a line, also in the terminal in which the command runs."""
        print(text, flush=True)
        self._loop.call_soon_threadsafe(lambda: self._publish(lines=(*self.progress.lines, text)))

    def password(self, name: str) -> str | None:
        """The password of a new account, None if a random one is wanted."""
        return self._asked("password", name=name) or None

    def random_password(self, name: str, password: str) -> None:
        """Show the random password of a new account until it is written down."""
        self._asked("random_password", name=name, secret=password)

    def key(self, device: str, digits: str) -> None:
        """Show a device's key as digits, words and a QR code, until it is in the device."""
        self._asked("key", name=device, secret=digits, words=words_of(digits), modules=modules_of(digits))

    def test_again(self) -> bool:
        """Whether to test again, after something was wrong."""
        return self._asked("test") == "again"


class Doors:
    """The addresses of the page, and who may use them."""

    def __init__(self, visit: Visit) -> None:
        self.token = secrets.token_urlsafe(24)
        self.seen = asyncio.get_running_loop().time()
        self._visit = visit
        self._session: str | None = None

    def application(self) -> Starlette:
        """All addresses."""
        return Starlette(
            routes=[
                Route("/", self.page),
                Route("/api/session", self.session, methods=["POST"]),
                Route("/api/progress", self.news),
                Route("/api/questions", self.questions, methods=["POST"]),
                Route("/api/answers", self.answers, methods=["POST"]),
                Route("/api/look", self.look, methods=["POST"]),
                Route("/api/reply", self.reply, methods=["POST"]),
                Route("/api/end", self.end, methods=["POST"]),
                Mount("/catalog", StaticFiles(directory=CATALOGS)),
                Mount("/static", StaticFiles(directory=PAGES)),
                Mount("/shared", StaticFiles(directory=SHARED)),
            ]
        )

    async def page(self, request: Request) -> Response:
        """The page, in the language of the address or of the browser. It has nothing of this PC."""
        wanted = [
            request.query_params.get("lang", ""),
            *_languages(request.headers.get("accept-language", "")),
        ]
        lang = next((each for each in wanted if each in get_args(Language)), "en")
        text = (PAGES / "setup.html").read_text(encoding="utf-8")
        return HTMLResponse(spoken(text, lambda _: "", {"lang": lang}))

    async def session(self, request: Request) -> Response:
        """Begin the session with the address's token, which nobody can use again."""
        sent = await _read(request, Token)
        if not secrets.compare_digest(sent.token.encode(), self.token.encode()) or self._session is not None:
            raise HTTPException(401)
        self._session = secrets.token_urlsafe(24)
        return JSONResponse({"session": self._session, "table": self._visit.known.table})

    async def news(self, request: Request) -> Response:
        """The progress, when it is another than the page has."""
        self._let_in(request)
        after = request.query_params.get("after", "")
        return json_of(await self._visit.news(int(after) if after.isdecimal() else -1))

    async def questions(self, request: Request) -> Response:
        """The questions with these texts, and what is wrong with them."""
        self._let_in(request)
        return json_of(self._visit.form((await _read(request, Texts)).texts))

    async def answers(self, request: Request) -> Response:
        """The same; and if nothing is wrong, the setup begins."""
        self._let_in(request)
        form_ = self._visit.form((await _read(request, Texts)).texts)
        if form_.answers is not None:
            await self._visit.begin(form_.answers)
        return json_of(form_)

    async def look(self, request: Request) -> Response:
        """Ask the devices again that did not introduce themselves."""
        self._let_in(request)
        await self._visit.look()
        return Response(status_code=204)

    async def reply(self, request: Request) -> Response:
        """The answer to a prompt."""
        self._let_in(request)
        self._visit.reply(await _read(request, Reply))
        return Response(status_code=204)

    async def end(self, request: Request) -> Response:
        """The person has seen the end."""
        self._let_in(request)
        if self._visit.progress.stage == "done":
            self._visit.ended.set()
        return Response(status_code=204)

    def _let_in(self, request: Request) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._session is None or not secrets.compare_digest(given.encode(), self._session.encode()):
            raise HTTPException(401)
        self.seen = asyncio.get_running_loop().time()


def _languages(accepted: str) -> list[str]:
    """The catalogues' names for the languages of a browser, the most wanted first."""
    found = []
    for each in accepted.split(","):
        code = each.partition(";")[0].strip().lower()
        traditional = code.startswith(("zh-hant", "zh-tw", "zh-hk", "zh-mo"))
        found.append("zh-Hant" if traditional else "zh-Hans" if code.startswith("zh") else code[:2])
    return found


_Kind = TypeVar("_Kind", bound=_Sent)


async def _read(request: Request, kind: type[_Kind]) -> _Kind:
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise HTTPException(422, first_fault(error)) from None


def serve(known: Answers, root: Path | None, host: str, port: int, *, rehearsal: bool) -> bool:
    """Serve the page until the setup is done, and return whether it is.

    Raises:
        ConfigError: the address cannot be listened on.
    """

    async def visited() -> bool:
        visit = Visit(known, root, rehearsal=rehearsal)
        await until_stopped(_serve(visit, host, port))
        return visit.progress.stage == "done"

    return asyncio.run(visited())


async def _serve(visit: Visit, host: str, port: int) -> None:
    doors = Doors(visit)
    tls, fingerprint = (None, "") if host in _LOOPBACK else _new_tls(host)

    with listen(host, port, remedy="name another with --port") as listener:
        server = Server(Guard(doors.application(), tls=tls is not None, failed=visit.fail), tls=tls)
        print(
            _how_to_open(f"{address_of(listener, tls=tls is not None)}#{doors.token}", fingerprint),
            flush=True,
        )
        tasks = [
            asyncio.create_task(each)
            for each in (
                server.serve(sockets=[listener]), visit.follow_devices(), visit.ended.wait(), _idle(visit, doors)
            )
        ]  # fmt: skip
        try:
            done, _ = await asyncio.wait([visit.failure, *tasks], return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        finally:
            await visit.end()
            server.stop()
            for each in tasks[1:]:
                each.cancel()
            await asyncio.wait(tasks)


async def _idle(visit: Visit, doors: Doors) -> None:
    """Return when no page has asked for anything for long; after the end, soon."""
    left = IDLE_SECONDS
    while left > 0:
        await asyncio.sleep(min(left, HOLD_SECONDS))
        limit = CLOSED_SECONDS if visit.progress.stage == "done" else IDLE_SECONDS
        left = doors.seen + limit - asyncio.get_running_loop().time()


def _new_tls(host: str) -> tuple[ssl.SSLContext | None, str]:
    """TLS with a certificate that only this process knows, and the certificate's fingerprint."""
    made = make("setup", host, datetime.now(UTC))
    with tempfile.TemporaryDirectory(prefix="punto-setup-") as folder:
        certificate, key = Path(folder, "setup.pem"), Path(folder, "setup.key")
        write_file(certificate, made.certificate, OWN)
        write_file(key, made.key, OWN)
        tls = server_tls(certificate, key, "setup")
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(made.certificate.decode())).digest()
    return tls, digest.hex(":").upper()


def _how_to_open(address: str, fingerprint: str) -> str:
    if fingerprint:
        return (
            f"Open this address in a browser; it works once:\n    {address}\nThe browser warns of a certificate that it does not know. "
            f"Go on only if the SHA-256 fingerprint of the certificate is:\n    {fingerprint}"
        )
    port = urlsplit(address).port
    return (
        f"Open this address in a browser on this PC; it works once:\n    {address}\n"
        f"For a browser on another PC, first run there: ssh -L {port}:127.0.0.1:{port} root@{gethostname()}"
    )
