"""OpenCL text of indices and scalar values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.imperative import Buffer, ScalarValue
from egglift.codegen.kernel.index import Atom, Choice, Clamp, Data, Index, Quotient, Remainder, Var
from egglift.codegen.opencl.conversions import scalar_cast
from egglift.codegen.opencl.natives import Natives, instruction
from egglift.codegen.opencl.quotients import quotient
from egglift.codegen.opencl.scalar_functions import C_NAMES, literal, scalar_call, stripped
from egglift.ir.lengths import Length, by_size, surely_equal, surely_less
from egglift.ir.types import BOOL, Scalar

INT = 1 << 31
CLAMP = "clamp_index"
_CLAMP = "{t} {name}({t} i, {t} last) {{ return {value}; }}"
#: is it for a CPU?  There `clamp` takes 1.4 times as long; NVIDIA's compiler reads wrong elements of narrow constant
#: arrays where the index is chosen by conditions
_CLAMPED = {True: "i < 0 ? 0 : i < last ? i : last", False: "clamp(i, ({t})0, last)"}


class Hidden(Exception):
    """A loop's counter is needed by itself, not only within the strided variable that the loop counts by."""


@dataclass(frozen=True)
class Alias:
    """`at`, which grows by `step` with the counter `var`, is kept in the variable `name`."""

    at: Index
    var: Var
    step: int
    name: Var


