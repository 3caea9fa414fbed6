"""egglift: functional array programs in, the fastest equal OpenCL program out.

    import egglift as el
    x, y = el.array("x", el.f32, n), el.array("y", el.f32, n)
    dot = el.reduce(el.add, 0.0, el.map(lambda p: p[0] * p[1], el.zip(x, y)))
    kernel = el.optimize(dot)
    kernel(x=a, y=b)
"""

from egglift.candidate import Candidate
from egglift.codegen.runtime import devices
from egglift.ir.errors import (
    ArgumentError,
    BuildError,
    CodegenError,
    DeviceError,
    EggliftError,
    OperatorError,
    ProgramError,
    RecordError,
    RuleError,
    ShapeError,
    TypeMismatch,
    WrongResult,
)
from egglift.ir.functions import (
    abs,
    absolute,
    arctan2,
    cast,
    ceil,
    cos,
    div,
    divide,
    equal,
    erf,
    exp,
    exp2,
    floor,
    floor_divide,
    fma,
    greater,
    greater_equal,
    invert,
    left_shift,
    less,
    less_equal,
    log,
    log2,
    logical_not,
    mod,
    negative,
    not_equal,
    power,
    remainder,
    right_shift,
    rsqrt,
    sign,
    sin,
    sqrt,
    sub,
    subtract,
    tan,
    tanh,
    where,
)
from egglift.ir.lifting import as_expr, as_program
from egglift.ir.notation import (
    allpairs,
    array,
    as_type,
    concat,
    cross,
    drop,
    fill,
    fold,
    gather,
    interpret,
    iota,
    iterate,
    join,
    literal,
    map,
    pad,
    pad_up,
    reduce,
    reorder,
    scalar,
    slide,
    split,
    stencil,
    stride,
    take,
    transpose,
    tuple,
    unzip,
    zip,
)
from egglift.ir.reduction import (
    add,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    logical_and,
    logical_or,
    maximum,
    minimum,
    mul,
    operator,
)
from egglift.ir.text import dumps, loads, pretty
from egglift.ir.types import BOOL as bool_
from egglift.ir.types import F16 as f16
from egglift.ir.types import F32 as f32
from egglift.ir.types import F64 as f64
from egglift.ir.types import I8 as i8
from egglift.ir.types import I16 as i16
from egglift.ir.types import I32 as i32
from egglift.ir.types import I64 as i64
from egglift.ir.types import U8 as u8
from egglift.ir.types import U16 as u16
from egglift.ir.types import U32 as u32
from egglift.ir.types import U64 as u64
from egglift.ir.value import Value
from egglift.kernel import Kernel
from egglift.optimize import optimize

pow = power
multiply = mul

__all__ = [name for name in dir() if not name.startswith("_")]
