"""Finds secrets in texts and replaces them by numbered marks, without any request."""
