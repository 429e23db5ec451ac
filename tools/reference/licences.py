"""docs/reference/licences.md, from the packages that are installed."""

from typing import Final

from tools.supply_chain import licence_of, runtime_packages

_HEAD: Final = """\
# Licences

Punto has the licence Apache-2.0. This page lists the licence of each package that Punto needs when it runs, with any of its extras, and leaves out packages for tests and documents. The names of the licences are those of [SPDX](https://spdx.org/licenses/).

Punto uses packages with `LGPL-3.0-only` and `MPL-2.0` unchanged.

| Package | Licence |
|---|---|
"""


def licences_page() -> str:
    """The licence of each package that Punto needs when it runs."""
    return _HEAD + "".join(f"| {name} | {licence_of(name)} |\n" for name in runtime_packages())
