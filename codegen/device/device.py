"""OpenCL devices.  The only module that imports pyopencl, and only when a device is asked for."""

from __future__ import annotations

import math
import os
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NoReturn, TypeAlias

import numpy as np

from egglift.codegen.device.chain import Chain
from egglift.codegen.kernel.fragment_sums import UNITS
from egglift.codegen.kernel.imperative import Buffer, DeviceLimits, PlannedKernel
from egglift.codegen.kernel.warp_groups import GROUP_UNITS, group_unit_bytes
from egglift.codegen.opencl.own_target import DEFINED, for_own_target, needs_own_target
from egglift.ir.errors import ArgumentError, BuildError, DeviceError, DeviceLost, OutOfMemory, WrongResult
from egglift.ir.forks import imported_before_fork, lost, use
from egglift.ir.types import BOOL, Scalar

NdArray: TypeAlias = np.ndarray[Any, Any]
#: what a kernel may be given for a buffer: an array on the host, or a pyopencl Buffer of the device's context
Operand: TypeAlias = Any

#: PoCL keeps the private arrays of a work-group on one thread's stack, commonly 8 MB, and crashes beyond
CPU_STACK_BYTES = 4 << 20
#: seconds within which a device of a forked process has filled four bytes, if it does anything at all
ANSWER = 5.0
_opencl_lock = threading.Lock()
#: OpenCL's codes for "no room" (of buffers, of a launch, on the host), and for a device that serves no more:
#: not available, queue or context invalid, and NVIDIA's for a kernel that touched memory which is not its own
NO_ROOM, LOST = (-4, -5, -6), (-2, -34, -36, -9999)

#: build options where less exact functions and flushed denormal numbers are allowed
FAST_MATH = ("-cl-fast-relaxed-math",)


def opencl() -> Any:
    """The pyopencl module, imported on first use; DeviceError where it cannot be loaded.

    Whatever is done with OpenCL asks for it first: ForkError in a process that was forked from one that had.
    """
    use("OpenCL")
    return _pyopencl()


@cache  # every call of a kernel asks for it several times
def _pyopencl() -> Any:
    with _opencl_lock:
        # pins PoCL's threads; it reads this once, when its platform is first seen
        os.environ.setdefault("POCL_AFFINITY", "1")
        try:
            import pyopencl as cl
        except ImportError as error:
            raise DeviceError(f"pyopencl cannot be imported ({error}); install it and an OpenCL driver") from error
        warnings.filterwarnings("ignore", category=cl.CompilerWarning)
        return cl


@contextmanager
def reported(trouble: str) -> Iterator[None]:
    """What OpenCL refuses inside becomes an error of ours: `trouble` (who cannot do what), and OpenCL's reason."""
    cl = opencl()
    try:
        yield
    except (cl.Error, MemoryError) as error:
        raise refused(trouble, error) from error


def refused(trouble: str, error: Exception) -> DeviceError:
    """The error of ours for what OpenCL refused: `trouble` (who cannot do what), and OpenCL's reason."""
    code = NO_ROOM[-1] if isinstance(error, MemoryError) else getattr(error, "code", 0)
    if code in NO_ROOM:
        return OutOfMemory(f"{trouble}: out of memory or other resources: {error}")
    if code in LOST:
        advice = "the device was lost; open it anew, in a new process if its driver is broken"
        return DeviceLost(f"{trouble}: {advice}: {error}")
    return DeviceError(f"{trouble}: {error}")


# ---------------------------------------------------------------------------------------- devices


@dataclass(frozen=True)
class DeviceInfo:
    """An OpenCL device: what `egglift devices` lists.

    kind is "gpu" or "cpu"; memory, buffer (the largest one), cache and vector_bytes (of the registers for vectors) are
    in bytes.
    """

    name: str
    platform: str
    driver: str
    kind: str
    compute_units: int
    memory: int
    buffer: int
    cache: int
    vector_bytes: int
    limits: DeviceLimits

    def __str__(self) -> str:
        return f"{self.name} ({self.kind}, {self.platform}, driver {self.driver})"


