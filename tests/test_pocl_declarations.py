"""PoCL of the tests declares what kernels call; the rest of its header is skipped, and still there."""

from __future__ import annotations

import pytest

from tests.pocl_declarations import BEGIN, END, UNCALLED, leaner

HEADER = """\
#ifndef _OPENCL_H_
#define __ovld __attribute__((overloadable))
int __ovld __cnfn convert_int_sat(float);
int __ovld __cnfn convert_int(float);
#if defined(cl_khr_fp64)
event_t __ovld async_work_group_copy(__local double *dst,
                                     size_t n);
uint __purefn __ovld read_imageui(read_only image2d_t image, int2 coord);
double __ovld __cnfn exp(double);
#endif
#endif
"""
LEANER = f"""\
#ifndef _OPENCL_H_
#define __ovld __attribute__((overloadable))
{BEGIN}
int __ovld __cnfn convert_int_sat(float);
{END}
int __ovld __cnfn convert_int(float);
#if defined(cl_khr_fp64)
{BEGIN}
event_t __ovld async_work_group_copy(__local double *dst,
                                     size_t n);
uint __purefn __ovld read_imageui(read_only image2d_t image, int2 coord);
{END}
double __ovld __cnfn exp(double);
#endif
#endif
"""


def test_what_no_kernel_calls_is_skipped_whole() -> None:
    assert leaner(HEADER) == LEANER


def test_of_what_was_made_before_the_same_is_made() -> None:
    assert leaner(LEANER) == LEANER


@pytest.mark.parametrize(
    "name",
    [
        "convert_float16",
        "vload8",
        "vstore_half_rte",
        "vload_half",
        "vstore_half2",
        "atom_xchg",
        "atomic_cmpxchg",
        "exp",
    ],
)
def test_what_kernels_call_is_declared(name: str) -> None:
    assert not UNCALLED.fullmatch(name)
