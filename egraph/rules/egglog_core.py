"""egglog's core, without its interface for Python: nothing here uses that, and it takes as long to load as egglift.

Where a caller has loaded egglog, its core is that one; where a caller loads it later, it finds this one.
"""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

_CORE = "egglog.bindings"


def _load() -> None:
    """Loads the core alone.  Where it does not lie where it should, the whole package is loaded below."""
    package = find_spec("egglog") if _CORE not in sys.modules else None
    for folder in (package and package.submodule_search_locations) or ():
        for suffix in EXTENSION_SUFFIXES:
            file = str(Path(folder) / f"bindings{suffix}")
            if Path(file).is_file():
                spec = spec_from_file_location(_CORE, file, loader=ExtensionFileLoader(_CORE, file))
                assert spec is not None and spec.loader is not None
                sys.modules[_CORE] = module_from_spec(spec)
                spec.loader.exec_module(sys.modules[_CORE])
                return


_load()

from egglog.bindings import (  # noqa: E402  # what was loaded above
    Call,
    Change,
    Check,
    Datatypes,
    EggSmolError,
    EGraph,
    Eq,
    Expr_,
    Fact,
    Int,
    Let,
    Lit,
    Rewrite,
    RewriteCommand,
    Rule,
    RuleCommand,
    String,
    Subsume,
    SubVariants,
    Union,
    Var,
)

__all__ = [
    "Call",
    "Change",
    "Check",
    "Datatypes",
    "EGraph",
    "EggSmolError",
    "Eq",
    "Expr_",
    "Fact",
    "Int",
    "Let",
    "Lit",
    "Rewrite",
    "RewriteCommand",
    "Rule",
    "RuleCommand",
    "String",
    "SubVariants",
    "Subsume",
    "Union",
    "Var",
]
