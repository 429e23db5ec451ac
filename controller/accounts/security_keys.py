"""Security keys: what a browser asks of a key, and whether the key's answer is right, by WebAuthn (W3C, Level 3).

Every key must know its owner by PIN or fingerprint (user verification): so it is something they have and something they
know or are, while a password alone is typed at another person's page. The key itself keeps for whom it signs (a
discoverable credential): so what a browser is asked does not depend on the name, and shows nothing of an account.

The library takes 0.2 s and 25 MB to load. It is loaded when a key is first used; call these functions in a thread.
"""

from hashlib import sha256
from types import ModuleType
from typing import Any, Final, NamedTuple

from punto.controller.accounts.refusals import RefusalError

_NAME: Final = "Punto"
CHALLENGE_BYTES: Final = 32


class SecurityKey(NamedTuple):
    """A person's key: its credential and public key in base64url, and when it was added, in UTC."""

    credential: str
    public_key: str
    added: str


class Signed(NamedTuple):
    """What a key signed: a credential as browsers write it in JSON, for this challenge at the page of this origin."""

    credential: dict[str, Any]
    challenge: bytes
    origin: str


class WrongKeyError(Exception):
    """The credential is not right; the message is the library's."""


def to_add(name: str, whose: str, challenge: bytes, origin: str) -> str:
    """What a browser asks of a new key, in JSON. A key keeps one credential for each `whose`."""
    library = _library()
    structs = library.helpers.structs
    options = library.generate_registration_options(
        rp_id=_host(origin),
        rp_name=_NAME,
        user_name=name,
        user_id=sha256(whose.encode()).digest(),
        challenge=challenge,
        authenticator_selection=structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        ),
    )
    return str(library.options_to_json(options))


def added(given: Signed, now: str) -> tuple[SecurityKey, int]:
    """A new key, and its sign count.

    Raises:
        WrongKeyError: the credential is not one for this challenge and page.
    """
    found = _verified("verify_registration_response", given)
    encoded = _library().helpers.bytes_to_base64url
    return SecurityKey(
        encoded(found.credential_id), encoded(found.credential_public_key), now
    ), found.sign_count


def to_approve(challenge: bytes, origin: str) -> str:
    """What a browser asks of a second person's key, in JSON."""
    library = _library()
    required = library.helpers.structs.UserVerificationRequirement.REQUIRED
    options = library.generate_authentication_options(
        rp_id=_host(origin), challenge=challenge, user_verification=required
    )
    return str(library.options_to_json(options))


def sign_count(key: SecurityKey, given: Signed) -> int:
    """How often the key has signed, by its own count; 0 for a key that does not count.

    Raises:
        WrongKeyError: this key did not sign this challenge at this page.
    """
    if given.credential.get("id") != key.credential:
        raise WrongKeyError("the credential is another")
    public_key = _library().helpers.base64url_to_bytes(key.public_key)
    # Held against 0 here: the accounts hold it against the last one, and take the new one, in one step.
    found = _verified(
        "verify_authentication_response",
        given,
        credential_public_key=public_key,
        credential_current_sign_count=0,
    )
    return int(found.new_sign_count)


def _verified(function: str, given: Signed, **own: Any) -> Any:
    verify = getattr(_library(), function)
    try:
        return verify(
            credential=given.credential,
            expected_challenge=given.challenge,
            expected_rp_id=_host(given.origin),
            expected_origin=given.origin,
            require_user_verification=True,
            **own,
        )
    # Whatever the library makes of a stranger's bytes: it must not end the service.
    except Exception as error:
        raise WrongKeyError(str(error)) from error


def _host(origin: str) -> str:
    return origin.partition("//")[2].partition(":")[0] or "no host"


def _library() -> ModuleType:
    try:
        import webauthn  # noqa: PLC0415 - see above
    except ImportError as error:
        raise RefusalError(
            503, "no_security_keys", "security keys need the package webauthn: pip install 'punto[console]'"
        ) from error
    return webauthn
