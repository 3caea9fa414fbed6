"""Large constants of programs, on devices: uploaded when a kernel is first built for a context, and kept as long as
the constant is, by whatever kernels have it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from egglift.codegen.device.device import Device, Operand
from egglift.ir.patterns import Constant

_lock = threading.Lock()
#: by constant and OpenCL context; equal constants are one node
_buffers: WeakKeyDictionary[Constant, dict[Any, Operand]] = WeakKeyDictionary()


def uploaded(device: Device, constants: Mapping[str, Constant]) -> dict[str, tuple[Operand]]:
    """The buffers of constants, by their names; DeviceError where the device has no room."""
    return {name: (_buffer(device, c),) for name, c in constants.items()}


def _buffer(device: Device, c: Constant) -> Operand:
    with _lock:
        there = _buffers.setdefault(c, {})
        if device.context not in there:
            there[device.context] = device.upload(np.frombuffer(c.data, np.uint8))
        return there[device.context]
