"""A secret that is sealed in a TPM 2.0: what is on the disk can be read only with the TPM that sealed it.

The secret is a sealed object below the TPM's own storage key, which the TPM derives again at each use from a seed that never leaves
it. The secret crosses the bus to the TPM encrypted (a session that is salted with the storage key).
"""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tpm2_pytss import ESAPI, ESYS_TR

SEALED: Final = b"sealed in a TPM 2.0, version 1\n"
"""The first line of a file with a sealed secret. The next two lines are the public and the private part, in base64."""


class TpmError(Exception):
    """The TPM or its package is not there, or the TPM did not seal this. The message says what to do."""


def seal(secret: bytes, tpm: str) -> bytes:
    """The content of a file from which only this TPM gives the secret, of at most 128 bytes.

    Raises:
        TpmError: there is no such TPM, or it refuses.
    """
    with _storage(tpm) as (context, parent, session):
        from tpm2_pytss import (  # noqa: PLC0415 - `_storage` says if it is missing
            TPM2B_PUBLIC,
            TPM2B_SENSITIVE_CREATE,
            TPM2B_SENSITIVE_DATA,
            TPMA_OBJECT,
            TPMS_SENSITIVE_CREATE,
        )

        # It cannot be moved to another TPM. It has no password: that would be on the same disk, and lock-outs would stop the signer.
        bound = TPMA_OBJECT.FIXEDTPM | TPMA_OBJECT.FIXEDPARENT | TPMA_OBJECT.USERWITHAUTH | TPMA_OBJECT.NODA
        template = TPM2B_PUBLIC.parse("keyedhash", objectAttributes=bound)
        data = TPM2B_SENSITIVE_CREATE(TPMS_SENSITIVE_CREATE(data=TPM2B_SENSITIVE_DATA(secret)))
        private, public, *_ = context.create(parent, data, template, session1=session)
        return SEALED + b"".join(b64encode(each.marshal()) + b"\n" for each in (public, private))


def unseal(content: bytes, tpm: str) -> bytes:
    """The secret in the content of a file that `seal` made.

    Raises:
        TpmError: there is no such TPM, or it did not seal this.
        ValueError: the content is not of `seal`.
    """
    public_text, private_text = content.removeprefix(SEALED).split()
    with _storage(tpm) as (context, parent, session), ExitStack() as loaded:
        from tpm2_pytss import TPM2B_PRIVATE, TPM2B_PUBLIC  # noqa: PLC0415 - as above

        public, _ = TPM2B_PUBLIC.unmarshal(b64decode(public_text, validate=True))
        private, _ = TPM2B_PRIVATE.unmarshal(b64decode(private_text, validate=True))
        item = context.load(parent, private, public, session1=session)
        loaded.callback(context.flush_context, item)
        return bytes(context.unseal(item, session1=session))


@contextmanager
def _storage(tpm: str) -> "Iterator[tuple[ESAPI, ESYS_TR, ESYS_TR]]":
    """A TPM with its storage key, and a session that encrypts what crosses the bus."""
    try:
        from tpm2_pytss import (  # noqa: PLC0415 - most signers have no TPM
            ESAPI,
            ESYS_TR,
            TPM2_ALG,
            TPM2_SE,
            TPMA_SESSION,
            TSS2_Exception,
        )
    except ImportError as error:
        raise TpmError(
            "the package tpm2-pytss is not installed: install it as docs/how-to/prove-the-record.md says"
        ) from error
    try:
        with ESAPI(tpm) as context, ExitStack() as loaded:
            parent, *_ = context.create_primary(None, "ecc")
            loaded.callback(context.flush_context, parent)
            session = context.start_auth_session(
                parent, ESYS_TR.NONE, TPM2_SE.HMAC, "aes128cfb", TPM2_ALG.SHA256
            )
            loaded.callback(context.flush_context, session)
            encrypted = TPMA_SESSION.ENCRYPT | TPMA_SESSION.DECRYPT | TPMA_SESSION.CONTINUESESSION
            context.trsess_set_attributes(session, encrypted)
            yield context, parent, session
    except TSS2_Exception as error:
        raise TpmError(f"the TPM {tpm} refuses: {error}") from error
