"""The page of reports over many sessions; `sections` draws it."""
