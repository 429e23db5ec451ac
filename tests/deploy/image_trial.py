"""`make test-image`: builds the image of deploy/Dockerfile without a registry, and deals a hand in it.

    python -m tests.deploy.image_trial

Only root can run it. buildah carries out the steps in a chroot, because containers of its own need rights that a test machine seldom gives.
The image begins with the Debian of `make test-package` and its Python, in place of the one that deploy/Dockerfile names, and the Python
packages are downloaded before, so the steps need no network.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.deploy.package_trial import IMAGE, debian, step
from tools.release import ROOT

BASE: Final = """
FROM scratch
ADD debian.tar /
ENV PIP_BREAK_SYSTEM_PACKAGES=1 PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels
"""
COMPOSED: Final = ("deploy/trial/compose.yaml", "deploy/house/compose.yaml")
BUILD_TOOLS: Final = ("setuptools", "wheel")
"""What pip builds the one package with that has no ready wheel."""


DEALS: Final = """
BROKER_PORT=1884 timeout 600 sh /src/deploy/trial/table.sh table-1 8091 &
until punto replay table.db 2>/dev/null | grep -q ' and [1-9]'; do
    kill -0 $!
    sleep 1
done
kill $!
"""
"""A table as compose.yaml starts it, until its record has a round."""


def builder(folder: Path) -> Callable[..., str]:
    """Runs buildah with its images in a folder; what it is said to do returns what it says."""
    own = ("buildah", "--root", folder / "images", "--runroot", folder / "run", "--storage-driver", "vfs")

    def buildah(*command: str | Path) -> str:
        done = subprocess.run([*own, *command], stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    return buildah


def main() -> int:
    """Build the image, and use it."""
    for composed in COMPOSED:
        with step(f"docker-compose reads {composed}", ROOT / "deploy"):
            subprocess.run(["docker-compose", "--file", ROOT / composed, "config", "--quiet"], check=True)
    with tempfile.TemporaryDirectory(prefix="punto-image-", dir="/tmp") as name:
        folder = Path(name)
        buildah = builder(folder)
        wheels = folder / "wheels"
        with step("download the packages of table.lock", folder):
            pip = (sys.executable, "-m", "pip", "download", "--quiet", "--dest", wheels)
            subprocess.run(
                [*pip, "--require-hashes", "--no-deps", "-r", ROOT / "locks/table.lock"], check=True
            )
            subprocess.run([*pip, "--no-deps", *BUILD_TOOLS], check=True)
        (folder / "base").mkdir()
        os.link(debian("12", IMAGE), folder / "base/debian.tar")
        (folder / "base/Dockerfile").write_text(BASE, encoding="ascii")
        bud = ("bud", "--quiet", "--isolation", "chroot", "--network", "host")
        with step("the image that it begins with", folder):
            buildah(*bud, "--tag", "base", folder / "base")
        with step("the image of deploy/Dockerfile", folder):
            buildah(
                *(*bud, "--from", "localhost/base", "--volume", f"{wheels}:/wheels:ro", "--tag", "punto"),
                *(
                    "--ignorefile",
                    ROOT / "deploy/Dockerfile.dockerignore",
                    "--file",
                    ROOT / "deploy/Dockerfile",
                ),
                ROOT,
            )
        container = buildah("from", "localhost/punto")
        inside = ("run", "--isolation", "chroot", container, "--")
        print(
            buildah(*inside, "punto", "--version"), "of the user", buildah(*inside, "id", "-un"), flush=True
        )
        with step("a table of deploy/trial/compose.yaml deals a hand", folder):
            buildah(*inside, "sh", "-ec", DEALS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
