"""What MkDocs calls while it builds the site: made pages are added, and links of the repository become the site's.

The pages in docs/ are written for the forge: they link to each other, and to source files, by path.  In the site a
source file is a page below source/, the README is the first page.
"""

from __future__ import annotations

import re
from typing import Any

from mkdocs.structure.files import File, Files

from docs.site.law_pages import anchored, law_pages
from docs.site.links import ELSEWHERE, moved
from docs.site.reference_pages import reference_pages
from docs.site.sources import ROOT, linked, picture_paths, source_page

#: pages that are a section by themselves: there is nothing to navigate to beside them
ALONE = ("index.md", "tutorial.md")


def on_files(files: Files, config: Any) -> Files:
    """Adds the README, the changelog, the rule book, the public names, and every source file that a page links to."""
    made = {place: (ROOT / path).read_text() for path, place in ELSEWHERE.items()}
    made |= law_pages() | reference_pages()
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    written = {f"docs/{f.src_uri}": f.content_string for f in files if f.src_uri.endswith(".md")}
    written |= {path: (ROOT / path).read_text() for path in ELSEWHERE}
    for path in sorted(linked(written)):
        files.append(File.generated(config, f"source/{path}.md", content=source_page(path)))
    for path in sorted(picture_paths(written)):
        files.append(File.generated(config, f"source/{path}", abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links by path in the repository -> links by path in the site; a fence says its language and nothing else."""
    place = page.file.src_uri
    if place in ALONE:
        page.meta["hide"] = ["navigation"]
    if place.startswith(("source/", "laws/", "reference/")):
        return markdown
    path = next((p for p, at in ELSEWHERE.items() if at == place), f"docs/{place}")
    text = anchored(markdown) if place == "references.md" else markdown
    return re.sub(r"^```(\w+) numbers vary$", r"```\1", moved(text, path, place), flags=re.MULTILINE)
