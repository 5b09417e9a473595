"""The compaction page: the tree of compactions, and what each of them did."""
