"""Inputs of a kernel as constants in its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from egglift.candidate import Candidate
from egglift.ir import notation
from egglift.ir import patterns as p
from egglift.ir.arguments import elements
from egglift.ir.errors import ArgumentError
from egglift.ir.patterns import Expr
from egglift.ir.signature import inputs_of
from egglift.ir.traverse import exchanged, subterms
from egglift.ir.types import Scalar


def constant(program: Expr, chosen: Candidate, numbers: Mapping[str, Any]) -> tuple[Expr, Candidate]:
    """A program and its low-level program with numbers for some inputs."""
    types = inputs_of(program)
    for name in numbers:
        if name not in types:
            raise ArgumentError(f"{name} is no input: this program takes {', '.join(types) or 'none'}")
        if not isinstance(t := types[name], Scalar):
            raise ArgumentError(f"{name} is {t}: only numbers become constants")
        if t.is_complex:
            raise ArgumentError(f"{name} is {t}: only real numbers become constants; write it in the program")

    literals = {name: _literal(name, types[name], n) for name, n in numbers.items()}

    def known(e: Expr) -> Expr:
        inputs = {t for t in subterms(e) if isinstance(t, p.Input) and t.name in numbers}
        return exchanged(e, {t: literals[t.name] for t in inputs})

    form = None if chosen.form is None else known(chosen.form)
    term = known(chosen.term)
    return known(program), replace(chosen, term=term, form=form, account=chosen.account, steps=None, parts=())


def _literal(name: str, t: Any, number: Any) -> Expr:
    return notation.literal(elements(name, t, (), number).item(), t).expr
