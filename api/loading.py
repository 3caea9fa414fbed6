"""Kernels that were saved, read again."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from egglift.codegen.device.device import open_device
from egglift.ir.errors import ArgumentError, RecordError
from egglift.ir.keywords import explain
from egglift.ir.run_time_lengths import lengths_of
from egglift.kernel import Kernel
from egglift.length_kernel import LengthKernel
from egglift.saved import read


def load(path: str | PathLike[str], device: object = None) -> Kernel:
    """The kernel that `kernel.save(path)` wrote, compiled for `device`, which is as for `optimize`.

    Nothing is searched or measured: on another kind of device than it was chosen for, it is right, but may be slow.
    Load what you trust: that the saved term equals its program is not proved again.  RecordError where there is no such
    file, or it holds no kernel, or one of another version; DeviceError where this device cannot run it.
    """
    if not isinstance(path, str | PathLike):
        raise ArgumentError(f"load takes the path of a file, and not {path!r}")
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise RecordError(f"cannot read a kernel from {path}: {why}") from error
    opened = open_device(device)
    saved = read(text, opened, str(path))
    kind = LengthKernel if lengths_of(saved.program) else Kernel
    return kind.restored(saved, opened, str(path))


explain(globals())
