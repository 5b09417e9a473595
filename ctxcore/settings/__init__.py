"""Where values of policies come from outside a store: environment, `.env` and a YAML file.

pydantic-settings and PyYAML are imported only where there is something for them to read.
"""
