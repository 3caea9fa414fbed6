"""The language of the e-graph, read from rules/*.egg, and the rules that follow for every operator.

Signatures say what each argument of an operator is: `expr` (in the scope of the same Arg), `body` (a scope of
its own), `nat` (a length), `type`, `level`, `text`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from egglog.bindings import Datatypes, EGraph, SubVariants

from egglift.ir.scalars import FUNCTIONS

#: Which arguments are bodies.  Everything else about an operator is in its declaration.
BODIES = {"Map": 0, "MapL": 1, "Reduce": 0, "Fold": 0, "FoldUnroll": 0, "FoldAhead": 1, "Tree": 0, "Iterate": 1}
_KINDS = {"Expr": "expr", "Nat": "nat", "Ty": "type", "Level": "level", "String": "text", "i64": "number"}
_COMPUTES = ("Op1", "Op2", "Op3", "Cast", "Reduce", "Fold", "FoldUnroll", "FoldAhead", "Tree", "Iterate")


#: What is loaded before any law, in this order: each file uses only what those before it declare.
CORE = ("sorts", "lengths", "typing", "analyses", "grid_tiles")


@cache
def core_text(part: str = "") -> str:
    """The text of rules/`part`.egg, of all of CORE by default."""
    folder = files("egglift.egraph.rules")
    return "\n".join(folder.joinpath(f"{name}.egg").read_text() for name in ([part] if part else CORE))


@cache
def declarations() -> dict[str, dict[str, tuple[str, ...]]]:
    """Sort -> constructor -> sorts of its arguments, as sorts.egg declares them."""
    head = core_text("sorts").split("(constructor", 1)[0]
    (command,) = EGraph().parse_program(head)
    assert isinstance(command, Datatypes)
    found = {}
    for _, sort, variants in command.datatypes:
        assert isinstance(variants, SubVariants)
        found[sort] = {v.name: tuple(v.types) for v in variants.variants}
    return found


@cache
def signatures() -> dict[str, tuple[str, ...]]:
    """Operator -> the kind of each argument: `signatures()["Map"] == ("body", "expr")`."""
    return {
        op: tuple("body" if BODIES.get(op) == i else _KINDS[s] for i, s in enumerate(sorts))
        for op, sorts in declarations()["Expr"].items()
    }


def administrative() -> str:
    """Rules for every operator: substitution, what is closed or open, work, scalar results, where maps begin."""
    return "\n".join([*_substitution(), *_closed(), *_pruned(), *_work(), *_bottom(), *_results()])


def _operators() -> Iterator[tuple[str, list[str], list[str], list[str]]]:
    """Each operator with the variables of its arguments, of its Exprs in scope, and of its bodies."""
    for op, kinds in signatures().items():
        if op not in ("Subst", "Arg"):
            xs = [f"x{i}" for i in range(len(kinds))]
            yield (
                op,
                xs,
                [x for x, k in zip(xs, kinds, strict=True) if k == "expr"],
                [x for x, k in zip(xs, kinds, strict=True) if k == "body"],
            )


def _call(op: str, args: list[str]) -> str:
    return f"({op} {' '.join(args)})"


def _substitution() -> Iterator[str]:
    yield "(rewrite (Subst x (Arg t)) x :subsume :ruleset subst)"
    # A closed class may hold nodes of several scopes: `0 * x` is 0 for every x.  Those whose Arg has another type than
    # v end here: what is made of them has no finite term.
    yield "(rule ((= e (Subst (Arg t) v)) (= t (type-of v))) ((union e v) (subsume (Subst (Arg t) v))) :ruleset subst)"
    for op, xs, scope, _ in _operators():
        new = [f"(Subst {x} v)" if x in scope else x for x in xs]
        yield f"(rewrite (Subst {_call(op, xs)} v) {_call(op, new)} :subsume :ruleset subst)"


def _closed() -> Iterator[str]:
    for op, xs, scope, _ in _operators():
        when = "".join(f" (closed {x})" for x in scope)
        yield f"(rule ((= e {_call(op, xs)}){when}) ((closed e)) :ruleset typing)"
    yield "(rule ((= e (Arg t))) ((open e)) :ruleset typing)"
    for op, xs, scope, _ in _operators():
        for x in scope:
            yield f"(rule ((= e {_call(op, xs)}) (open {x})) ((open e)) :ruleset typing)"


def _pruned() -> Iterator[str]:
    """Nodes of a closed class that depend on an Arg are passed over: `0 * x` where 0 is.  Laws would take them from one
    scope into another.  Rulesets to run in this order once all that is closed is known as such.
    """
    yield "(ruleset not-open) (ruleset pruned)"
    yield "(rule ((open e) (closed e)) ((delete (open e))) :ruleset not-open)"
    for op, xs, scope, _ in _operators():
        for x in scope:
            yield f"(rule ((= e {_call(op, xs)}) (closed e) (open {x})) ((subsume {_call(op, xs)})) :ruleset pruned)"


def _work() -> Iterator[str]:
    for op, xs, scope, bodies in _operators():
        if op in _COMPUTES:
            yield f"(rule ((= e {_call(op, xs)})) ((work e)) :ruleset typing)"
        else:
            for x in scope + bodies:
                yield f"(rule ((= e {_call(op, xs)}) (work {x})) ((work e)) :ruleset typing)"


def _bottom() -> Iterator[str]:
    """Of a ruleset of its own: arrays that laws make later do not count."""
    yield "(ruleset bottoms)"
    yield "(rule ((= e (Map f x)) (= x (Arg t))) ((bottom x)) :ruleset bottoms)"
    for op, xs, _, _ in _operators():
        if op not in ("Map", "MapL", "Tup") and op not in _COMPUTES[:4]:
            yield f"(rule ((= e (Map f x)) (= x {_call(op, xs)})) ((bottom x)) :ruleset bottoms)"


def _results() -> Iterator[str]:
    for name, function in FUNCTIONS.items():
        yield f'(gives-{"bool" if function.kind == "compare" else "same"} "{name}")'
