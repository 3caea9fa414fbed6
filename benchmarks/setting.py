"""On what, with what and when results came about, and a file of results that is whole after every line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from egglift.codegen.device.device import Device

#: whose versions belong to a result, where they are installed
PACKAGES = (
    "egglift",
    "egglog",
    "numpy",
    "scipy",
    "pyopencl",
    "pocl-binary-distribution",
    "numexpr",
    "numba",
    "torch",
    "triton",
    "cupy",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "jax",
    "pyclblast",
    "kernel_tuner",
    "dask",
    "matplotlib",
)


def versions() -> dict[str, str]:
    """The versions of all libraries that may take part and are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def setting(device: Device) -> dict[str, Any]:
    """The device, the day and the versions, as JSON has them."""
    return {
        "device": device.name,
        "platform": device.platform,
        "driver": device.driver,
        "kind": device.kind,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions(),
    }


@dataclass
class Record:
    """Results as they come: each is printed as a line of JSON at once, and the file, if there is one, written anew.

    facts: what is true of the whole run.
    """

    facts: Mapping[str, Any]
    file: Path | None = None
    lines: list[dict[str, Any]] = field(default_factory=list)

    def add(self, line: dict[str, Any]) -> None:
        """One more result."""
        self.lines.append(line)
        print(json.dumps(line), flush=True)
        if self.file:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            rows = ",\n".join(json.dumps(one) for one in self.lines)
            head = json.dumps(dict(self.facts))[:-1]
            self.file.write_text(f'{head},\n"results": [\n{rows}\n]}}\n')
