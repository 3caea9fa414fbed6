"""The links of a set of devices: what moving data to and from each costs, and what they cost each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from egglift.codegen.device.device import Device
from egglift.costmodel.records.cache_folder import cache_folder
from egglift.costmodel.records.whole_file import write_whole

#: where nothing was measured: bytes per second, and seconds
USUAL_RATE, USUAL_LATENCY, USUAL_START = 8e9, 2e-5, 1e-4


@dataclass(frozen=True)
class Links:
    """Rates of a set of devices, all of which are used at the same time.

    to, fro: bytes per second from the host to each device, by its name, and back.  latency: seconds of the shortest
    copy.  start: seconds until one more device has begun.  together: the part of its speed that a device keeps while
    all others compute too; devices that are parts of one processor share it.  beside: the part of its rate that a link
    keeps while all others are used too: the host's memory is behind each.
    """

    to: Mapping[str, float] = field(default_factory=dict)
    fro: Mapping[str, float] = field(default_factory=dict)
    latency: float = USUAL_LATENCY
    start: float = USUAL_START
    together: float = 1.0
    beside: float = 1.0

    def to_device(self, name: str, size: int, *, all: bool = False) -> float:
        """Seconds for so many bytes from the host to a device; all: while all other links are used too."""
        return self.latency + size / self.to.get(name, USUAL_RATE) / (self.beside if all else 1.0)

    def from_device(self, name: str, size: int, *, all: bool = False) -> float:
        """Seconds for so many bytes from a device to the host; all: while all other links are used too."""
        return self.latency + size / self.fro.get(name, USUAL_RATE) / (self.beside if all else 1.0)

    def dumps(self) -> str:
        """The links as JSON text."""
        return json.dumps(asdict(self), indent=2)


def links_path(devices: Sequence[Device]) -> Path | None:
    """Where the measured links of a set are kept; None where the cache is off."""
    folder = cache_folder()
    if folder is None:
        return None
    name = "_".join(sorted(f"{d.name} {d.driver}" for d in devices))
    return folder / "profiles" / ("links_" + "".join(c if c.isalnum() else "_" for c in name)[:180] + ".json")


def load_links(devices: Sequence[Device]) -> Links:
    """The links of a set of devices as measured, else usual ones: CPUs of one host share its cores."""
    path = links_path(devices)
    if path is not None and path.is_file():
        try:
            return Links(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            pass  # of an older version, or torn: calibrating again replaces it
    cpus = sum(d.kind == "cpu" for d in devices)
    return Links(together=1 / max(1, cpus) if cpus == len(devices) else 1.0)


def save_links(devices: Sequence[Device], links: Links) -> Path | None:
    """Keeps the links of a set; where they are kept, None where the cache is off."""
    path = links_path(devices)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, links.dumps())
    return path
