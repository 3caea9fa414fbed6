"""Takes out of PoCL, in the environment that runs this, declarations of OpenCL's functions that no kernel here calls.

PoCL reads 14,000 declarations anew for whatever it builds, which is most of what a short kernel costs: without
conversions that name a rounding, images, asynchronous copies and the like it builds in less than half the time.  A
kernel that called one of them would not compile.
"""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path

HEADER = "pocl_binary_distribution/.libs/share/pocl/include/opencl-c.h"
#: names of functions that are declared in vain
UNUSED = "|".join(
    (
        *("convert_[a-z0-9]+_sat(?:_rt[ezpn])?", "convert_[a-z0-9]+_rt[ezpn]", "vloada_half[0-9]*", "vstorea_half\\w*"),
        *("[a-z_]*image[a-z_]*", "async_work_group_[a-z_]*", "prefetch", "(?:intel_)?sub_group_\\w*", "shuffle2?"),
        *("atomic_(?:compare|flag|load|store|exchange|init|fetch)\\w*", "lgamma_r", "remquo", "frexp", "modf", "fract"),
        *("bitfield_\\w*", "bit_reverse", "r?hadd", "abs_diff", "add_sat", "sub_sat", "mad_sat", "mad_hi", "sincos"),
    )
)
#: a line that declares one of them, and nothing else
_DECLARED = re.compile(rf"^[a-z]\w* (?:__\w+ )*(?:{UNUSED})\(.*\);\n", re.MULTILINE)


def lean(header: str) -> str:
    """The header without the lines that declare them."""
    return _DECLARED.sub("", header)


def make_lean(site: Path) -> None:
    """Writes the header of the PoCL in a folder `site-packages` anew, if there is one."""
    header = site / HEADER
    if header.is_file():
        new = header.with_suffix(".lean")
        new.write_text(lean(header.read_text()))
        os.replace(new, header)  # a file of its own: an installer may have linked it to those of other environments


if __name__ == "__main__":
    make_lean(Path(sysconfig.get_path("purelib")))
