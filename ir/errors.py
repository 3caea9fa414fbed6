"""Every error that egglift raises on purpose.  Each is also the built-in error that a caller would expect."""

from __future__ import annotations


class EggliftError(Exception):
    """Base of all errors of egglift."""


class ProgramError(EggliftError, ValueError):
    """A program is malformed (its text does not parse, a pattern is used where it has no meaning)."""


class ShapeError(ProgramError):
    """Two lengths disagree.  The message names the sub-expression, both lengths and what to do."""


class TypeMismatch(ProgramError, TypeError):
    """Two types disagree.  The message names the sub-expression, both types and what to do."""


class OperatorError(ProgramError):
    """A reduction operator does not keep what it claims (associative, commutative, neutral)."""


class ArgumentError(EggliftError, TypeError, ValueError):
    """A kernel was called with arguments that its program does not take."""


class RuleError(EggliftError, ValueError):
    """A rule of the book or of the user does not parse, or saturation found it ill-typed."""


class CodegenError(EggliftError, ValueError):
    """A low-level program has no OpenCL: a level nests illegally, a memory is too small, ..."""


class DeviceError(EggliftError, RuntimeError):
    """No such device, or the device lacks what the program needs."""


class OutOfMemory(DeviceError, MemoryError):
    """The device or the host has no room for a buffer, or a launch takes more than the device has left."""


class DeviceLost(DeviceError):
    """The device or its driver stopped serving this process: what was opened on it is of no use any more."""


class ForkError(EggliftError, RuntimeError):
    """This process was forked from one that had used OpenCL or egglog: neither survives that."""


class NoWorker(DeviceError):
    """No further process can be started, or the device cannot be opened in one."""


class BuildError(DeviceError):
    """The OpenCL compiler refused a kernel.  `source` and `log` are kept."""

    def __init__(self, message: str, source: str = "", log: str = "") -> None:
        super().__init__(message)
        self.source = source
        self.log = log


class WrongResult(EggliftError, AssertionError):
    """A kernel's result disagrees with the interpreter's."""


class RecordError(EggliftError, ValueError):
    """A record or cache file cannot be read or written."""


class PackageMissing(EggliftError, ImportError):
    """A package that only some programs need is not installed.  The message says which, and how to install it."""


class ClusterError(EggliftError, RuntimeError):
    """The workers of a cluster cannot be reached, or dask is not installed."""
