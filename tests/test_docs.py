"""The documents are true: what they show is what the code prints, and what they name exists."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.deep import sampled
from tests.documents import DOCUMENTS, ROOT, Block, blocks, renewed, run

#: all that is written for readers, by path
WRITTEN = sorted(str(f.relative_to(ROOT)) for f in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
#: what a file is named by in running text
_FILE = re.compile(r"`((?:api|ir|codegen|costmodel|egraph|tests|benchmarks|examples|docs)/[\w./-]*)`")


def _prose(text: str) -> str:
    """A document without its blocks of code."""
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def links(text: str) -> list[str]:
    """Files that a document links to, without their anchors."""
    found = re.findall(r"\]\(([^)\s]+)\)", _prose(text))
    return [to.partition("#")[0] for to in found if "://" not in to and to[0] != "#"]


def anchors(text: str) -> set[str]:
    """What the headings of a document can be linked by."""
    titles = re.findall(r"^#+ (.*)$", _prose(text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


#: documents whose code takes longest, run with `-m deep` only
LONG = ("docs/control.md", "docs/kernels.md")


@pytest.mark.parametrize("name", sampled(DOCUMENTS, lambda name: name not in LONG))
def test_documents_show_what_their_code_prints(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EGGLIFT_CACHE", str(tmp_path))
    false = [(block.code, printed) for block, printed in run((ROOT / name).read_text()) if not block.is_true(printed)]
    assert not false, "python -m tests.documents writes what is printed now"


@pytest.mark.parametrize("name", WRITTEN)
def test_links_lead_to_files_and_headings(name: str) -> None:
    file = ROOT / name
    text = file.read_text()
    assert [to for to in links(text) if not (file.parent / to).exists()] == []
    for to, anchor in re.findall(r"\]\(([^)\s:]*\.md|)#([\w-]+)\)", _prose(text)):
        other = (file.parent / to).read_text() if to else text
        assert anchor in anchors(other), (to, anchor)


@pytest.mark.parametrize("name", WRITTEN)
def test_files_that_are_named_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    assert [path for path in _FILE.findall(text) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", WRITTEN)
def test_tests_that_are_named_exist(name: str) -> None:
    commands = re.findall(r"pytest ((?:\s*tests[\w/.]*)+)", (ROOT / name).read_text())
    assert [path for paths in commands for path in paths.split() if not (ROOT / path).exists()] == []


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()


DOCUMENT = """
```python
print(1.5, "apples")
```

```text
2 apples
```

```python
print("pears")
```
"""


def test_another_number_or_word_is_found() -> None:
    (first, printed), (second, _) = run(DOCUMENT)
    assert not first.is_true(printed)
    assert Block(first.code, first.shown, varies=True).is_true(printed)
    assert not Block(first.code, "1.5 pears\n", varies=True).is_true(printed)
    assert second.shown is None and second.is_true("anything")


def test_a_document_is_renewed_where_it_shows_something() -> None:
    new = renewed(DOCUMENT)
    assert new == DOCUMENT.replace("2 apples", "1.5 apples")
    assert all(block.is_true(printed) for block, printed in run(new))
    assert len(list(blocks(new))) == 2