def devices() -> list[DeviceInfo]:
    """Every OpenCL device there is, in the platforms' order; empty where there is no platform."""
    return [_describe(d) for d in raw_devices()]


def raw_devices() -> list[Any]:
    """The pyopencl Devices there are, in the platforms' order."""
    cl = opencl()
    found: list[Any] = []
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # "platform not found" is an error in OpenCL, not an empty list
        return []
    for platform in platforms:
        try:
            found.extend(platform.get_devices())
        except cl.Error:  # a platform without devices, or whose driver does not start
            continue
    return found


def _describe(d: Any) -> DeviceInfo:
    cl = opencl()
    kind = "gpu" if d.type & cl.device_type.GPU else "cpu"
    extensions = d.extensions.split()
    limits = DeviceLimits(
        group_size=d.max_work_group_size,
        local_bytes=d.local_mem_size,
        private_bytes=16 << 10 if kind == "gpu" else 64 << 10,
        float64="cl_khr_fp64" in extensions,
        sub_groups="cl_khr_subgroups" in extensions,
        branch_barriers=kind == "gpu",
        half_functions=kind == "gpu",
        ptx_functions=bool(_matrix_units(d)),
        compute_units=d.max_compute_units,
        warp=32 if kind == "gpu" else 1,
        matrix_units=_matrix_units(d),
        group_unit_bytes=group_unit_bytes(_matrix_units(d)),
        asynchronous_copies=bool(_matrix_units(d)),
        device_fence=bool(_matrix_units(d)),
        progress="cl_khr_int64_base_atomics" in extensions and _goes_on(d, kind),
    )
    return DeviceInfo(
        name=d.name.strip(),
        platform=d.platform.name.strip(),
        driver=d.driver_version.strip(),
        kind=kind,
        compute_units=d.max_compute_units,
        memory=d.global_mem_size,
        buffer=d.max_mem_alloc_size,
        cache=d.global_mem_cache_size,
        vector_bytes=_vector_bytes(d),
        limits=limits,
    )


def _goes_on(d: Any, kind: str) -> bool:
    """Does each work-group that has started go on, while others wait?  So it is on NVIDIA's GPUs, and where a group is
    a thread's until it is done."""
    return "NVIDIA" in d.vendor if kind == "gpu" else "Portable Computing Language" in d.platform.name


#: the compute capability of NVIDIA's GPUs whose warps multiply four together: no later one has these instructions
_WARP_GROUPS = (9, 0)
#: compute capabilities of NVIDIA's GPUs from which on warps have a matrix unit of ours (kernel/fragments.py)
_MATRIX_UNITS = {unit: (9, 0) if unit == "f64" else (8, 0) for unit in UNITS}


def _matrix_units(d: Any) -> tuple[str, ...]:
    try:
        has = (d.compute_capability_major_nv, d.compute_capability_minor_nv)
    except (AttributeError, opencl().Error):  # a device of another maker
        return ()
    groups = [unit.name for unit in GROUP_UNITS.values()] if has == _WARP_GROUPS else []
    return (*(name for name, since in _MATRIX_UNITS.items() if has >= since), *groups)


#: targets of LLVM, as PoCL's version ends with, whose vectors have 64 bytes; others on x86-64 have 32
WIDE_TARGETS = (
    "avx512",
    "cascadelake",
    "cooperlake",
    "cannonlake",
    "icelake-client",
    "icelake-server",
    "tigerlake",
    "rocketlake",
    "sapphirerapids",
    "graniterapids",
    "znver4",
    "znver5",
    "knl",
    "knm",
)


def _vector_bytes(d: Any) -> int:
    """Bytes of a vector register that the device's compiler uses: PoCL may aim at less than the processor has."""
    native = 4 * int(d.native_vector_width_float)
    x86 = "PoCL" in d.version and "x86_64" in d.version
    return min(native, 32) if x86 and not d.version.strip().endswith(WIDE_TARGETS) else native


