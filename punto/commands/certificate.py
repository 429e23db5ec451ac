"""A certificate for the consoles of one table, which signs itself: a browser trusts it after it was put among its authorities."""

import ipaddress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from punto.configs.given_files import read_given

LIFE: Final = timedelta(days=825)
"""What browsers accept at most."""
_SOON: Final = timedelta(days=30)
_EARLIER: Final = timedelta(hours=1)
"""The clock of a tablet can be behind."""
_LARGEST: Final = 1_000_000


class Made(NamedTuple):
    """A certificate and its key, in PEM form."""

    certificate: bytes
    key: bytes


def make(table: str, host: str, now: datetime, life: timedelta = LIFE) -> Made:
    """A certificate for this host, and for this PC itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    made = (
        x509.CertificateBuilder(_name(table), _name(table), key.public_key(), x509.random_serial_number())
        .not_valid_before(now - _EARLIER)
        .not_valid_after(now + life)
        .add_extension(
            x509.SubjectAlternativeName(
                [*map(_alternative, dict.fromkeys((host, "localhost", "127.0.0.1")))]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return Made(made.public_bytes(Encoding.PEM), pem)


def must_be_made(path: Path, key: Path, host: str, now: datetime) -> bool:
    """Whether there is no certificate, or one of ours that has another host or ends soon. A certificate of an authority stays."""
    if not path.exists() or not key.exists():
        return True
    there = x509.load_pem_x509_certificate(read_given(path, _LARGEST))
    if there.issuer != _name(path.stem):
        return False
    names = there.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return _alternative(host) not in list(names) or there.not_valid_after_utc < now + _SOON


def _name(table: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Punto {table}")])


def _alternative(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
