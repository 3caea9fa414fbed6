"""Shows an editable install to type checkers, which do not run the hooks that Python imports it by.

The packages' files become links in a package of stubs, `egglift-stubs`, in the environment that runs this: a checker
reads them in place of the packages, and Python itself sees none.  Again after files were added: `make` does it.
"""

from __future__ import annotations

import shutil
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def link(site: Path) -> None:
    """Makes the links anew in a folder `site-packages`."""
    shutil.rmtree(site / "egglift-stubs", ignore_errors=True)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    for name, folder in packages.items():
        _, *rest = name.split(".")
        place = site.joinpath("egglift-stubs", *rest)
        place.mkdir(parents=True, exist_ok=True)
        for file in (ROOT / folder).glob("*.py"):
            (place / f"{file.stem}.pyi").symlink_to(file)


if __name__ == "__main__":
    link(Path(sysconfig.get_path("purelib")))
