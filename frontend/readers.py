"""What statements read: variables as they are now, and operands for nested maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from egglift.frontend.nest import Affine, CExpr, Index, Loop, Read, form_of, parts
from egglift.frontend.values import Evaluation
from egglift.frontend.variables import Variable
from egglift.frontend.views import Operand, view
from egglift.ir import notation
from egglift.ir.types import BOOL, I32, I64
from egglift.ir.value import Value

#: elements beside each other are read as one window, if they are no further apart
NEAR = 16


class Arrays:
    """What variables are now.  fixed: loops whose iterations run one after the other around what is built here.

    arrays: what each variable is now; those that are not there have not been written.
    """

    def __init__(self, variables: dict[str, Variable], shapes: dict[str, tuple[int, ...]], file: str) -> None:
        self.variables, self.shapes, self.file = variables, shapes, file
        self.arrays: dict[str, Value] = {}
        self.fixed: tuple[Loop, ...] = ()

    def kept(self, read: Read) -> list[int]:
        """The subscripts that count here: not those of places that each iteration of a fixed loop has of its own."""
        own = len(self.variables[read.array].loops)
        forms = read.forms
        alone = [form.single if form is not None else None for form in forms]
        return [k for k in range(len(read.at)) if not (k < own and alone[k] is not None and alone[k] in self.fixed)]

    def shape(self, name: str) -> tuple[int, ...]:
        """The lengths of a variable here."""
        v = self.variables[name]
        return tuple(n for k, n in enumerate(self.shapes[name]) if not (k < len(v.loops) and v.loops[k] in self.fixed))

    def array(self, name: str) -> Value:
        """What a variable is now: as given, if it was not written; zeros, if it is nobody's yet."""
        if name not in self.arrays:
            v, shape = self.variables[name], self.shape(name)
            if v.given and "%" not in name:
                self.arrays[name] = notation.array(name, v.type, shape) if shape else notation.scalar(name, v.type)
            else:
                zero = notation.literal(False if v.type == BOOL else 0, v.type)
                self.arrays[name] = notation.fill(shape, zero) if shape else zero
        return self.arrays[name]


class Reader:
    """What some expressions read, as operands for nested maps over `loops`; and the expressions at an iteration.

    Elements whose subscripts are not affine are read one by one, where all loops have a count.  local: elements that
    `at` is told.
    """

    def __init__(
        self, arrays: Arrays, expressions: Sequence[CExpr], loops: Sequence[Loop], local: Set[Read] = frozenset()
    ):
        self.arrays, self.loops, self._local = arrays, loops, local
        self.operands: list[Operand] = []
        self._places: dict[Read, tuple[int, tuple[int, ...]]] = {}
        self._counts: dict[Loop, int] = {}
        reads = self._gathered(expressions)
        for group in _groups(arrays, reads):
            self._add(group)

    def _gathered(self, expressions: Sequence[CExpr]) -> list[Read]:
        """The reads that may be views; of all others, and of iterators as numbers, the loops' counts."""
        found: dict[Read, None] = {}
        stack: list[CExpr] = list(reversed(expressions))
        seen: set[int] = set()
        while stack:
            e = stack.pop()
            if id(e) in seen:
                continue
            seen.add(id(e))
            if isinstance(e, Read) and e in self._local:
                continue
            if isinstance(e, Read) and self._is_view(e):
                found[e] = None
                continue
            if isinstance(e, Index):
                for d in e.form.loops:
                    self._count(d)
            stack.extend(reversed(parts(e)))
        return list(found)

    def _is_view(self, e: Read) -> bool:
        forms = [form_of(e.at[k]) for k in self.arrays.kept(e)]
        if any(f is None for f in forms):
            return False
        loops = [d for f in forms if f for d in f.loops]
        return len(set(loops)) == len(loops)

    def _count(self, d: Loop) -> None:
        if d not in self._counts:
            self._counts[d] = len(self.operands)
            kind = I32 if d.extent < 1 << 31 else I64
            self.operands.append(Operand(notation.iota(d.extent, kind), (d,)))

    def _add(self, group: Sequence[Read]) -> None:
        """Reads of one array that differ by constants: one operand, a window of it where they are several."""
        kept = self.arrays.kept(group[0])
        forms = [[_form(r, k) for k in kept] for r in group]
        low = [min(f[a].constant for f in forms) for a in range(len(kept))]
        widths = [max(f[a].constant for f in forms) - low[a] + 1 for a in range(len(kept))]
        first = [Affine(low[a], forms[0][a].terms) for a in range(len(kept))]
        made = view(self.arrays.array(group[0].array), first, widths, self.loops)
        if made is None:  # a filled array
            for r in group:
                self._add([r])
            return
        for r, f in zip(group, forms, strict=True):
            at = tuple(f[a].constant - low[a] for a in range(len(kept)) if widths[a] > 1)
            self._places[r] = (len(self.operands), at)
        self.operands.append(made)

    def at(
        self,
        now: Sequence[Operand],
        local: Mapping[Read, Value] | None = None,
        known: Mapping[Loop, Value] | None = None,
    ) -> Evaluation:
        """Expressions where the operands are these; local: what some elements are instead; known: some counts."""
        counts = {d: now[k].value for d, k in self._counts.items()} | dict(known or {})

        def read(r: Read) -> Value:
            if local and r in local:
                return local[r]
            if r in self._places:
                k, window = self._places[r]
                value = now[k].value
                for i in window:
                    value = value[i]
                return value
            found = self.arrays.array(r.array)
            for k in self.arrays.kept(r):
                found = found[evaluation.of(r.at[k])]
            return found

        evaluation = Evaluation(counts, read)
        return evaluation


def _form(r: Read, k: int) -> Affine:
    found = form_of(r.at[k])
    assert found is not None
    return found


def _groups(arrays: Arrays, reads: Sequence[Read]) -> list[list[Read]]:
    """Reads of one array at subscripts that differ by small constants, together."""
    groups: dict[Any, list[list[Read]]] = {}
    for r in reads:
        forms = [_form(r, k) for k in arrays.kept(r)]
        same = groups.setdefault((r.array, tuple(f.terms for f in forms)), [])
        near = next((g for g in same if all(_is_near(arrays, r, other) for other in g)), None)
        if near is None:
            same.append([r])
        else:
            near.append(r)
    return [g for same in groups.values() for g in same]


def _is_near(arrays: Arrays, a: Read, b: Read) -> bool:
    return all(abs(_form(a, k).constant - _form(b, k).constant) <= NEAR for k in arrays.kept(a))
