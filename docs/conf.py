"""Settings of Sphinx for the site: `nox -s docs`. The pages of this folder can also be read without it."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from generated_pages import adapted, write_pages

DOCS = Path(__file__).parent

project = "singlepass"
author = "the singlepass developers"
copyright = author
release = installed_version("singlepass")
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_click",
]
exclude_patterns = ["_build", "jupyter_execute", "**/.ipynb_checkpoints"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# GitHub draws the diagram of the architecture page; here it is a block of code.
myst_fence_as_directive = []
suppress_warnings = ["misc.highlighting_failure"]
# The notebook is executed; an error in it ends the build.
nb_execution_mode = "force"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# Quotes and ellipses only: dashes would change the names of options in texts of the command line.
smartquotes_action = "qe"

html_theme = "pydata_sphinx_theme"
html_title = "singlepass"
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
# These have no pages below them.
html_sidebars = {"index": [], "which": []}
html_copy_source = False
html_show_sourcelink = False
html_extra_path = ["_generated/extra"]
html_static_path = ["_static"]
html_css_files = ["site.css"]


def setup(app):
    """Write the generated pages, and let links lead to pages of the site."""
    write_pages(DOCS)
    app.connect("source-read", lambda app, name, source: source.__setitem__(0, adapted(name, source[0])))
