"""The page of a kernel: one file, well formed, that shows what the kernel itself says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import egglift as el
from egglift.cli import main
from egglift.inparts import InParts
from egglift.ir.markup import html
from egglift.ir.plain_numbers import duration
from tests.browser import CHROMIUM, found_by
from tests.page_parser import Page

pytestmark = pytest.mark.short

SECTIONS = ["program", "derivation", "candidates", "sizes", "machine", "opencl", "egraph"]


@pytest.fixture(scope="module")
def kernel() -> el.Kernel:
    """A program of all elements of a matrix as the laws on patterns make it."""
    A = el.array("A", el.f32, (256, 256))
    doubled = A.map(lambda row: row.map(lambda v: v * 2.0 + 1.0))
    return el.optimize(doubled, "pocl", measure="none", without=["schedules"], cache=False)


@pytest.fixture(scope="module")
def path(kernel: el.Kernel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of its page."""
    file = tmp_path_factory.mktemp("page") / "kernel.html"
    kernel.report(file)
    return file


@pytest.fixture(scope="module")
def page(path: Path) -> Page:
    """Its page, read."""
    return Page(path.read_text())


def test_a_page_is_well_formed_with_all_its_parts(page: Page) -> None:
    assert [s.attributes["id"] for s in page.root.all("section")] == SECTIONS
    assert [a.attributes["href"] for a in page.root.all("a")] == [f"#{s}" for s in SECTIONS]
    assert set(page.ids.values()) == {1}


def test_a_page_loads_nothing_from_elsewhere(page: Page, path: Path) -> None:
    links = [v for n in page.every for k, v in n.attributes.items() if k in ("href", "src", "srcset", "action")]
    assert all(v and v.startswith("#") for v in links)
    assert "http" not in path.read_text() and "url(" not in path.read_text() and "@import" not in path.read_text()


def test_a_page_has_every_candidate_with_its_estimate(page: Page, kernel: el.Kernel) -> None:
    rows = page.at("candidates").all("tr")[1:]
    shown = [[cell.text for cell in row.all("td")] for row in rows]
    assert [(s[1], s[2]) for s in shown] == [(c.structure, duration(c.estimate)) for c in kernel.candidates]
    chosen = [i for i, row in enumerate(rows) if row.attributes.get("class") == "chosen"]
    assert chosen == [kernel.candidates.index(kernel.chosen)]
    assert len(page.at("candidates").all("circle")) == len(kernel.candidates)
    assert "Nothing was measured" in page.at("candidates").text


def test_a_page_tells_the_derivation_as_explain_does(page: Page, kernel: el.Kernel) -> None:
    text, told = page.at("derivation").text, kernel.explain()
    assert [s.text for s in page.at("derivation").all("strong")] == [
        s.law.name for s in (*kernel.derivation.steps, *kernel.derivation.placing)
    ]
    assert kernel.chosen.bound in told and kernel.chosen.bound in page.root.all("header")[0].text
    assert next(line for line in told.splitlines() if line.startswith("Checked: ")) in text
    assert page.at("derivation").all("ins")


def test_the_map_of_sizes_marks_what_was_chosen(page: Page, kernel: el.Kernel) -> None:
    (chosen,) = page.at("sizes").all("g", "chosen")
    tip = str(chosen.attributes["data-tip"])
    sizes = dict(pair.split(" = ") for pair in tip.splitlines()[0].split(", "))
    assert sizes and all(kernel.chosen.parameters[name] == int(n) for name, n in sizes.items())
    assert tip.splitlines()[1].split(",")[0] == duration(kernel.chosen.estimate)


def test_every_line_of_opencl_is_there_with_its_law(page: Page, kernel: el.Kernel) -> None:
    listing = page.at("opencl")
    assert [c.text.rstrip() for c in listing.all("code")] == [line.rstrip() for line in kernel.source.splitlines()]
    laws = {law.strip() for span in listing.all("span", "law") for law in span.text.split(",") if law.strip()}
    assert laws and laws <= set(kernel.derivation.laws)


def test_the_classes_of_the_e_graph_are_data_of_the_page(page: Page) -> None:
    data = json.loads(page.at("egraph-data").text)
    assert data["classes"]["0"]["type"] == "[[f32]256]256" and len(data["classes"]) > 9
    prices = [t["written"] for t in data["classes"]["0"]["terms"] if t["written"] is not None]
    assert prices and prices == sorted(prices)
    assert all(str(kid) in data["classes"] for c in data["classes"].values() for t in c["terms"] for kid in t["kids"])


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed to open the page in")
def test_a_browser_walks_through_the_classes(path: Path, tmp_path: Path) -> None:
    walk = """
    const seen = [], frame = document.getElementById("classes");
    for (let i = 0; i < 3; i++) {
      seen.push(frame.querySelector("p").textContent);
      frame.querySelector(".terms button").click();
    }
    document.querySelector(".path button").click();
    seen.push(frame.querySelector("p").textContent);
    const spot = document.querySelector(".spot.chosen"); spot.focus();
    const tip = document.getElementById("tip");
    return {seen, tip: tip.hidden ? "" : tip.textContent, wide: document.documentElement.scrollWidth};
    """
    found = found_by(walk, path, tmp_path, width=500)
    assert found["seen"][0] == found["seen"][-1] and len(set(found["seen"])) == 3
    assert "estimate" in found["tip"]
    assert found["wide"] <= 500, "the page is wider than a narrow screen"


def test_a_loaded_kernel_says_what_it_has_no_data_for(kernel: el.Kernel, tmp_path: Path) -> None:
    kernel.save(tmp_path / "k")
    el.load(tmp_path / "k").report(tmp_path / "k.html")
    assert "knows no other candidates" in Page((tmp_path / "k.html").read_text()).at("candidates").text


def test_the_command_line_writes_the_page_of_schedules(tmp_path: Path) -> None:
    x = el.array("x", el.f32, (8, 100))
    (tmp_path / "p.egglift").write_text(el.dumps(x + 1.0))
    command = ["optimize", str(tmp_path / "p.egglift"), "--device", "pocl", "--measure", "none", "--no-cache"]
    assert main([*command, "--report", str(tmp_path / "p.html")]) == 0
    page = Page((tmp_path / "p.html").read_text())
    assert [s.attributes["id"] for s in page.root.all("section")] == SECTIONS


def test_a_notebook_shows_a_kernel_in_a_few_lines(kernel: el.Kernel) -> None:
    shown = Page(kernel._repr_html_())
    assert kernel.chosen.structure in shown.root.text and kernel.chosen.bound in shown.root.text
    assert len(kernel._repr_html_()) < 20_000
    assert Page(kernel.derivation._repr_html_()).root.all("ins")


def test_a_program_in_parts_tells_each_structure_once() -> None:
    shown = Page(html(InParts(("a", "b", "a"), {}).markup())).root
    assert [h.text for h in shown.all("h3")] == ["Parts 1, 3: a", "Part 2: b"]
    assert shown.text.startswith("In 3 parts") and shown.text.count("No derivation was found.") == 2


def test_a_kernel_over_lengths_reports_those_it_likes(tmp_path: Path) -> None:
    x = el.array("x", el.f32, el.size("n", like=256))
    el.optimize(x * 2.0, "pocl", measure="none", cache=False).report(tmp_path / "k.html")
    assert "[f32]256" in Page((tmp_path / "k.html").read_text()).at("program").text
