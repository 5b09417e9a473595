"""Tries policies on recorded conversations, beside doing nothing and doing what others do."""