def open_device(spec: object = None) -> Device:
    """The device that `spec` means, opened.

    spec: a Device of this module, a pyopencl Device, Context or CommandQueue; "cpu", "gpu", or a part of a device's or
    platform's name, in any case; or None: the environment variable EGGLIFT_DEVICE (a name), else the first
    GPU, else PoCL, else the first device.  DeviceError lists the devices that exist.
    """
    if isinstance(spec, Device):
        return spec
    cl = opencl()
    if isinstance(spec, cl.CommandQueue):
        return Device(spec.context, spec.device, spec)
    if isinstance(spec, cl.Context):
        return Device(spec, spec.devices[0])
    if isinstance(spec, cl.Device):
        return _open(spec)
    spec = os.environ.get("EGGLIFT_DEVICE") or None if spec is None else spec
    if spec is not None and not isinstance(spec, str):
        raise DeviceError(
            f"a device is a pyopencl Device, Context or CommandQueue, a name or None; got {type(spec).__name__}"
        )
    return _open_named(spec)


_opened: dict[str, Device] = {}
_opened_lock = threading.Lock()


def _open_named(name: str | None) -> Device:
    """One Device per device and process, so that kernels and buffers of different calls work together."""
    devices = raw_devices()
    chosen = next(iter(_ranked(devices, name)), None)
    if chosen is None:
        have = "; there are: " + ", ".join(str(_describe(d)) for d in devices) if devices else _NONE
        raise DeviceError(f"no OpenCL device {name!r}{have}" if name else f"no OpenCL device{have}")
    key = f"{os.getpid()}:{chosen.int_ptr}"
    with _opened_lock:
        if key not in _opened:
            _opened[key] = _open(chosen)
        return _opened[key]


def _open(raw: Any) -> Device:
    with reported(f"{raw.name.strip()} cannot be opened"):
        return Device(opencl().Context([raw]), raw)


@dataclass(frozen=True)
class Address:
    """Where another process finds a device: its place among all devices, and what must be found there."""

    place: int
    name: str
    driver: str
    kind: str


def address(device: Device) -> Address | None:
    """The address of `device`; None where another process cannot find it (a part of a device, say)."""
    for place, raw in enumerate(raw_devices()):
        if raw == device.device:
            return Address(place, device.name, device.driver, device.kind)
    return None


def open_at(place: Address) -> Device:
    """The device at an address; DeviceError where this process finds another one there, or none."""
    devices = raw_devices()
    raw = devices[place.place] if place.place < len(devices) else None
    if raw is None or (raw.name.strip(), raw.driver_version.strip()) != (place.name, place.driver):
        raise DeviceError(f"{place.name}, driver {place.driver}, is not what another process finds in its place")
    return _open(raw)


_NONE = "; there is no OpenCL platform: install a driver, or PoCL with pip install 'egglift[pocl]'"


def _ranked(found: list[Any], name: str | None) -> list[Any]:
    """The devices that `name` can mean, best first."""
    if name is not None:
        return [d for d in found if name.lower() in _names(d).lower()]

    def rank(d: Any) -> int:
        info = _describe(d)
        return 0 if info.kind == "gpu" else 1 if "Portable Computing" in info.platform else 2

    return sorted(found, key=rank)


def _names(d: Any) -> str:
    """What a part of may mean a device: its name, its platform's, and its kind."""
    return f"{d.name} {d.platform.name} {d.platform.version} {_describe(d).kind}"


def _answering(context: Any, device: Any) -> None:
    """ForkError where nothing that `device` is given gets done: its threads stayed in the process before a fork.

    Only the parent of this process can tell whether it used pyopencl by itself, or imported it and no more.
    """
    cl = opencl()
    queue, buffer = cl.CommandQueue(context, device), cl.Buffer(context, cl.mem_flags.READ_WRITE, 4)
    done = cl.enqueue_fill_buffer(queue, buffer, np.uint32(0), 0, 4)
    queue.flush()
    end = time.perf_counter() + ANSWER
    while done.command_execution_status > cl.command_execution_status.COMPLETE:
        if time.perf_counter() > end:
            raise lost("OpenCL")
        time.sleep(0.001)


