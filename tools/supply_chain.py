"""What Punto is made of: a bill of materials, the licences, and known weaknesses.

    python -m tools.supply_chain bill FILE       # a CycloneDX bill of materials (SBOM) of table.lock
    python -m tools.supply_chain audit           # table.lock, by the advisories in the folder PUNTO_ADVISORIES

`PUNTO_ADVISORIES` is a local copy of a database in the OSV format, such as the PyPA's advisory database. Nothing here uses the network.

`uv export --format cyclonedx1.5` and `uv audit` do not replace it. Both read a `uv.lock`, which names an address for each file, and
`uv audit` asks a server about each package. A bill of uv's has no licences, and another number and time whenever it is made.
"""

import json
import os
import re
import runpy
import sys
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from tools.lock_is_current import LOCKS

ROOT: Final = Path(__file__).parents[1]
LOCK: Final = ROOT / "locks" / "table.lock"
ADVISORIES: Final = "PUNTO_ADVISORIES"
ALLOWED: Final = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU"),
        *("PSF-2.0", "Zlib", "Apache-2.0 WITH LLVM-exception"),
        # They allow a program of any licence to use the unchanged library, and Punto changes none.
        *("LGPL-3.0-only", "MPL-2.0"),
    }
)
"""The licences that a package may have which Punto needs when it runs."""
_NAMES: Final = {
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""What packages write in place of an SPDX name."""
_READ: Final = {
    "aiomqtt": "BSD-3-Clause",
    "contourpy": "BSD-3-Clause",
    "cycler": "BSD-3-Clause",
    "kiwisolver": "BSD-3-Clause",
    "numba": "BSD-2-Clause",
    "pyasn1-modules": "BSD-2-Clause",
    "pyserial": "BSD-3-Clause",
    "segno": "BSD-3-Clause",
}
"""Packages whose metadata only says "BSD", with what their licence's text is."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package of a lock file: its version, and the SHA-256 of each file that may be installed."""

    name: str
    version: str
    hashes: tuple[str, ...]

    @property
    def purl(self) -> str:
        """Its package URL, by which bills and advisories name it."""
        return f"pkg:pypi/{self.name}@{self.version}"


def main(arguments: list[str]) -> int:
    """Do one of the two."""
    match arguments:
        case ["bill", file]:
            version = str(runpy.run_path(str(ROOT / "punto" / "version.py"))["__version__"])
            write_bill(Path(file), version, int(datetime.now(UTC).timestamp()))
        case ["audit"]:
            return audit()
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    return 0


def locked(lock: str) -> list[Package]:
    """The packages of a lock file."""
    blocks = re.split(r"^(?=\S)", lock, flags=re.MULTILINE)
    found = []
    for block in filter(None, blocks):
        name, version = re.match(r"([\w.-]+)==([\w.!+-]+)", block).groups()  # type: ignore[union-attr]  # pip wrote it
        found.append(
            Package(canonicalize_name(name), version, tuple(re.findall(r"sha256:([0-9a-f]{64})", block)))
        )
    return found


# --- licences


def licence_of(name: str) -> str:
    """The licence of an installed package as an SPDX expression; empty if it cannot be read from its metadata."""
    if name in _READ:
        return _READ[name]
    about = metadata.metadata(name).json
    written = str(about.get("license_expression") or about.get("license") or "")
    if written in _NAMES:
        return _NAMES[written]
    if 0 < len(written) < 80:
        return written
    listed = [each.split(" :: ")[-1] for each in about.get("classifier", ()) if each.startswith("License ::")]
    return " OR ".join(_NAMES.get(each, "") for each in listed)


def allowed(expression: str) -> bool:
    """Whether an SPDX expression, without parentheses, leaves a choice of allowed licences alone."""
    return any(
        all(licence in ALLOWED for licence in choice.split(" AND ")) for choice in expression.split(" OR ")
    )


@cache
def needs(name: str, extras: frozenset[str] = frozenset()) -> tuple[tuple[str, frozenset[str]], ...]:
    """What an installed package needs on this machine, each with its extras."""
    found = map(Requirement, metadata.requires(name) or ())
    return tuple(
        (canonicalize_name(each.name), frozenset(each.extras))
        for each in found
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    )


def runtime_packages() -> list[str]:
    """The packages that Punto needs with any of its extras, and those of table.lock."""
    every = frozenset(map(str, metadata.metadata("punto").get_all("Provides-Extra", [])))
    waiting, seen = [("punto", every)], set()
    while waiting:
        if (each := waiting.pop()) not in seen:
            seen.add(each)
            waiting += needs(*each)
    on_a_table = {each.name for each in locked(LOCK.read_text(encoding="utf-8"))}
    return sorted({name for name, _ in seen} - {"punto"} | on_a_table)


# --- the bill of materials


def write_bill(file: Path, version: str, time: int) -> None:
    """Write the bill of table.lock; `time` is in Unix seconds."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(bill(LOCK.read_text(encoding="utf-8"), version, time), indent=1, sort_keys=True)
    file.write_text(f"{text}\n", encoding="utf-8")


def bill(lock: str, version: str, time: int) -> dict[str, Any]:
    """A CycloneDX 1.6 document of the packages in a lock file: the same bytes for the same lock, version and time."""
    packages = locked(lock)
    purls = {each.name: each.purl for each in packages}
    own = Package("punto", version, ())
    extras = frozenset(LOCKS[LOCK.relative_to(ROOT)])
    depends = [(own.purl, needs("punto", extras))]
    depends += [(each.purl, needs(each.name)) for each in packages]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{own.purl} {time} {lock}')}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {**_component(own), "type": "application", "bom-ref": own.purl},
        },
        "components": [_component(each) for each in packages],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted({purls[name] for name, _ in needed if name in purls})}
            for ref, needed in depends
        ],
    }


def _component(package: Package) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        "licenses": [{"expression": licence_of(package.name)}],
    }
    if package.hashes:  # one for each file of the package, of which a machine installs one
        hashes = [{"alg": "SHA-256", "content": each} for each in package.hashes]
        found["externalReferences"] = [{"type": "distribution", "url": package.purl, "hashes": hashes}]
    return found


# --- known weaknesses


def audit() -> int:
    """Report the known weaknesses of table.lock; 1 if there are some. Without advisories it says that nothing was audited."""
    folder = os.environ.get(ADVISORIES)
    if not folder:
        print(f"not audited: set {ADVISORIES} to a folder with advisories in the OSV format")
        return 0
    packages = locked(LOCK.read_text(encoding="utf-8"))
    advisories = list(advisories_in(Path(folder)))
    if not advisories:
        print(
            f"not audited: {folder} has no advisories of PyPI in the OSV format (.json, .yaml)",
            file=sys.stderr,
        )
        return 1
    found = list(weaknesses(packages, advisories))
    for each in found:
        print(each)
    print(f"{len(packages)} packages, {len(advisories)} advisories, {len(found)} known weaknesses")
    return int(bool(found))


def advisories_in(folder: Path) -> Iterator[dict[str, Any]]:
    """The OSV documents in a folder that are about packages of PyPI and were not withdrawn."""
    for path in sorted(folder.rglob("*")):
        text = path.read_text(encoding="utf-8") if path.suffix in {".json", ".yaml"} else ""
        if "PyPI" in text:
            document = json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
            if "affected" in document and "withdrawn" not in document:
                yield document


def weaknesses(packages: Iterable[Package], advisories: Iterable[dict[str, Any]]) -> Iterator[str]:
    """A line for each package with a known weakness."""
    versions = {each.name: each.version for each in packages}
    for advisory in advisories:
        for affected in advisory["affected"]:
            about = affected.get("package", {})
            name = canonicalize_name(about.get("name", ""))
            if about.get("ecosystem") != "PyPI" or name not in versions:
                continue
            if _affects(affected, versions[name]):
                yield f"{name} {versions[name]}: {advisory['id']} {advisory.get('summary', '')}".rstrip()


def _affects(affected: dict[str, Any], version: str) -> bool:
    """Whether a version is listed, or lies in a range (https://ossf.github.io/osv-schema, "Evaluation")."""
    if version in affected.get("versions", ()):
        return True
    ranges = [each["events"] for each in affected.get("ranges", ()) if each["type"] == "ECOSYSTEM"]
    return any(_in_range(events, Version(version)) for events in ranges)


def _in_range(events: Iterable[dict[str, str]], version: Version) -> bool:
    inside = False
    for event in sorted(events, key=lambda event: _version(next(iter(event.values())))):
        ((kind, at),) = event.items()
        if kind == "introduced" and version >= _version(at):
            inside = True
        elif (kind == "fixed" and version >= _version(at)) or (
            kind == "last_affected" and version > _version(at)
        ):
            inside = False
    return inside


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:  # an old package's own way to count
        return Version("0")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
