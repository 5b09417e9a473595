"""Compresses tool outputs and keeps their structure."""
