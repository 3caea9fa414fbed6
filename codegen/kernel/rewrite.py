"""Statements with other places in memory for some of their loads and stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from egglift.codegen.kernel import imperative as im
from egglift.codegen.kernel.imperative import Buffer, Load, ScalarValue, Statement
from egglift.codegen.kernel.index import Index

#: the place of `buffer[at]`, the same where nothing changes
Place = Callable[[Buffer, Index], tuple[Buffer, Index]]


@dataclass
class Rewriter:
    """Applies `place` to every load and store; declarations become those of the buffer in `declared`, or vanish.

    A store that would now leave an element as it is vanishes too, and so do loops and branches without a rest.
    Numbers loaded within indices keep their places.
    """

    place: Place
    declared: Mapping[Buffer, Buffer | None] = field(default_factory=dict)
    _done: dict[int, tuple[ScalarValue, ScalarValue]] = field(default_factory=dict)

    def value(self, v: ScalarValue) -> ScalarValue:
        """`v` with other places for its loads; what they share stays shared."""
        found = self._done.get(id(v))
        if found is None:
            found = self._done[id(v)] = (v, self._value(v))
        return found[1]

    def _value(self, v: ScalarValue) -> ScalarValue:
        match v:
            case Load(buffer, at):
                new = self.place(buffer, at)
                return v if new == (buffer, at) else Load(*new)
            case im.Call(_, args, _):
                values = tuple(map(self.value, args))
                return v if all(a is b for a, b in zip(args, values, strict=True)) else replace(v, args=values)
            case im.Guarded(_, _, inside, outside):
                a, b = self.value(inside), self.value(outside)
                return v if a is inside and b is outside else replace(v, inside=a, outside=b)
        return v

    def statements(self, body: Iterable[Statement]) -> list[Statement]:
        """`body` rewritten."""
        result: list[Statement] = []
        for s in body:
            match s:
                case im.Declare(buffer):
                    kept = self.declared.get(buffer, buffer)
                    result.extend([im.Declare(kept)] if kept else [])
                case im.Store(buffer, at, value, _):
                    (buffer, at), value = self.place(buffer, at), self.value(value)
                    if not (isinstance(value, Load) and value.buffer is buffer and value.at == at):
                        result.append(replace(s, buffer=buffer, at=at, value=value))
                case im.Let(_, value, _):
                    result.append(replace(s, value=self.value(value)))
                case im.FragmentProduct():
                    totals = tuple(Load(*self.place(x.buffer, x.at)) for x in s.totals)
                    rows, columns = (tuple(map(self.value, factors)) for factors in (s.rows, s.columns))
                    result.append(replace(s, totals=totals, rows=rows, columns=columns))
                case im.AwaitProducts(totals):
                    result.append(im.AwaitProducts(tuple(Load(*self.place(x.buffer, x.at)) for x in totals)))
                case im.FragmentLoad():
                    into = tuple(Load(*self.place(x.buffer, x.at)) for x in s.into)
                    result.append(replace(s, into=into, source=Load(*self.place(s.source.buffer, s.source.at))))
                case im.LookBack():
                    total, init = (tuple(map(self.value, values)) for values in (s.total, s.init))
                    carried = tuple(Load(*self.place(x.buffer, x.at)) for x in s.carried)
                    inner = tuple(self.statements(s.combine))
                    result.append(replace(s, total=total, init=init, carried=carried, combine=inner))
                case im.Loop():
                    if inner := tuple(self.statements(s.body)):
                        result.append(replace(s, body=inner))
                case im.If():
                    inner, other = tuple(self.statements(s.body)), tuple(self.statements(s.otherwise))
                    if inner or other:
                        result.append(replace(s, body=inner, otherwise=other))
                case _:
                    result.append(s)
        return result


def redirected(statements: Iterable[Statement], buffers: Mapping[Buffer, Buffer]) -> list[Statement]:
    """`statements` with other buffers in place of some, whose declarations vanish."""
    return Rewriter(lambda b, at: (buffers.get(b, b), at), dict.fromkeys(buffers)).statements(statements)
