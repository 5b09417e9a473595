"""Languages, words, sentences, identifiers and error reports in texts."""
