"""Registers components of our own: scripts that the browser loads from the same origin.

Streamlit finds components by the metadata of installed packages, which a checkout does not have;
registering the folder itself works from a checkout and from the wheel.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

FOLDER: Final = Path(__file__).resolve().parent / "components"
_OWNER: Final = "ctxcore"


def own_component(name: str) -> ComponentRenderer:
    """The component of `name`, which is `name.js` and `name.css` in the folder `components`."""
    full, manager = f"{_OWNER}.{name}", get_bidi_component_manager()
    if manager.get_metadata(full) is None:
        config = ComponentConfig(name=name, asset_dir=FOLDER.name)
        manifest = ComponentManifest(name=_OWNER, version="1", components=[config])
        manager.register_from_manifest(manifest, FOLDER.parent)
    # Not isolated: a reference between the input field and the list must not cross a shadow root.
    return st.components.v2.component(
        full, js=f"{name}.js", css=f"{name}.css", isolate_styles=False
    )
