"""A page in Chromium without a window, where that is installed: what a script of the test finds there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
_FOUND = re.compile(r'<pre id="found">(.*?)</pre>', re.DOTALL)


def found_by(script: str, page: Path, folder: Path, width: int = 1000) -> Any:
    """What a script, the body of a function, returns on a copy of a page; errors of the page's own scripts raise."""
    seen = f"""<script>
    const found = document.createElement("pre"); found.id = "found";
    let result; try {{ result = (() => {{ {script} }})(); }} catch (e) {{ result = "error: " + e; }}
    found.textContent = JSON.stringify({{result, errors: window.errors}}); document.body.append(found);
    </script>"""
    watch = '<script>window.errors = []; addEventListener("error", (e) => window.errors.push(e.message));</script>'
    copy = folder / "seen.html"
    copy.write_text(page.read_text().replace("<head>", f"<head>{watch}", 1).replace("</html>", f"{seen}</html>"))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    size = f"--window-size={width},900"
    command = [str(CHROMIUM), *flags, size, "--virtual-time-budget=2000", "--dump-dom", copy.as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    match = _FOUND.search(dom)
    assert match, f"the page shows nothing: {dom[-500:]}"
    answer = json.loads(unescape(match[1]))
    assert answer["errors"] == []
    return answer["result"]
