"""The devices that `optimize(..., devices=...)` means: each opened once, so that arrays can stay on them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from egglift.codegen.device.device import Device, open_device, opencl, raw_devices
from egglift.ir.errors import DeviceError

_opened: dict[int, Device] = {}
_lock = threading.Lock()


def open_devices(spec: Any) -> tuple[Device, ...]:
    """The devices of a list, or "all" there are.  What stands in a list: whatever `optimize` takes as a device, or a
    place in `el.devices()`; a name means the first device of that name that is not taken yet.

    DeviceError where there is no such device, or one is named twice.
    """
    raws = raw_devices()
    if isinstance(spec, str):
        if spec != "all":
            raise DeviceError(
                f'devices is "all" or a list of devices, not {spec!r}; of one device, say device={spec!r}'
            )
        return tuple(map(_open, raws))
    if not isinstance(spec, Sequence) or not spec:
        raise DeviceError(f'devices is "all" or a list of devices that is not empty, not {spec!r}')
    found: list[Device] = []
    for each in spec:
        found.append(_found(each, [d.device for d in found], raws))
    if len({d.device.int_ptr for d in found}) < len(found):
        raise DeviceError(f"a device is named twice in devices: {', '.join(d.name for d in found)}")
    return tuple(found)


def _found(spec: Any, taken: Sequence[Any], raws: Sequence[Any]) -> Device:
    cl = opencl()
    if isinstance(spec, Device):
        return spec
    if isinstance(spec, cl.CommandQueue):
        return Device(spec.context, spec.device)  # on a queue of its own, which is in order
    if isinstance(spec, cl.Device):
        return _open(spec)
    if isinstance(spec, int) and 0 <= spec < len(raws):
        return _open(raws[spec])
    if isinstance(spec, str):
        named = [raw for raw in raws if spec.lower() in _names(raw) and raw not in taken]
        if named:
            return _open(named[0])
    return open_device(spec)


def _names(raw: Any) -> str:
    kind = "gpu" if raw.type & opencl().device_type.GPU else "cpu"
    return f"{raw.name} {raw.platform.name} {raw.platform.version} {kind}".lower()


def _open(raw: Any) -> Device:
    with _lock:
        if raw.int_ptr not in _opened:
            _opened[raw.int_ptr] = open_device(raw)
        return _opened[raw.int_ptr]
