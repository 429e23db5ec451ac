"""TLS of all servers and clients: version 1.2 or newer, and only ciphers with forward secrecy.

With forward secrecy, a person who records a connection cannot decrypt it later with a stolen key.
"""

import ssl
from pathlib import Path
from typing import Final

from punto.configs.given_files import check_given
from punto.configs.problems import ConfigError, Problem

_FORWARD_SECRECY: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"  # of TLS 1.2; all of 1.3 have it


def new_of(key: Path) -> Path:
    """The file of a new key, as long as `punto rotate` replaces a certificate and its key one after the other."""
    return key.with_name(f"{key.name}.new")


def server_tls(certificate: Path | None, key: Path | None, section: str) -> ssl.SSLContext | None:
    """The TLS of pages whose files are named in a `section` of the configuration; None if they have no certificate.

    If the key is not the certificate's, the new key beside it is tried, because `punto rotate` may have been interrupted.

    Raises:
        ConfigError: the files cannot be used.
    """
    if certificate is None or key is None:
        return None
    context = _strict(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    try:
        _load(context, certificate, key, section)
    except ConfigError:
        if not new_of(key).exists():
            raise
        _load(context, certificate, new_of(key), section)
    return context


def client_tls(authority: Path, certificate: Path | None, key: Path | None, section: str) -> ssl.SSLContext:
    """The TLS of a client that verifies the server by its authority, and shows its own certificate if it has one.

    Raises:
        ConfigError: the files cannot be used.
    """
    try:
        check_given(authority)
        context = _strict(ssl.create_default_context(cafile=authority))
    except OSError as error:  # ssl.SSLError is one
        message = f"{authority} cannot be used as the broker's authority ({error}): name a readable file in PEM form"
        raise ConfigError([Problem(message, key=f"{section}.ca_file")]) from error
    if certificate is not None and key is not None:
        _load(context, certificate, key, section)
    return context


def _strict(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_FORWARD_SECRECY)
    return context


def _load(context: ssl.SSLContext, certificate: Path, key: Path, section: str) -> None:
    try:
        for file in (certificate, key):
            check_given(file)
        context.load_cert_chain(certificate, key, password=lambda: "")
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        message = (
            f"{certificate} and {key} cannot be used ({error}): name readable files in PEM form, a "
            "certificate and its key without a passphrase"
        )
        raise ConfigError([Problem(message, key=f"{section}.certificate")]) from error
