"""A security key in software, as WebAuthn Level 3 describes its answers: for what no real key or browser would send.

key = SoftwareKey()
await key.register(browser)
answer = await key.approve(browser, number, "Eve")
"""

import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_bytes
from typing import Any
from urllib.parse import urlsplit

import cbor2
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256

from tests.consoles.consoles import PASSWORD, Answer, Browser

PRESENT, VERIFIED, ATTESTED = 1, 4, 64


@dataclass
class SoftwareKey:
    """A key; whatever a test sets here, it says of itself."""

    count: int = 1
    flags: int = PRESENT | VERIFIED
    origin: str | None = None
    host: str | None = None
    id: bytes = field(default_factory=lambda: token_bytes(32))
    secret: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))

    async def register(self, browser: Browser, password: str = PASSWORD) -> Answer:
        """Become the key of whoever is signed on; the answer is that which refused it, or the last."""
        asked = await browser.ask("POST", "/api/session/key-options", {"password": password})
        if asked.status != 200:
            return asked
        return await browser.ask(
            "POST", "/api/session/key", {"credential": self.created(browser, asked.json)}
        )

    async def approve(self, browser: Browser, number: int, name: str) -> Answer:
        """Approve an order in this name; the answer is that which refused it, or the last."""
        asked = await browser.ask("POST", f"/api/approvals/{number}/key-options", {"name": name})
        if asked.status != 200:
            return asked
        return await self.answer(browser, number, name, self.signed(browser, asked.json))

    @staticmethod
    async def answer(browser: Browser, number: int, name: str, credential: dict[str, Any]) -> Answer:
        """Send what the key has signed."""
        sent = {"name": name, "credential": credential}
        return await browser.ask("POST", f"/api/approvals/{number}/key", sent)

    @property
    def public(self) -> bytes:
        """Its public key, as COSE has it: ES256."""
        numbers = self.secret.public_key().public_numbers()
        x, y = (each.to_bytes(32, "big") for each in (numbers.x, numbers.y))
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})

    def created(self, browser: Browser, asked: dict[str, Any]) -> dict[str, Any]:
        """What it answers to options for a new credential."""
        attested = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + self.public
        data = self._data(browser, ATTESTED) + attested
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client(browser, "webauthn.create", asked["challenge"])
        return self._credential(clientDataJSON=client, attestationObject=attestation)

    def signed(self, browser: Browser, asked: dict[str, Any]) -> dict[str, Any]:
        """What it answers to options for approving."""
        self.count += 1 if self.count else 0
        data, client = self._data(browser), self._client(browser, "webauthn.get", asked["challenge"])
        signature = self.secret.sign(data + sha256(client).digest(), ECDSA(SHA256()))
        return self._credential(clientDataJSON=client, authenticatorData=data, signature=signature)

    def _data(self, browser: Browser, more: int = 0) -> bytes:
        host = self.host or urlsplit(browser.origin).hostname or ""
        return sha256(host.encode()).digest() + bytes([self.flags | more]) + self.count.to_bytes(4, "big")

    def _client(self, browser: Browser, kind: str, challenge: str) -> bytes:
        said = {"type": kind, "challenge": challenge, "origin": self.origin or browser.origin}
        return json.dumps(said).encode()

    def _credential(self, **response: bytes) -> dict[str, Any]:
        own = {name: encoded(value) for name, value in response.items()}
        id_ = encoded(self.id)
        return {"id": id_, "rawId": id_, "type": "public-key", "response": own, "clientExtensionResults": {}}


def encoded(raw: bytes) -> str:
    """Base64url without padding."""
    return urlsafe_b64encode(raw).decode().rstrip("=")
