"""The language of the e-graph: what rules/*.egg and the table of constructors declare, and rules for every constructor.

Signatures say what each argument of a constructor is: `expr` (in the scope of the same Arg), `body` (a scope of
its own), `size` (a length), `type`, `level`, `text`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from egglift.egraph.rules.constructors import CONSTRUCTORS, SORTS, Constructor, declared, given, typed
from egglift.egraph.rules.egglog_core import Datatypes, SubVariants
from egglift.egraph.rules.empty import empty
from egglift.ir import patterns as p
from egglift.ir.scalars import FUNCTIONS

#: What is loaded before any law, in this order: each part uses only what those before it declare.
CORE = ("sorts", "constructors", "lengths", "typing", "types of constructors", "analyses", "grid_tiles")
_GENERATED = {"constructors": declared, "types of constructors": typed}


@cache
def core_text(part: str = "") -> str:
    """The text of rules/`part`.egg or, of a generated part, the text that is made; of all of CORE by default."""
    if not part:
        return "\n".join(map(core_text, CORE))
    if part in _GENERATED:
        return _GENERATED[part]()
    return files("egglift.egraph.rules").joinpath(f"{part}.egg").read_text()


@cache
def declarations() -> dict[str, dict[str, tuple[str, ...]]]:
    """Sort -> constructor -> sorts of its arguments."""
    found = {"Expr": {op: tuple(SORTS[kind] for kind in kinds) for op, kinds in signatures().items()}}
    for command in empty().parse_program(core_text("sorts")):
        for _, sort, variants in command.datatypes if isinstance(command, Datatypes) else ():
            assert isinstance(variants, SubVariants)
            found[sort] = {v.name: tuple(v.types) for v in variants.variants}
    return found


@cache
def signatures() -> dict[str, tuple[str, ...]]:
    """Constructor -> the kind of each argument: `signatures()["Map"] == ("body", "expr")`."""
    return {head: c.kinds for head, c in CONSTRUCTORS.items()} | {"Subst": ("expr", "expr")}


def administrative() -> str:
    """Rules for every constructor: substitution, the analyses that go through all of them, scalar results."""
    return "\n".join([*_substitution(), *_closed(), *_pruned(), *_work(), *given(), *_bottom(), *_results()])


def _inner() -> Iterator[Constructor]:
    """Every constructor but Arg, of which these rules say what becomes of its parts."""
    return (c for c in CONSTRUCTORS.values() if c.form.cls is not p.Arg)


def _substitution() -> Iterator[str]:
    yield "(rewrite (Subst x (Arg t)) x :subsume :ruleset subst)"
    # A closed class may hold nodes of several scopes: `0 * x` is 0 for every x.  Those whose Arg has another type than
    # v end here: what is made of them has no finite term.
    yield "(rule ((= e (Subst (Arg t) v)) (= t (type-of v))) ((union e v) (subsume (Subst (Arg t) v))) :ruleset subst)"
    for c in _inner():
        new = [f"(Subst {x} v)" if kind == "expr" else x for x, kind in zip(c.variables, c.kinds, strict=True)]
        yield f"(rewrite (Subst {c.call} v) ({c.form.head} {' '.join(new)}) :subsume :ruleset subst)"


def _closed() -> Iterator[str]:
    for c in _inner():
        when = "".join(f" (closed {x})" for x in c.of("expr"))
        yield f"(rule ((= e {c.call}){when}) ((closed e)) :ruleset typing)"
    yield "(rule ((= e (Arg t))) ((open e)) :ruleset typing)"
    for c in _inner():
        for x in c.of("expr"):
            yield f"(rule ((= e {c.call}) (open {x})) ((open e)) :ruleset typing)"


def _pruned() -> Iterator[str]:
    """Nodes of a closed class that depend on an Arg are passed over: `0 * x` where 0 is.  Laws would take them from one
    scope into another.  Rulesets to run in this order once all that is closed is known as such.
    """
    yield "(ruleset not-open) (ruleset pruned)"
    yield "(rule ((open e) (closed e)) ((delete (open e))) :ruleset not-open)"
    for c in _inner():
        for x in c.of("expr"):
            yield f"(rule ((= e {c.call}) (closed e) (open {x})) ((subsume {c.call})) :ruleset pruned)"


def _work() -> Iterator[str]:
    for c in _inner():
        if c.computes:
            yield f"(rule ((= e {c.call})) ((work e)) :ruleset typing)"
        else:
            for x in c.of("expr") + c.of("body"):
                yield f"(rule ((= e {c.call}) (work {x})) ((work e)) :ruleset typing)"


def _bottom() -> Iterator[str]:
    """Of a ruleset of its own: arrays that laws make later do not count."""
    yield "(ruleset bottoms)"
    yield "(rule ((= e (Map f x)) (= x (Arg t))) ((bottom x)) :ruleset bottoms)"
    for c in _inner():
        if not c.is_scalar and c.form.cls not in (p.Map, p.Tup):
            yield f"(rule ((= e (Map f x)) (= x {c.call})) ((bottom x)) :ruleset bottoms)"


def _results() -> Iterator[str]:
    for name, function in FUNCTIONS.items():
        yield f'(gives-{"bool" if function.kind == "compare" else "same"} "{name}")'
