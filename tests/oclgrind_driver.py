"""Runs plans on Oclgrind.  Started by tests/oclgrind.py in an environment without egglift, with a folder."""

import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pyopencl as cl


def find() -> "cl.Device":
    """The simulated device; no other will do."""
    platforms = [p for p in cl.get_platforms() if "Oclgrind" in p.name]
    if not platforms:
        sys.exit(f"no Oclgrind among the platforms {[p.name for p in cl.get_platforms()]}")
    return platforms[0].get_devices()[0]


def memory_type(name: str) -> type:
    """The NumPy type of a buffer's elements; a bool is one byte."""
    return np.dtype("uint8" if name == "bool" else name).type


def poison(name: str, size: int) -> "np.ndarray":
    """NaN for floats, 0xAA bytes for the rest: what is not written shows."""
    if np.dtype(name).kind == "f":
        return np.full(size, np.nan, name)
    return np.full(size * np.dtype(memory_type(name)).itemsize, 0xAA, np.uint8)


def run(context: "cl.Context", queue: "cl.CommandQueue", job: dict) -> list:
    """The outputs of one plan."""
    # without optimisation: Oclgrind's own interpreter takes `not` of a vector of LLVM's i1 for 254 or 255 instead of 1
    program = cl.Program(context, job["source"]).build(["-cl-opt-disable"]) if job["kernels"] else None
    kernels = [cl.Kernel(program, name) for name, *_ in job["kernels"]]
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = []
    for i, (name, size) in enumerate(job["buffers"]):
        data = job["arrays"].get(i, poison(name, size))
        # exactly as large as the plan says: an access beyond it is an error that Oclgrind reports
        buffers.append(cl.Buffer(context, flags, hostbuf=data if data.nbytes else np.zeros(1, np.uint8)))
    for index, given in job["steps"]:
        _, global_size, local_size, lengths = job["kernels"][index]
        kernels[index].set_args(*(buffers[g] for g in given), *(np.dtype(t).type(n) for t, n in lengths))
        cl.enqueue_nd_range_kernel(queue, kernels[index], global_size, local_size).wait()
    outputs = []
    for i, name in job["outputs"]:
        result = np.empty(0 if i is None else job["buffers"][i][1], memory_type(name))
        if result.size:
            cl.enqueue_copy(queue, result, buffers[i])
        outputs.append(result)
    queue.finish()
    return outputs


def main(folder: Path) -> None:
    """Every job of `folder/jobs`: its messages go to `N.log`, its outputs, when it is through, to `N.out`."""
    device = find()
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    for i, job in enumerate(pickle.loads((folder / "jobs").read_bytes())):
        log = os.open(folder / f"{i}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 2)  # Oclgrind writes to the process's standard error
        os.close(log)
        try:
            value = {"outputs": run(context, queue, job)}
        except cl.Error as error:
            value = {"crash": str(error)}
        half = folder / f"{i}.half"
        half.write_bytes(pickle.dumps(value))
        half.rename(folder / f"{i}.out")


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]))
