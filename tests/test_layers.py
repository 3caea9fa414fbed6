"""The architecture, checked: who may import whom, and files that can be read at a sitting."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from statistics import median

import networkx
import pytest

ROOT = Path(__file__).resolve().parent.parent
#: packages, the lowest first: each may import those before it and those beside it
LAYERS = (("egglift.processes", "egglift.ir"), ("egglift.codegen", "egglift.frontend"), ("egglift.costmodel",))
LAYERS += (("egglift.egraph",), ("egglift",), ("benchmarks",))
LONGEST, MEDIAN = 500, 200  # lines of a file
LONGEST_NAME = 60  # characters of a test's name, which is read as a sentence
FILES_OF_TESTS = sorted((ROOT / "tests").rglob("*.py"))
SAY_NOTHING = {"utils", "util", "helpers", "helper", "misc", "common", "tools"}
BUT_THAT_THERE_IS_MORE = {"more", "other", "others", "further", "extra", "misc"}  # as a word of a file's name

Graph = Mapping[str, set[str]]


# ---------------------------------------------------------------------------------------- what is checked


def rooms() -> dict[str, Path]:
    """The packages that are installed, by name, and the benchmarks."""
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    own = {name: ROOT / folder for name, folder in setup["package-dir"].items()}
    lines = ("benchmarks.lines", "benchmarks.lines.by_hand", "benchmarks.lines.short")
    benchmarks = ("benchmarks", "benchmarks.brought", "benchmarks.fair", "benchmarks.handwritten", *lines)
    benchmarks += ("benchmarks.programs", "benchmarks.scaling", "benchmarks.tables", "benchmarks.unseen")
    return own | {name: ROOT / name.replace(".", "/") for name in benchmarks}


def modules() -> dict[str, Path]:
    """Every file of every room, by the name that it is imported by."""
    found = {}
    for room, folder in rooms().items():
        found |= {room if f.stem == "__init__" else f"{room}.{f.stem}": f for f in sorted(folder.glob("*.py"))}
    return found


def imports(source: str, known: set[str]) -> set[str]:
    """Which of the `known` modules a source imports, wherever in it: for types only and inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                found |= {a.name for a in names}
            case ast.ImportFrom(module, names, 0):
                found |= {full if (full := f"{module}.{a.name}") in known else str(module) for a in names}
            case ast.ImportFrom():
                raise AssertionError("a relative import: write the module's whole name")
    return found & known


@cache
def import_graph() -> Graph:
    """Who imports whom."""
    files = modules()
    return {name: imports(file.read_text(), set(files)) - {name} for name, file in files.items()}


def layer(module: str) -> int:
    """The place in LAYERS of the package that holds a module."""
    holders = [(len(p), i) for i, ps in enumerate(LAYERS) for p in ps if f"{module}.".startswith(f"{p}.")]
    return max(holders)[1]


def upward(graph: Graph) -> list[str]:
    """The arrows of an import graph that go to a higher layer."""
    return [f"{a} -> {b}" for a, others in graph.items() for b in sorted(others) if layer(b) > layer(a)]


def circles(graph: Graph) -> list[set[str]]:
    """The largest sets of modules, each of which imports all others of its set by some way."""
    found = networkx.strongly_connected_components(networkx.DiGraph(dict(graph)))
    return [set(c) for c in found if len(c) > 1]


def of_rooms(graph: Graph) -> Graph:
    """The import graph of rooms, given that of files."""
    known = rooms()

    def room(module: str) -> str:
        return module if module in known else module.rpartition(".")[0]

    found: dict[str, set[str]] = {name: set() for name in known}
    for a, others in graph.items():
        found[room(a)] |= {room(b) for b in others} - {room(a)}
    return found


def undocumented(source: str) -> Iterator[str]:
    """Public functions and classes without a docstring, and "the file" where it has none."""
    tree = ast.parse(source)
    if tree.body and not ast.get_docstring(tree):
        yield "the file"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_" and not ast.get_docstring(node):
            yield node.name


def names_of_tests(source: str) -> list[str]:
    """The test functions of a source, those within classes too."""
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    return [f.name for f in functions if f.name.startswith("test_")]


