"""Proofs by an SMT solver: what holds for all integers in range, and what has a counterexample.

An answer that takes more than STEPS fails: nothing is taken to hold because nobody could say.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from egglift.codegen.kernel.index import Atom, Choice, Clamp, Data, Index, Quotient, Remainder, Var
from egglift.ir.length_forms import Form, Operation
from egglift.ir.lengths import Length, Tracing

STEPS = 40_000_000  # of the solver for one question, some ten seconds, where the hardest takes half a one
INT = (-(1 << 31), (1 << 31) - 1)
LONG = (-(1 << 63), (1 << 63) - 1)

#: what decides quotients by numbers quickly: they become new variables, and equations are solved first
LINEAR = z3.Then("simplify", "purify-arith", "propagate-values", "solve-eqs", "elim-uncnstr", "smt")


class Proofs:
    """Asks the solver.  count: how many obligations it has proved so far."""

    def __init__(self) -> None:
        self.count = 0

    def prove(self, claims: list[z3.BoolRef], *given: z3.BoolRef) -> None:
        """All of `claims` follow from `given`; AssertionError with a counterexample, or if there is no answer."""
        wrong = counterexample(z3.And(*claims), *given)
        assert wrong is None, f"{[c for c in claims if z3.is_false(wrong.eval(c))]} fails for {wrong} given {given}"
        self.count += len(claims)


def counterexample(claim: z3.BoolRef, *given: z3.BoolRef) -> z3.ModelRef | None:
    """Values for which `given` hold and `claim` does not; None if there are none."""
    for solver in (LINEAR.solver(), z3.Solver()):
        solver.set("rlimit", STEPS)
        solver.add(*given, z3.Not(claim))
        answer = solver.check()
        if answer != z3.unknown:
            break
    assert answer != z3.unknown, f"no answer in {STEPS} steps: does {claim} follow from {given}?"
    return solver.model() if answer == z3.sat else None


# ---------------------------------------------------------------------------------------- exact definitions


def truncated(a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    """C's `a / b`: the quotient without its fraction.  (z3's `/` leaves a remainder of 0 or more, as Euclid's.)"""
    absolute = z3.If(a >= 0, a, -a) / z3.If(b >= 0, b, -b)
    return z3.If((a >= 0) == (b >= 0), absolute, -absolute)


def floored(a: z3.ArithRef, b: z3.ArithRef) -> z3.ArithRef:
    """Python's `a // b`: the largest integer not above the quotient."""
    return z3.If(b > 0, a / b, -a / -b)


def clamped(i: z3.ArithRef, n: int | z3.ArithRef) -> z3.ArithRef:
    """The nearest of 0..n-1."""
    return z3.If(i < 0, 0, z3.If(i > n - 1, n - 1, i))


def reflected(i: z3.ArithRef, n: int) -> z3.ArithRef:
    """The image of `i` in 0..n-1 between mirrors at both ends, the edges repeated."""
    return z3.If(i % (2 * n) < n, i % (2 * n), 2 * n - 1 - i % (2 * n))


# ---------------------------------------------------------------------------------------- indices


def integer(x: int) -> z3.ArithRef:
    """A number, or the term of one that stands for many (tests/codegen/kernel/test_boundary_proofs.py)."""
    if isinstance(x, Length):
        return of_form(x.form)
    return x.term if hasattr(x, "term") else z3.IntVal(x)


def of_form(form: Form) -> z3.ArithRef:
    """The integer that an expression over run-time lengths is; a length is a variable of its name."""
    total = z3.IntVal(0)
    for product, k in form.terms:
        part = z3.IntVal(k)
        for a in product:
            part = part * (_operation(a) if isinstance(a, Operation) else z3.Int(a.name))
        total = total + part
    return total


def _operation(a: Operation) -> z3.ArithRef:
    x, y = of_form(a.a), of_form(a.b)
    return x / y if a.op == "//" else x % y  # of positive divisors, as Python's


def conditions_of(tracing: Tracing) -> list[z3.BoolRef]:
    """What holds for the lengths for which all is as it was traced."""
    found = []
    for c in tracing.conditions:
        x = of_form(c.form)
        found.append({"==": x == c.number, "!=": x != c.number, "<=": x <= c.number, ">=": x >= c.number}[c.relation])
    return [*found, *(z3.Int(n.name) >= n.min for n in tracing.values)]


def variable(v: Var) -> z3.ArithRef:
    """The integer that `v` is."""
    return z3.Int(v.name)


def ranges(variables: frozenset[Var]) -> list[z3.BoolRef]:
    """`0 <= v < count` for each of them."""
    return [z3.And(variable(v) >= 0, variable(v) < integer(v.count)) for v in variables]


def meaning(x: Index) -> z3.ArithRef:
    """The integer that `x` is."""
    return sum((integer(k) * _atom(a) for a, k in x.terms), integer(x.constant))


def _atom(a: Atom) -> z3.ArithRef:
    match a:
        case Var():
            return variable(a)
        case Quotient(x, d):
            return meaning(x) / integer(d)
        case Remainder(x, d):
            return meaning(x) % integer(d)
        case Clamp(x, high):
            return clamped(meaning(x), integer(high) + 1)
        case Choice(test, n, inside, outside):
            return z3.If(within(meaning(test), integer(n)), meaning(inside), meaning(outside))
        case Data():
            raise AssertionError("a loaded number has no meaning here")


def within(i: z3.ArithRef, n: int | z3.ArithRef) -> z3.BoolRef:
    """`0 <= i < n`."""
    return z3.And(i >= 0, i < (n if isinstance(n, z3.ArithRef) else integer(n)))


def promises(x: Index) -> Iterator[z3.BoolRef]:
    """What the parts of `x` promise: no division of what is negative, choices within their limit."""
    for a, _ in x.terms:
        match a:
            case Quotient(y, _) | Remainder(y, _):
                yield meaning(y) >= 0
                yield from promises(y)
            case Clamp(y, _):
                yield from promises(y)
            case Choice(test, n, inside, outside, limit):
                yield from promises(test)
                here = within(meaning(test), n)
                yield from (z3.Implies(here, c) for c in promises(inside))
                yield from (z3.Implies(z3.Not(here), c) for c in promises(outside))
                if limit is not None:
                    yield within(_atom(a), limit)
