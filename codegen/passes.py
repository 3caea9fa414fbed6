"""All passes of code generation, in order; each is documented, before -> after, where it is.

program  --TERM_PASSES-->  one term of patterns  --kernel boundaries, levels-->  a term for each kernel
         --emission-->  statements  --STATEMENT_PASSES-->  statements  --opencl-->  text
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from egglift.codegen.emission.builder import Builder
from egglift.codegen.emission.continue_accumulators import continue_accumulators
from egglift.codegen.emission.register_accumulators import accumulators_to_registers
from egglift.codegen.kernel.barriers import dissolve_steps, insert_barriers
from egglift.codegen.kernel.fragments import fragment_products
from egglift.codegen.kernel.imperative import Declare, FragmentProduct, Loop, Statement
from egglift.codegen.kernel.join_branches import join_branches
from egglift.codegen.kernel.limit_unrolling import limit_unrolling
from egglift.codegen.kernel.narrow_floats import compute_narrow_in_f32
from egglift.codegen.kernel.shared_tiles import share_tiles
from egglift.codegen.kernel.unroll_register_loops import unroll_register_loops
from egglift.codegen.kernel.walk import walk
from egglift.codegen.terms.drop_idle_patterns import drop_idle_patterns
from egglift.codegen.terms.narrow_sums import narrow_sums
from egglift.codegen.terms.reduce_to_fold import reduce_to_fold
from egglift.codegen.terms.storing import stored_unless_executed
from egglift.ir.patterns import Expr

#: over a whole program, in order
TERM_PASSES: tuple[Callable[[Expr], Expr], ...] = (
    drop_idle_patterns,
    reduce_to_fold,
    stored_unless_executed,
    narrow_sums,
)


def products_of_fragments(b: Builder, body: Sequence[Statement]) -> Sequence[Statement]:
    """Loops for matrix units, as kernel/fragments.py shows: fragments take the place of other registers."""
    if not any(isinstance(s, Loop) and s.matrix for s in walk(body)):  # nearly always
        return body
    found = fragment_products(body, b.shape.local, b.limits.matrix_units, b.names.numbered)
    b.private_bytes += _register_bytes(found) - _register_bytes(body)
    return found


def _register_bytes(body: Sequence[Statement]) -> int:
    declared = [s.buffer for s in walk(body) if isinstance(s, Declare)]
    return sum(b.bytes for b in declared if b.space == "private")


def tiles_in_one_place(b: Builder, body: Sequence[Statement]) -> Sequence[Statement]:
    """Tiles of local memory that share it, as kernel/shared_tiles.py shows.  CodegenError where there is too little."""
    if not b.shape.warps:
        body, gone = share_tiles(body, b.shape.local)
        b.locals = [buffer for buffer in b.locals if buffer not in gone]
    b.require_local(any(isinstance(s, FragmentProduct) and s.lying for s in walk(body)))
    return body


StatementPass: TypeAlias = Callable[[Builder, Sequence[Statement]], Sequence[Statement]]
#: over the statements of a kernel, in order, with the builder that made them
STATEMENT_PASSES: tuple[tuple[str, StatementPass], ...] = (
    ("accumulators to registers", accumulators_to_registers),
    ("unroll register loops", lambda b, body: unroll_register_loops(body) if b.undecided else body),
    ("products of fragments", products_of_fragments),
    ("continue accumulators", continue_accumulators),
    ("tiles in one place", tiles_in_one_place),
    ("insert barriers", lambda b, body: insert_barriers(body, b.shape.group_items)),
    ("dissolve steps", lambda b, body: dissolve_steps(body)),
    ("join branches", lambda b, body: body if b.limits.branch_barriers else join_branches(body)),
    ("compute narrow floats in f32", lambda b, body: compute_narrow_in_f32(body)),
    ("limit unrolling", lambda b, body: limit_unrolling(body)),
)


def normal_form(term: Expr) -> Expr:
    """`term` after all passes over terms."""
    for run in TERM_PASSES:
        term = run(term)
    return term


def finished(builder: Builder, body: Sequence[Statement]) -> tuple[Statement, ...]:
    """A kernel's statements after all passes over them, as they are printed."""
    for _, run in STATEMENT_PASSES:
        body = run(builder, body)
    return tuple(body)
