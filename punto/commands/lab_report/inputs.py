"""The files that belong into the report and are not of the program: a manifest of an installation, and a bill of materials."""

import hashlib
import os
from base64 import b64encode
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from punto.configs.faults import first_fault
from punto.configs.given_files import read_given
from punto.configs.text_file import TextError, bytes_of, text_of
from punto.controller import components
from punto.controller.signing import manifest

LARGEST: Final = 1 << 26
"""The most bytes of a file: the list of an installation has some megabytes."""

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class InputError(Exception):
    """A file that belongs into the report cannot be used. The message says what to do."""


class Part(BaseModel):
    """A part of the report."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Installation(Part):
    """A manifest of an installation, whose signature holds, and which has each file of this program."""

    files: int
    sha256: Digest
    """The SHA-256 of the file `manifest.sha256`, which has the SHA-256 of every installed file."""
    md5: str
    """The MD5 of the file `manifest.md5`, which has the MD5 of every installed file."""
    public_key: str
    """The public key (Ed25519) that signed the manifest, in base64."""
    fingerprint: Digest
    """The SHA-256 of the public key's 32 bytes."""


class Package(Part):
    """A package of the bill of materials."""

    name: str
    version: str


class Bill(Part):
    """A bill of materials in the form of CycloneDX."""

    sha256: Digest
    packages: list[Package]


def installation(folder: Path) -> Installation:
    """The manifest in this folder.

    Raises:
        InputError: a file is missing, the signature does not hold, or the manifest is of another program than this.
    """
    names = (manifest.SUM, manifest.SIGNATURE, manifest.PUBLIC, *manifest.SUMMED)
    try:
        files = {name: read_given(folder / name, LARGEST) for name in names}
    except OSError as error:
        raise InputError(f"{error.filename} cannot be read: {error.strerror}") from error
    summed = files[manifest.SUM]
    public = _signer(files[manifest.PUBLIC], files[manifest.SIGNATURE], summed)
    if public is None:
        raise InputError(f"the owner of {folder / manifest.PUBLIC} did not sign {folder / manifest.SUM}")
    lines = summed.decode("utf-8", "replace").splitlines()
    for name, line in zip_longest(manifest.SUMMED, lines):
        if name is None or line != f"{hashlib.sha256(files[name]).hexdigest()}  {name}":
            raise InputError(
                f"{folder / (name or manifest.SUM)} is not the one that was signed: make the manifest again"
            )
    sha256, md5 = files[manifest.SHA256], files[manifest.MD5]
    links = _links(files[manifest.ENTRIES])
    by_digest: dict[str, list[str]] = {}
    for line in os.fsdecode(sha256).splitlines():
        path = line[66:]
        by_digest.setdefault(line[:64], []).extend((path, *links.get(path, ())))
    for name, file in components.own_files().items():
        listed = by_digest.get(hashlib.sha256(file.read_bytes()).hexdigest(), ())
        if not any(path.endswith(f"/{name}") for path in listed):  # in any folder
            raise InputError(
                f"{folder / manifest.SHA256} is of another program: it does not have this program's {name}"
            )
    return Installation(
        files=len(md5.splitlines()),
        sha256=hashlib.sha256(sha256).hexdigest(),
        md5=hashlib.md5(md5, usedforsecurity=False).hexdigest(),
        public_key=b64encode(public).decode(),
        fingerprint=hashlib.sha256(public).hexdigest(),
    )


def _signer(pem: bytes, signature: bytes, signed: bytes) -> bytes | None:
    """The public key, 32 bytes, if its owner made the signature."""
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    try:
        key = load_pem_public_key(pem)
        if isinstance(key, Ed25519PublicKey):
            key.verify(signature, signed)
            return key.public_bytes_raw()
    except (ValueError, InvalidSignature):
        pass
    return None


def _links(entries: bytes) -> dict[str, list[str]]:
    """The links that lead to each path: in a checkout, pages of this report are links to the documents."""
    found: dict[str, list[str]] = {}
    for entry in os.fsdecode(entries).split("\0"):
        described, _, target = entry.partition("\t")
        if target:
            link = described.split(" ", 3)[-1]
            found.setdefault(os.path.normpath(Path(link).parent / target), []).append(link)
    return found


class _Document(BaseModel):
    """What is read of a bill of materials."""

    bomFormat: Literal["CycloneDX"]  # noqa: N815 - CycloneDX names it so
    components: list[dict[str, Any]]


def bill(file: Path) -> Bill:
    """The bill of materials in this file.

    Raises:
        InputError: the file cannot be read, or is not a bill of materials.
    """
    try:
        content = bytes_of(file)
        found = _Document.model_validate_json(text_of(content))
        packages = [Package(name=each["name"], version=each["version"]) for each in found.components]
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise InputError(f"{file} is not a bill of materials of CycloneDX: {first_fault(error)}") from error
    except TextError as error:
        raise InputError(f"{file}: {error}") from error
    except KeyError as error:
        raise InputError(f"{file} has a component without {error}") from error
    return Bill(sha256=hashlib.sha256(content).hexdigest(), packages=packages)
