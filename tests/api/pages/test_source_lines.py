"""Lines of OpenCL and where they come from."""

from __future__ import annotations

from egglift.ir.markup import html
from egglift.pages.source_lines import lines, listing
from tests.page_parser import Page

SOURCE = """\
kernel void k0(global float* out) {
  const long g0 = get_global_id(0);
  // mapGlobal0 over 4
  if (g0 < 3) {
    // toPrivate
    float r0 = 1.0f;
    for (int i = 0; i < 2; ++i) {
      // mapVec over 8
      out[i] = r0;
    }
    out[9] = r0;
  }
}

void k1() {
}"""


def test_a_line_belongs_to_the_pattern_named_before_it() -> None:
    found = [line.pattern for line in lines(SOURCE)]
    assert found[:2] == ["", ""]
    assert found[2:4] == ["mapGlobal0 over 4"] * 2
    assert found[4:7] == ["toPrivate"] * 3
    assert found[7:9] == ["mapVec over 8"] * 2
    assert found[10] == "toPrivate", "after the loop, its own pattern goes on"
    assert found[12:] == [""] * 4, "a function ends what was open"


def test_a_listing_says_the_laws_of_a_pattern_once() -> None:
    page = Page(html(listing(SOURCE, lambda pattern: ["keep"] if pattern.startswith("to") else [])))
    assert [s.text for s in page.root.all("span", "law") if s.text] == ["keep", "keep"]
    tips = [t.attributes.get("data-tip") for t in page.root.all("tr")[1:]]
    assert tips[5] == "toPrivate\nby keep" and tips[2] == "mapGlobal0 over 4\nby no law that is known"
