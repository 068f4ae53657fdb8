"""The site builds without a warning, and the links that Sphinx does not check lead to pages."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTENSIONS = ("sphinx", "myst_nb", "numpydoc", "pydata_sphinx_theme", "sphinx_click")


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, EXTENSIONS)),
    reason="the packages of the dependency group `docs` are not installed",
)
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    # Another test executes the notebook.
    names = [*subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")]
    for name in filter(re.compile(r"docs/|results/reference/|[A-Z_]+\.md$").match, names):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    site = tmp_path / "site"
    command = ["-m", "sphinx", "-qW", "--keep-going", "-D", "nb_execution_mode=off", "docs", str(site)]
    done = subprocess.run([sys.executable, *command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for page in site.rglob("*.html"):
        if "_static" in page.parts:
            continue
        text = page.read_text("utf-8")
        for target in re.findall(r'<a [^>]*href="([^"#:?]+)[^":]*"', text):
            assert (page.parent / target).exists(), f"{page.relative_to(site)}: {target}"
        # Directives of another markup language than the page's are printed as text.
        assert "<p>.. " not in text, page.relative_to(site)
    assert "AROW" in (site / "llms.txt").read_text("utf-8")


def test_links_to_reference_runs_lead_to_their_files(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("generated_pages", ROOT / "docs" / "generated_pages.py")
    assert spec is not None
    assert spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    pages._write_gallery(tmp_path)
    gallery = (tmp_path / "reports.md").read_text("utf-8")
    folder = Path("results/reference")
    text = pages._relinked((ROOT / folder / "README.md").read_text("utf-8"), folder)
    for file in re.findall(r'href="\.\./([^"]+)"', text + gallery):
        assert (tmp_path / "extra" / file).is_file(), file
    # Every run has its heading, and every link to the gallery leads to one.
    headings = set(re.findall(r"^## (.*)", gallery, re.MULTILINE))
    assert set(re.findall(r"\]\(reports\.md(?:#([\w-]+))?\)", text)) <= headings
    assert 'href="../reports/kernel-budget/tables/pairs-noise-0.csv"' in text
    assert "](reports.md#tracking)" in text
    assert 'href="../reports/streams/tables/' in gallery
