"""How Sphinx builds the site of these pages: `make docs`."""

from __future__ import annotations

from ctxcore import __version__

project = "ctxcore"
author = "The ctxcore authors"
project_copyright = author
version = release = __version__
html_title = "ctxcore"
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "tools.docs_site.pages",
    "tools.docs_site.search",
    "tools.docs_site.references",
]
root_doc = "index"
exclude_patterns = ["_*", "**/_*"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [
    # Names that are not public have no page; those of `ctxcore` itself must have one.
    (r"py:.*", r"(?!ctxcore\.\w+$).*"),
]

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

copybutton_prompt_text = "$ "
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_search_language = "en-zh"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "source_repository": "https://github.com/ctxcore-window/ctxcore-window/",
    "source_branch": "main",
    "source_directory": "docs/",
    "top_of_page_buttons": ["view"],
}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/languages.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
