"""Devices, and running plans that are written by hand, on PoCL."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from egglift.codegen.device.device import Device, devices, open_device, opencl
from egglift.codegen.device.execute import Executable, Rows, build
from egglift.codegen.kernel.imperative import Buffer, Plan, PlannedKernel
from egglift.ir.errors import ArgumentError, BuildError, DeviceError, DeviceLost, OutOfMemory, WrongResult
from egglift.ir.types import BOOL, F32, I32, Scalar


def one_kernel(body: str, n: int, scalar: Scalar = F32, items: int = 64, group: int = 16) -> Plan:
    """A plan of one kernel with input x, output y and an unused temporary, each of n elements."""
    name = {"f32": "float", "bool": "uchar", "i32": "int"}[scalar.name]
    x, y, t = (Buffer(b, "global", scalar, n) for b in "xyt")
    source = f"kernel void k(global const {name} *x, global {name} *y, global {name} *t) {{ {body} }}\n"
    kernel = PlannedKernel("k", source, (x, y, t), (items,), (group,), ())
    return Plan((kernel,), {"x": (x,)}, (t,), (y,), ((0, (x, y, t)),))


LOOP = "for (int i = get_global_id(0); i < N; i += get_global_size(0))"


def double(n: int) -> Plan:
    return one_kernel(f"{LOOP.replace('N', str(n))} y[i] = 2 * x[i];", n)


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("pocl")


def test_devices_are_opened_by_a_part_of_their_name() -> None:
    for info in devices():
        assert open_device(info.name[2:8].upper()).kind in ("cpu", "gpu")


def test_an_unknown_name_lists_the_devices_that_exist() -> None:
    with pytest.raises(DeviceError, match=r"no OpenCL device 'no such thing'; there are: .*Portable"):
        open_device("no such thing")


def test_a_kind_is_a_name_too() -> None:
    for kind in {d.kind for d in devices()}:
        assert open_device(kind.upper()).kind == kind


def test_something_that_is_no_device_is_named() -> None:
    with pytest.raises(DeviceError, match="got int"):
        open_device(7)


def test_the_environment_chooses_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EGGLIFT_DEVICE", "no such thing")
    with pytest.raises(DeviceError, match="no such thing"):
        open_device()
    monkeypatch.setenv("EGGLIFT_DEVICE", "pOcL")
    assert open_device().platform == "Portable Computing Language"


def test_a_name_gives_the_same_device_again(device: Device) -> None:
    assert open_device("pocl") is device
    assert open_device(device) is device


def test_a_pyopencl_device_context_or_queue_is_a_device(device: Device) -> None:
    cl = opencl()
    queue = cl.CommandQueue(device.context)  # without profiling: timing needs a queue of its own
    x = np.arange(100, dtype=np.float32)
    for spec in (device.device, device.context, queue):
        opened = open_device(spec)
        executable = build(opened, double(100))
        np.testing.assert_array_equal(executable.run({"x": [x]})[0], 2 * x)
        assert executable.time({"x": [x]}, most=5).seconds > 0
    assert open_device(queue).queue is queue


def test_importing_egglift_needs_no_opencl() -> None:
    code = "import sys, egglift; sys.exit('pyopencl' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_any_platform_the_error_says_how_to_get_one() -> None:
    code = (
        "from egglift.codegen.device import device\n"
        "cl = device.opencl()\n"
        "def none(): raise cl.LogicError('clGetPlatformIDs', -1001)\n"
        "cl.get_platforms = none\n"
        "assert device.devices() == []\n"
        "try: device.open_device()\n"
        "except device.DeviceError as e: assert 'egglift[pocl]' in str(e), e\n"
        "else: raise SystemExit(1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_plan_runs_on_arrays_and_on_device_buffers(device: Device) -> None:
    x = np.arange(1000, dtype=np.float32)
    executable = build(device, double(1000))
    np.testing.assert_array_equal(executable.run({"x": [x]})[0], 2 * x)
    uploaded = executable.upload({"x": [x]})
    np.testing.assert_array_equal(executable.run(uploaded)[0], 2 * x)
    np.testing.assert_array_equal(executable.run(uploaded)[0], 2 * x)


def test_results_are_copied_into_arrays_that_are_given(device: Device) -> None:
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    (found,) = build(device, double(100)).run({"x": [x]}, out=[y])
    assert np.shares_memory(found, y)
    np.testing.assert_array_equal(y, 2 * x)
    flags, kept = np.arange(100) % 3 == 0, np.zeros(100, np.bool_)
    build(device, one_kernel("y[get_global_id(0)] = x[get_global_id(0)];", 100, BOOL, items=100, group=1)).run(
        {"x": [flags]}, out=[kept]
    )
    np.testing.assert_array_equal(kept, flags)


@pytest.mark.parametrize("indices", [(0,), (3,), (9,), (0, 3, 9), (5, 2, 2)])
def test_some_rows_of_a_result_come_back_alone(device: Device, indices: tuple[int, ...]) -> None:
    x = np.arange(1000, dtype=np.float32)
    executable = build(device, double(1000))
    (whole,), (rows,) = executable.run({"x": [x]}), executable.run({"x": [x]}, rows=Rows(indices, 10))
    assert rows.shape == (100 * len(indices),) and rows.dtype == whole.dtype
    np.testing.assert_array_equal(rows, whole.reshape(10, 100)[list(indices)].reshape(-1))
    np.testing.assert_array_equal(whole, 2 * x)


def test_each_of_several_results_has_its_rows(device: Device) -> None:
    x, y, z = (Buffer("x", "global", F32, 12), Buffer("y", "global", F32, 12), Buffer("z", "global", I32, 4))
    source = "kernel void k(global const float *x, global float *y, global int *z) "
    source += "{ int i = get_global_id(0); y[i] = -x[i]; if (i % 3 == 0) z[i / 3] = i; }"
    plan = Plan((PlannedKernel("k", source, (x, y, z), (12,), (4,), ()),), {"x": (x,)}, (), (y, z), ((0, (x, y, z)),))
    wide, narrow = build(device, plan).run({"x": [np.arange(12, dtype=np.float32)]}, rows=Rows((1, 3), 4))
    np.testing.assert_array_equal(wide, [-3, -4, -5, -9, -10, -11])
    np.testing.assert_array_equal(narrow, [3, 9])


def test_only_the_rows_that_come_back_are_looked_at(device: Device) -> None:
    half = build(device, one_kernel("if (get_global_id(0) < 5) y[get_global_id(0)] = x[0];", 10, BOOL))
    inputs = {"x": [np.ones(10, np.bool_)]}
    assert half.run(inputs, poison=True, rows=Rows((0, 4), 10))[0].tolist() == [True, True]
    with pytest.raises(WrongResult, match="170"):
        half.run(inputs, poison=True, rows=Rows((0, 5), 10))


def test_poison_shows_what_a_kernel_does_not_write(device: Device) -> None:
    x = np.ones(10, np.float32)
    half = build(device, one_kernel("if (get_global_id(0) < 5) y[get_global_id(0)] = x[0];", 10))
    result = half.run({"x": [x]}, poison=True)[0]
    assert np.isfinite(result[:5]).all()
    assert np.isnan(result[5:]).all()
    whole = one_kernel("if (get_global_id(0) < 5) y[get_global_id(0)] = x[0];", 10, BOOL)
    with pytest.raises(WrongResult, match="170"):
        build(device, whole).run({"x": [np.ones(10, np.bool_)]}, poison=True)


def test_temporaries_are_poisoned_too(device: Device) -> None:
    plan = one_kernel("y[0] = t[0];", 1, I32)
    assert build(device, plan).run({"x": [np.ones(1, np.int32)]}, poison=True)[0][0] == np.int32(-1431655766)


def test_steps_run_in_order_with_the_buffers_given(device: Device) -> None:
    a, b, c = (Buffer(n, "global", F32, 4) for n in "abc")
    source = "kernel void inc(global const float *s, global float *d)"
    source += "{ int i = get_global_id(0); d[i] = s[i] + 1; }"
    inc = PlannedKernel("inc", source, (a, b), (4,), (2,), ())
    plan = Plan((inc,), {"a": (a,)}, (b,), (c,), ((0, (a, b)), (0, (b, c)), (0, (c, b)), (0, (b, c))))
    executable = build(device, plan)
    np.testing.assert_array_equal(executable.run({"a": [np.zeros(4, np.float32)]})[0], np.full(4, 4.0))
    timing = executable.time({"a": [np.zeros(4, np.float32)]}, most=6)
    assert [name for name, _ in timing.kernels] == ["inc"]


def test_an_empty_plan_gives_empty_results(device: Device) -> None:
    x, y = Buffer("x", "global", F32, 0), Buffer("y", "global", F32, 0)
    executable = build(device, Plan((), {"x": (x,)}, (), (y,), ()))
    assert executable.run({"x": [np.empty(0, np.float32)]}, poison=True)[0].shape == (0,)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, r"the plan takes \['x'\], got \[\]"),
        ({"x": []}, "input x is 1 buffers, got 0"),
        ({"x": [np.ones(9, np.float32)]}, "buffer x is 10 x f32, got 9 x float32"),
        ({"x": [np.ones(10, np.float64)]}, "got 10 x float64"),
    ],
)
def test_inputs_that_do_not_fit_are_named(device: Device, inputs: dict[str, list[object]], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        build(device, double(10)).run(inputs)


def test_an_input_that_no_kernel_reads_may_be_given(device: Device) -> None:
    given = {"x": [np.ones(10, np.float32)], "unread": [np.ones(3, np.float32)]}
    np.testing.assert_array_equal(build(device, double(10)).run(given)[0], np.full(10, 2.0))


def test_a_device_buffer_that_is_too_small_is_named(device: Device) -> None:
    with pytest.raises(ArgumentError, match="buffer x needs 40 bytes, got 8"):
        build(device, double(10)).run({"x": [device.upload(np.ones(2, np.float32))]})


def test_a_build_error_keeps_source_and_log(device: Device) -> None:
    with pytest.raises(BuildError, match=r"does not compile this kernel: .*error") as caught:
        build(device, one_kernel("y[0] = nonsense;", 1))
    assert "nonsense" in caught.value.source
    assert "nonsense" in caught.value.log


def test_what_would_crash_a_launch_is_refused_before_it(device: Device) -> None:
    with pytest.raises(BuildError, match="8192 work-items per group"):
        build(device, one_kernel("y[0] = 1;", 1, items=8192, group=8192))
    plan = one_kernel("y[0] = 1;", 1)
    (k,) = plan.kernels
    large = PlannedKernel(k.name, k.source, k.params, (64,), (64,), (), private_bytes=1 << 20)
    with pytest.raises(BuildError, match="1048576 bytes of private memory for each of 64 work-items"):
        build(device, Plan((large,), plan.inputs, plan.temporaries, plan.outputs, plan.steps))


def test_more_local_memory_than_there_is_is_refused(device: Device) -> None:
    (k,) = (plan := one_kernel("y[0] = 1;", 1)).kernels
    have = device.limits.local_bytes
    with pytest.raises(BuildError, match=rf"kernel k: {have + 1} bytes of local memory per group, .* has {have}"):
        build(device, replace(plan, kernels=(replace(k, local_bytes=have + 1),)))


def refuses(patch: pytest.MonkeyPatch, name: str, error: Exception) -> None:
    """Has a function of pyopencl raise `error`."""

    def refuse(*_: object, **__: object) -> None:
        raise error

    patch.setattr(opencl(), name, refuse)


def refusal(code: str) -> Exception:
    """The error that pyopencl raises with a code of OpenCL."""
    cl = opencl()
    number = {"ILLEGAL_ACCESS": -9999}.get(code) or getattr(cl.status_code, code)
    kind = cl.MemoryError if code in ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_HOST_MEMORY") else cl.RuntimeError
    error: Exception = kind(cl._cl._ErrorRecord("it", number, "clIt"))
    return error


@pytest.mark.parametrize(
    ("name", "trouble"),
    [
        ("Buffer", "cannot hold a buffer of 40 bytes"),
        ("enqueue_nd_range_kernel", r"cannot launch k with \(64,\) work-items in groups of \(16,\)"),
        ("enqueue_copy", "cannot give back 10 elements of f32"),
        ("enqueue_fill_buffer", "cannot fill 10 elements of f32"),
    ],
)
@pytest.mark.parametrize(
    ("error", "kind", "reason"),
    [
        ("MEM_OBJECT_ALLOCATION_FAILURE", OutOfMemory, "out of memory or other resources"),
        ("OUT_OF_RESOURCES", OutOfMemory, "out of memory or other resources"),
        ("OUT_OF_HOST_MEMORY", OutOfMemory, "out of memory or other resources"),
        ("DEVICE_NOT_AVAILABLE", DeviceLost, "the device was lost"),
        ("ILLEGAL_ACCESS", DeviceLost, "the device was lost"),
        ("INVALID_VALUE", DeviceError, "it failed: INVALID_VALUE"),
    ],
)
def test_what_opencl_refuses_is_an_error_of_ours(
    device: Device, monkeypatch: pytest.MonkeyPatch, name: str, trouble: str, error: str, kind: type, reason: str
) -> None:
    executable, x = build(device, double(10)), np.ones(10, np.float32)
    refuses(monkeypatch, name, refusal(error))
    with pytest.raises(DeviceError, match=f"{trouble}: .*{reason}") as caught:
        executable.run({"x": [x]}, poison=True)
    assert type(caught.value) is kind


def test_a_host_without_memory_is_an_error_of_ours(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    executable, x = build(device, double(10)), np.ones(10, np.float32)
    buffer = device.upload(x)
    refuses(monkeypatch, "enqueue_copy", MemoryError("no more"))
    with pytest.raises(OutOfMemory, match="cannot give back 10 elements"):
        executable.run({"x": [buffer]})


def test_a_device_that_is_lost_while_it_works_is_named(device: Device) -> None:
    class Lost:
        def finish(self) -> None:
            raise refusal("ILLEGAL_ACCESS")

    with pytest.raises(DeviceLost, match="did not finish what it was given: the device was lost"):
        device.finish(Lost())


def test_implausible_times_are_rejected(device: Device) -> None:
    x = np.ones(100, np.float32)
    with pytest.raises(DeviceError, match="implausible times"):
        build(device, double(100)).time({"x": [x]}, floor=10.0)


def test_timing_keeps_to_its_number_of_samples(device: Device) -> None:
    x = np.ones(1000, np.float32)
    timing = build(device, double(1000)).time({"x": [x]}, least=3, most=7, precision=0.0)
    assert len(timing.samples) == 7
    assert min(timing.samples) <= timing.seconds <= max(timing.samples)
    assert timing.spread >= 0


def test_one_executable_serves_several_threads(device: Device) -> None:
    executable = build(device, double(5000))
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = np.full(5000, seed, np.float32)
        for _ in range(20):
            if not (executable.run({"x": [x]})[0] == 2 * seed).all():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_building_is_silent(device: Device, capfd: pytest.CaptureFixture[str]) -> None:
    fresh = np.random.default_rng().integers(1 << 60)  # not from PoCL's cache
    plan = one_kernel(f"int u = 1 / 0; y[0] = 1; /* {fresh} */", 1)
    assert isinstance(build(device, plan), Executable)
    captured = capfd.readouterr()
    assert "warning" not in captured.err + captured.out
