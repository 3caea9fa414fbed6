"""In which order statements can run as a whole, and which loops must run one after the other.

Statements depend on each other where one touches what the other writes, at a later iteration.  Those that depend on
each other in a circle run together: as a fold, where they are scalars of an iteration; as an iteration of the loop that
carries the dependence, where that loop only counts.  All others run by themselves, at all iterations at once.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NoReturn

import networkx

from egglift.frontend.counters import counted, counter, only_records, uses
from egglift.frontend.dependence import common, conflict, is_later
from egglift.frontend.extrema import extremum, look_for
from egglift.frontend.nest import Apply, Loop, Read, Statement, form_of, loops_in, nodes, with_forms
from egglift.frontend.places import place, refused
from egglift.frontend.reductions import Combining, combining
from egglift.frontend.stages import Stages, off_diagonal, packed
from egglift.ir import notation
from egglift.ir import patterns as p
from egglift.ir.axes import at_depth
from egglift.ir.value import Value


class _Undivided(Exception):
    """A loop whose statements share arrays of an iteration, and which runs one iteration after the other."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        self.loop = loop


class _Unmerged(Exception):
    """Statements that were put together with those that read what their iterations have of their own, for nothing."""


class Schedule:
    """Runs statements on the arrays of `stages`.  undivided: loops whose statements stay together."""

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self.undivided: list[Loop] = []
        self._merging = True

    def run(self, statements: Sequence[Statement]) -> None:
        """All, given that the fixed loops run around them."""
        before = dict(self.stages.arrays)
        try:
            groups = self._groups(statements)
            while groups:
                group = groups.pop(0)
                while groups and len(groups[0]) == 1 and self._is_shared(group, groups[0][0]):
                    group += groups.pop(0)
                others = [s for s in statements if s not in group]
                if not (self._assigned(group) or self._reduced(group) or self._folded(group, others)):
                    if self._is_merged(group, statements):
                        raise _Unmerged
                    self._iterated(group, others)
        except _Unmerged:
            self.stages.arrays, self._merging = before, False
            self.run(statements)
        except _Undivided as again:
            self.stages.arrays = before
            self.undivided.append(again.loop)
            self.run(statements)

    # ------------------------------------------------------------------------------------ order

    def _groups(self, statements: Sequence[Statement]) -> list[list[Statement]]:
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(len(statements)))
        for i, a in enumerate(statements):
            for j, b in enumerate(statements):
                if i != j and (self._is_undivided(a, b) or self._precedes(a, b)):
                    graph.add_edge(i, j)
        circles = self._with_readers(graph, statements)
        first = {n: min(circles.nodes[n]["members"]) for n in circles}
        order = networkx.lexicographical_topological_sort(circles, key=first.__getitem__)
        return [[statements[k] for k in sorted(circles.nodes[n]["members"])] for n in order]

    def _with_readers(self, graph: Any, statements: Sequence[Statement]) -> Any:
        """The circles of statements, each with those that read what its iterations have of their own."""
        circles = networkx.condensation(graph)
        for n in circles if self._merging else ():
            members = sorted(circles.nodes[n]["members"])
            group = [statements[k] for k in members]
            for k, s in zip(members, group, strict=True):
                if len(group) > 1 and self._is_of_a_step(s, group):
                    readers = [j for j, x in enumerate(statements) if any(r.array == s.target.array for r in x.reads)]
                    graph.add_edges_from((j, k) for j in readers if statements[j].loops == s.loops)
        return networkx.condensation(graph)

    def _is_merged(self, group: Sequence[Statement], statements: Sequence[Statement]) -> bool:
        if not self._merging:
            return False
        self._merging = False
        apart = self._groups(statements)
        self._merging = True
        return list(group) not in apart

    def _is_undivided(self, a: Statement, b: Statement) -> bool:
        return any(d in a.loops and d in b.loops for d in self.undivided)

    def _precedes(self, a: Statement, b: Statement) -> bool:
        """Must some iteration of `a` come before one of `b`?"""
        pairs = [(a.target, r) for r in (*b.reads, b.target)] + [(r, b.target) for r in a.reads]
        return any(self._conflicts(a, x, b, y) for x, y in pairs)

    def _conflicts(self, a: Statement, x: Read, b: Statement, y: Read) -> bool:
        if x.array != y.array:
            return False
        fixed = self.stages.fixed
        return any(conflict(a, x, b, y, fixed, carrier) for carrier in is_later(a, b, fixed))

    def _carries(self, loop: Loop, a: Statement, b: Statement) -> bool:
        """Must some iteration of a loop come before another one, for what `a` and `b` read and write there?"""
        pairs = [(a.target, r) for r in (*b.reads, b.target)] + [(r, b.target) for r in a.reads]
        return any(conflict(a, x, b, y, self.stages.fixed, loop) for x, y in pairs)

    def _flow(self, a: Statement, b: Statement) -> tuple[Read, Loop] | None:
        """What `b` reads that `a` wrote at an earlier iteration of a common loop, and that loop."""
        for r in sorted(b.reads, key=lambda r: r == b.target):
            for loop in common(a, b):
                if loop not in self.stages.fixed and conflict(a, a.target, b, r, self.stages.fixed, loop):
                    return r, loop
        return None

    # ------------------------------------------------------------------------------------ one by one

    def _assigned(self, group: Sequence[Statement]) -> bool:
        """Runs a statement at all iterations at once, if none needs what another one has written."""
        if len(group) > 1 or self._flow(group[0], group[0]) is not None:
            return False
        s = self._last(group[0])
        self._must_be_injective(s, [d for d in s.loops if d not in self.stages.fixed])
        self.stages.assign(s)
        return True

    def _reduced(self, group: Sequence[Statement]) -> bool:
        """Runs statements as reductions, if they are."""
        found = [self._reduction(s) for s in group]
        if any(c is None for c in found) or any(self._precedes(a, b) for a in group for b in group if a is not b):
            return False
        for s in group:
            self._must_be_injective(s, self._parallel(s))
        self.stages.reduce(group, [c for c in found if c is not None])
        return True

    def _reduction(self, s: Statement) -> Combining | None:
        """How a statement combines its target with something new; None where it does not."""
        found = combining(s)
        if found is None or any(self._flows(s, r) for r in s.reads if r != s.target):
            return None
        if any(form_of(e) is None for e in s.target.at) or self._flow(s, s) is None:
            return None
        return None if found.needs_number and not self._begins_with_number(s.target) else found

    def _parallel(self, s: Statement) -> list[Loop]:
        return [d for d in s.loops if d in loops_in(*s.target.at) and d not in self.stages.fixed]

    def _is_shared(self, group: Sequence[Statement], s: Statement) -> bool:
        """Are statements reductions over the same iterations, with work that is the same?"""
        first, work = group[0], {id(e) for e in nodes(s.value) if isinstance(e, Apply)}
        same = s.loops == first.loops and s.guards == first.guards and self._parallel(s) == self._parallel(first)
        if not same or not any(id(e) in work for e in nodes(first.value)):
            return False
        if any(self._precedes(a, s) or self._precedes(s, a) for a in group):
            return False
        every = [*group, s]
        if any(self._reduction(x) is None or off_diagonal(x) is not x for x in every):
            return False
        return len({tuple(self.stages.region(x).flat) for x in every}) == 1

    def _begins_with_number(self, target: Read) -> bool:
        e = self.stages.array(target.array).expr
        while isinstance(e, p.Fill):
            e = e.x
        return isinstance(e, p.Literal) and e.value == e.value

    def _flows(self, s: Statement, r: Read) -> bool:
        return r.array == s.target.array and any(
            conflict(s, s.target, s, r, self.stages.fixed, d) for d in s.loops if d not in self.stages.fixed
        )

    def _last(self, s: Statement) -> Statement:
        """`x = A[i]` for all i: what the last iteration writes."""
        used = loops_in(*s.target.at)
        for d in [d for d in s.loops if d not in used and d not in self.stages.fixed]:
            if any(d in g.loops for g in s.guards):
                refused(
                    s.target.place,
                    f"{s.target} is written again and again, for some {d.name}: which comes last is not known; "
                    f"give it the subscript {d.name}",
                    self.stages.file,
                )
            value = with_forms(s.value, lambda f, d=d: f.at(d, d.extent - 1))  # type: ignore[misc]
            loops = tuple(x for x in s.loops if x is not d)
            s = Statement(loops, s.guards, s.target, value, s.order)
        return s

    def _must_be_injective(self, s: Statement, loops: Sequence[Loop]) -> None:
        """An error where two iterations that differ in one of these loops write one element."""
        for d in loops:
            at = list(s.loops).index(d)
            around = [x for x in s.loops if x is not d]
            turned = Statement((d, *around), s.guards, s.target, s.value, s.order)
            if at is not None and conflict(turned, s.target, turned, s.target, self.stages.fixed, d):
                refused(
                    s.target.place,
                    f"{s.target} is scattered: two iterations of {d.name} write one element; compute each element of "
                    "the result in a loop over the result",
                    self.stages.file,
                )

    # ------------------------------------------------------------------------------------ together

    def _folded(self, group: Sequence[Statement], others: Sequence[Statement]) -> bool:
        """Runs statements as a fold, if they have the same loops and their targets are the same at each step.

        What each step has of its own, and no other statement reads, is computed on the way.
        """
        loops = [d for d in group[0].loops if d not in self.stages.fixed]
        private = [s for s in group if self._is_of_a_step(s, group)]
        kept = [s for s in group if s not in private]
        targets = {s.target for s in group}
        if not kept or any(r.array == s.target.array for s in private for x in others for r in x.reads):
            return False
        parallel = self._written_along(kept[0])
        for s in group:
            if s.loops != group[0].loops or (s in kept and self._written_along(s) != parallel):
                return False
            if any(r.array == t.array and r != t for r in s.reads for t in targets):
                return False
            if any(form_of(e) is None for e in s.target.at) or len({s.target.array for s in group}) < len(targets):
                return False
        if any(off_diagonal(s) is not s for s in kept):
            return False
        along = [d for d in loops if d not in parallel]
        if not along or any(set(g.loops) - set(loops) - set(self.stages.fixed) for s in group for g in s.guards):
            return False
        regions = [self.stages.region(s) for s in kept]
        if any(r.flat != regions[0].flat for r in regions):
            return False
        for s in kept:
            self._must_be_injective(s, sorted(parallel, key=loops.index))
        if (sought := extremum(group, private)) is not None:
            look_for(sought, self.stages)
        else:
            self.stages.fold(group, kept)
        return True

    def _written_along(self, s: Statement) -> set[Loop]:
        return {d for d in loops_in(*s.target.at) if d not in self.stages.fixed}

    def _is_of_a_step(self, s: Statement, group: Sequence[Statement]) -> bool:
        """Is what a statement writes a scalar that each of its iterations has of its own, while others go on?"""
        own, loops = self.stages.variables[s.target.array].loops, {d for d in s.loops if d not in self.stages.fixed}
        goes_on = any(self._written_along(x) != loops for x in group)
        return bool(loops) and loops <= set(own) and goes_on and len(s.target.at) == len(own)

    def _iterated(self, group: Sequence[Statement], others: Sequence[Statement]) -> None:
        """Runs statements once for each iteration of the loop that carries what they need of each other.

        Of arrays that each iteration has of its own, those of the last one are kept for others outside of the loop.
        """
        for s in group:
            if any(form_of(e) is None for e in s.target.at):
                self.stages.region(s)  # says that it is scattered
        carried = [(a, *found) for a in group for b in group if (found := self._flow(a, b)) is not None]
        loops = [d for d in group[0].loops if d not in self.stages.fixed and all(d in s.loops for s in group)]
        # the outermost that carries any dependence: those around it may go inwards, as their iterations need no order
        loop = next((d for d in loops if any(self._carries(d, a, b) for a in group for b in group)), None)
        variables = self.stages.variables
        if loop is None or not only_records(group, loop, variables):
            self._refuse(group, carried)
        for s in others:
            touched = {r.array for x in group for r in (*x.reads, x.target)} & {r.array for r in (*s.reads, s.target)}
            if loop in s.loops and any(loop in self.stages.variables[n].loops for n in touched):
                raise _Undivided(loop)
        live = {r.array for s in others for r in s.reads}
        own = {n: loop in self.stages.variables[n].loops for n in dict.fromkeys(s.target.array for s in group)}
        names = [n for n in own if not own[n] or n in live]
        number = counter(loop, variables)
        if any(uses(s, loop, variables) for s in group):
            self.stages.variables[number.name], self.stages.shapes[number.name] = number, ()
            count = number.read((), loop.at)
            group = [counted(s, loop, count, variables, self.stages.shapes) for s in group]
            names.append(number.name)
        inside = self._within(loop, {n for n in own if own[n]})

        def step(now: Value) -> Value:
            inner = self._within(loop, {n for n in own if own[n]})
            inner.arrays |= dict(zip(names, [now] if len(names) == 1 else now, strict=True))
            Schedule(inner).run(group)
            if number.name in names:
                inner.arrays[number.name] = inner.arrays[number.name] + 1
            return packed([inner.array(n) for n in names])

        done = notation.iterate(loop.extent, step, packed([inside.array(n) for n in names]))
        for k, n in enumerate(names):
            last = done if len(names) == 1 else done[k]
            self.stages.arrays[n] = self._repeated(n, last, loop) if own.get(n) else last

    def _within(self, loop: Loop, own: Set[str]) -> Stages:
        """The arrays in an iteration of a loop, which has some of its own."""
        inner = Stages(self.stages.variables, self.stages.shapes, self.stages.file)
        inner.fixed = (*self.stages.fixed, loop)
        inner.arrays = {n: x for n, x in self.stages.arrays.items() if n not in own}
        return inner

    def _repeated(self, name: str, last: Value, loop: Loop) -> Value:
        """What the last iteration had of its own, as an array of all iterations: no other one is read afterwards."""
        around = [d for d in self.stages.variables[name].loops if d not in self.stages.fixed]
        return Value(at_depth(around.index(loop), last.expr, lambda e: p.Fill(loop.extent, e)))

    def _refuse(self, group: Sequence[Statement], carried: Sequence[tuple[Statement, Read, Loop]]) -> NoReturn:
        if carried:
            # the sum that a statement goes on with is less telling than what else it reads
            a, read, by = min(carried, key=lambda c: c[1] == c[0].target)
            refused(
                read.place,
                f"{read} reads what {a.target} ({place(a.target.place)}) wrote at an earlier iteration of {by.name}: "
                f"the iterations of {by.name} cannot run at the same time, and they are no reduction and no steps that "
                f"do the same each time; write them so that each reads what no other iteration writes",
                self.stages.file,
            )
        s = group[0]
        others = ", ".join(f"{x.target} ({place(x.target.place)})" for x in group[1:])
        refused(
            s.target.place,
            f"{s.target} and {others or 'itself'} overwrite each other in turn; use a variable for each",
            self.stages.file,
        )