def is_only_names(source: str) -> bool:
    """Does a source import and rename, and nothing else?"""
    for node in ast.parse(source).body:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(ast.Constant(str())):
                pass
            case (
                ast.Assign([ast.Name("__all__")])
                | ast.AugAssign(ast.Name("__all__"))
                | ast.Assign([ast.Name()], ast.Name())
            ):
                pass
            case _:
                return False
    return True


# ---------------------------------------------------------------------------------------- who imports whom


def test_no_package_imports_a_higher_one() -> None:
    assert upward(import_graph()) == []


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circles(import_graph()) == []


def test_no_rooms_import_each_other_in_a_circle() -> None:
    assert circles(of_rooms(import_graph())) == []


def test_every_folder_of_sources_is_a_room() -> None:
    tops = ("api", "ir", "frontend", "codegen", "costmodel", "egraph", "benchmarks")
    folders = {file.parent for top in tops for file in (ROOT / top).rglob("*.py")}
    assert folders == set(rooms().values())
    assert len(folders) == len(rooms())


PLANTED = {
    "egglift.ir.types": set[str](),
    "egglift.codegen.kernel.index": {"egglift.ir.types"},
    "egglift.egraph.graph.encode": {"egglift.codegen.kernel.index"},
}


def test_a_planted_upward_import_is_found() -> None:
    assert upward(PLANTED) == []
    assert upward(PLANTED | {"egglift.ir.types": {"egglift.egraph.graph.encode"}}) == [
        "egglift.ir.types -> egglift.egraph.graph.encode"
    ]
    assert upward({"egglift.codegen.compile": {"egglift.kernel"}}) != []


def test_a_planted_circle_is_found() -> None:
    assert circles(PLANTED) == []
    planted = PLANTED | {"egglift.ir.types": {"egglift.egraph.graph.encode"}}
    assert circles(planted) == [set(PLANTED)]
    assert circles(of_rooms(planted)) == [{"egglift.ir", "egglift.codegen.kernel", "egglift.egraph.graph"}]


@pytest.mark.parametrize(
    "source",
    [
        "from egglift.ir import node",
        "from egglift.ir.node import Node",
        "import egglift.ir.node",
        "if TYPE_CHECKING:\n    from egglift.ir.node import Node",
        "def f():\n    from egglift.ir.node import Node",
    ],
)
def test_an_import_is_found_wherever_it_stands(source: str) -> None:
    assert imports(source, {"egglift.ir.node", "egglift.ir"}) >= {"egglift.ir.node"}


# ---------------------------------------------------------------------------------------- files


def test_files_are_short() -> None:
    lines = {name: len(file.read_text().splitlines()) for name, file in modules().items()}
    assert {name: n for name, n in lines.items() if n > LONGEST} == {}
    assert median(n for n in lines.values() if n) < MEDIAN


def test_files_of_tests_are_short_too() -> None:
    lines = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in FILES_OF_TESTS}
    assert {name: n for name, n in lines.items() if n > LONGEST} == {}


def test_names_of_tests_are_short_sentences() -> None:
    names = [name for file in FILES_OF_TESTS for name in names_of_tests(file.read_text())]
    assert [name for name in names if len(name) > LONGEST_NAME] == []
    assert names_of_tests("class A:\n    def test_it(self):\n        pass\ndef other():\n    pass") == ["test_it"]


def test_files_are_named_by_what_is_in_them() -> None:
    names = {name.rpartition(".")[2] for name in modules()} | {f.stem for f in FILES_OF_TESTS}
    assert {name for name in names if name in SAY_NOTHING} == set()
    assert {name for name in names if BUT_THAT_THERE_IS_MORE & {*name.split("_")}} == set()


def test_a_package_file_only_names_things() -> None:
    assert [name for name in rooms() if not is_only_names((rooms()[name] / "__init__.py").read_text())] == []
    assert not is_only_names("def f():\n    pass")
    assert not is_only_names("SIZE = 3 * 4")


def test_every_public_name_has_a_docstring() -> None:
    found = {name: missing for name, file in modules().items() if (missing := [*undocumented(file.read_text())])}
    assert found == {}
    assert [*undocumented('"""A file."""\ndef f():\n    pass\nclass C:\n    """C."""')] == ["f"]
