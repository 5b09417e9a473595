"""Policy values from outside a store: environment variables, `.env` and a YAML file.

pydantic-settings and PyYAML are imported only where there is something for them to read.
"""
