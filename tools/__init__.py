"""Programs for working on the project."""
