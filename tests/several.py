"""A process in which PoCL gives three devices: the environment must say so before PoCL is loaded."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from egglift.codegen.device.device import Device, opencl
from egglift.costmodel.links.links import Links
from egglift.costmodel.profiles.profile import load_profile
from egglift.distribution.building import Request, distributed_kernel
from egglift.distribution.kernel import DistributedKernel
from egglift.distribution.opening import open_devices
from egglift.ir.lifting import as_program
from egglift.ir.patterns import Expr
from egglift.kernel import Kernel, kernel_of
from egglift.options import Options
from egglift.steps import time_steps
from tests.unhurried import unhurry_here

T = TypeVar("T")
ENVIRONMENT = {"POCL_DEVICES": "pthread pthread pthread", "POCL_AFFINITY": "1", "EGGLIFT_CACHE": "off"}


@contextmanager
def process(**environment: str) -> Iterator[Callable[..., Any]]:
    """Calls functions, with their arguments, in a process with three devices, or with what `environment` says."""
    wanted = ENVIRONMENT | environment
    before = {name: os.environ.get(name) for name in wanted}
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), unhurry_here) as pool:
        try:
            os.environ.update(wanted)
            pool.submit(os.getpid).result()
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})
        yield lambda f, *args, **named: pool.submit(f, *args, **named).result()


def kernel(
    program: Any, count: int = 3, distribution: Any = "block", devices: Any = "all", **more: Any
) -> DistributedKernel:
    """The kernel of `count` devices, each of whose own are the programs as they stand: nothing is searched for."""
    whole = as_program(program)
    again = time_steps(whole)
    steps = (again.program, again.state.name, again.whole) if again else None
    request = Request(whole, open_devices(devices)[:count], distribution, again=steps, **more)
    return distributed_kernel(request, plain, Links())


def plain(program: Expr, device: Device, known: Any = None) -> Kernel:
    """A kernel for a program as it stands."""
    from egglift.search import naive

    found = naive(program, load_profile(device), device.limits, optional=False)
    return kernel_of(program, device, found, Options(measure="none"))


def refusal(code: int) -> Exception:
    """What pyopencl raises where OpenCL answers with a code."""
    cl = opencl()
    return cast(Exception, type("Refusal", (cl.RuntimeError,), {"code": code})(f"refused with {code}"))
