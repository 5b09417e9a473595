"""Calls to a model: of any provider through litellm, the built-in one, or a scripted one.

Importing this package imports no provider library; the first call does.
"""
