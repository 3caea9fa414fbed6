"""Every pass over statements leaves a well-formed tree: what tests put between the passes."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from egglift.codegen import passes
from egglift.codegen.emission.builder import Builder
from egglift.codegen.kernel.imperative import Buffer, Statement
from egglift.codegen.kernel.verify import Malformed, verify

#: the passes as users have them
PLAIN_PASSES = passes.STATEMENT_PASSES


def known(builder: Builder) -> list[Buffer]:
    """The buffers that a kernel has without declaring them: parameters, local memory, literal arrays."""
    return [*builder.params, *builder.locals, *builder.constants.values()]


_last = threading.local()  # what was verified last on this thread


def well_formed(builder: Builder, body: Sequence[Statement]) -> None:
    """Malformed says what is wrong with the statements.  Most passes leave most kernels as they were just verified."""
    what = tuple(body), builder.shape, known(builder)
    if _last.__dict__.get("what") != what:
        _last.what = None
        verify(body, builder.shape, known(builder))
        _last.what = what


def verified(name: str, run: passes.StatementPass) -> tuple[str, passes.StatementPass]:
    """The pass `run`, after which the statements are verified."""

    def then(builder: Builder, body: Sequence[Statement]) -> Sequence[Statement]:
        body = run(builder, body)
        try:
            well_formed(builder, body)
        except Malformed as error:
            raise Malformed(f'after "{name}": {error}') from None
        return body

    return name, then


def verified_passes() -> tuple[tuple[str, passes.StatementPass], ...]:
    """All passes over statements, each verified, and the emission before them."""
    return tuple(verified(*each) for each in (("emission", lambda builder, body: body), *PLAIN_PASSES))
