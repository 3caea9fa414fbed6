"""Seven sums, each a step better than the one before: reductions 0 to 6 of NVIDIA's sample, by their description."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.brought.program import Sizes
from benchmarks.handwritten.kernel import ByHand, Call, Subject, Way
from benchmarks.programs import reduction_forms as forms
from benchmarks.programs import vec_sum
from benchmarks.programs.catalogue import Size
from egglift.codegen.device.device import Device

GROUPS = (128, 256, 512)
#: reductions whose groups add twice as many elements as they have work-items
FIRST_ADDING = 3
#: the reduction whose work-items add many elements, and how many groups of it a compute unit gets
LOOPING, PER_UNIT = 6, (2, 8, 16)

SUM = Subject(
    "vec_sum",
    vec_sum.program,
    vec_sum.inputs,
    vec_sum.reference,
    Sizes((3072,), (1 << 20,), (1 << 28,)),
    lambda n: 4 * n,
)


def ways(number: int, size: Size, device: Device) -> Iterator[Way]:
    """Groups of several sizes; the kernel is launched until one sum is left, over the sums of the launch before."""
    (n,) = size
    macros: dict[str, int | str] = {"WARP": 32} if device.limits.warp == 32 else {}
    most = [device.compute_units * k for k in PER_UNIT] if number == LOOPING else [n]
    for group in GROUPS:
        for groups in most:
            each = group * (2 if number >= FIRST_ADDING else 1)
            yield _until_one(n, group, each, groups, macros | {"GROUP": group})


def _until_one(n: int, group: int, each: int, most: int, macros: dict[str, int | str]) -> Way:
    """Launches over n elements, of which a group takes `each` at a time; `most`: groups at most."""
    calls, temporaries, source, left = list[Call](), dict[str, int](), "x", n
    while not calls or left > 1:
        groups = min(-(-left // each), most)
        target = "out_0" if groups == 1 else f"sums_{len(calls)}"
        calls.append(Call("reduce", (source, target), (left,), (groups * group,), (group,)))
        if groups > 1:
            temporaries[target] = groups
        source, left = target, groups
    return Way(macros, tuple(calls), temporaries)


def _by_hand(number: int) -> ByHand:
    files = ("in_step", f"reduce{number}") if number > FIRST_ADDING else (f"reduce{number}",)
    return ByHand(f"reduce{number}", SUM, files, lambda size, device: tuple(ways(number, size, device)))


KERNELS = tuple(_by_hand(number) for number in range(7))
#: the derived programs of Hagedorn, Steuwer and Gorlatch, which are to be beside reductions 1, 4 and 7 there
DERIVED = {"llp1": forms.llp1, "llp2": forms.llp2, "llp3": forms.llp3}
