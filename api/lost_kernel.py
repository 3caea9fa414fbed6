"""What a pickled kernel is where no device can be opened for it."""

from __future__ import annotations

from typing import Any, NoReturn

from egglift.ir.errors import EggliftError


class LostKernel:
    """A kernel that was unpickled where its device cannot be opened: whatever is asked of it raises the reason.

    Not when it is unpickled: a pool of processes would end its workers, and never answer.
    """

    def __init__(self, error: EggliftError) -> None:
        self._error = error

    def __call__(self, *args: Any, **named: Any) -> NoReturn:
        """Raises why there is no device: ForkError, DeviceError."""
        raise self._error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Python asks for many that may be missing
            raise AttributeError(name)
        raise self._error

    def __repr__(self) -> str:
        return f"<a kernel without a device: {self._error}>"
