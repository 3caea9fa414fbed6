"""What values of a program are not: numbers, arrays with elements.  Each refusal says why, and what to do."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from egglift.ir.absent_names import ABSENT, reason
from egglift.ir.errors import TypeMismatch
from egglift.ir.foreign_names import instead
from egglift.ir.patterns import Expr
from egglift.ir.text import brief

#: how alike a name must be to one that there is, to be taken for it misspelt
ALIKE = 0.7
#: functions of no value, which are not named where one has no such attribute
NOT_OF_VALUES = frozenset(
    ("devices", "book", "laws", "load", "loads", "fill", "size", "array", "scalar", "zeros", "ones", "full", "eye")
)


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

    __int__ = __complex__ = __float__

    def __index__(self) -> NoReturn:
        raise TypeMismatch(
            f"{brief(self.expr)} is no number yet: lengths and counts are numbers of Python's; of Python's lists and "
            "of arrays of NumPy's, gather(indices, el.literal(numbers)) takes elements at places that are computed"
        )

    def __round__(self, digits: int | None = None) -> NoReturn:
        raise TypeMismatch(
            f"{brief(self.expr)} is no number yet, which round could make whole: use rint(x), floor(x), ceil(x) or "
            "trunc(x), which are numbers of x's type"
        )

    def __setitem__(self, at: object, value: object) -> NoReturn:
        raise TypeMismatch(
            f"{brief(self.expr)} does not change: write where(condition, new, x), or concat slices of it"
        )

    def __delitem__(self, at: object) -> NoReturn:
        raise TypeMismatch(f"{brief(self.expr)} does not change: concat the parts that stay")

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
    if (why := instead(name, of_value=False) or reason(name)) is not None:
        raise AttributeError(f"{head}: {why}", name=name)
    near = difflib.get_close_matches(name, sorted(public_names()), n=1, cutoff=ALIKE)
    advice = f"did you mean el.{near[0]}?" if near else "docs/numpy.md lists what there is"
    raise AttributeError(f"{head}; {advice}", name=name)


#: for `__getattr__`; as an object, such that type checkers do not take it for a promise of every name
module_getattr: object = missing_name


def _missing(kind: type, e: Expr, name: str) -> str:
    """What to say of an attribute that values do not have."""
    head = f"{brief(e)} has no attribute {name!r}"
    functions = public_names()
    if (why := instead(name, of_value=True) or ABSENT.get(name)) is not None:
        return f"{head}: {why}"
    if name in functions and name not in NOT_OF_VALUES:
        return f"{head}, but there is a function: el.{name}(x)"
    if (why := reason(name)) is not None:
        return f"{head}: {why}"
    methods = {m for m in dir(kind) if not m.startswith("_")}
    near = difflib.get_close_matches(name, sorted(methods | (functions - NOT_OF_VALUES)), n=1, cutoff=ALIKE)
    if not near:
        return f"{head}; docs/language.md lists what there is"
    return f"{head}; did you mean {'x.' + near[0] if near[0] in methods else f'el.{near[0]}(x)'}?"
