"""The site has every page, every law and every public name; `make docs` builds it, which these tests do not."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import egglift
from docs.site.docstrings import as_list
from docs.site.law_pages import anchored, law_pages, wrapped
from docs.site.links import ELSEWHERE, moved
from docs.site.reference_pages import constants, entries, reference_pages, second_names
from docs.site.sources import linked, source_page
from egglift.egraph.rules.book import book
from egglift.egraph.rules.references import references
from tests.documents import ROOT


class _Settings(yaml.SafeLoader):
    """MkDocs' settings, whatever tags they use."""


def pages(entry: Any) -> list[str]:
    """All pages of a navigation."""
    match entry:
        case str():
            return [entry]
        case list():
            return [page for each in entry for page in pages(each)]
        case dict():
            return [page for each in entry.values() for page in pages(each)]
    raise AssertionError(entry)


NAVIGATION = pages(yaml.load((ROOT / "mkdocs.yml").read_text(), _Settings)["nav"])
WRITTEN = {str(f.relative_to(ROOT / "docs")) for f in (ROOT / "docs").glob("**/*.md")}


def test_the_navigation_lists_every_page_once() -> None:
    made = {*law_pages(), *reference_pages(), *ELSEWHERE.values()}
    assert len(NAVIGATION) == len(set(NAVIGATION))
    assert set(NAVIGATION) == WRITTEN | made


def test_every_public_name_has_a_reference_entry() -> None:
    described = {name for names in entries().values() for name in names}
    assert described | set(constants()) | set(second_names()) == set(egglift.__all__)
    text = "\n".join(reference_pages().values())
    assert [name for name in egglift.__all__ if not re.search(rf"\b{name}\b", text)] == []


def test_every_entry_is_where_its_name_is_defined() -> None:
    for page in reference_pages().values():
        for path in re.findall(r"^::: egglift\.([\w.]+)$", page, re.MULTILINE):
            assert (egglift.__dict__[path.rpartition(".")[2]]).__doc__, path


@pytest.mark.parametrize("law", book().laws, ids=book().names)
def test_every_law_is_on_the_page_of_its_family(law: Any) -> None:
    page = law_pages()[f"laws/{law.group}.md"]
    section = page.partition(f"## {law.name} {{#{law.name}}}\n")[2].partition("\n## ")[0]
    assert " ".join(wrapped(law.variants[0].equation).split())[:40] in " ".join(section.split())
    assert "**source**" in section and "**phase**" in section


def test_sources_of_laws_lead_to_the_bibliography() -> None:
    text = anchored((ROOT / "docs/references.md").read_text())
    keys = {key for page in law_pages().values() for key in re.findall(r"references\.md#(\w+)", page)}
    assert keys and all(f'id="{key}"' in text for key in keys)
    assert keys <= {key.lower() for key in references()}


def test_a_long_equation_is_broken_at_its_sides() -> None:
    left, right, definition = "map f x", "take n (join (map (map f) (split r (padUp r a))))" * 2, "m = n/k*k"
    lines = wrapped(f"{left} = {right}, {definition}").splitlines()
    assert lines[0] == left and lines[1].startswith("  = take n") and lines[-1] == f"  {definition}"


def test_links_of_the_repository_become_links_of_the_site() -> None:
    text = "[a](../api/optimize.py) [b](../README.md#install) [c](c.md) ![d](../benchmarks/pictures/life.png)"
    wanted = "[a](source/api/optimize.py.md) [b](index.md#install) [c](c.md) ![d](source/benchmarks/pictures/life.png)"
    assert moved(text, "docs/x.md", "x.md") == wanted
    assert moved("[a](docs/c.md)", "README.md", "index.md") == "[a](c.md)"
    code = "```python\nx[0](y)\n```"
    assert moved(code, "docs/x.md", "x.md") == code


def test_linked_folders_and_files_are_pages() -> None:
    found = linked({"docs/x.md": "[ir](../ir)"})
    assert {"ir", "ir/check.py"} <= found
    assert "[`check.py`](ir/check.py.md)" in source_page("ir")
    assert "```python" in source_page("ir/check.py")


def test_parameters_in_docstrings_are_items_of_a_list() -> None:
    text = "A program.\n\ndevice: where it runs,\nor None.  budget: seconds; x: no parameter."
    wanted = "- **device**: where it runs,\n  or None.\n\n- **budget**: seconds; x: no parameter."
    assert as_list(text, {"device", "budget"}).partition("A program.")[2].strip() == wanted


@pytest.mark.parametrize("page", sorted(WRITTEN))
def test_what_stands_below_an_item_is_indented_by_four(page: str) -> None:
    """Markdown of the forge takes less, that of the site does not."""
    text = re.sub(r"^```.*?^```", "", (ROOT / "docs" / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"\n\n {1,3}\S.*|^ {1,3}(?:- |```).*", text, re.MULTILINE) == []
    assert re.findall(r"^(?!- |\d+\. |\s).+\n(?:- |1\. ).*", text, re.MULTILINE) == []
    assert re.findall(r"\n\n(?:    .*\n)+(?:- |\d+\. ).*", text) == []  # paragraphs of items need space below, too


def test_the_site_is_written_by_nothing_from_elsewhere() -> None:
    settings = (ROOT / "mkdocs.yml").read_text()
    assert "font: false" in settings and "http" not in settings
    assert Path(ROOT / "_site").name in (ROOT / ".gitignore").read_text()
