"""Builds the site into `build/site` with warnings as errors, and checks its pages.

Run it as `make docs`.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from tools.docs_site.built import foreign_parts
from tools.docs_site.links import DOCS, ROOT

SITE: Final = ROOT / "build" / "site"
_BUILD: Final = (
    "-m",
    "sphinx",
    "--builder",
    "html",
    "--fail-on-warning",
    "--keep-going",
    "--quiet",
)


def main() -> int:
    """Builds and checks; 0 where nothing is wrong."""
    places = ("--jobs", "auto", str(DOCS), str(SITE))
    built = subprocess.run([sys.executable, *_BUILD, *places], cwd=ROOT, check=False)
    if built.returncode:
        return built.returncode
    found = [f"{page.relative_to(SITE)}: {part}" for page, part in foreign_parts(SITE)]
    for line in found:
        print(f"loads something from elsewhere: {line}", file=sys.stderr)
    print(f"==> The documentation is in {SITE / 'index.html'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
