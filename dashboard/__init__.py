"""The Streamlit dashboard behind the pages: shell, page sections, running turns and texts."""
