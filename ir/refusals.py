"""What values of a program are not: numbers, arrays with elements.  Each refusal says why, and what to do."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from egglift.ir.array_api import LEFT_OUT
from egglift.ir.errors import TypeMismatch
from egglift.ir.patterns import Expr
from egglift.ir.text import brief

_ORDER = "sorting is not in the language: max, min, argmax and argmin find ends, or sort with NumPy before the call"
_COUNT = (
    "how many elements there are would depend on their values, and lengths are parts of types: "
    "choose with where(condition, x, 0), and reduce, or select with NumPy after the call"
)
#: names of NumPy's that have no counterpart, with what to do instead
ABSENT = dict.fromkeys(("sort", "argsort", "partition", "argpartition", "searchsorted", "median"), _ORDER)
ABSENT |= dict.fromkeys(("nonzero", "compress", "flatnonzero", "argwhere", "unique", "extract"), _COUNT)
ABSENT["bincount"] = "NumPy has as many counts as the values ask for, and lengths are parts of types: el.bincount(x, n)"
ABSENT |= {name: why for name, why in LEFT_OUT.items() if name not in ABSENT}
ABSENT |= dict.fromkeys(("put", "itemset", "resize"), "values do not change: compute a new one")
ABSENT |= dict.fromkeys(("item", "tolist", "get"), "it has no value while the program is written: call the kernel")


class Refusing:
    """What values do not do, although Python or NumPy asks for it."""

    __slots__ = ()
    expr: Expr

    def __bool__(self) -> NoReturn:
        raise TypeMismatch(
            f"{brief(self.expr)} has no value while the program is written: use where(condition, a, b) "
            "instead of if; & | ~ instead of and, or, not; (a < x) & (x < b) instead of a < x < b"
        )

    def __float__(self) -> NoReturn:
        raise TypeMismatch(f"{brief(self.expr)} is no number yet: use egglift's functions, not math's")

    __int__ = __index__ = __complex__ = __float__

    def __round__(self, digits: int | None = None) -> NoReturn:
        raise TypeMismatch(
            f"{brief(self.expr)} is no number yet, which round could make whole: use rint(x), floor(x), ceil(x) or "
            "trunc(x), which are numbers of x's type"
        )

    __trunc__ = __floor__ = __ceil__ = __round__

    def __contains__(self, item: object) -> NoReturn:
        raise TypeMismatch("`in` has no answer while the program is written: map a comparison and reduce it")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """NumPy would make an array of objects of it."""
        raise TypeMismatch(
            f"{brief(self.expr)} has no elements while the program is written, so it is no NumPy array: use egglift's "
            "functions instead of NumPy's, or interpret(...) or a kernel for its value"
        )

    if not TYPE_CHECKING:  # where types are checked, there are no other attributes

        def __getattr__(self, name: str) -> NoReturn:
            if name == "expr" or name.startswith("_"):  # Python and NumPy ask for many that may be missing
                raise AttributeError(name)
            raise AttributeError(_missing(type(self), self.expr, name), name=name)


def public_names() -> frozenset[str]:
    """The names of functions that a user may mean; egglift is imported by whoever has a value."""
    return frozenset(getattr(sys.modules.get("egglift"), "__all__", ()))


def missing_name(name: str) -> NoReturn:
    """What `egglift.name` says of a name that it does not have: AttributeError with the reason, or the nearest name."""
    if name.startswith("_"):
        raise AttributeError(name)
    head = f"egglift has no {name!r}"
    near = difflib.get_close_matches(name, sorted(public_names()), n=1)
    if name in ABSENT:
        raise AttributeError(f"{head}: {ABSENT[name]}", name=name)
    advice = f"did you mean el.{near[0]}?" if near else "docs/numpy.md lists what there is"
    raise AttributeError(f"{head}; {advice}", name=name)


#: for `__getattr__`; as an object, such that type checkers do not take it for a promise of every name
module_getattr: object = missing_name


def _missing(kind: type, e: Expr, name: str) -> str:
    """What to say of an attribute that values do not have."""
    head = f"{brief(e)} has no attribute {name!r}"
    if name in ABSENT:
        return f"{head}: {ABSENT[name]}"
    functions = public_names()
    if name in functions:
        return f"{head}, but there is a function: el.{name}(x)"
    methods = {m for m in dir(kind) if not m.startswith("_")}
    near = difflib.get_close_matches(name, sorted(methods | functions), n=1)
    if not near:
        return f"{head}; README.md lists what there is"
    return f"{head}; did you mean {'x.' + near[0] if near[0] in methods else f'el.{near[0]}(x)'}?"
