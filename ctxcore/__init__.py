"""Token-budgeted context windows for LLM conversations."""
