"""The site of the documentation: what Sphinx is taught, and checks of what it builds."""