class Device:
    """An opened device: a context, a queue and what the device allows.

    `queue` is the queue that kernels run on (the caller's, if one was given) unless their inputs live on another one;
    `timer` is one with profiling.  Either may run its commands out of order.
    """

    def __init__(self, context: Any, device: Any, queue: Any = None) -> None:
        cl = opencl()
        if imported_before_fork("pyopencl"):
            _answering(context, device)
        self.info = _describe(device)
        self.context, self.device = context, device
        profiling = cl.command_queue_properties.PROFILING_ENABLE
        # without profiling: it takes NVIDIA's driver 6 us more for each launch, and the device more than 1 us
        self.queue = queue if queue is not None else cl.CommandQueue(context, device)
        mine = self.queue.properties & profiling
        self.timer = self.queue if mine else cl.CommandQueue(context, device, properties=profiling)
        self.staging: Any = None  # its pinned memory, made when it is first used
        self.spare: Any = None  # buffers of results that nobody uses any more
        self.lock = threading.RLock()  # arguments of an OpenCL kernel are set and used in separate calls

    def __reduce__(self) -> NoReturn:
        raise ArgumentError(
            f"{self.name} is open in this process alone: pickle a kernel, which opens its own, or the name of a device"
        )

    @cached_property
    def part_alignment(self) -> int:
        """Parts of buffers begin at a multiple of so many bytes."""
        return max(1, int(self.device.mem_base_addr_align) // 8)

    name = property(lambda self: self.info.name, doc="The device's name.")
    driver = property(lambda self: self.info.driver, doc="The driver's version.")
    platform = property(lambda self: self.info.platform, doc="The platform's name.")
    kind = property(lambda self: self.info.kind, doc='"gpu" or "cpu".')
    compute_units = property(lambda self: self.info.compute_units, doc="Compute units (cores).")
    limits = property(lambda self: self.info.limits, doc="What it allows: codegen.kernel.imperative.DeviceLimits.")

    def __repr__(self) -> str:
        return f"Device({self.info})"

    def sibling(self) -> Device:
        """The same device and context with a queue of its own, so that launches do not wait for each other."""
        return Device(self.context, self.device)

    def compile(self, source: str, options: Sequence[str] = ()) -> Any:
        """A pyopencl Program; BuildError keeps the source and the compiler's log."""
        cl = opencl()
        program = cl.Program(self.context, source)
        try:
            # -w: PoCL prints its warnings about generated code straight to the terminal
            if needs_own_target(source):
                return self._built_again(program.build(["-w", f"-D{DEFINED}", *options], devices=[self.device]))
            return program.build(["-w", *options], devices=[self.device])
        except cl.Error as error:
            log = str(error)
            errors = [s for s in log.splitlines() if "error" in s.lower() and "clBuildProgram" not in s]
            first = (errors or log.strip().splitlines())[0].strip()
            raise BuildError(f"{self.name} does not compile this kernel: {first}", source, log) from error

    def _built_again(self, program: Any) -> Any:
        """A program whose binary is text, with instructions in force that its compiler did not see."""
        cl = opencl()
        devices = program.get_info(cl.program_info.DEVICES)  # of a given context there may be others
        text = program.get_info(cl.program_info.BINARIES)[devices.index(self.device)]
        own = for_own_target(text.decode("latin1")).encode("latin1")
        return cl.Program(self.context, [self.device], [own]).build(["-w"], devices=[self.device])

    def admit(self, kernel: PlannedKernel) -> None:
        """BuildError where a launch of `kernel` would fail or crash, whatever the compiler says."""
        items = math.prod(kernel.local_size)
        if items > self.limits.group_size:
            raise BuildError(
                f"kernel {kernel.name}: {items} work-items per group, {self.name} allows {self.limits.group_size}",
                kernel.source,
            )
        most = self.limits.group_unit_bytes if needs_own_target(kernel.alone) else self.limits.local_bytes
        if kernel.local_bytes > most:
            raise BuildError(
                f"kernel {kernel.name}: {kernel.local_bytes} bytes of local memory per group, {self.name} has {most}",
                kernel.source,
            )
        if self.kind == "cpu" and kernel.private_bytes * items > CPU_STACK_BYTES:
            raise BuildError(
                f"kernel {kernel.name}: {kernel.private_bytes} bytes of private memory for each of {items} "
                f"work-items exceed the {CPU_STACK_BYTES} bytes that a CPU thread's stack holds",
                kernel.source,
            )

    def upload(self, array: NdArray) -> Operand:
        """A new device buffer with the elements of `array` in C order (a bool is one byte)."""
        cl = opencl()
        data = np.ascontiguousarray(array)
        if data.nbytes == 0:
            return self.allocate(0)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        with reported(f"{self.name} cannot hold a buffer of {data.nbytes} bytes"):
            # as bytes: bfloat16, which NumPy was taught, is no format of Python's buffers
            return cl.Buffer(self.context, flags, hostbuf=data.reshape(-1).view(np.uint8))

    def allocate(self, size: int) -> Operand:
        """A new device buffer of `size` bytes (at least one, as OpenCL has no empty buffers)."""
        cl = opencl()
        with reported(f"{self.name} cannot hold a buffer of {size} bytes"):
            return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, max(size, 1))

    def temporary(self, buffer: Buffer) -> Operand:
        """Memory for a temporary of a plan, with anything in it or, if it is one that must be, 0."""
        size = buffer.size * buffer.scalar.size
        return self.upload(np.zeros(size, np.uint8)) if buffer.zeroed else self.allocate(size)

    def clone(self, chain: Chain, buffer: Operand, size: int, start: int = 0) -> Operand:
        """A new buffer with `size` bytes of `buffer` from byte `start` on: the next command of `chain` copies them."""
        copy = self.allocate(size)
        if size:
            part = {"byte_count": size, "src_offset": start}
            with reported(f"{self.name} cannot copy a buffer of {size} bytes"):
                chain.add(opencl().enqueue_copy(chain.queue, copy, buffer, wait_for=chain.after, **part))
        return copy

    def download(
        self, chain: Chain, buffer: Operand, scalar: Scalar, size: int, start: int = 0, into: NdArray | None = None
    ) -> NdArray:
        """`size` elements of `buffer` from the `start`th on: the next command of `chain`, and waited for.

        into: a flat array for them (default: a new one).  WrongResult: a bool is neither 0 nor 1.
        """
        with reported(f"{self.name} cannot give back {size} elements of {scalar}"):
            kept = scalar.stored
            raw = np.empty(size, kept) if into is None else into.view(kept)
            if size:
                # PoCL's blocking copies wait for all that a queue was given
                how = {"src_offset": start * scalar.size, "is_blocking": chain.ordered}
                copied = chain.add(opencl().enqueue_copy(chain.queue, raw, buffer, wait_for=chain.after, **how))
                if not chain.ordered:
                    copied.wait()
        if scalar != BOOL:
            return raw.view(scalar.dtype)
        if size and int(raw.max()) > 1:
            raise WrongResult(f"a bool holds {int(raw.max())}: the element was not written")
        return raw.view(np.bool_)

    def finish(self, given: Any) -> None:
        """Waits until a queue, or a chain, has done all it was given: what a launch did wrong may show only here."""
        with reported(f"{self.name} did not finish what it was given"):
            given.finish()

    def poison(self, chain: Chain, buffer: Operand, scalar: Scalar, size: int) -> None:
        """Fills `buffer`, as the next command of `chain`, with what no program computes: NaN, and for others 0xAA."""
        if size:
            value = np.array(np.nan, scalar.dtype).view(scalar.stored) if scalar.is_float else np.array(0xAA, np.uint8)
            with reported(f"{self.name} cannot fill {size} elements of {scalar}"):
                fill = opencl().enqueue_fill_buffer
                chain.add(fill(chain.queue, buffer, value, 0, size * scalar.size, wait_for=chain.after))
