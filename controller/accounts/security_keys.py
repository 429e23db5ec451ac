"""Security keys: the options for a browser, and the verification of a key's answer, by WebAuthn (W3C, Level 3).

Every key must verify its owner by PIN or fingerprint (user verification). It is therefore two factors, which is safer than
a password typed at another person's page. The key itself stores the account for which it signs (a discoverable
credential). The options therefore do not depend on the name, and disclose nothing about an account.

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
    """A key's answer: a credential as browsers write it in JSON, for this challenge at the page of this origin."""

    credential: dict[str, Any]
    challenge: bytes
    origin: str


class WrongKeyError(Exception):
    """The credential is invalid; the message is the library's."""


def to_add(name: str, whose: str, challenge: bytes, origin: str) -> str:
    """The options to add a new key, in JSON for the browser. A key keeps one credential for each `whose`."""
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
    """A new key, and its sign count; raises WrongKeyError if the credential is not for this challenge and page."""
    found = _verified("verify_registration_response", given)
    encoded = _library().helpers.bytes_to_base64url
    return SecurityKey(
        encoded(found.credential_id), encoded(found.credential_public_key), now
    ), found.sign_count


def to_approve(challenge: bytes, origin: str) -> str:
    """The options to approve with a second person's key, in JSON for the browser."""
    library = _library()
    required = library.helpers.structs.UserVerificationRequirement.REQUIRED
    options = library.generate_authentication_options(
        rp_id=_host(origin), challenge=challenge, user_verification=required
    )
    return str(library.options_to_json(options))


def sign_count(key: SecurityKey, given: Signed) -> int:
    """The key's own count of its signatures; 0 for a key that does not count.

    Raises:
        WrongKeyError: this key did not sign this challenge at this page.
    """
    if given.credential.get("id") != key.credential:
        raise WrongKeyError("this is not the security key of the account")
    public_key = _library().helpers.base64url_to_bytes(key.public_key)
    # Here the count is compared with 0: the accounts compare it with the last count and store it in one step.
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
    # The bytes come from outside: no exception of the library may end the service.
    except Exception as error:
        raise WrongKeyError(str(error)) from error


def _host(origin: str) -> str:
    return origin.partition("//")[2].partition(":")[0] or "no host"


def _library() -> ModuleType:
    try:
        import webauthn  # noqa: PLC0415 - see above
    except ImportError as error:
        raise RefusalError(
            503,
            "no_security_keys",
            "security keys need the package webauthn, which is not installed: install punto[console]",
        ) from error
    return webauthn