class Text:
    """Prints indices and scalar values.  helpers: the functions that the text needs, by name.

    cpu: is the text for a CPU?  natives: what its compiler has.
    """

    def __init__(self, cpu: bool, natives: Natives) -> None:
        self.cpu, self.natives = cpu, natives
        self.helpers: dict[str, str] = {}
        self.aliases: list[Alias] = []
        self.counters: dict[Atom, str] = {}  # names of what loops count besides
        self._texts: dict[str, str] = {}  # of indices, where nothing stands for a part of them

    # ------------------------------------------------------------------------------------ indices

    def known(self, at: Index) -> Index:
        """`at` with what is known about its variables where the text stands."""
        return at

    def index(self, at: Index) -> str:
        """An index as an expression; 64 bits wide where a part of it may need that."""
        if self.aliases or self.counters:
            return self._index(at)
        if at.key not in self._texts:  # parts of indices are shared: of views of views, over and over
            self._texts[at.key] = self._index(at)
        return self._texts[at.key]

    def _index(self, at: Index) -> str:
        for alias in self.aliases:
            k = at.coefficient(alias.var) or 0
            if k and k % alias.step == 0:
                at = at + (alias.at * -1 + alias.name) * (k // alias.step)
        terms = sorted(at.terms, key=lambda t: (t[1] < 0, *by_size(t[1]), t[0].key))
        wide = _needs_long(at.constant, terms)
        text = ""
        for _, same in groupby(terms, key=lambda t: (t[1] < 0, *by_size(t[1]))):
            group = [*same]
            k, atoms = group[0][1], [a for a, _ in group]
            if k > 1 and len(atoms) > 1 and not wide:  # `8*i + 8*j` is `8*(i + j)`
                text += (" + " if text else "") + f"{k}*({' + '.join(map(self._atom, atoms))})"
                continue
            for a in atoms:
                sign = ("-" if k < 0 else "") if not text else " - " if k < 0 else " + "
                # a sum is as wide as its first term
                long = wide and (not text or _needs_long(0, [(a, k)]))
                text += sign + self._term(a, abs(k), long)
        if text.startswith("-") and at.constant > 0:
            return f"{at.constant} - {text[1:]}"
        if at.constant or not text:
            text += f" {'-' if at.constant < 0 else '+'} {abs(at.constant)}" if text else str(at.constant)
        return text

    def _term(self, a: Atom, k: int, long: bool) -> str:
        text = self._atom(a)
        long = long and not (isinstance(a, Var) and int_type(a.count) == "long")
        if surely_equal(k, 1):
            return f"(long){text}" if long else text
        if isinstance(k, Length):
            return f"{'(long)' if long else ''}{k}*{text}"
        return f"{k}{'L' if long else ''}*{text}"

    def _atom(self, a: Atom) -> str:
        match a:
            case Var():
                if any(a == alias.var for alias in self.aliases):
                    raise Hidden(a.name)
                return a.name
            case Quotient(x, d):
                return f"({self._operand(x)} / {d})"
            case Remainder() if a in self.counters:
                return self.counters[a]
            case Remainder(x, d):
                return f"({self._operand(x)} % {d})"
            case Clamp(x, high):
                return self._clamp(x, high)
            case Choice(test, n, inside, outside):
                return f"({self._within(test, n)} ? {self.index(inside)} : {self.index(outside)})"
            case Data(value):
                text = self.scalar(value)  # type: ignore[arg-type]
                return text if isinstance(value, im.Load | im.Name) or text[0] == "(" else f"({text})"

    def _operand(self, x: Index) -> str:
        text = self.index(x)
        return text if text.isidentifier() else f"({text})"

    def _clamp(self, x: Index, high: int) -> str:
        low, top = x.range
        text = self.index(x)
        if low < 0 and not surely_less(top, high + 1):
            wide = not _is_int(low, top)
            name, t = CLAMP + ("_long" if wide else ""), "long" if wide else "int"
            self.helpers[name] = _CLAMP.format(name=name, t=t, value=_CLAMPED[self.cpu].format(t=t))
            return f"{name}({text}, {high})"
        operand = self._operand(x)
        return f"({operand} < 0 ? 0 : {operand})" if low < 0 else f"({operand} < {high} ? {operand} : {high})"

    def _within(self, test: Index, n: int) -> str:
        low, high = self.known(test).range
        parts = [self.condition(-1 - test, 0)] if low < 0 else []
        parts += [] if surely_less(high, n) else [self.condition(test, n)]
        return " && ".join(parts) or "true"

    def condition(self, e: Index, n: int) -> str:
        """`e < n`."""
        e = self.known(e)
        if isinstance(n, Length):  # no more of its multiples and sums than there must be
            return f"{self.index(e)} < {n}"
        c, sides = n - e.constant, Index(e.terms)
        if all(k < 0 for _, k in e.terms):
            return f"{self.index(sides * -1)} >= {1 - c}"
        return f"{self.index(sides)} == 0" if c == 1 and sides.range[0] == 0 else f"{self.index(sides)} < {c}"

    # ------------------------------------------------------------------------------------ values

    def scalar(self, v: ScalarValue) -> str:
        """A value as a scalar expression, in parentheses where needed."""
        match v:
            case im.Const(value, t):
                return literal(value, t)
            case im.Name(name, _):
                return name
            case im.Load(buffer, at):
                place = self.place(buffer, at)
                return f"({place} != 0)" if buffer.given and v.type == BOOL else place
            case im.IndexValue(at, t):
                text = self._operand(at)
                if _is_int(*at.range) and self.cpu and any(v.role != "loop" for v in at.variables()):
                    text = f"(int){text}"  # of ids, which are wider
                return text if t.name == "i32" and _is_int(*at.range) else f"({C_NAMES[t.name]}){text}"
            case im.Guarded(at, n, inside, outside):
                low, high = self.known(at).range
                if low >= 0 and surely_less(high, n):
                    return self.scalar(inside)
                if high < 0 or surely_less(n - 1, low):
                    return self.scalar(outside)
                return f"({self._within(at, n)} ? {self.scalar(inside)} : {self.scalar(outside)})"
            case im.Call("cast", (x,), t):
                return scalar_cast(x.type, t, self.scalar(x), self.helpers, self.natives)
            case im.Call(op, args, _):
                texts = [self.scalar(a) for a in args]
                if self.natives.instruction(v):
                    return instruction(op, list(map(stripped, texts)), 1, self.helpers)
                if self.natives.quotient(v):
                    return quotient(op, list(map(stripped, texts)), 1, self.helpers)
                return scalar_call(op, operand_type(v), texts, self.helpers)

    def place(self, buffer: Buffer, at: Index) -> str:
        """An element of memory."""
        if buffer.space == "private" and buffer.size == 1:
            return buffer.name
        return f"{buffer.name}[{self.index(at)}]"


def operand_type(v: im.Call) -> Scalar:
    """The type of a function's operands (of `where`: of its branches)."""
    return v.args[-1].type


def _needs_long(constant: int, terms: list[tuple[Atom, int]]) -> bool:
    """May a partial sum of the terms, in this order, leave the range of int?"""
    low = high = 0
    for a, k in terms:
        first, last = a.range
        least, most = (k * first, k * last) if k > 0 else (k * last, k * first)
        low, high = low + least, high + most
        if not (_is_int(low, high) and _is_int(least, most) and _is_int(k, k)):
            return True
    return not (_is_int(low + constant, high + constant) and _is_int(constant, constant))


def _is_int(low: int, high: int) -> bool:
    return low >= -INT and high < INT


def int_type(count: int) -> str:
    """The type of a variable below `count`."""
    return "long" if count > INT - 1 else "int"
